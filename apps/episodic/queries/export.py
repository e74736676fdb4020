"""Export the events of a scope, one after another, in constant memory."""

import heapq
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from django.db import connection

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.filters.expression import EVERYTHING, Expression
from apps.core.domain.filters.match import matches
from apps.core.domain.scope import Access, Reach, Scope
from apps.episodic.domain.event import EventRecord, ScopeKey, event_values
from apps.episodic.domain.segment_file.format import BLOCK_LINES
from apps.episodic.domain.window import EventQuery, Window
from apps.episodic.queries.archived import RunReader
from apps.episodic.queries.query import events_query
from apps.episodic.store.archived_segments import ArchivedFileDamagedError, unreadable_error
from apps.episodic.store.file_cache import ArchiveView, archive_cache, catalogue_contention
from apps.episodic.store.rows import EVENT_COLUMNS, ROWS_COUNT, VERSION, record_of, rows_where

MAX_TRIES = 50
ROWS_AT_ONCE = 2_000
# Ordered by code point, as Python sorts and as files are sorted.
SQL = f"""
SELECT {VERSION}, {", ".join(f"e.{name}" for name in EVENT_COLUMNS)}
FROM (VALUES (1)) AS one
LEFT JOIN episodic_timelineevent AS e ON {{scope}} AND {ROWS_COUNT} AND {{window}} AND {{types}} AND {{filter}}
ORDER BY e.user_id COLLATE "C", e.household_id COLLATE "C", e.persona_id COLLATE "C", e.timestamp, e.id
"""  # noqa: S608  (built from constants; values are parameters)
Position = tuple[ScopeKey, Any, int]


class StaleViewError(Exception):
    """This process does not know the files of the version that the rows belong to."""


@dataclass(frozen=True)
class ExportFilter:
    """The events to be exported."""

    scope: Scope
    window: Window
    event_types: tuple[str, ...]
    where: Expression

    def matches(self, event: EventRecord) -> bool:
        """Return whether an event of the scope is in the window, of one of the types, and passes the filter."""
        is_wanted = not self.event_types or event.event_type in self.event_types
        passes = self.where == EVERYTHING or matches(self.where, event_values(event))
        return self.window.contains(event.timestamp) and is_wanted and passes


def events_export(access: Access, query: EventQuery, clock: Clock = SYSTEM_CLOCK) -> Iterator[EventRecord]:
    """Yield the caller's events in a window: by user, household and persona, then by time and arrival.

    Ignores top_k and text of the query. Holds a block of each file in memory. When files are replaced or found damaged
    on the way, it continues after the last event that it yielded; what damaged files held is missing
    (`count_damaged`). Raises InvalidInputError, UnavailableError.
    """
    window, scope = query.window(utcnow(clock)), access.for_read(query.scope)
    if scope is None:
        return
    wanted, last, tries = ExportFilter(scope, window, query.event_types, query.where), None, 0
    while tries < MAX_TRIES:
        tries += 1
        try:
            for event in read_from(wanted, last):
                last, tries = event.archive_order, 0
                yield event
        except StaleViewError:
            archive_cache().refresh(wait=True)
        except ArchivedFileDamagedError as damage:
            damage.report()
        except OSError as error:
            raise unreadable_error(error) from error
        else:
            return
    raise catalogue_contention()


def events_count(access: Access, query: EventQuery, clock: Clock = SYSTEM_CLOCK) -> int:
    """Return how many events an export would yield at this moment."""
    archive_cache().refresh(wait=True)
    found = events_query(access, replace(query, text=None, top_k=1), clock).diagnostics
    return found.returned + found.dropped["beyond_top_k"]


def read_from(
    wanted: ExportFilter, last: Position | None = None, known: ArchiveView | None = None
) -> Iterator[EventRecord]:
    """Yield the events of one moment that come after a position. known: the files of the caller's snapshot.

    Raises StaleViewError, ArchivedFileDamagedError, OSError.
    """
    conditions, values = rows_where(Reach(wanted.scope), wanted.window, wanted.event_types, wanted.where)
    # Outside a transaction the cursor is one that holds: the database has read all rows when it returns the first one.
    with closing(connection.chunked_cursor()) as cursor:
        cursor.execute(SQL.format(**conditions), values)
        first = cursor.fetchmany(ROWS_AT_ONCE)
        view = known or archive_cache().at(first[0][0])
        if view is None or view.listing.version != first[0][0]:
            raise StaleViewError
        selection = view.index.select(Reach(wanted.scope), wanted.window.start, wanted.window.end)
        # An iterator per file, which reads a block or two at once.
        reader = RunReader(view, at_once=BLOCK_LINES)
        segments = np.unique(selection.runs["segment"])
        runs_of = [selection.runs[selection.runs["segment"] == segment] for segment in segments]
        files = [filter(wanted.matches, chain.from_iterable(reader.read(runs))) for runs in runs_of]
        for event in heapq.merge(fetch_records(first, cursor), *files, key=lambda event: event.archive_order):
            if last is None or event.archive_order > last:
                yield event


def fetch_records(rows: list[Any], cursor: Any) -> Iterator[EventRecord]:
    """Yield the events of the rows fetched so far, and of those that follow."""
    while rows:
        yield from (record_of(row[1:]) for row in rows if row[1] is not None)
        rows = cursor.fetchmany(ROWS_AT_ONCE)
