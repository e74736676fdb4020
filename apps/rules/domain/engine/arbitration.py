"""Which of two conflicting memories stands: spec 000 "Memory Conflict Arbitration".

The strategies are asked in the spec's order, and the first that can tell decides: importance, recency, source, the
multi-factor score, the default strategy. All but the last look at the two memories only, never at which of them is
the candidate, so swapping the two never changes which one wins.

Confidences, all in [0, 1], where the spec leaves the formula open:

- importance: 0.5 + 0.5 x the difference of the importances.
- recency: 0.5 + 0.5 x t / (t + 1 day) for a difference of t: 0.5 at once, 0.75 after a day, 0.94 after a week.
- source: 0.7.
- multi-factor: 0.5 + 0.5 x the difference of the scores when one is kept; when they are merged
  1 - 0.5 x the difference / `merge_threshold`: the more alike, the surer.
- default strategy: 0.5.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, NamedTuple, get_args

from pydantic import Field

from apps.rules.domain.engine.record import MemoryRecord
from apps.rules.domain.engine.signals import Detection, SignalType
from apps.rules.domain.engine.sources import source_rank, source_score
from apps.rules.domain.section import Flag, Section, Share, Weight, Weights

Side = Literal["candidate", "existing"]
SIDES: tuple[Side, ...] = get_args(Side)
SOURCE_CONFIDENCE = 0.7
DEFAULT_CONFIDENCE = 0.5
DAY = 86_400.0
RECENCY_HALF_LIFE_SECONDS = 7 * DAY
# Scores nearer than this are the same but for rounding.
SAME = 1e-9


class Action(StrEnum):
    """What is done about a conflict. reject: the candidate is refused, the existing memory stays as it is."""

    KEEP = "keep"
    MERGE = "merge"
    REJECT = "reject"


class DefaultStrategy(StrEnum):
    """What happens when nothing tells two memories apart."""

    KEEP_CANDIDATE = "keep-candidate"
    KEEP_EXISTING = "keep-existing"
    REJECT = "reject"


class Strategy(StrEnum):
    """What decided."""

    NO_CONFLICT = "no-conflict"
    NOTICED = "noticed"
    IMPORTANCE = "importance"
    RECENCY = "recency"
    SOURCE = "source"
    MULTI_FACTOR = "multi-factor"
    DEFAULT = "default"


class ArbitrationWeights(Weights):
    """The weight of each factor in the multi-factor score."""

    importance: Weight = Field(
        default=0.4, description="Weight of the importance in the multi-factor score, the fourth step."
    )
    recency: Weight = Field(
        default=0.3, description="Weight of the recency: 1 for the newer memory, halved with each week before it."
    )
    source: Weight = Field(
        default=0.2, description="Weight of the source: from 1 for `user` down to 0.2 for `inferred`."
    )
    semantic: Weight = Field(
        default=0.1, description="Weight of the similarity: equal for both, so that it brings the scores nearer."
    )

    @property
    def total(self) -> float:
        """Return the sum, by which scores are divided."""
        return self.importance + self.recency + self.source + self.semantic


class ArbitrationConfig(Section):
    """The `arbitration` section of a rule.

    The defaults let the newer memory win. Importance is left out of it, or an old memory that mattered more would
    outlive the news; the source decides where both are of the same time. Memories that contradict each other are not
    merged by default, since both cannot be true.
    """

    priority_importance: Flag = Field(default=False, description="First step: the more important memory wins.")
    priority_recency: Flag = Field(default=True, description="Second step: the newer memory wins.")
    priority_source: Flag = Field(
        default=True, description="Third step: of user, conversation, skill, system, inferred, the first one wins."
    )
    weights: ArbitrationWeights = Field(default_factory=ArbitrationWeights)
    merge_threshold: Share = Field(
        default=0.2, description="Memories whose scores differ by less than this are merged."
    )
    allow_merge: Flag = Field(default=True, description="Whether memories may be merged.")
    merge_contradictions: Flag = Field(
        default=False, description="Whether memories that contradict each other may be merged too."
    )
    act_on_weak_evidence: Flag = Field(
        default=False, description="Decide on weak evidence too; otherwise such a conflict is only noticed."
    )
    default_strategy: DefaultStrategy = Field(
        default=DefaultStrategy.KEEP_CANDIDATE, description="What happens when all steps leave the memories equal."
    )


@dataclass(frozen=True)
class ArbitrationResult:
    """What was decided, how surely (in [0, 1]), by which strategy, and why in a sentence.

    winner and loser are None for a merge, and where both stand: without a conflict, or when one is only noticed.
    """

    action: Action
    winner: Side | None
    loser: Side | None
    confidence: float
    reason: str
    strategy: Strategy


class DetectedConflict(NamedTuple):
    """A stored memory with what the detector says of it and the candidate."""

    existing: MemoryRecord
    detection: Detection


def arbitrate(
    candidate: MemoryRecord, existing: MemoryRecord, detection: Detection, config: ArbitrationConfig
) -> ArbitrationResult:
    """Decide between two memories. Both stand without a conflict, and when the evidence is too weak to act on."""
    if not detection.is_conflict:
        reason = "The memories do not conflict: both stand."
        return ArbitrationResult(Action.KEEP, None, None, 1.0, reason, Strategy.NO_CONFLICT)
    if not (detection.is_decisive or config.act_on_weak_evidence):
        reason = "The evidence is too weak to act on: the conflict is noticed, and both memories stand."
        return ArbitrationResult(Action.KEEP, None, None, DEFAULT_CONFIDENCE, reason, Strategy.NOTICED)
    return (
        _by_importance(candidate, existing, config)
        or _by_recency(candidate, existing, config)
        or _by_source(candidate, existing, config)
        or _by_score(candidate, existing, detection, config)
        or _by_default(config.default_strategy)
    )


def most_severe(conflicts: Iterable[DetectedConflict]) -> DetectedConflict | None:
    """The conflict with the highest total signal score; None when none is a conflict.

    Of equal ones that with the newer memory, then that whose key comes first, whatever their order.
    """
    return next(iter(by_severity(conflicts)), None)


def by_severity(conflicts: Iterable[DetectedConflict]) -> list[DetectedConflict]:
    """Those that are conflicts, the most severe first, in the order of `most_severe`."""
    return sorted((conflict for conflict in conflicts if conflict.detection.is_conflict), key=_severity)


def arbitrate_most_severe(
    candidate: MemoryRecord, conflicts: Iterable[DetectedConflict], config: ArbitrationConfig
) -> tuple[DetectedConflict, ArbitrationResult] | None:
    """Decide the most severe of several conflicts (spec 000 "Multiple conflict resolution")."""
    worst = most_severe(conflicts)
    return worst and (worst, arbitrate(candidate, worst.existing, worst.detection, config))


def _severity(conflict: DetectedConflict) -> tuple[float, float, str]:
    existing = conflict.existing
    return -conflict.detection.total_score, -existing.timestamp.timestamp(), existing.key


def _keep(candidate_wins: bool, confidence: float, reason: str, strategy: Strategy) -> ArbitrationResult:
    winner: Side = "candidate" if candidate_wins else "existing"
    loser: Side = "existing" if candidate_wins else "candidate"
    return ArbitrationResult(Action.KEEP, winner, loser, min(1.0, confidence), reason, strategy)


def _by_importance(
    candidate: MemoryRecord, existing: MemoryRecord, config: ArbitrationConfig
) -> ArbitrationResult | None:
    high, low = sorted((candidate.importance, existing.importance), reverse=True)
    if not config.priority_importance or high == low:
        return None
    reason = f"Importance {high:g} beats {low:g}."
    return _keep(candidate.importance == high, 0.5 + 0.5 * (high - low), reason, Strategy.IMPORTANCE)


def _by_recency(candidate: MemoryRecord, existing: MemoryRecord, config: ArbitrationConfig) -> ArbitrationResult | None:
    seconds = _seconds_apart(candidate, existing)
    if not config.priority_recency or seconds == 0:
        return None
    confidence = 0.5 + 0.5 * seconds / (seconds + DAY)
    reason = f"The newer memory wins: it is {_duration(seconds)} younger."
    return _keep(candidate.timestamp > existing.timestamp, confidence, reason, Strategy.RECENCY)


def _by_source(candidate: MemoryRecord, existing: MemoryRecord, config: ArbitrationConfig) -> ArbitrationResult | None:
    ranks = source_rank(candidate.source), source_rank(existing.source)
    if not config.priority_source or ranks[0] == ranks[1]:
        return None
    higher, lower = sorted((candidate, existing), key=lambda record: source_rank(record.source))
    reason = f"The source {higher.source!r} ranks above {lower.source!r}."
    return _keep(ranks[0] < ranks[1], SOURCE_CONFIDENCE, reason, Strategy.SOURCE)


def _by_score(
    candidate: MemoryRecord, existing: MemoryRecord, detection: Detection, config: ArbitrationConfig
) -> ArbitrationResult | None:
    newest = max(candidate.timestamp, existing.timestamp).timestamp()
    semantic = detection.signal(SignalType.SEMANTIC)
    likeness = semantic.score if semantic else 0.0
    scores = [multi_factor_score(record, newest, likeness, config.weights) for record in (candidate, existing)]
    apart = abs(scores[0] - scores[1])
    high, low = max(scores), min(scores)
    if apart < config.merge_threshold and _may_merge(detection, config):
        reason = f"The scores {high:.3f} and {low:.3f} are nearer than {config.merge_threshold:g}: both are merged."
        confidence = 1.0 - 0.5 * apart / config.merge_threshold
        return ArbitrationResult(Action.MERGE, None, None, confidence, reason, Strategy.MULTI_FACTOR)
    if apart < SAME:
        return None
    reason = f"The score {high:.3f} beats {low:.3f}."
    return _keep(scores[0] > scores[1], 0.5 + 0.5 * apart, reason, Strategy.MULTI_FACTOR)


def multi_factor_score(record: MemoryRecord, newest: float, likeness: float, weights: ArbitrationWeights) -> float:
    """The weighted mean of four factors of a memory, in [0, 1].

    newest: POSIX seconds of the newer one of the two memories; recency is 1 for it and halves with every week
    before it. likeness: the semantic signal's score, the same for both memories: it says nothing about which one
    wins, so the more it weighs, the nearer the two scores are and the sooner the memories are merged.
    """
    recency = math.exp2((record.timestamp.timestamp() - newest) / RECENCY_HALF_LIFE_SECONDS)
    total = (
        weights.importance * record.importance
        + weights.recency * recency
        + weights.source * source_score(record.source)
        + weights.semantic * likeness
    )
    return total / weights.total


def _may_merge(detection: Detection, config: ArbitrationConfig) -> bool:
    contradicts = detection.signal(SignalType.CONTRADICTION) is not None
    return config.allow_merge and (config.merge_contradictions or not contradicts)


def _by_default(strategy: DefaultStrategy) -> ArbitrationResult:
    reason = f"Nothing tells the memories apart: the default strategy is {strategy.value!r}."
    if strategy is DefaultStrategy.REJECT:
        return ArbitrationResult(Action.REJECT, "existing", "candidate", DEFAULT_CONFIDENCE, reason, Strategy.DEFAULT)
    return _keep(strategy is DefaultStrategy.KEEP_CANDIDATE, DEFAULT_CONFIDENCE, reason, Strategy.DEFAULT)


def _seconds_apart(one: MemoryRecord, other: MemoryRecord) -> float:
    return abs((one.timestamp - other.timestamp).total_seconds())


def _duration(seconds: float) -> str:
    for unit, size in (("days", DAY), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:g} seconds"
