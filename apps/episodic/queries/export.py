"""The events of a scope, one after another, however many there are: for export."""

import heapq
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from django.db import connection

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.scope import Access, Scope
from apps.episodic.domain.event import EventRecord, ScopeKey
from apps.episodic.domain.window import EventQuery, Window
from apps.episodic.queries.archived import read_in_order
from apps.episodic.queries.query import events_query
from apps.episodic.store.archived_segments import ArchivedFileDamagedError, unreadable_error
from apps.episodic.store.file_cache import ArchiveView, archive_cache, catalogue_contention
from apps.episodic.store.rows import EVENT_COLUMNS, ROWS_COUNT, VERSION, record_of, rows_where

_TRIES = 50
_ROWS_AT_ONCE = 2_000
# By code point, as Python sorts and as files are sorted.
_ORDER = 'e.user_id COLLATE "C", e.household_id COLLATE "C", e.persona_id COLLATE "C", e.timestamp, e.id'
_SQL = f"""
SELECT {VERSION}, {", ".join(f"e.{name}" for name in EVENT_COLUMNS)}
FROM (VALUES (1)) AS one
LEFT JOIN episodic_timelineevent AS e ON {{scope}} AND {ROWS_COUNT} AND {{window}} AND {{types}}
ORDER BY {_ORDER}
"""  # noqa: S608  (put together from constants; values are parameters)
Place = tuple[ScopeKey, Any, int]


class _MovedOnError(Exception):
    """This process does not know the files of the version that the rows belong to."""


@dataclass(frozen=True)
class _Wanted:
    scope: Scope
    window: Window
    event_types: tuple[str, ...]

    def contains(self, event: EventRecord) -> bool:
        return self.window.contains(event.timestamp) and (not self.event_types or event.event_type in self.event_types)


def events_export(access: Access, query: EventQuery, clock: Clock = SYSTEM_CLOCK) -> Iterator[EventRecord]:
    """The caller's events in a window: by user, household and persona, then by time and arrival.

    top_k and text of the query are not looked at. Holds a block of each file in memory. Where files are replaced, or
    found damaged, under way, it goes on behind the last event that it gave; what damaged files held is missing
    (`listing.count_damaged`). Raises InvalidInputError, UnavailableError.
    """
    window, scope = query.window(utcnow(clock)), access.for_read(query.scope)
    if scope is None:
        return
    wanted, last, tries = _Wanted(scope, window, query.event_types), None, 0
    while tries < _TRIES:
        tries += 1
        try:
            for event in _from(wanted, last):
                last, tries = event.archive_order, 0
                yield event
        except _MovedOnError:
            archive_cache().refresh(wait=True)
        except ArchivedFileDamagedError as damage:
            damage.report()
        except OSError as error:
            raise unreadable_error(error) from error
        else:
            return
    raise catalogue_contention()


def events_count(access: Access, query: EventQuery, clock: Clock = SYSTEM_CLOCK) -> int:
    """How many events an export of this moment would give."""
    archive_cache().refresh(wait=True)
    account = events_query(access, replace(query, text=None, top_k=1), clock).diagnostics
    return account.returned + account.dropped["beyond_top_k"]


def _from(wanted: _Wanted, last: Place | None) -> Iterator[EventRecord]:
    """The events of one moment, behind the last one given."""
    conditions, values = rows_where(wanted.scope, wanted.window, wanted.event_types)
    # Outside a transaction the cursor is one that holds: the database has seen all rows when the first one is given.
    with closing(connection.chunked_cursor()) as cursor:
        cursor.execute(_SQL.format(**conditions), values)
        rows = cursor.fetchmany(_ROWS_AT_ONCE)
        view = archive_cache().at(rows[0][0])
        if view is None:
            raise _MovedOnError
        for event in heapq.merge(_rows(rows, cursor), *_files(view, wanted), key=lambda event: event.archive_order):
            if last is None or event.archive_order > last:
                yield event


def _rows(rows: list[Any], cursor: Any) -> Iterator[EventRecord]:
    """The rows fetched so far, and those that follow."""
    while rows:
        yield from (record_of(row[1:]) for row in rows if row[1] is not None)
        rows = cursor.fetchmany(_ROWS_AT_ONCE)


def _files(view: ArchiveView, wanted: _Wanted) -> list[Iterator[EventRecord]]:
    selection = view.index.select(wanted.scope, wanted.window.start, wanted.window.end)
    return [filter(wanted.contains, events) for events in read_in_order(view, selection)]
