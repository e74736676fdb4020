"""Reads of the timeline as a whole: what is where, and how it is."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from django.db import connection
from django.db.models import Count

from apps.core.domain.errors import ForbiddenError, NotFoundError, UnavailableError
from apps.core.domain.scope import Access
from apps.episodic.domain.segment_state import ENDED, HOT, RowsState, SegmentState
from apps.episodic.domain.window import EventQuery
from apps.episodic.health import timeline_ready
from apps.episodic.models import Segment, TimelineEvent, TimelineWarning
from apps.episodic.queries.query import events_query
from apps.episodic.warnings import active_warnings, suspending_warnings

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


@dataclass(frozen=True)
class TimelineStatus:
    """How the timeline is. problem: why it answers no queries yet. healthy: events are made into memories.

    total: the events that the caller can see, None while that is not known. figures and warnings are about everybody's
    events, and None for a caller with a bound (DESIGN D1).
    """

    problem: str | None
    healthy: bool
    total: int | None
    figures: TimelineFigures | None
    warnings: tuple[TimelineWarning, ...] | None


def timeline_status(access: Access) -> TimelineStatus:
    """How the timeline is, and as much of how large it is as the caller may know."""
    problem, healthy = timeline_ready(), not suspending_warnings().exists()
    if access.bound.named():
        total = _events_of(access) if problem is None else None
        # How far the loading is tells how many segments there are.
        return TimelineStatus("The timeline is being loaded." if total is None else None, healthy, total, None, None)
    figures = timeline_figures()
    return TimelineStatus(problem, healthy, figures.hot + figures.archived, figures, tuple(active_warnings()))


def _events_of(access: Access) -> int | None:
    """How many events a caller can see; None while that is not known."""
    try:
        return events_query(access, EventQuery(top_k=1)).diagnostics.scanned
    except UnavailableError:
        return None


def unreachable_status(error: Exception) -> TimelineStatus:
    """What can be said when the database does not answer."""
    return TimelineStatus(f"The database does not answer ({type(error).__name__}).", False, None, None, None)


@dataclass(frozen=True)
class SegmentPage:
    """Segments, the newest first, each with the number of its events by now. cursor: where older ones begin."""

    rows: list[tuple[Segment, int]]
    cursor: UUID | None


def segment_list(
    access: Access, *, state: SegmentState | None = None, cursor: UUID | None = None, limit: int
) -> SegmentPage:
    """A page of segments. cursor: the segment after which the page begins.

    Raises ForbiddenError for a caller with a bound, whose events share their segments with everybody's, and
    NotFoundError for a cursor that names no segment.
    """
    if access.bound.named():
        raise ForbiddenError("Segments hold everybody's events: only a key without a bound may list them.")
    segments = Segment.objects.select_related("replaced_by").order_by("-id")
    if state is not None:
        segments = segments.filter(state=state)
    if cursor is not None:
        segments = segments.filter(pk__lt=_row_of(cursor))
    rows = list(segments[: limit + 1])
    counts = _live_counts(segment for segment in rows if _is_counted_live(segment))
    page = [(segment, counts.get(segment.pk, segment.event_count)) for segment in rows[:limit]]
    return SegmentPage(page, page[-1][0].uuid if len(rows) > limit else None)


def _row_of(segment: UUID) -> int:
    row = Segment.objects.filter(uuid=segment).values_list("pk", flat=True).first()
    if row is None:
        raise NotFoundError("There is no such segment.", attr="cursor")
    return row


def _is_counted_live(segment: Segment) -> bool:
    return segment.rows == RowsState.COMPLETE and segment.state != SegmentState.SEALED


def _live_counts(segments: Iterable[Segment]) -> dict[int, int]:
    """The numbers of rows of segments, also of those that have none."""
    numbers = {segment.pk: 0 for segment in segments}
    rows = TimelineEvent.objects.filter(segment__in=numbers).order_by()
    return numbers | dict(rows.values_list("segment").annotate(count=Count("pk")))


class EventKind(NamedTuple):
    """What routing looks at. household_id: the empty string for none."""

    household_id: str
    event_type: str
    importance: float


def latest_kinds(count: int) -> list[EventKind]:
    """Of what kind the last events that are rows are, at most `count` of them; whoever's they are: for operators."""
    rows = TimelineEvent.objects.order_by("-pk").values_list(*EventKind._fields)[:count]
    return [EventKind(*row) for row in rows]
