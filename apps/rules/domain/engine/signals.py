"""What speaks for a conflict between two memories: signals with scores and evidence."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypedDict


class SignalType(StrEnum):
    """The signals of spec 000 "Memory Conflict Detection", and the contradiction signal of DESIGN D6."""

    SEMANTIC = "semantic"
    KEYWORD = "keyword"
    TIME = "time"
    IMPORTANCE = "importance"
    CONTRADICTION = "contradiction"


class SignalOutput(TypedDict):
    """A signal as JSON. score: in [0, 1]. evidence: the reason for it, in members that depend on the type."""

    type: SignalType
    score: float
    evidence: dict[str, Any]


@dataclass(frozen=True)
class Signal:
    """One signal that fired. score: in [0, 1]. evidence: JSON that says why, for the receipt."""

    type: SignalType
    score: float
    evidence: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> SignalOutput:
        """Return the signal as the API shows it and receipts store it."""
        return {"type": self.type, "score": self.score, "evidence": dict(self.evidence)}


@dataclass(frozen=True)
class DetectionConfig:
    """The `detection` section of a rule. Thresholds in [0, 1] but for the window in seconds.

    semantic_threshold, keyword_threshold, contradiction_threshold: a score above it makes a conflict, which is
    noticed. act_threshold and restate_threshold: what a noticed conflict needs to be decisive, see `Detection`.
    weights: what each signal counts in the total score by which the most severe of several conflicts is chosen.
    The defaults are chosen by measurement (docs/explain/conflicts.md).
    """

    semantic_threshold: float = 0.98
    keyword_threshold: float = 0.9
    contradiction_threshold: float = 0.5
    act_threshold: float = field(
        default=0.85,
        metadata={"help": "A contradiction at least this strong is acted on; a weaker one is only noticed."},
    )
    restate_threshold: float = field(
        default=0.8,
        metadata={"help": "Share of common words from which a similar memory counts as the same one said again."},
    )
    time_window_seconds: float = 300.0
    importance_delta: float = 0.3
    weights: Mapping[SignalType, float] = field(default_factory=lambda: dict.fromkeys(SignalType, 1.0))


@dataclass(frozen=True)
class Detection:
    """The signals between two memories, and whether they amount to a conflict (DESIGN D6).

    is_decisive: the evidence is strong enough to act on. One memory contradicts the other with at least
    `act_threshold`, or says nearly the same in nearly the same words. A conflict that is not decisive is for noticing:
    a receipt, and both memories stand. restates: nearly the same in nearly the same words, and no contradiction, so
    that merging loses nothing.
    """

    signals: tuple[Signal, ...]
    is_conflict: bool
    total_score: float
    is_decisive: bool = True
    restates: bool = False

    def signal(self, kind: SignalType) -> Signal | None:
        """The signal of a type, if it fired."""
        return next((signal for signal in self.signals if signal.type is kind), None)
