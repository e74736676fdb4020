"""When segments are closed, leave the table, and are merged: small neighbours in time (DESIGN D8)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta


def is_full(first_arrival: int, last_arrival: int, capacity: int) -> bool:
    """Return whether as many arrivals as a segment may hold have come since its first.

    Duplicates use up arrival numbers too, so a segment may hold fewer events.
    """
    return last_arrival - first_arrival >= capacity


def is_old(first_recorded_at: datetime | None, now: datetime, hours: float) -> bool:
    """Return whether a segment has held events for so long. first_recorded_at: of its first event, if it has any."""
    return first_recorded_at is not None and first_recorded_at <= now - timedelta(hours=hours)


def archive_before(now: datetime, hours: float) -> datetime:
    """Return the moment at or before which a segment was closed whose rows may leave the table."""
    return now - timedelta(hours=hours)


# Of one merge. Each takes a block of memory while they are read side by side.
MAX_MERGED = 64


@dataclass(frozen=True)
class SegmentSize:
    """What the plan needs to know of an archived segment."""

    id: int
    event_count: int
    first_timestamp: datetime


def is_small(event_count: int, capacity: int) -> bool:
    """Return whether it has fewer than half of the events that a segment may hold: two such neighbours fit into one."""
    return event_count * 2 < capacity


def merge_plan(segments: Iterable[SegmentSize], capacity: int) -> list[tuple[int, ...]]:
    """Return the ids to merge, in groups of two to MAX_MERGED neighbours with at most `capacity` events together.

    Neighbours are neighbours by their first event among all of `segments`, so a big one between two small ones
    separates them. Once the groups are merged, no two neighbours are small, except for what MAX_MERGED left.
    """
    groups: list[list[SegmentSize]] = [[]]
    for segment in sorted(segments, key=lambda one: (one.first_timestamp, one.id)):
        if not is_small(segment.event_count, capacity):
            groups.append([])
            continue
        together = sum(one.event_count for one in groups[-1]) + segment.event_count
        if len(groups[-1]) == MAX_MERGED or together > capacity:
            groups.append([])
        groups[-1].append(segment)
    return [tuple(segment.id for segment in group) for group in groups if len(group) > 1]
