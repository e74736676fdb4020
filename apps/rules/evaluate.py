"""Trying two memories under a rule without changing anything."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from apps.core.domain.errors import InvalidInputError
from apps.core.domain.scope import Access
from apps.llm.domain.embedder import EmbeddingError, normalise
from apps.llm.services import current_scale, embed_texts
from apps.rules.domain.documents.inheritance import deep_merge
from apps.rules.domain.documents.problems import InvalidRuleError, RuleProblem
from apps.rules.domain.documents.rule import RuleConfig, rule_from_document
from apps.rules.domain.documents.validate import drop_nulls, validate_document
from apps.rules.domain.engine.arbitration import Action, ArbitrationResult, arbitrate
from apps.rules.domain.engine.detection import cosine_of, detect
from apps.rules.domain.engine.merge import MergeResult, merge
from apps.rules.domain.engine.record import MemoryRecord
from apps.rules.domain.engine.signals import Detection
from apps.rules.registry import active_rules
from apps.rules.selectors import find_matching_rule, rule_resolved

SECTIONS = ("detection", "arbitration", "merge")
UNAVAILABLE = "The embedding model does not answer, so the semantic signal is left out."


@dataclass(frozen=True)
class Evaluation:
    """The decision about two memories.

    rule: the rule that applied, with the requested changes. version: of the registry. similarity: the cosine of the
    two; None where it could not be computed, then `warning` says why.
    """

    rule: RuleConfig
    version: int
    detection: Detection
    arbitration: ArbitrationResult
    merge: MergeResult | None
    similarity: float | None
    warning: str | None


def evaluate(
    access: Access,
    candidate: MemoryRecord,
    existing: MemoryRecord,
    *,
    rule: str | None = None,
    config: Mapping[str, Any] | None = None,
) -> Evaluation:
    """Decide about two memories under the rule of that name, else under the one that matches.

    config: changes of the sections `detection`, `arbitration` and `merge` for this call. With changes of `arbitration`
    a conflict is decided even on weak evidence, since that is what is being tried, unless they say otherwise
    (`act_on_weak_evidence`). Memories without an embedding are embedded; when the model does not answer, the semantic
    signal is left out. Raises NotFoundError for a rule that the caller may not see, InvalidRuleError for bad changes,
    InvalidInputError for embeddings that cannot be compared.
    """
    if rule is None:
        found = find_matching_rule(candidate, existing, access)
        chosen, version = found.rule, found.version
    else:
        chosen, version = rule_resolved(access, rule), active_rules().version
    changes = dict(config or {})
    if isinstance(changes.get("arbitration"), Mapping):
        changes["arbitration"] = {"act_on_weak_evidence": True, **changes["arbitration"]}
    return evaluate_rule(with_changes(chosen, changes), version, candidate, existing)


def evaluate_rule(rule: RuleConfig, version: int, candidate: MemoryRecord, existing: MemoryRecord) -> Evaluation:
    """Decide about two memories under a rule, stored or not, as `evaluate` does. version: of the registry."""
    candidate, existing, warning = with_embeddings(candidate, existing)
    detection = detect(candidate, existing, rule.detection)
    result = arbitrate(candidate, existing, detection, rule.arbitration)
    similarity = cosine_of(candidate, existing)
    merged = merge(existing, candidate, similarity, rule.merge) if result.action is Action.MERGE else None
    return Evaluation(rule, version, detection, result, merged, similarity, warning)


def with_changes(rule: RuleConfig, config: Mapping[str, Any]) -> RuleConfig:
    """Return a rule with some settings changed. Raises InvalidRuleError, whose paths begin with `config`."""
    try:
        unknown = [name for name in config if name not in SECTIONS]
        if unknown:
            raise InvalidRuleError([RuleProblem(name, "Expected detection, arbitration or merge.") for name in unknown])
        changes = validate_document({**config, "name": rule.name})
        return rule_from_document(deep_merge(drop_nulls(rule.to_document()), changes))
    except InvalidRuleError as error:
        raise error.below("config") from None


def with_embeddings(candidate: MemoryRecord, existing: MemoryRecord) -> tuple[MemoryRecord, MemoryRecord, str | None]:
    """Return both memories with unit vectors of one space, or both without, and why. Raises InvalidInputError."""
    records = [candidate, existing]
    missing = [record.content for record in records if record.embedding is None]
    try:
        made = iter(embed_texts(missing) if missing else ())
    except EmbeddingError:
        return replace(candidate, embedding=None), replace(existing, embedding=None), UNAVAILABLE
    one, other = (normalise(record.embedding) if record.embedding is not None else next(made) for record in records)
    if len(one) != len(other):
        # The one that was not made here is wrong; when both were given, the candidate's.
        side, wrong, right = ("existing", other, one) if candidate.embedding is None else ("candidate", one, other)
        detail = f"Expected {len(right)} numbers, as the other memory's embedding has; got {len(wrong)}."
        raise InvalidInputError(detail, attr=f"{side}.embedding", code="dimension")
    curve = current_scale().statements
    candidate, existing = (
        replace(candidate, embedding=one, curve=curve),
        replace(existing, embedding=other, curve=curve),
    )
    return candidate, existing, None
