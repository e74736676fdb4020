"""The verdict on all conflicts of one candidate: spec 000 "Multiple conflict resolution", DESIGN D3 and D5.

The most severe conflict is decided; those that are strong enough to act on come before those that are only noticed.
When the candidate wins it, the other conflicts that are to be acted on are arbitrated too: a candidate that loses one
of them does not become active, so that conflict becomes the one that is decided, and nothing else is changed. Memories
that it wins against are superseded with the first one. So no two memories stay active whose contradiction the engine
would act on.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from apps.rules.domain.engine.arbitration import (
    Action,
    ArbitrationConfig,
    ArbitrationResult,
    DetectedConflict,
    Strategy,
    arbitrate,
    by_severity,
)
from apps.rules.domain.engine.record import MemoryRecord


class VerdictOutcome(StrEnum):
    """The effect of a decision.

    noticed: none, both memories stay active. rejected: the candidate is refused. kept_both: none either, and nothing is
    left to decide, because a chat model found that both can be true.
    """

    NOTICED = "noticed"
    SUPERSEDED_EXISTING = "superseded_existing"
    KEPT_EXISTING = "kept_existing"
    MERGED = "merged"
    REJECTED = "rejected"
    KEPT_BOTH = "kept_both"


@dataclass(frozen=True)
class DecidedConflict:
    """A conflict and its decision."""

    conflict: DetectedConflict
    result: ArbitrationResult


@dataclass(frozen=True)
class Verdict:
    """The decision about a candidate.

    main: the conflict that decides. also: further ones that the candidate wins, whose memories are superseded too.
    others: conflicts that change nothing.
    """

    outcome: VerdictOutcome
    main: DecidedConflict
    also: tuple[DecidedConflict, ...] = ()
    others: tuple[DecidedConflict, ...] = ()


def decide(candidate: MemoryRecord, conflicts: Sequence[DetectedConflict], config: ArbitrationConfig) -> Verdict | None:
    """Decide about a candidate and the memories that it conflicts with; None when there is no conflict.

    The order of the conflicts makes no difference.
    """
    decided = [
        DecidedConflict(conflict, arbitrate(candidate, conflict.existing, conflict.detection, config))
        for conflict in by_severity(conflicts)
    ]
    return choose(decided) if decided else None


def choose(decided: Sequence[DecidedConflict]) -> Verdict:
    """Return the verdict on conflicts that are arbitrated one by one, the most severe first; at least one."""
    acting = [one for one in decided if outcome_of(one.result) is not VerdictOutcome.NOTICED]
    # The most severe; or, if the candidate loses another one, the most severe of those that it loses.
    lost = next((one for one in acting if one.result.loser == "candidate"), None)
    main = lost or (acting or list(decided))[0]
    outcome = outcome_of(main.result)
    also: tuple[DecidedConflict, ...] = ()
    if outcome in {VerdictOutcome.SUPERSEDED_EXISTING, VerdictOutcome.MERGED}:
        also = tuple(one for one in acting if one is not main and one.result.winner == "candidate")
    others = tuple(one for one in decided if one is not main and one not in also)
    return Verdict(outcome, main, also, others)


def notice_only(verdict: Verdict, reason: str) -> Verdict:
    """Return a verdict on the same conflicts that acts on none. reason: why not, in a sentence."""
    said = verdict.main.result
    result = ArbitrationResult(Action.KEEP, None, None, said.confidence, reason, Strategy.NOTICED)
    return Verdict(VerdictOutcome.NOTICED, replace(verdict.main, result=result), (), (*verdict.also, *verdict.others))


def outcome_of(result: ArbitrationResult) -> VerdictOutcome:
    """Return the outcome of one arbitration. A keep without a winner, where both stay active, is noticed."""
    if result.action is Action.MERGE:
        return VerdictOutcome.MERGED
    if result.action is Action.REJECT:
        return VerdictOutcome.REJECTED
    if result.winner is None:
        return VerdictOutcome.NOTICED
    return VerdictOutcome.SUPERSEDED_EXISTING if result.winner == "candidate" else VerdictOutcome.KEPT_EXISTING
