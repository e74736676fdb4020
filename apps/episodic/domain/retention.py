"""How long events are kept: which policy counts for a household, and what it leaves (spec 000, Retention policy)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import NamedTuple
from uuid import UUID

from apps.core.domain.batches import batched
from apps.episodic.domain.event import EventRecord, ScopeKey

# The household of the global policy.
GLOBAL_HOUSEHOLD = ""
# Of one hub event about what was removed.
MAX_PRUNED_IDS = 500


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
