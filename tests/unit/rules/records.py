"""What tests of the engine build from."""

from datetime import UTC, datetime, timedelta
from typing import Any

from apps.rules.domain.engine.record import MemoryRecord
from apps.rules.domain.engine.signals import Detection, Signal, SignalType

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def record(content: str = "Ana likes tea.", *, days: float = 0.0, **fields: Any) -> MemoryRecord:
    """A memory of the given content, `days` after a fixed noon."""
    return MemoryRecord(
        **{"key": "m", "content": content, "timestamp": NOON + timedelta(days=days), "user_id": "ana", **fields}
    )


def conflict(*kinds: SignalType, score: float = 0.9) -> Detection:
    """What the detector says of a conflict: these signals, the semantic one unless said otherwise."""
    signals = tuple(Signal(kind, score) for kind in kinds or (SignalType.SEMANTIC,))
    return Detection(signals, True, sum(signal.score for signal in signals))
