"""Queries of the timeline: a window of a scope, from rows and files alike (spec 000, Episodic Retrieval Controls).

An answer is of one moment: the rows and the version of the catalogue are read in one statement, and the files are those
of that version. When the files change in between, it is asked again.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from prometheus_client import Histogram

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.scope import Access, Scope
from apps.episodic.domain.text_ranking import TEXT_BYTES, TEXT_LIMIT
from apps.episodic.domain.window import (
    EventQuery,
    FileCounts,
    QueryAccumulator,
    QueryDiagnostics,
    QueryResult,
    Window,
    window_drops,
)
from apps.episodic.queries.archived import ArchiveCounts, read_archived
from apps.episodic.queries.text_search import rank_events
from apps.episodic.store.archived_segments import ArchivedFileDamagedError, unreadable_error
from apps.episodic.store.file_cache import ArchiveView, archive_cache, catalogue_contention
from apps.episodic.store.rows import RowsResult, query_rows

QUERY_SECONDS = Histogram(
    "timeline_query_duration_seconds",
    "Time of one query of the timeline.",
    ["kind"],
    buckets=(0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
)
_TRIES = 50


@dataclass(frozen=True)
class _Found:
    """What rows and files hold of a query, before its text."""

    accumulator: QueryAccumulator
    hot: RowsResult
    archived: ArchiveCounts


def events_query(access: Access, query: EventQuery, clock: Clock = SYSTEM_CLOCK) -> QueryResult:
    """The caller's events in a window, the newest first; with a text those that answer it best, the best first.

    Raises InvalidInputError for a window that is none, UnavailableError while this process is still loading files.
    """
    started = time.perf_counter()
    now = utcnow(clock)
    window = query.window(now)
    limits = (query.top_k, None) if query.text is None else (TEXT_LIMIT, TEXT_BYTES)
    found = _find(access.for_read(query.scope), window, query.event_types, limits)
    result = _newest(found) if query.text is None else _best(found, query, now)
    took = time.perf_counter() - started
    QUERY_SECONDS.labels("window" if query.text is None else "text").observe(took)
    return replace(result, diagnostics=replace(result.diagnostics, took_ms=took * 1000))


def _find(scope: Scope | None, window: Window, event_types: Sequence[str], limits: tuple[int, int | None]) -> _Found:
    """What is there, at one moment. Without a scope nothing is. limits: events, and bytes of their content."""
    for _ in range(_TRIES):
        hot = query_rows(scope, window, event_types, *limits)
        accumulator = QueryAccumulator(window, event_types, *limits)
        accumulator.add_counts(hot.counts)
        accumulator.add_counted(hot.records)
        try:
            view = archive_cache().at(hot.version)
            if view is not None:
                return _Found(accumulator, hot, _read_archived(view, scope, accumulator))
            archive_cache().refresh()
        except ArchivedFileDamagedError as damage:
            damage.report()
        except OSError as error:
            raise unreadable_error(error) from error
    raise catalogue_contention()


def _read_archived(view: ArchiveView, scope: Scope | None, accumulator: QueryAccumulator) -> ArchiveCounts:
    return ArchiveCounts(0, 0, 0) if scope is None else read_archived(view, scope, accumulator)


def _newest(found: _Found) -> QueryResult:
    events = found.accumulator.top.records()
    dropped = window_drops(found.accumulator.counts, len(events), "beyond_top_k")
    return QueryResult(events, _diagnostics(found, dropped, len(events)))


def _best(found: _Found, query: EventQuery, now: datetime) -> QueryResult:
    events = found.accumulator.top.records()
    ranked = rank_events(events, query, now)
    dropped = window_drops(found.accumulator.counts, len(events), "beyond_text_limit") | ranked.dropped
    diagnostics = replace(_diagnostics(found, dropped, len(ranked.found)), text=ranked.account)
    return QueryResult(tuple(event for event, _ in ranked.found), diagnostics, tuple(hit for _, hit in ranked.found))


def _diagnostics(found: _Found, dropped: dict[str, int], returned: int) -> QueryDiagnostics:
    return QueryDiagnostics(
        scanned=found.accumulator.counts.scanned,
        returned=returned,
        dropped=dropped,
        hot=found.hot.counts.scanned,
        archived=found.archived.events,
        segments=FileCounts(found.archived.total, found.archived.read, found.hot.quarantined),
        took_ms=0.0,
    )
