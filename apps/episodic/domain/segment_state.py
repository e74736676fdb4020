"""The life of a segment, as one state machine, and when it is closed, archived and merged (DESIGN D8).

                 close            write, verify           drop rows
        OPEN ----------> SEALING -------------> SEALED --------------> ARCHIVED
                            ^                      |                    |  |  |
                            +----------------------+   merge, rewrite   |  |  |  nothing is left
                            | rows left, or file bad      COMPACTED <---+  |  +-----------------> PRUNED
                            |                                 ^            | damaged                ^
                            |                          salvage|            v                        |
                            |                                 +------ QUARANTINED ------------------+
                            |                                              |   lost, or expired
                            +----------------------------------------------+   (repaired: ARCHIVED again)
                                 its rows are still all there

The open segment takes the writes; there is one at a time. Which copy of a segment's events counts is a fact of its
own (`RowsState`): the rows do until they begin to leave, the file does from then on.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from apps.core.domain.errors import ConflictError

# Of one merge. Each takes a block of memory while they are read side by side.
MAX_MERGED = 64


class SegmentState(StrEnum):
    """The state of a segment in the diagram."""

    OPEN = "open"
    SEALING = "sealing"
    SEALED = "sealed"
    ARCHIVED = "archived"
    COMPACTED = "compacted"
    QUARANTINED = "quarantined"
    PRUNED = "pruned"


class RowsState(StrEnum):
    """What is left of a segment's rows. Queries read them while they are complete, and the file afterwards."""

    COMPLETE = "complete"
    LEAVING = "leaving"
    GONE = "gone"


NEXT_STATES: dict[SegmentState, frozenset[SegmentState]] = {
    SegmentState.OPEN: frozenset({SegmentState.SEALING}),
    SegmentState.SEALING: frozenset({SegmentState.SEALED, SegmentState.PRUNED}),
    SegmentState.SEALED: frozenset({SegmentState.SEALING, SegmentState.ARCHIVED, SegmentState.QUARANTINED}),
    SegmentState.ARCHIVED: frozenset({SegmentState.COMPACTED, SegmentState.QUARANTINED, SegmentState.PRUNED}),
    SegmentState.QUARANTINED: frozenset(
        {SegmentState.SEALING, SegmentState.ARCHIVED, SegmentState.COMPACTED, SegmentState.PRUNED}
    ),
    SegmentState.COMPACTED: frozenset(),
    SegmentState.PRUNED: frozenset(),
}
ENDED = frozenset({SegmentState.COMPACTED, SegmentState.PRUNED})
# Their rows are the truth, or the only copy.
HOT = frozenset({SegmentState.OPEN, SegmentState.SEALING, SegmentState.SEALED})


def require_step(state: SegmentState, target: SegmentState) -> None:
    """Raise ConflictError for a step that the diagram does not have."""
    if target not in NEXT_STATES[state]:
        raise ConflictError(f"A segment that is {state} cannot become {target}.", code="wrong_segment_state")


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
