"""Replay decisions under other rules: the pure parts of a rehearsal.

A decision is replayed from what its receipt kept of the memories. Their vectors are not kept, but their cosines are:
the candidate gets the first axis of a plane, and each memory that it conflicts with the unit vector at exactly its
recorded cosine. The engine never compares the vectors of two of those.
"""

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from apps.retrieval.domain.content import content_hash
from apps.rules.domain.documents.rule import RuleConfig
from apps.rules.domain.engine.arbitration import DetectedConflict, Strategy
from apps.rules.domain.engine.judge import JudgedConflict, Opinion, decide_judged
from apps.rules.domain.engine.merge import merge
from apps.rules.domain.engine.record import MemoryRecord
from apps.rules.domain.engine.verdict import Verdict, VerdictOutcome, decide
from apps.semantic.domain.disagreement import find_disagreement

Vector = npt.NDArray[np.float32]
AXIS: Vector = np.array([1.0, 0.0], dtype=np.float32)
NO_CONFLICT = "no_conflict"


@dataclass(frozen=True, eq=False)
class ReplayCase:
    """A candidate and the memories that it is compared with. similarities: their cosines with it, in their order.

    opinions: what a chat model said of each of them, in their order; empty where none was asked. The candidate's vector
    is AXIS, theirs are made by `at_cosine`.
    """

    candidate: MemoryRecord
    partners: Sequence[MemoryRecord]
    similarities: Sequence[float | None]
    opinions: Sequence[Opinion | None] = ()

    def partner(self, key: str | None) -> MemoryRecord:
        """Return the partner with that key, else the first one."""
        return next((one for one in self.partners if one.key == key), self.partners[0])

    def similarity(self, partner: MemoryRecord) -> float | None:
        """Return the cosine of a partner with the candidate."""
        return self.similarities[self.partners.index(partner)]


@dataclass(frozen=True)
class ReplayedOutcome:
    """What the result of a decision is.

    outcome: of `verdict.VerdictOutcome`, else "no_conflict". existing: the key of the memory that it was decided
    against. removed: the keys of those that are not active any more. merged: the text that two were merged into. rule:
    whose, by name.
    """

    outcome: str
    rule: str
    existing: str | None = None
    removed: frozenset[str] = frozenset()
    merged: str | None = None
    strategy: str = Strategy.NO_CONFLICT.value
    confidence: float = 1.0
    reason: str = "The memories do not conflict: both are kept."

    @property
    def effect(self) -> tuple[Any, ...]:
        """Return what two outcomes of the same effect have in common.

        That is the outcome, what is removed, and what the candidate lost to or what two were merged into. Texts that
        are duplicates to the hub (`content_hash`) are the same here.
        """
        lost = self.existing if self.outcome in {VerdictOutcome.KEPT_EXISTING, VerdictOutcome.REJECTED} else None
        return self.outcome, self.removed, lost, None if self.merged is None else content_hash(self.merged)


@dataclass
class ReplayCounts:
    """Counts over replayed decisions. transitions: (before, after) -> how many; rules: by name, what matched."""

    replayed: int = 0
    differ: int = 0
    due_to_change: int = 0
    transitions: Counter[tuple[str, str]] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)

    def add(self, before: ReplayedOutcome, current: ReplayedOutcome, changed: ReplayedOutcome) -> bool:
        """Count one decision. Return whether it would differ from `before`."""
        self.replayed += 1
        self.rules[changed.rule] += 1
        if before.effect == changed.effect:
            return False
        self.differ += 1
        self.due_to_change += current.effect != changed.effect
        self.transitions[before.outcome, changed.outcome] += 1
        return True


def at_cosine(cosine: float | None) -> Vector | None:
    """Return the unit vector whose dot product with AXIS is a cosine of float32; None for None."""
    if cosine is None:
        return None
    return np.array([cosine, math.sqrt(max(0.0, 1.0 - cosine * cosine))], dtype=np.float32)


def replay_case(candidate: MemoryRecord, partners: Sequence[tuple[MemoryRecord, float | None]]) -> ReplayCase:
    """Return a case of records without vectors. partners: at least one, each with its cosine."""
    placed = tuple(replace(record, embedding=at_cosine(cosine)) for record, cosine in partners)
    return ReplayCase(replace(candidate, embedding=AXIS), placed, tuple(cosine for _, cosine in partners))


def replay(case: ReplayCase, rule: RuleConfig, max_chars: int) -> ReplayedOutcome:
    """Decide a case under a rule, as a save would. max_chars: longer texts are not merged."""
    conflicts = [
        DetectedConflict(partner, find_disagreement(case.candidate, partner, rule.detection))
        for partner in case.partners
    ]
    if any(case.opinions):
        pairs = [JudgedConflict(*pair) for pair in zip(conflicts, case.opinions, strict=True)]
        verdict: Verdict | None = decide_judged(case.candidate, pairs, rule.detection, rule.arbitration)
    else:
        verdict = decide(case.candidate, conflicts, rule.arbitration)
    if verdict is None:
        return ReplayedOutcome(NO_CONFLICT, rule.name)
    existing, result = verdict.main.conflict.existing, verdict.main.result
    outcome = ReplayedOutcome(
        outcome=verdict.outcome.value,
        rule=rule.name,
        existing=existing.key,
        strategy=result.strategy.value,
        confidence=result.confidence,
        reason=result.reason,
    )
    merged = None
    if verdict.outcome is VerdictOutcome.MERGED:
        merged = merge(existing, case.candidate, case.similarity(existing), rule.merge).content
        if len(merged) > max_chars:
            reason = f"Merged, they would be longer than {max_chars:,} characters: both are kept."
            return replace(outcome, outcome=VerdictOutcome.NOTICED.value, reason=reason)
    also = [one.conflict.existing.key for one in verdict.also]
    removed = removed_ids(verdict.outcome.value, case.candidate.key, existing.key, also)
    return replace(outcome, removed=removed, merged=merged)


def removed_ids(outcome: str, candidate: str, existing: str, also: Collection[str]) -> frozenset[str]:
    """Return the keys of the memories that are not active after a decision. also: superseded with the existing one."""
    match outcome:
        case VerdictOutcome.SUPERSEDED_EXISTING:
            return frozenset((existing, *also))
        case VerdictOutcome.MERGED:
            return frozenset((candidate, existing, *also))
        case VerdictOutcome.KEPT_EXISTING | VerdictOutcome.REJECTED:
            return frozenset((candidate,))
    return frozenset()
