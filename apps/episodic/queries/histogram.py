"""Count the events of a scope by time and type, from rows and files of one moment.

Rows are counted by the database, from an index by time. Of a file of which most is counted, the times and types are
read once and kept (`store.columns`); of another one, only the runs that are counted.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from django.db import connection

from apps.core.domain.scope import Access, Reach, Scope
from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.histogram import Buckets, EventDays, EventHistogram, Spans
from apps.episodic.domain.segment_file.format import Array, SegmentDamagedError, microseconds, moment_of
from apps.episodic.domain.window import Window
from apps.episodic.queries.archived import RunReader, of_one_moment
from apps.episodic.store.archived_segments import ArchivedFileDamagedError
from apps.episodic.store.file_cache import COLUMN_CACHE, ArchiveView
from apps.episodic.store.rows import ROWS_COUNT, VERSION, rows_where

# So many events are read from files for one histogram; those in the cache do not count.
MAX_READ = 500_000
# A file of which a greater part is counted is read as a whole, and kept.
WHOLE_SHARE = 0.25
SQL = f"""
SELECT {VERSION}, found.bucket, found.event_type, found.events
FROM (VALUES (1)) AS one
LEFT JOIN LATERAL (
    SELECT width_bucket(e.timestamp, %(edges)s::timestamptz[]) - 1 AS bucket, e.event_type, count(*) AS events
    FROM episodic_timelineevent AS e
    WHERE {{scope}} AND {ROWS_COUNT} AND {{window}} AND {{types}}
    GROUP BY 1, 2
) AS found ON TRUE
"""  # noqa: S608  (built from constants; values are parameters)
EXTENT_SQL = f"""
SELECT {VERSION}, {{first}}, {{last}}
"""
EDGE_SQL = f"""(SELECT e.timestamp FROM episodic_timelineevent AS e WHERE {{scope}} AND {ROWS_COUNT}
ORDER BY e.timestamp {{direction}}, e.id {{direction}} LIMIT 1)"""  # noqa: S608


@dataclass
class Counts:
    """Events by type and span, added up. since: see EventHistogram."""

    buckets: Buckets | Spans
    span: tuple[datetime, datetime]
    types: frozenset[str]
    by_type: dict[str, list[int]]
    since: datetime | None = None

    def add(self, kind: str, bucket: int, count: int) -> None:
        """Add events of a type in a span."""
        self.by_type.setdefault(kind, [0] * self.buckets.count)[bucket] += count

    def add_records(self, records: Sequence[EventRecord]) -> None:
        """Add those events that are asked for."""
        for record in records:
            if self.span[0] <= record.timestamp <= self.span[1] and (not self.types or record.event_type in self.types):
                self.add(record.event_type, self.buckets.number_at(record.timestamp), 1)

    def add_columns(self, times: Array, types: Array, names: Sequence[str]) -> None:
        """Add those events that are asked for, by their times in microseconds and the places of their types."""
        first, last = map(microseconds, self.span)
        inside = (times >= first) & (times <= last)
        places = self.buckets.numbers(times[inside])
        cells, counts = np.unique(places * len(names) + types[inside], return_counts=True)
        for cell, count in zip(cells.tolist(), counts.tolist(), strict=True):
            bucket, kind = divmod(cell, len(names))
            if not self.types or names[kind] in self.types:
                self.add(names[kind], bucket, count)


def event_histogram(
    access: Access,
    scope: Scope,
    buckets: Buckets,
    *,
    window: Window = Window(),  # noqa: B008  (frozen)
    event_types: Collection[str] = (),
) -> EventHistogram:
    """Count the caller's events of a scope in each span of `buckets`, by type.

    window: counts only what is in it as well. event_types: those wanted, none for all. Raises UnavailableError while
    this process is still loading files.
    """
    counts = count_events(access, scope, Counts(buckets, buckets.span, frozenset(event_types), {}), window)
    return EventHistogram(buckets, counts.by_type, counts.since)


def event_days(access: Access, scope: Scope, spans: Spans, *, event_types: Collection[str] = ()) -> EventDays:
    """Count the caller's events of a scope in spans of any length, such as days in a time zone, by type.

    event_types: those wanted, none for all. Raises UnavailableError while this process is still loading files.
    """
    counts = count_events(access, scope, Counts(spans, spans.span, frozenset(event_types), {}), Window())
    return EventDays(counts.by_type, counts.since)


def count_events(access: Access, scope: Scope, wanted: Counts, window: Window) -> Counts:
    """Return what is wanted with all events of the caller's that lie in a window as well, of one moment."""
    start = wanted.span[0] if window.start is None else max(wanted.span[0], window.start)
    end = wanted.span[1] if window.end is None else min(wanted.span[1], window.end)
    reach, narrowed = access.reach(scope), (start, end) if start <= end else None
    if reach.is_empty or narrowed is None:
        return wanted
    wanted = replace(wanted, span=narrowed)

    def read() -> tuple[int, list[tuple[int, str, int]]]:
        conditions, values = rows_where(reach, Window(*wanted.span), sorted(wanted.types))
        with connection.cursor() as cursor:
            cursor.execute(SQL.format(**conditions), {**values, "edges": list(wanted.buckets.edges[:-1])})
            found = cursor.fetchall()
        return found[0][0], [(bucket, kind, count) for _, bucket, kind, count in found if kind is not None]

    def add_up(rows: list[tuple[int, str, int]], view: ArchiveView) -> Counts:
        counts = replace(wanted, by_type={})
        for bucket, kind, count in rows:
            counts.add(kind, bucket, count)
        count_archived(view, reach, counts)
        return counts

    return of_one_moment(read, add_up)


