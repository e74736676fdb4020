"""The two confidences of a memory (DESIGN D4, spec 002 section 5)."""

import math
from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum

DEFAULT_CONFIDENCE = 0.5
_SCALE = 1_000_000


class DecayPolicy(StrEnum):
    """How the confidence of a memory fades with its age."""

    STABLE = "stable"
    REINFORCEABLE = "reinforceable"
    CONTEXTUAL = "contextual"


HALF_LIFE: Mapping[str, timedelta | None] = {
    DecayPolicy.STABLE: None,
    DecayPolicy.REINFORCEABLE: timedelta(days=30),
    DecayPolicy.CONTEXTUAL: timedelta(days=7),
}


def current_confidence(
    base: float,
    policy: DecayPolicy,
    created_at: datetime,
    reinforced_at: datetime | None,
    now: datetime,
    half_lives: Mapping[str, timedelta | None] = HALF_LIFE,
) -> float:
    """Return the confidence that a reader sees now, in [0, 1], rounded to six decimals."""
    is_renewed = policy is DecayPolicy.REINFORCEABLE and reinforced_at is not None
    age, half_life = now - (reinforced_at if is_renewed and reinforced_at else created_at), half_lives[policy]
    left = 1.0 if half_life is None or age <= timedelta(0) else math.pow(0.5, age / half_life)
    return round_half_up(base * left)


def merge_confidence(base: float | None, provider: float | None, default: float = DEFAULT_CONFIDENCE) -> float:
    """Return the harmonic mean of two confidences, biased to the lower one (spec 002 section 5).

    Missing values become `default`; values are clamped to [0, 1]; the result has six decimals.
    """
    x, y = (max(0.0, min(1.0, default if value is None else value)) for value in (base, provider))
    if x + y == 0:
        return 0.0
    return round_half_up(2 * x * y / (x + y))


def round_half_up(value: float) -> float:
    """Round to six decimals, halves upwards, as JavaScript's Math.round does."""
    return math.floor(value * _SCALE + 0.5) / _SCALE
