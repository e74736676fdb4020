"""List the events of a scope page by page, and find one by its id, from rows and files alike.

An answer is of one moment, as that of a query is (`query`): the rows and the version of the catalogue are read by one
statement, and the files are those of that version.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.cursors import NEWER, Cursor, CursorPage, cursor_gone, read_moment, write_value
from apps.core.domain.errors import InvalidInputError, NotFoundError
from apps.core.domain.filters.expression import EVERYTHING
from apps.core.domain.filters.match import matches
from apps.core.domain.scope import Access, Reach, Scope
from apps.episodic.domain.event import EventRecord, event_values
from apps.episodic.domain.segment_file.format import SegmentDamagedError
from apps.episodic.domain.window import EventQuery, OldestEvents, TopEvents, Window
from apps.episodic.models import Segment
from apps.episodic.queries.archived import RunReader, of_one_moment, promising_runs
from apps.episodic.queries.query import find_events
from apps.episodic.store.archived_segments import ArchivedFileDamagedError, unreadable_error
from apps.episodic.store.catalogue import file_open
from apps.episodic.store.file_cache import ArchiveView, archive_cache, catalogue_contention
from apps.episodic.store.rows import EVENT_COLUMNS, ROWS_COUNT, VERSION, record_of, rows_where

MAX_TRIES = 50
FIND_SQL = f"""
SELECT {VERSION}, (SELECT count(*) FROM episodic_segment WHERE state = 'quarantined'),
       {", ".join(f"e.{name}" for name in EVENT_COLUMNS)}
FROM (VALUES (1)) AS one
LEFT JOIN episodic_timelineevent AS e ON e.uuid = %(uuid)s AND {{scope}} AND {ROWS_COUNT} AND {{window}}
LIMIT 1
"""  # noqa: S608  (built from constants; values are parameters)
FIRST_EVENT_COLUMN = 2
SQL = f"""
SELECT {VERSION}, {", ".join(f"found.{name}" for name in EVENT_COLUMNS)}
FROM (VALUES (1)) AS one
LEFT JOIN LATERAL (
    SELECT * FROM episodic_timelineevent AS e
    WHERE {{scope}} AND {ROWS_COUNT} AND {{window}} AND {{types}} AND {{filter}} AND {{place}}
    ORDER BY e.timestamp {{direction}}, e.id {{direction}} LIMIT %(limit)s
) AS found ON TRUE
"""  # noqa: S608  (built from constants; values are parameters)
Place = tuple[datetime, int]


@dataclass(frozen=True)
class FoundEvent:
    """An event, and the archived segment in whose file it is; None for a row."""

    record: EventRecord
    segment_id: int | None


def event_get(access: Access, uuid: UUID) -> EventRecord:
    """Return an event, of the caller's or granted. Raises NotFoundError, UnavailableError while files are loaded."""
    return find_event(access.readable, uuid).record


def event_find(access: Access, uuid: UUID, at: datetime | None = None) -> FoundEvent:
    """Return an event of the caller's, and where it is kept. at: when it happened, if that is known.

    Raises NotFoundError, UnavailableError while files are loaded.
    """
    return find_event(access.reach(Scope()), uuid, Window(at, at))


def find_event(reach: Reach, uuid: UUID, window: Window = Window()) -> FoundEvent:  # noqa: B008  (frozen)
    """Return an event that a read covers, and where it is.

    window: where its time is known to be; files without such events there are not read. Raises NotFoundError,
    which says when damaged files may hold it, unless the read has a bound, and UnavailableError while this process is
    still loading files.
    """
    for _ in range(MAX_TRIES):
        conditions, values = rows_where(reach, window, ())
        with connection.cursor() as cursor:
            cursor.execute(FIND_SQL.format(**conditions), {**values, "uuid": uuid})
            version, quarantined, *row = cursor.fetchone()
        if row[0] is not None:
            return FoundEvent(record_of(row), None)
        try:
            view = archive_cache().at(version)
            if view is None:
                archive_cache().refresh()
                continue
            found = find_archived(view, reach, uuid, window)
        except ArchivedFileDamagedError as damage:
            damage.report()
        except OSError as error:
            raise unreadable_error(error) from error
        else:
            if found is None:
                # Damaged files may be of anyone: who has a bound learns nothing of them.
                is_said = quarantined and reach.scope == Scope()
                damaged = " Files that are damaged at present may hold it." if is_said else ""
                raise NotFoundError(f"There is no such event.{damaged}")
            return found
    raise catalogue_contention()


def find_archived(view: ArchiveView, reach: Reach, uuid: UUID, window: Window) -> FoundEvent | None:
    """Return the event if the read covers it and a file has it. Raises ArchivedFileDamagedError."""
    numbers = view.index.select(reach, window.start, window.end).by_segment()
    for segment_id in sorted(numbers, reverse=True):
        try:
            record = view.index.file(segment_id).find_id(uuid, numbers[segment_id])
        except SegmentDamagedError as error:
            raise ArchivedFileDamagedError(view.segment(segment_id), error) from error
        if record is not None:
            return FoundEvent(record, segment_id)
    return None


