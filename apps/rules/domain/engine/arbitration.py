"""Which of two conflicting memories stays active: spec 000 "Memory Conflict Arbitration".

The strategies are tried in the order of the spec, and the first that finds a difference decides: importance, recency,
source, the multi-factor score, the default strategy. All but the last compare the two memories only, whichever of them
is the candidate, so swapping the two never changes which one wins.

Whatever they say, what is less trusted neither replaces what is more trusted nor is merged with it: that is only
noticed (DESIGN D20).

Confidences, all in [0, 1], where the spec leaves the formula open:

- importance: 0.5 + 0.5 x the difference of the importances.
- recency: 0.5 + 0.5 x t / (t + 1 day) for a difference of t: 0.5 at the same time, 0.75 after a day, 0.94 after a week.
- source: 0.7.
- multi-factor: 0.5 + 0.5 x the difference of the scores when one is kept; when they are merged
  1 - 0.5 x the difference / `merge_threshold`: the more alike, the surer.
- default strategy: 0.5.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Literal, NamedTuple, get_args

from pydantic import Field

from apps.core.domain.origin import WriteOrigin
from apps.rules.domain.decimals import difference, reaches
from apps.rules.domain.engine.record import SOURCE_ORDER, MemoryRecord, source_rank
from apps.rules.domain.engine.signals import Detection, SignalType
from apps.rules.domain.section import Flag, SettingsGroup, Share, Weight, Weights

Side = Literal["candidate", "existing"]
SIDES: tuple[Side, ...] = get_args(Side)
SOURCE_CONFIDENCE = 0.7
DEFAULT_CONFIDENCE = 0.5
DAY = 86_400.0
RECENCY_HALF_LIFE_SECONDS = 7 * DAY
# How long what was replaced by itself stays visible; see `ArbitrationConfig`.
HIDE_AFTER_DAYS, MAX_HIDE_DAYS = 30.0, 3650.0


class Action(StrEnum):
    """The action on a conflict. reject: the candidate is refused, the existing memory is unchanged."""

    KEEP = "keep"
    MERGE = "merge"
    REJECT = "reject"


class DefaultStrategy(StrEnum):
    """The action where no strategy finds a difference."""

    KEEP_CANDIDATE = "keep-candidate"
    KEEP_EXISTING = "keep-existing"
    REJECT = "reject"


class Strategy(StrEnum):
    """The step that decided."""

    NO_CONFLICT = "no-conflict"
    NOTICED = "noticed"
    TRUST = "trust"
    IMPORTANCE = "importance"
    RECENCY = "recency"
    SOURCE = "source"
    MULTI_FACTOR = "multi-factor"
    DEFAULT = "default"


class ArbitrationWeights(Weights):
    """The weight of each factor in the multi-factor score."""

    importance: Weight = Field(default=0.4, description="Weight of the importance in the fourth step, the score.")
    recency: Weight = Field(default=0.3, description="Weight of the recency, which halves with each week.")
    source: Weight = Field(default=0.2, description="Weight of the source: 1 for `user` to 0.2 for `inferred`.")
    semantic: Weight = Field(default=0.1, description="Weight of the similarity, which brings scores nearer.")

    @property
    def total(self) -> float:
        """Return the sum, by which scores are divided."""
        return self.importance + self.recency + self.source + self.semantic


class ArbitrationConfig(SettingsGroup):
    """The `arbitration` section of a rule.

    The defaults let the newer memory win. Importance is left out of it, or an old memory that mattered more would
    outlive the news; the source decides where both are of the same time. Memories that contradict each other are not
    merged by default, since both cannot be true.
    """

    priority_importance: Flag = Field(default=False, description="First step: the more important memory wins.")
    priority_recency: Flag = Field(default=True, description="Second step: the newer memory wins.")
    priority_source: Flag = Field(default=True, description="Third step: the more trusted source wins.")
    weights: ArbitrationWeights = Field(default_factory=ArbitrationWeights)
    merge_threshold: Share = Field(
        default=0.2, description="Memories whose scores differ by less than this are merged."
    )
    allow_merge: Flag = Field(default=True, description="Whether memories may be merged.")
    merge_contradictions: Flag = Field(default=False, description="Whether contradicting memories may be merged too.")
    act_on_weak_evidence: Flag = Field(default=False, description="Decide on weak evidence too, not only notice it.")
    hide_after_days: Annotated[float, Field(strict=True, ge=0, le=MAX_HIDE_DAYS)] = Field(
        default=HIDE_AFTER_DAYS,
        description="Days for which searches still give a replaced memory, marked, after what replaced it; 0 for none.",
    )
    default_strategy: DefaultStrategy = Field(
        default=DefaultStrategy.KEEP_CANDIDATE, description="What happens if all steps find no difference."
    )


@dataclass(frozen=True)
class ArbitrationResult:
    """A decision with its confidence in [0, 1], its strategy and its reason in a sentence.

    winner and loser are None for a merge, and where both stay active: without a conflict, or when one is only noticed.
    """

    action: Action
    winner: Side | None
    loser: Side | None
    confidence: float
    reason: str
    strategy: Strategy


class DetectedConflict(NamedTuple):
    """A stored memory and the detection of it and the candidate."""

    existing: MemoryRecord
    detection: Detection


def arbitrate(
    candidate: MemoryRecord, existing: MemoryRecord, detection: Detection, config: ArbitrationConfig
) -> ArbitrationResult:
    """Decide between two memories. Both stay active without a conflict, and when the evidence is too weak to act on."""
    if not detection.is_conflict:
        reason = "The memories do not conflict: both stay active."
        return ArbitrationResult(Action.KEEP, None, None, 1.0, reason, Strategy.NO_CONFLICT)
    if detection.is_elsewhere:
        return notice("One of the memories holds in other places, too: the conflict is noticed, and both stay active.")
    if not (detection.is_decisive or config.act_on_weak_evidence):
        return notice("The evidence is too weak to act on: the conflict is noticed, and both memories stay active.")
    result = (
        by_importance(candidate, existing, config)
        or by_recency(candidate, existing, config)
        or by_source(candidate, existing, config)
        or by_score(candidate, existing, detection, config)
        or by_default(config.default_strategy)
    )
    if respects_origins(result, candidate.origin, existing.origin):
        return result
    reason = (
        f"The candidate comes from {candidate.origin}, the existing memory from {existing.origin}: "
        "what is less trusted replaces nothing by itself, so the conflict is noticed, and both stay active."
    )
    return ArbitrationResult(Action.KEEP, None, None, DEFAULT_CONFIDENCE, reason, Strategy.TRUST)


def notice(reason: str) -> ArbitrationResult:
    """Return the decision to change nothing."""
    return ArbitrationResult(Action.KEEP, None, None, DEFAULT_CONFIDENCE, reason, Strategy.NOTICED)


def respects_origins(result: ArbitrationResult, candidate: WriteOrigin, existing: WriteOrigin) -> bool:
    """Return whether nothing is replaced by what is less trusted. A merge replaces both by what has the lower one."""
    if result.action is Action.MERGE:
        return candidate == existing
    winner, loser = (candidate, existing) if result.winner == "candidate" else (existing, candidate)
    return not winner.is_below(loser)


def by_severity(conflicts: Iterable[DetectedConflict]) -> list[DetectedConflict]:
    """Return the conflicts by descending total score, then newer memories first, then by key."""

    def severity(conflict: DetectedConflict) -> tuple[float, float, str]:
        existing = conflict.existing
        return -conflict.detection.total_score, -existing.timestamp.timestamp(), existing.key

    return sorted((conflict for conflict in conflicts if conflict.detection.is_conflict), key=severity)


def keep(candidate_wins: bool, confidence: float, reason: str, strategy: Strategy) -> ArbitrationResult:
    """Return the decision to keep one of the two memories."""
    winner: Side = "candidate" if candidate_wins else "existing"
    loser: Side = "existing" if candidate_wins else "candidate"
    return ArbitrationResult(Action.KEEP, winner, loser, min(1.0, confidence), reason, strategy)


def by_importance(
    candidate: MemoryRecord, existing: MemoryRecord, config: ArbitrationConfig
) -> ArbitrationResult | None:
    """Return the decision by importance; None where it is off or equal."""
    high, low = sorted((candidate.importance, existing.importance), reverse=True)
    apart = difference(high, low)
    if not config.priority_importance or apart == 0:
        return None
    reason = f"Importance {high:g} beats {low:g}."
    return keep(candidate.importance == high, 0.5 + 0.5 * apart, reason, Strategy.IMPORTANCE)


def by_recency(candidate: MemoryRecord, existing: MemoryRecord, config: ArbitrationConfig) -> ArbitrationResult | None:
    """Return the decision by recency; None where it is off or the times are equal."""
    seconds = abs((candidate.timestamp - existing.timestamp).total_seconds())
    if not config.priority_recency or seconds == 0:
        return None
    confidence = 0.5 + 0.5 * seconds / (seconds + DAY)
    units = (("days", DAY), ("hours", 3600.0), ("minutes", 60.0))
    in_units = (f"{seconds / size:.0f} {unit}" for unit, size in units if seconds >= 2 * size)
    duration = next(in_units, f"{seconds:g} seconds")
    reason = f"The newer memory wins: it is {duration} younger."
    return keep(candidate.timestamp > existing.timestamp, confidence, reason, Strategy.RECENCY)


def by_source(candidate: MemoryRecord, existing: MemoryRecord, config: ArbitrationConfig) -> ArbitrationResult | None:
    """Return the decision by source; None where it is off or the ranks are equal."""
    ranks = source_rank(candidate.source), source_rank(existing.source)
    if not config.priority_source or ranks[0] == ranks[1]:
        return None
    higher, lower = sorted((candidate, existing), key=lambda record: source_rank(record.source))
    reason = f"The source {higher.source!r} ranks above {lower.source!r}."
    return keep(ranks[0] < ranks[1], SOURCE_CONFIDENCE, reason, Strategy.SOURCE)


def by_score(
    candidate: MemoryRecord, existing: MemoryRecord, detection: Detection, config: ArbitrationConfig
) -> ArbitrationResult | None:
    """Return the decision by multi-factor score, which may be to merge; None where the scores are equal."""
    newest = max(candidate.timestamp, existing.timestamp).timestamp()
    semantic = detection.signal(SignalType.SEMANTIC)
    likeness = semantic.score if semantic else 0.0
    scores = [multi_factor_score(record, newest, likeness, config.weights) for record in (candidate, existing)]
    apart = abs(difference(*scores))
    high, low = max(scores), min(scores)
    may_merge = config.allow_merge and (config.merge_contradictions or not detection.contradicts)
    if may_merge and not reaches(apart, config.merge_threshold):
        reason = f"The scores {high:.3f} and {low:.3f} are nearer than {config.merge_threshold:g}: both are merged."
        confidence = 1.0 - 0.5 * apart / config.merge_threshold
        return ArbitrationResult(Action.MERGE, None, None, confidence, reason, Strategy.MULTI_FACTOR)
    if apart == 0:
        return None
    reason = f"The score {high:.3f} beats {low:.3f}."
    return keep(scores[0] > scores[1], 0.5 + 0.5 * apart, reason, Strategy.MULTI_FACTOR)


def multi_factor_score(record: MemoryRecord, newest: float, likeness: float, weights: ArbitrationWeights) -> float:
    """Return the weighted mean of four factors of a memory, in [0, 1].

    newest: POSIX seconds of the newer one of the two memories; recency is 1 for it and halves with every week
    before it. likeness: the semantic signal's score, the same for both memories: it says nothing about which one
    wins, so the more it weighs, the nearer the two scores are and the sooner the memories are merged.
    """
    # From 1.0 for `user` in steps of 0.2 to 0.2.
    source = 1.0 - source_rank(record.source) / len(SOURCE_ORDER)
    recency = math.exp2((record.timestamp.timestamp() - newest) / RECENCY_HALF_LIFE_SECONDS)
    total = (
        weights.importance * record.importance
        + weights.recency * recency
        + weights.source * source
        + weights.semantic * likeness
    )
    return total / weights.total


def by_default(strategy: DefaultStrategy) -> ArbitrationResult:
    """Return the decision of the default strategy."""
    reason = f"The memories are equal in every step: the default strategy is {strategy.value!r}."
    if strategy is DefaultStrategy.REJECT:
        return ArbitrationResult(Action.REJECT, "existing", "candidate", DEFAULT_CONFIDENCE, reason, Strategy.DEFAULT)
    return keep(strategy is DefaultStrategy.KEEP_CANDIDATE, DEFAULT_CONFIDENCE, reason, Strategy.DEFAULT)