def event_extent(access: Access, scope: Scope) -> tuple[datetime, datetime] | None:
    """Return when the first and the last of the caller's events of a scope happened; None where there are none.

    Reads two rows and no file. Raises UnavailableError while this process is still loading files.
    """
    reach = access.reach(scope)
    if reach.is_empty:
        return None

    def read() -> tuple[int, list[datetime]]:
        conditions, values = rows_where(reach, Window(), ())
        first, last = (EDGE_SQL.format(scope=conditions["scope"], direction=one) for one in ("ASC", "DESC"))
        with connection.cursor() as cursor:
            cursor.execute(EXTENT_SQL.format(first=first, last=last), values)
            version, *moments = cursor.fetchone()
        return version, [moment for moment in moments if moment is not None]

    def join(rows: list[datetime], view: ArchiveView) -> tuple[datetime, datetime] | None:
        runs = view.index.select(reach, None, None).runs
        known = [*rows]
        if len(runs):
            known += [moment_of(int(runs["first"].min())), moment_of(int(runs["last"].max()))]
        return (min(known), max(known)) if known else None

    return of_one_moment(read, join)


def count_archived(view: ArchiveView, reach: Reach, counts: Counts) -> None:
    """Add the archived events, the latest files first, until MAX_READ were read. Raises ArchivedFileDamagedError."""
    left, cache = MAX_READ, COLUMN_CACHE.get()
    selected = view.index.select(reach, *counts.span).runs
    for segment in dict.fromkeys(selected["segment"].tolist()):
        file, runs = view.index.file(segment), selected[selected["segment"] == segment]
        wanted = int(runs["count"].sum(dtype=np.int64))
        is_whole = wanted >= WHOLE_SHARE * file.summary.event_count
        if cache.known(file) is None:
            left -= file.summary.event_count if is_whole else wanted
        if left < 0:
            ended = moment_of(int(runs["last"].max()))
            counts.since = ended if counts.since is None else max(counts.since, ended)
            continue
        try:
            if is_whole or cache.known(file) is not None:
                columns = cache.read(file)
                lines = file.lines_of(runs["run"])
                counts.add_columns(columns.times[lines], columns.types[lines], columns.names)
                continue
        except SegmentDamagedError as error:
            raise ArchivedFileDamagedError(view.segment(segment), error) from error
        for records in RunReader(view).read(runs):
            counts.add_records(records)
