"""What speaks for a conflict between two memories: signals with scores and evidence."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class SignalType(StrEnum):
    """The signals of spec 000 "Memory Conflict Detection", and the contradiction signal of DESIGN D6."""

    SEMANTIC = "semantic"
    KEYWORD = "keyword"
    TIME = "time"
    IMPORTANCE = "importance"
    CONTRADICTION = "contradiction"


@dataclass(frozen=True)
class Signal:
    """One signal that fired. score: in [0, 1]. evidence: JSON that says why, for the receipt."""

    type: SignalType
    score: float
    evidence: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class DetectionConfig:
    """The `detection` section of a rule. Thresholds in [0, 1] but for the window in seconds.

    weights: what each signal counts in the total score by which the most severe of several conflicts is chosen.
    """

    semantic_threshold: float = 0.85
    keyword_threshold: float = 0.7
    contradiction_threshold: float = 0.5
    time_window_seconds: float = 300.0
    importance_delta: float = 0.3
    weights: Mapping[SignalType, float] = field(default_factory=lambda: dict.fromkeys(SignalType, 1.0))


@dataclass(frozen=True)
class Detection:
    """The signals between two memories, and whether they amount to a conflict (DESIGN D6)."""

    signals: tuple[Signal, ...]
    is_conflict: bool
    total_score: float

    def signal(self, kind: SignalType) -> Signal | None:
        """The signal of a type, if it fired."""
        return next((signal for signal in self.signals if signal.type is kind), None)
