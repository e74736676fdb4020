"""Which events of a file are to be removed, by its table of runs alone (`segment_file.format.RUN`)."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import numpy as np

from apps.core.domain.scope import Scope
from apps.episodic.domain.event import ScopeKey
from apps.episodic.domain.segment_file.format import Array, microseconds

# Before which moment the events of a scope are to be removed; None to keep them.
CutoffOf = Callable[[ScopeKey], datetime | None]
# Later than every other moment.
ALL_TIMES = datetime.max.replace(tzinfo=UTC)
INT64 = np.iinfo(np.int64)


def cutoff_for_scope(scope: Scope) -> CutoffOf:
    """Return a cutoff that removes all events of a scope, whatever their time, and no others."""
    return lambda key: ALL_TIMES if key.is_in(scope) else None


def should_remove(key: ScopeKey, timestamp: datetime, cutoff_of: CutoffOf) -> bool:
    """Return whether an event is to be removed."""
    cutoff = cutoff_of(key)
    return cutoff is not None and (cutoff is ALL_TIMES or timestamp < cutoff)


def runs_to_remove(scopes: Sequence[ScopeKey], runs: Array, cutoff_of: CutoffOf) -> tuple[Array, Array]:
    """Return for each run whether any of its events is to be removed, and whether all are. Arrays of bool."""
    limits: list[int] = []
    for key in scopes:
        cutoff = cutoff_of(key)
        if cutoff is None:
            limits.append(int(INT64.min))
        else:
            limits.append(int(INT64.max) if cutoff is ALL_TIMES else microseconds(cutoff))
    cutoffs = np.array(limits, dtype=np.int64)[runs["scope"]]
    return runs["first"] < cutoffs, runs["last"] < cutoffs
