"""How near rows are to the times that a question names, and what that does to their scores."""

import math
from collections.abc import Sequence

import numpy as np

from apps.retrieval.domain.postings import Floats
from apps.retrieval.domain.times.read import NamedTime

# What happened in a named time has a score of 1 + so much as many.
TIME_WEIGHT = 0.5
_DAY = 86_400.0
# Where the closeness to a time has fallen to a half: a share of its length away, at least and at most so far.
_BLUR, _LEAST_BLUR, _MOST_BLUR = 0.5, 2 * _DAY, 60 * _DAY


def closeness(happened: Floats, times: Sequence[NamedTime]) -> Floats:
    """Return how near moments are to the nearest of some times, from 0 to 1: 1 within one. happened: in seconds."""
    best = np.zeros(len(happened))
    for time in times:
        start = -math.inf if time.start is None else time.start.timestamp()
        end = math.inf if time.end is None else time.end.timestamp()
        away = np.maximum(np.maximum(start - happened, happened - end), 0.0)
        blur = min(max(_BLUR * (end - start), _LEAST_BLUR), _MOST_BLUR)
        np.maximum(best, 1 / (1 + (away / blur) ** 2), out=best)
    return best


def time_factors(score: Floats, near: Floats) -> Floats:
    """Return by how much scores are multiplied for their closeness; one that is below zero stays as it is."""
    return np.where(score > 0, 1 + TIME_WEIGHT * near, 1.0)
