"""Increases of counts that begin at zero again when their processes do, and quantiles of histograms."""

import math
from collections.abc import Sequence


def increase(before: float, now: float) -> float:
    """Return by how much a count has risen. One that is smaller than before began again: all of it is new."""
    return now - before if now >= before else now


def increases(before: Sequence[float], now: Sequence[float]) -> list[float]:
    """Return the increase of each cumulative count of a histogram; all are new when one has fallen or bounds differ."""
    if len(before) != len(now) or any(new < old for old, new in zip(before, now, strict=True)):
        return list(now)
    return [new - old for old, new in zip(before, now, strict=True)]


def quantile(bounds: Sequence[float], counts: Sequence[float], share: float) -> float | None:
    """Return the value below which a share of the observations lies; None without observations.

    Interpolates within a bucket, as `histogram_quantile` of Prometheus does: exact to the width of the bucket. What
    lies above the last finite bound counts as this bound.
    """
    if not counts or counts[-1] <= 0:
        return None
    rank = share * counts[-1]
    below, lower = 0.0, 0.0
    for bound, count in zip(bounds, counts, strict=True):
        if count >= rank and count > below:
            if math.isinf(bound):
                return lower
            return lower + (bound - lower) * (rank - below) / (count - below)
        below, lower = max(count, below), (lower if math.isinf(bound) else bound)
    return lower
