"""The plan of which segments are merged: small ones that are neighbours in time (DESIGN D8)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

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
