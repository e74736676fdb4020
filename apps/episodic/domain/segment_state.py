"""The life of a segment, as one state machine (DESIGN D8).

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

from enum import StrEnum

from apps.core.domain.errors import ConflictError


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
