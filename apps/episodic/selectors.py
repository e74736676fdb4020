"""Reads of the timeline as a whole: what is where, and how it is."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import connection

from apps.episodic.domain.segment_state import ENDED, HOT, SegmentState
from apps.episodic.models import Segment

# Counted as rows where rows are the truth and nobody has counted them yet, else taken from the catalogue.
_FIGURES_SQL = """
SELECT s.state, count(*), coalesce(sum(s.size_bytes), 0), coalesce(sum(
    CASE WHEN s.rows = 'complete' AND s.state <> 'sealed'
         THEN (SELECT count(*) FROM episodic_timelineevent AS e WHERE e.segment_id = s.id)
         ELSE s.event_count END
), 0)
FROM episodic_segment AS s GROUP BY s.state
"""


@dataclass(frozen=True)
class TimelineFigures:
    """How much there is, at one moment.

    hot: events that are rows. archived: events in files. unreadable: events in damaged files, answered by no query.
    archive_bytes: the size of the archived files. segments: how many are in each state.
    """

    hot: int
    archived: int
    unreadable: int
    archive_bytes: int
    segments: Mapping[SegmentState, int]


def timeline_figures() -> TimelineFigures:
    """The figures of the whole timeline, whoever's events they are: for operators."""
    with connection.cursor() as cursor:
        cursor.execute(_FIGURES_SQL)
        rows = {SegmentState(state): (int(count), int(size), int(events)) for state, count, size, events in cursor}
    nothing = (0, 0, 0)
    return TimelineFigures(
        hot=sum(rows.get(state, nothing)[2] for state in HOT),
        archived=rows.get(SegmentState.ARCHIVED, nothing)[2],
        unreadable=rows.get(SegmentState.QUARANTINED, nothing)[2],
        archive_bytes=rows.get(SegmentState.ARCHIVED, nothing)[1],
        segments={state: rows.get(state, nothing)[0] for state in SegmentState},
    )


def segment_count() -> int:
    """How many segments there are: all but those that others have taken the place of and those pruned."""
    return Segment.objects.exclude(state__in=[state.value for state in ENDED]).count()