@dataclass(frozen=True)
class Wanted:
    """The events of a page: those beyond a place in the order of time, going back, or forwards if `upwards`."""

    reach: Reach
    window: Window
    query: EventQuery
    place: Place | None = None
    upwards: bool = False
    limit: int = field(default=1)

    def has(self, record: EventRecord) -> bool:
        """Return whether an event that the read covers is wanted."""
        types, where = self.query.event_types, self.query.where
        if self.place is not None and not (record.order > self.place if self.upwards else record.order < self.place):
            return False
        if not self.window.contains(record.timestamp) or (types and record.event_type not in types):
            return False
        return where == EVERYTHING or matches(where, event_values(record))


def event_list(
    access: Access, query: EventQuery, *, cursor: Cursor | None = None, count: bool = False, clock: Clock = SYSTEM_CLOCK
) -> CursorPage[EventRecord]:
    """Return a page of `top_k` events of the caller's in a window. count: find out `total` as well.

    Raises InvalidInputError for an invalid window, NotFoundError for a cursor that names no event of the caller's,
    UnavailableError while this process is still loading files.
    """
    window, reach = query.window(utcnow(clock)), access.reach(query.scope, query.include)
    total = None
    if count:
        total = find_events(reach, window, query.event_types, (1, None), query.where).accumulator.counts.passed
    place = None if cursor is None else place_of(access.reach(Scope(), query.include), cursor)
    if reach.is_empty:
        return CursorPage((), total=total)
    upwards = cursor is not None and cursor.direction == NEWER
    limit = query.top_k
    found = read_page(Wanted(reach, narrow(window, place, upwards), query, place, upwards, limit + 1))
    return CursorPage.cut(found, limit, cursor_of, is_first=place is None, is_backwards=upwards, total=total)


def place_of(reach: Reach, cursor: Cursor) -> Place:
    """Return where the event of a cursor is in the order. Raises NotFoundError."""
    try:
        moment = read_moment(cursor.value)
        return find_event(reach, cursor.id, Window(moment, moment)).record.order
    except (NotFoundError, InvalidInputError) as error:
        raise cursor_gone() from error


def narrow(window: Window, place: Place | None, upwards: bool) -> Window:
    """Return the part of a window that lies beyond a place."""
    if place is None:
        return window
    moment = place[0]
    if upwards:
        return replace(window, start=moment if window.start is None else max(window.start, moment))
    return replace(window, end=moment if window.end is None else min(window.end, moment))


def cursor_of(direction: str, record: EventRecord) -> Cursor:
    """Return the cursor of the page beside an event."""
    return Cursor(direction, record.uuid, write_value(record.timestamp))


def read_page(wanted: Wanted) -> tuple[EventRecord, ...]:
    """Return the first events beyond the place, in the direction of the page, as of one moment."""

    def read() -> tuple[int, list[EventRecord]]:
        conditions, values = rows_where(wanted.reach, wanted.window, wanted.query.event_types, wanted.query.where)
        sign, direction = (">", "ASC") if wanted.upwards else ("<", "DESC")
        place = "TRUE" if wanted.place is None else f"(e.timestamp, e.id) {sign} (%(place_time)s, %(place_arrival)s)"
        at, arrival = wanted.place or (None, None)
        parameters: dict[str, Any] = {**values, "limit": wanted.limit, "place_time": at, "place_arrival": arrival}
        with connection.cursor() as cursor:
            cursor.execute(SQL.format(**conditions, place=place, direction=direction), parameters)
            found = cursor.fetchall()
        return found[0][0], [record_of(row[1:]) for row in found if row[1] is not None]

    def merge(rows: list[EventRecord], view: ArchiveView) -> tuple[EventRecord, ...]:
        top = (OldestEvents if wanted.upwards else TopEvents)(wanted.limit)
        for record in rows:
            top.add(record)
        for record in archived_events(view, wanted, top):
            top.add(record)
        return top.records()

    return of_one_moment(read, merge)


def archived_events(view: ArchiveView, wanted: Wanted, top: TopEvents) -> Iterator[EventRecord]:
    """Yield wanted events of files, of no more runs than may hold one of the first. Raises ArchivedFileDamagedError."""
    runs = view.index.select(wanted.reach, wanted.window.start, wanted.window.end).runs
    if wanted.upwards:
        # By where they begin, as the others are by where they end.
        runs = runs[np.argsort(runs["first"], kind="stable")]
        runs["last"] = runs["first"]
    reader = RunReader(view)
    for batch in promising_runs(view, runs, top):
        for records in reader.read(batch):
            yield from filter(wanted.has, records)


@dataclass(frozen=True)
class SegmentFilePage:
    """events: in the order of the file, by scope and then by time. number: of this page, from 1 to `count`.

    raw_bytes: the size of all events of the file before compression.
    """

    events: tuple[EventRecord, ...]
    number: int
    count: int
    raw_bytes: int


def segment_page(segment: Segment, number: int, size: int) -> SegmentFilePage:
    """Return a page of a segment that has a file; the nearest one that exists. Raises SegmentDamagedError."""
    file = file_open(segment)
    ends = np.cumsum(file.runs["count"], dtype=np.int64)
    count = max(1, -(-file.summary.event_count // size))
    number = min(max(number, 1), count)
    start, end = (number - 1) * size, min(number * size, file.summary.event_count)
    # The runs that hold the first and the last line of the page, and those between them.
    first, last = np.searchsorted(ends, [start, end - 1], side="right")
    runs = range(int(first), int(last) + 1)
    before = int(ends[first - 1]) if first else 0
    events = file.read_runs(runs)[start - before : end - before]
    return SegmentFilePage(tuple(events), number, count, file.raw_bytes)
