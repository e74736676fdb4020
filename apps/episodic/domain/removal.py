"""Which events of a file are to be removed, by its table of runs alone (`domain.segment_format.RUN`)."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import numpy as np

from apps.core.domain.scope import Scope
from apps.episodic.domain.event import ScopeKey
from apps.episodic.domain.segment_file.format import Array, microseconds

# Before which moment the events of a scope are to be removed; None to keep them.
CutoffOf = Callable[[ScopeKey], datetime | None]
# Stands for a moment after every other one.
ALL_TIMES = datetime.max.replace(tzinfo=UTC)
_NEVER = np.iinfo(np.int64).min
_ALWAYS = np.iinfo(np.int64).max


class EveryEventOf:
    """All events of a scope, of whatever time."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def __call__(self, key: ScopeKey) -> datetime | None:
        return ALL_TIMES if key.is_in(self._scope) else None


def should_remove(key: ScopeKey, timestamp: datetime, cutoff_of: CutoffOf) -> bool:
    """Whether an event is to be removed."""
    cutoff = cutoff_of(key)
    return cutoff is not None and (cutoff is ALL_TIMES or timestamp < cutoff)


def runs_to_remove(scopes: Sequence[ScopeKey], runs: Array, cutoff_of: CutoffOf) -> tuple[Array, Array]:
    """Of each run, whether any of its events is to be removed, and whether all of them are. Arrays of bool."""
    cutoffs = np.array([_micros(cutoff_of(key)) for key in scopes], dtype=np.int64)[runs["scope"]]
    return runs["first"] < cutoffs, runs["last"] < cutoffs


def _micros(cutoff: datetime | None) -> int:
    if cutoff is None:
        return int(_NEVER)
    return int(_ALWAYS) if cutoff is ALL_TIMES else microseconds(cutoff)
