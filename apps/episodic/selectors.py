"""Reads of the timeline: queries, figures, status, segments and warnings."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import NamedTuple
from uuid import UUID

from django.db import connection
from django.db.models import Count, Max, Q
from django.db.models.functions import Left, TruncDate
from django.utils.timezone import localdate, make_aware

from apps.core.db.distinct import distinct_values
from apps.core.domain.cursors import NEWER, Cursor, CursorPage, cursor_gone
from apps.core.domain.errors import ForbiddenError, UnavailableError
from apps.core.domain.scope import Access
from apps.core.file_roots import Root
from apps.episodic.domain.segment_state import ENDED, HOT, RowsState, SegmentState
from apps.episodic.domain.window import EventQuery
from apps.episodic.models import RetentionPolicy, Segment, TimelineEvent, TimelineWarning
from apps.episodic.queries.counts import event_counts, event_owners, event_parts, row_writers
from apps.episodic.queries.event_list import (
    FoundEvent,
    event_find,
    event_get,
    event_list,
    segment_page,
)
from apps.episodic.queries.export import events_count, events_export
from apps.episodic.queries.health import SegmentRows, segment_rows, timeline_health
from apps.episodic.queries.histogram import event_days, event_extent, event_histogram
from apps.episodic.queries.query import events_query
from apps.episodic.store.file_cache import TimelineLoadingError, archive_cache
from apps.episodic.store.files import archive_root
from apps.episodic.store.segment_files import THE_TIMELINE
from apps.episodic.warnings import active_warnings, suspending_warnings

__all__ = [
    "EventBeginning", "EventKind", "FoundEvent", "RecordedDays",
    "SegmentRows", "TimelineFigures", "TimelineStatus", "active_warnings",
    "enabled_retention_count", "event_beginnings", "event_counts", "event_days", "event_extent", "event_find",
    "event_get", "event_histogram", "event_list", "event_owners", "event_parts", "events_count", "events_export",
    "events_query", "kept_days", "known_identifiers", "last_events", "latest_kinds", "recorded_by_day", "row_writers",
    "segment_checksums", "segment_count", "segment_list", "segment_page", "segment_rows", "suspending_warnings",
    "timeline_figures", "timeline_health", "timeline_ready", "timeline_status", "unreachable_status", "warm_up_archive",
]  # fmt: skip

# Rows are counted where they are the truth and the catalogue has no count yet; other counts are the catalogue's.
FIGURES_SQL = """
SELECT s.state, count(*), coalesce(sum(s.size_bytes), 0), coalesce(sum(
    CASE WHEN s.rows = 'complete' AND s.state <> 'sealed'
         THEN (SELECT count(*) FROM episodic_timelineevent AS e WHERE e.segment_id = s.id)
         ELSE s.event_count END
), 0)
FROM episodic_segment AS s GROUP BY s.state
"""


def warm_up_archive() -> None:
    """Begin to load the tables of archived files in the background, unless this process is already doing so."""
    archive_cache().warm_up()


def timeline_root() -> Root:
    """Return the folder of archived files."""
    in_files = (SegmentState.ARCHIVED, SegmentState.QUARANTINED)
    return Root(THE_TIMELINE, archive_root(), Segment.objects.filter(state__in=in_files).exists)


def timeline_ready() -> str | None:
    """Return why this process cannot answer queries yet, None when it can; asking makes it load the archived files."""
    try:
        archive_cache().refresh()
    except TimelineLoadingError as error:
        return error.progress
    except UnavailableError as error:
        return error.detail
    return None


@dataclass(frozen=True)
class TimelineFigures:
    """The size of the timeline at one moment.

    hot: events that are rows. archived: events in files. unreadable: events in damaged files, missing in every answer.
    archive_bytes: the size of the archived files. segments: the number of them by state.
    """

    hot: int
    archived: int
    unreadable: int
    archive_bytes: int
    segments: Mapping[SegmentState, int]


def timeline_figures() -> TimelineFigures:
    """Return the figures of the whole timeline, of all users: for operators."""
    with connection.cursor() as cursor:
        cursor.execute(FIGURES_SQL)
        rows = {SegmentState(state): (int(count), int(size), int(events)) for state, count, size, events in cursor}
    nothing = (0, 0, 0)
    return TimelineFigures(
        hot=sum(rows.get(state, nothing)[2] for state in HOT),
        archived=rows.get(SegmentState.ARCHIVED, nothing)[2],
        unreadable=rows.get(SegmentState.QUARANTINED, nothing)[2],
        archive_bytes=rows.get(SegmentState.ARCHIVED, nothing)[1],
        segments={state: rows.get(state, nothing)[0] for state in SegmentState},
    )


@dataclass(frozen=True)
class TimelineStatus:
    """The state of the timeline. problem: why it answers no queries yet. healthy: events become memories.

    total: the number of events that the caller can see, None while it is not known. figures and warnings cover the
    events of all users, and are None for a caller with a bound (DESIGN D1).
    """

    problem: str | None
    healthy: bool
    total: int | None
    figures: TimelineFigures | None
    warnings: tuple[TimelineWarning, ...] | None


def timeline_status(access: Access) -> TimelineStatus:
    """Return the state of the timeline, and as many of its figures as the caller may know."""
    problem, healthy = timeline_ready(), not suspending_warnings().exists()
    if access.bound.is_everything:
        figures = timeline_figures()
        return TimelineStatus(problem, healthy, figures.hot + figures.archived, figures, tuple(active_warnings()))
    try:
        total = None if problem else events_query(access, EventQuery(top_k=1)).diagnostics.scanned
    except UnavailableError:
        total = None
    # The progress of loading would reveal how many segments there are.
    return TimelineStatus("The timeline is being loaded." if total is None else None, healthy, total, None, None)


def unreachable_status(error: Exception) -> TimelineStatus:
    """Return the status to report when the database does not answer."""
    return TimelineStatus(f"The database does not answer ({type(error).__name__}).", False, None, None, None)


def segment_checksums() -> dict[str, str]:
    """Return the SHA-256 of every file that queries read or may read again, by its name."""
    with_file = Segment.objects.filter(state__in=(SegmentState.SEALED, SegmentState.ARCHIVED))
    return dict(with_file.values_list("file_name", "sha256"))


def segment_count() -> int:
    """Return the number of segments, without those that were compacted or pruned."""
    return Segment.objects.exclude(state__in=[state.value for state in ENDED]).count()


def segment_list(
    access: Access, *, state: SegmentState | None = None, cursor: Cursor | None = None, limit: int
) -> CursorPage[tuple[Segment, int]]:
    """Return a page of segments, the newest first, each with its present number of events.

    Raises ForbiddenError for a caller with a bound, because segments hold the events of all users, and NotFoundError
    for a cursor that names no segment.
    """
    if not access.bound.is_everything:
        raise ForbiddenError("Segments hold the events of all users: only a key without a bound may list them.")
    upwards = cursor is not None and cursor.direction == NEWER
    segments = Segment.objects.select_related("replaced_by").order_by("id" if upwards else "-id")
    if state is not None:
        segments = segments.filter(state=state)
    if cursor is not None:
        last = Segment.objects.filter(uuid=cursor.id).values_list("pk", flat=True).first()
        if last is None:
            raise cursor_gone()
        segments = segments.filter(pk__gt=last) if upwards else segments.filter(pk__lt=last)
    found = list(segments[: limit + 1])
    page = CursorPage.cut(
        found, limit, lambda way, one: Cursor(way, one.uuid), is_first=cursor is None, is_backwards=upwards
    )
    # The catalogue counts the events of a segment when it is sealed; before that its rows are counted.
    uncounted = [one.pk for one in page.rows if one.rows == RowsState.COMPLETE and one.state != SegmentState.SEALED]
    events = TimelineEvent.objects.filter(segment__in=uncounted).order_by()
    counts = dict.fromkeys(uncounted, 0) | dict(events.values_list("segment").annotate(count=Count("pk")))
    counted = [(segment, counts.get(segment.pk, segment.event_count)) for segment in page.rows]
    return CursorPage(counted, page.older, page.newer)


class EventKind(NamedTuple):
    """What routing decides by. household_id: the empty string for none."""

    household_id: str
    event_type: str
    importance: float


class EventBeginning(NamedTuple):
    """How an event begins. pk: of its row, for the admin."""

    uuid: UUID
    pk: int
    beginning: str


def event_beginnings(access: Access, uuids: Collection[UUID], chars: int) -> list[EventBeginning]:
    """Return the first characters of events that are rows and that the caller may read, in one query."""
    rows = TimelineEvent.objects.all().visible_to(access).readable().filter(uuid__in=uuids)
    return [EventBeginning(*row) for row in rows.values_list("uuid", "pk", Left("content", chars))]


def latest_kinds(count: int) -> list[EventKind]:
    """Return the kinds of the last events that are rows, at most `count`, of all users: for operators."""
    rows = TimelineEvent.objects.order_by("-pk").values_list(*EventKind._fields)[:count]
    return [EventKind(*row) for row in rows]


def kept_days(households: Collection[str]) -> dict[str, int | None]:
    """Return for how many days events of each household are kept; None for good. A policy of its own counts first."""
    rows = RetentionPolicy.objects.filter(household_id__in={"", *households})
    days = {row.household_id: row.days if row.is_enabled else None for row in rows}
    return {household: days.get(household, days.get("")) for household in households}


def enabled_retention_count() -> int:
    """Return the number of retention policies that are switched on."""
    return RetentionPolicy.objects.filter(is_enabled=True).count()


@dataclass(frozen=True)
class RecordedDays:
    """by_day: the number of events recorded on each day, the oldest first; deleted events still count.

    is_rough: some segments that were open over midnight are files already, and count for the day that closed them.
    """

    by_day: Mapping[date, int]
    is_rough: bool

    @property
    def total(self) -> int:
        """Return the number of events of all days."""
        return sum(self.by_day.values())


def recorded_by_day(now: datetime, days: int = 7) -> RecordedDays:
    """Return how many events were recorded on each of the last `days` days.

    Takes the catalogue's count of segments that were open on one day only, and counts the rows of the others: about one
    segment for each midnight, however many events there are.
    """
    today = localdate(now)
    wanted = [today - timedelta(days=back) for back in reversed(range(days))]
    start = make_aware(datetime.combine(wanted[0], time.min))
    # A merged or rewritten segment holds no new event: those in which its events were recorded are counted.
    recorded_in = Segment.objects.filter(Q(closed_at=None) | Q(closed_at__gte=start), replaces=None)
    counts, is_rough, by_rows = Counter[date](), False, list[int]()
    for segment in recorded_in:
        last = localdate(segment.closed_at or segment.opened_at)
        is_over_midnight = localdate(segment.opened_at) != last
        is_uncounted = segment.state in (SegmentState.OPEN, SegmentState.SEALING)
        if is_uncounted or (is_over_midnight and segment.rows == RowsState.COMPLETE):
            by_rows.append(segment.pk)
        else:
            counts[last] += segment.event_count
            is_rough |= is_over_midnight
    rows = TimelineEvent.objects.filter(segment__in=by_rows, recorded_at__gte=start).order_by()
    counts.update(dict(rows.annotate(day=TruncDate("recorded_at")).values_list("day").annotate(Count("id"))))
    return RecordedDays({day: counts[day] for day in wanted}, is_rough)


def last_events(access: Access, users: Collection[str]) -> dict[str, datetime]:
    """Return when the last event of each of some users happened, of those events that are rows."""
    events = TimelineEvent.objects.visible_to(access).filter(user_id__in=list(users)).order_by()
    return dict(events.values_list("user_id").annotate(Max("timestamp")))


def known_identifiers(name: str, limit: int) -> list[str]:
    """Return the first `limit` users, households or personas of events that are rows. name: `user_id`, ..."""
    return distinct_values(TimelineEvent, name, limit)
