"""Find one event by its id, among rows and files alike.

An answer is of one moment, as that of a query is (`query`): the row and the version of the catalogue are read by one
statement, and the files are those of that version.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection

from apps.core.domain.errors import NotFoundError
from apps.core.domain.scope import Access, Reach, Scope
from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.segment_file.format import SegmentDamagedError
from apps.episodic.domain.window import Window
from apps.episodic.store.archived_segments import ArchivedFileDamagedError, unreadable_error
from apps.episodic.store.file_cache import ArchiveView, archive_cache, catalogue_contention
from apps.episodic.store.rows import EVENT_COLUMNS, ROWS_COUNT, VERSION, record_of, rows_where

MAX_TRIES = 50
SQL = f"""
SELECT {VERSION}, (SELECT count(*) FROM episodic_segment WHERE state = 'quarantined'),
       {", ".join(f"e.{name}" for name in EVENT_COLUMNS)}
FROM (VALUES (1)) AS one
LEFT JOIN episodic_timelineevent AS e ON e.uuid = %(uuid)s AND {{scope}} AND {ROWS_COUNT} AND {{window}}
LIMIT 1
"""  # noqa: S608  (built from constants; values are parameters)
FIRST_EVENT_COLUMN = 2


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
            cursor.execute(SQL.format(**conditions), {**values, "uuid": uuid})
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
