"""How long events are kept: which policy counts, what it leaves, and which events of a file go (spec 000)."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import NamedTuple
from uuid import UUID

import numpy as np

from apps.core.domain.batches import batched
from apps.core.domain.scope import Scope
from apps.episodic.domain.event import EventRecord, ScopeKey
from apps.episodic.domain.segment_file.format import Array, microseconds

# The household of the global policy.
GLOBAL_HOUSEHOLD = ""
# Of one hub event about what was removed.
MAX_PRUNED_IDS = 500
# Before which moment the events of a scope are to be removed; None to keep them.
CutoffOf = Callable[[ScopeKey], datetime | None]
# Later than every other moment.
ALL_TIMES = datetime.max.replace(tzinfo=UTC)
INT64 = np.iinfo(np.int64)


@dataclass(frozen=True)
class RetentionRule:
    """Events of a household that are older than `days` are removed, if it is switched on."""

    household_id: str
    days: int
    is_enabled: bool


@dataclass(frozen=True)
class Cutoffs:
    """The moments before which events are expired, by the household of a policy. None: nothing expires."""

    moments: Mapping[str, datetime | None]

    def policy_of(self, household_id: str) -> str:
        """Return the household whose policy counts: its own, even a switched-off one, else the global one."""
        return household_id if household_id in self.moments else GLOBAL_HOUSEHOLD

    def of(self, household_id: str) -> datetime | None:
        """Return the moment before which the events of a household are expired; None when they are kept."""
        return self.moments.get(self.policy_of(household_id))

    @property
    def latest(self) -> datetime | None:
        """Return the moment from which on no event of any household is expired; None when nothing expires at all."""
        return max((moment for moment in self.moments.values() if moment is not None), default=None)

    @property
    def common(self) -> datetime | None:
        """Return the moment before which the events of every household are expired; None when some are kept."""
        moments = [moment for moment in self.moments.values() if moment is not None]
        keeps_some = GLOBAL_HOUSEHOLD not in self.moments or len(moments) < len(self.moments)
        return None if keeps_some else min(moments)


def cutoffs_at(policies: Iterable[RetentionRule], now: datetime) -> Cutoffs:
    """Return what is expired at a moment."""
    moments: dict[str, datetime | None] = {}
    for policy in policies:
        try:
            moments[policy.household_id] = now - timedelta(days=policy.days) if policy.is_enabled else None
        except OverflowError:
            moments[policy.household_id] = None  # longer than the calendar: nothing is that old
    return Cutoffs(moments)


class PrunedEvent(NamedTuple):
    """What hub events say about an event that was removed."""

    key: ScopeKey
    uuid: UUID
    identity: UUID

    @classmethod
    def of(cls, record: EventRecord) -> "PrunedEvent":
        """Create it from an event."""
        return cls(record.key, record.uuid, record.identity)


def pruned_batches(events: Iterable[PrunedEvent], size: int = MAX_PRUNED_IDS) -> Iterator[list[PrunedEvent]]:
    """Yield the events in batches of one scope and at most `size`, each scope in the given order."""
    for _, group in groupby(sorted(events, key=lambda event: event.key), key=lambda event: event.key):
        yield from batched(group, size)


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
