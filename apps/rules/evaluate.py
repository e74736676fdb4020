"""Trying two memories under a rule: what the detector and the arbiter say, without changing anything."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from apps.core.domain.errors import InvalidInputError
from apps.core.domain.scope import Access
from apps.llm.domain.embedder import EmbeddingError, Vectors, normalise
from apps.llm.services import embed_texts
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
    """What would be decided about two memories.

    rule: what applied, with the changes that were asked for. version: of the registry. similarity: the cosine of
    the two; None where it could not be computed, then `warning` says why.
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

    config: changes of the sections `detection`, `arbitration` and `merge` for this once. Memories without an
    embedding are embedded; when the model does not answer, the semantic signal is left out. With changes of
    `arbitration` a conflict is decided however weak the evidence is, since that is what is being tried, unless they
    say otherwise (`act_on_weak_evidence`). Raises NotFoundError for
    a rule that the caller may not know of, InvalidRuleError for bad changes, InvalidInputError for embeddings that
    cannot be compared.
    """
    chosen, version = _chosen(access, candidate, existing, rule)
    chosen = with_changes(chosen, _as_a_trial(config or {}))
    candidate, existing, warning = _embedded(candidate, existing)
    detection = detect(candidate, existing, chosen.detection)
    result = arbitrate(candidate, existing, detection, chosen.arbitration)
    similarity = cosine_of(candidate, existing)
    merged = merge(existing, candidate, similarity, chosen.merge) if result.action is Action.MERGE else None
    return Evaluation(chosen, version, detection, result, merged, similarity, warning)


def _as_a_trial(config: Mapping[str, Any]) -> Mapping[str, Any]:
    arbitration = config.get("arbitration")
    if not isinstance(arbitration, Mapping):
        return config
    return {**config, "arbitration": {"act_on_weak_evidence": True, **arbitration}}


def with_changes(rule: RuleConfig, config: Mapping[str, Any]) -> RuleConfig:
    """A rule with some settings changed. Raises InvalidRuleError, whose paths begin with `config`."""
    unknown = [
        RuleProblem(str(name), "Expected detection, arbitration or merge.") for name in config if name not in SECTIONS
    ]
    try:
        if unknown:
            raise InvalidRuleError(unknown)
        changes = validate_document({**config, "name": "changes"})
        changes.pop("name")
        return rule_from_document(deep_merge(drop_nulls(rule.to_document()), changes))
    except InvalidRuleError as error:
        raise error.below("config") from None


def _chosen(
    access: Access, candidate: MemoryRecord, existing: MemoryRecord, name: str | None
) -> tuple[RuleConfig, int]:
    if name is None:
        found = find_matching_rule(candidate, existing, access)
        return found.rule, found.version
    return rule_resolved(access, name), active_rules().version


def _embedded(candidate: MemoryRecord, existing: MemoryRecord) -> tuple[MemoryRecord, MemoryRecord, str | None]:
    """Both memories with unit vectors of one space, or both without, and why."""
    records = [candidate, existing]
    missing = [record.content for record in records if record.embedding is None]
    try:
        made = iter(embed_texts(missing) if missing else ())
    except EmbeddingError:
        return _without(candidate), _without(existing), UNAVAILABLE
    one, other = (normalise(record.embedding) if record.embedding is not None else next(made) for record in records)
    _check_lengths(one, other, candidate.embedding is None)
    return replace(candidate, embedding=one), replace(existing, embedding=other), None


def _without(record: MemoryRecord) -> MemoryRecord:
    return replace(record, embedding=None)


def _check_lengths(one: Vectors, other: Vectors, given_is_existing: bool) -> None:
    if len(one) != len(other):
        wrong, right = (other, one) if given_is_existing else (one, other)
        detail = f"Expected {len(right)} numbers, as the other memory's embedding has; got {len(wrong)}."
        attr = "existing.embedding" if given_is_existing else "candidate.embedding"
        raise InvalidInputError(detail, attr=attr, code="dimension")
