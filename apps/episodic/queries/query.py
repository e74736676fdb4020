"""Query the timeline: a window of a scope, from rows and files alike (spec 000, Episodic Retrieval Controls).

An answer is of one moment: one statement reads the rows and the version of the catalogue, and the files are those of
that version. When the files change in between, the query is repeated.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.filters.expression import EVERYTHING, Expression
from apps.core.domain.scope import Access, Reach
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
from apps.episodic.metrics import QUERY_SECONDS
from apps.episodic.queries.archived import ArchiveCounts, of_one_moment, read_archived
from apps.episodic.queries.text_search import rank_events
from apps.episodic.store.file_cache import ArchiveView
from apps.episodic.store.rows import RowsResult, query_rows
from apps.given.domain.given import AnswerKind, Item, ItemKind, Place
from apps.given.services import given_note
from apps.retrieval.domain.query import Hit


@dataclass(frozen=True)
class FoundEvents:
    """What rows and files hold of a query, before its text is compared."""

    accumulator: QueryAccumulator
    rows: RowsResult
    archived: ArchiveCounts


def events_query(
    access: Access, query: EventQuery, clock: Clock = SYSTEM_CLOCK, *, is_answer: bool = False
) -> QueryResult:
    """Return the caller's events in a window, the newest first; with a text the best matches, the best first.

    is_answer: the caller gets all of them, which is noted.

    Raises InvalidInputError for an invalid window, UnavailableError while this process is still loading files.
    """
    started, now = time.perf_counter(), utcnow(clock)
    window, with_text = query.window(now), query.text is not None
    limits = (TEXT_LIMIT, TEXT_BYTES) if with_text else (query.top_k, None)
    found = find_events(access.reach(query.scope, query.include), window, query.event_types, limits, query.where)
    events, counts = found.accumulator.top.records(), found.accumulator.counts
    dropped = window_drops(counts, len(events), "beyond_text_limit" if with_text else "beyond_top_k")
    hits: tuple[Hit, ...] = ()
    text = None
    if with_text:
        ranked = rank_events(events, query, now)
        events, hits, text, dropped = ranked.events, ranked.hits, ranked.diagnostics, dropped | ranked.dropped
    if is_answer:
        given_note(access, AnswerKind.EVENTS, [Item(Place(*one.key), ItemKind.EVENT, one.uuid) for one in events])
    took = time.perf_counter() - started
    QUERY_SECONDS.labels("text" if with_text else "window").observe(took)
    diagnostics = QueryDiagnostics(
        scanned=counts.scanned,
        returned=len(events),
        dropped=dropped,
        hot=found.rows.counts.scanned,
        archived=found.archived.events,
        segments=FileCounts(found.archived.total, found.archived.read, found.rows.quarantined),
        took_ms=took * 1000,
        text=text,
    )
    return QueryResult(events, diagnostics, hits)


def find_events(
    reach: Reach,
    window: Window,
    event_types: Sequence[str],
    limits: tuple[int, int | None],
    where: Expression = EVERYTHING,
) -> FoundEvents:
    """Collect the newest events of one moment that a read covers. limits: events, and bytes of their content."""

    def read() -> tuple[int, RowsResult]:
        rows = query_rows(reach, window, event_types, *limits, where)
        return rows.version, rows

    def collect(rows: RowsResult, view: ArchiveView) -> FoundEvents:
        accumulator = QueryAccumulator(window, event_types, *limits, where)
        accumulator.add_counts(rows.counts)
        accumulator.add_counted(rows.records)
        archived = read_archived(view, reach, accumulator)
        return FoundEvents(accumulator, rows, archived)

    return of_one_moment(read, collect)
