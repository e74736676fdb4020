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


def decay_anchor(policy: DecayPolicy, created_at: datetime, reinforced_at: datetime | None) -> datetime:
    """Return the time from which a memory's age counts."""
    if policy is DecayPolicy.REINFORCEABLE and reinforced_at is not None:
        return reinforced_at
    return created_at


def decay(age: timedelta, half_life: timedelta | None) -> float:
    """Return the share of confidence left after `age`, in (0, 1]; 1.0 without a half-life or before the anchor."""
    if half_life is None or age <= timedelta(0):
        return 1.0
    return math.pow(0.5, age / half_life)


def current_confidence(
    base: float,
    policy: DecayPolicy,
    created_at: datetime,
    reinforced_at: datetime | None,
    now: datetime,
    half_lives: Mapping[str, timedelta | None] = HALF_LIFE,
) -> float:
    """Return the confidence that a reader sees now, in [0, 1], rounded to six decimals."""
    age = now - decay_anchor(policy, created_at, reinforced_at)
    return round_half_up(base * decay(age, half_lives[policy]))


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
