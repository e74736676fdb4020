"""How long events are kept: which policy counts for whom, and what it leaves (spec 000, Retention policy)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby, islice
from typing import NamedTuple
from uuid import UUID

from apps.episodic.domain.event import EventRecord, ScopeKey

# The household of the global policy.
GLOBAL_HOUSEHOLD = ""
# Of one message about what was removed.
MAX_PRUNED_IDS = 500


@dataclass(frozen=True)
class RetentionRule:
    """Events of a household that are older than `days` are deleted, if it is switched on."""

    household_id: str
    days: int
    is_enabled: bool


@dataclass(frozen=True)
class Cutoffs:
    """The moments before which events are expired, by the household of a policy. None: nothing expires."""

    moments: Mapping[str, datetime | None]

    def policy_of(self, household_id: str) -> str:
        """The household whose policy counts: its own if there is one, even a switched-off one, else the global one."""
        return household_id if household_id in self.moments else GLOBAL_HOUSEHOLD

    def of(self, household_id: str) -> datetime | None:
        """Before which moment the events of a household are expired; None when they are kept."""
        return self.moments.get(self.policy_of(household_id))

    def is_expired(self, key: ScopeKey, timestamp: datetime) -> bool:
        """Whether the policy that counts for a scope lets an event go."""
        cutoff = self.of(key.household_id)
        return cutoff is not None and timestamp < cutoff

    @property
    def latest(self) -> datetime | None:
        """From this moment on nothing is expired, whoever it belongs to; None when nothing is at all."""
        return max((moment for moment in self.moments.values() if moment is not None), default=None)

    @property
    def common(self) -> datetime | None:
        """Before this moment everything is expired, whoever it belongs to; None when somebody's events are kept."""
        moments = [moment for moment in self.moments.values() if moment is not None]
        keeps_some = GLOBAL_HOUSEHOLD not in self.moments or len(moments) < len(self.moments)
        return None if keeps_some else min(moments)


def cutoffs_at(policies: Iterable[RetentionRule], now: datetime) -> Cutoffs:
    """What is expired at a moment."""
    return Cutoffs({policy.household_id: _cutoff(policy, now) for policy in policies})


def _cutoff(policy: RetentionRule, now: datetime) -> datetime | None:
    try:
        return now - timedelta(days=policy.days) if policy.is_enabled else None
    except OverflowError:
        return None  # longer than the calendar: nothing is that old


class PrunedEvent(NamedTuple):
    """What is told about an event that is gone."""

    key: ScopeKey
    uuid: UUID
    identity: UUID

    @classmethod
    def of(cls, record: EventRecord) -> "PrunedEvent":
        return cls(record.key, record.uuid, record.identity)


def pruned_batches(events: Iterable[PrunedEvent], size: int = MAX_PRUNED_IDS) -> Iterator[list[PrunedEvent]]:
    """The events in batches of one scope and at most `size`, each scope in the order given."""
    for _, group in groupby(sorted(events, key=lambda event: event.key), key=lambda event: event.key):
        while batch := list(islice(group, size)):
            yield batch
