"""Deciding again what was decided before, under other rules: the pure parts of a rehearsal.

A decision is replayed from what its receipt kept of the memories. Their vectors are not kept, but their cosines are:
the candidate gets the first axis of a plane, and each memory that it conflicts with the unit vector at exactly its
recorded cosine. The engine never looks at the vectors of two of those together.
"""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from apps.retrieval.domain.content import content_hash
from apps.rules.domain.documents.inheritance import deep_merge
from apps.rules.domain.documents.problems import InvalidRuleError, RuleProblem
from apps.rules.domain.documents.rule import Document, RuleConfig
from apps.rules.domain.documents.validate import validate_document
from apps.rules.domain.engine.arbitration import ArbitrationResult, DetectedConflict, Strategy
from apps.rules.domain.engine.detection import detect
from apps.rules.domain.engine.merge import merge
from apps.rules.domain.engine.record import MemoryRecord
from apps.rules.domain.engine.verdict import Verdict, VerdictOutcome, decide

Vector = npt.NDArray[np.float32]
AXIS: Vector = np.array([1.0, 0.0], dtype=np.float32)
NO_CONFLICT = "no_conflict"


@dataclass(frozen=True, eq=False)
class ReplayCase:
    """A candidate and the memories that it is held against. similarities: their cosines with it, in their order.

    The candidate's vector is AXIS, theirs are made by `at_cosine`.
    """

    candidate: MemoryRecord
    partners: Sequence[MemoryRecord]
    similarities: Sequence[float | None]

    def partner(self, key: str | None) -> MemoryRecord:
        """The one of that key, else the first."""
        return next((one for one in self.partners if one.key == key), self.partners[0])

    def similarity(self, partner: MemoryRecord) -> float | None:
        """Its cosine with the candidate."""
        return self.similarities[self.partners.index(partner)]


@dataclass(frozen=True)
class ReplayedOutcome:
    """What a decision comes to.

    outcome: of `verdict.Outcome`, else "no_conflict". existing: the key of the memory that it was decided against.
    gone: the keys of those that do not stand any more. merged: the text that two became. rule: whose, by name.
    """

    outcome: str
    rule: str
    existing: str | None = None
    gone: frozenset[str] = frozenset()
    merged: str | None = None
    strategy: str = Strategy.NO_CONFLICT.value
    confidence: float = 1.0
    reason: str = "The memories do not conflict: both stand."

    @property
    def effect(self) -> tuple[Any, ...]:
        """What makes two fates the same: outcome, what stands, and for what the candidate left or what two became.

        Texts that the hub takes for the same memory (`content_hash`) are the same here.
        """
        lost = self.existing if self.outcome in {VerdictOutcome.KEPT_EXISTING, VerdictOutcome.REJECTED} else None
        return self.outcome, self.gone, lost, None if self.merged is None else content_hash(self.merged)


@dataclass
class ReplayCounts:
    """Counts over replayed decisions. transitions: (before, after) -> how many; rules: by name, what matched."""

    replayed: int = 0
    differ: int = 0
    due_to_change: int = 0
    transitions: Counter[tuple[str, str]] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)

    def add(self, before: ReplayedOutcome, current: ReplayedOutcome, changed: ReplayedOutcome) -> bool:
        """Count one decision; says whether it would differ from `before`."""
        self.replayed += 1
        self.rules[changed.rule] += 1
        if before.effect == changed.effect:
            return False
        self.differ += 1
        self.due_to_change += current.effect != changed.effect
        self.transitions[before.outcome, changed.outcome] += 1
        return True


def at_cosine(cosine: float | None) -> Vector | None:
    """The unit vector whose dot product with AXIS is a cosine of float32; None for None."""
    if cosine is None:
        return None
    return np.array([cosine, math.sqrt(max(0.0, 1.0 - cosine * cosine))], dtype=np.float32)


def replay_case(candidate: MemoryRecord, partners: Sequence[tuple[MemoryRecord, float | None]]) -> ReplayCase:
    """A case of records without vectors. partners: at least one, each with its cosine."""
    placed = tuple(replace(record, embedding=at_cosine(cosine)) for record, cosine in partners)
    return ReplayCase(replace(candidate, embedding=AXIS), placed, tuple(cosine for _, cosine in partners))


def replay(case: ReplayCase, rule: RuleConfig, max_chars: int) -> ReplayedOutcome:
    """Decide a case under a rule, as a save would. max_chars: longer texts are not merged."""
    conflicts = [
        DetectedConflict(partner, detect(case.candidate, partner, rule.detection)) for partner in case.partners
    ]
    verdict = decide(case.candidate, conflicts, rule.arbitration)
    return ReplayedOutcome(NO_CONFLICT, rule.name) if verdict is None else _fate_of(case, verdict, rule, max_chars)


def _fate_of(case: ReplayCase, verdict: Verdict, rule: RuleConfig, max_chars: int) -> ReplayedOutcome:
    existing, result = verdict.main.conflict.existing, verdict.main.result
    merged = _merged(case, existing, rule) if verdict.outcome is VerdictOutcome.MERGED else None
    if merged is not None and len(merged) > max_chars:
        reason = f"Merged, they would be longer than {max_chars:,} characters: both stand."
        return ReplayedOutcome(VerdictOutcome.NOTICED.value, rule.name, existing.key, reason=reason, **_how(result))
    return ReplayedOutcome(
        outcome=verdict.outcome.value,
        rule=rule.name,
        existing=existing.key,
        gone=removed_ids(
            verdict.outcome.value, case.candidate.key, existing.key, [one.conflict.existing.key for one in verdict.also]
        ),
        merged=merged,
        reason=result.reason,
        **_how(result),
    )


def _how(result: ArbitrationResult) -> dict[str, Any]:
    return {"strategy": result.strategy.value, "confidence": result.confidence}


def _merged(case: ReplayCase, existing: MemoryRecord, rule: RuleConfig) -> str:
    return merge(existing, case.candidate, case.similarity(existing), rule.merge).content


def removed_ids(outcome: str, candidate: str, existing: str, also: Collection[str]) -> frozenset[str]:
    """The keys of the memories that do not stand after a decision. also: those that leave with the existing one."""
    match outcome:
        case VerdictOutcome.SUPERSEDED_EXISTING:
            return frozenset((existing, *also))
        case VerdictOutcome.MERGED:
            return frozenset((candidate, existing, *also))
        case VerdictOutcome.KEPT_EXISTING | VerdictOutcome.REJECTED:
            return frozenset((candidate,))
    return frozenset()


def changed_document(name: str, before: Mapping[str, Any], changes: Any) -> Document:
    """A rule's document with changes merged in, checked as `rules.services.rule_update` checks it.

    Raises InvalidRuleError.
    """
    if not isinstance(changes, Mapping):
        raise InvalidRuleError([RuleProblem("", "Expected a JSON object.")])
    if changes.get("name", name) != name:
        raise InvalidRuleError([RuleProblem("name", "A rule keeps its name.")])
    validate_document({**changes, "name": name})
    return validate_document(deep_merge(before, changes))
