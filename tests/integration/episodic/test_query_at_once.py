"""Queries beside maintenance and writers: every answer is of one moment, whole, and has nothing twice."""

import threading
from collections.abc import Callable
from datetime import timedelta

import pytest

from apps.core.domain.scope import Scope
from apps.episodic.domain.event import EventDraft
from apps.episodic.domain.segment_state import RowsState, SegmentState
from apps.episodic.domain.window import EventQuery, QueryResult
from apps.episodic.queries.query import events_query
from apps.episodic.recording.record import events_record
from apps.episodic.store.file_cache import ArchiveCache, archive_cache
from tests.integration.episodic.records import NOW
from tests.integration.episodic.timeline import SYSTEM, Timeline, draft, segments
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)

OLD = 60
ROUNDS = 12


def event(number: int) -> EventDraft:
    return draft(f"event {number}", timestamp=NOW + timedelta(seconds=number), scope=Scope(f"user {number % 3}"))


def check(result: QueryResult, limit: int) -> int:
    """See that an answer has every event up to the newest that it has, in order; return their number."""
    numbers = [int(event.content.removeprefix("event ")) for event in result.events]
    count = result.diagnostics.scanned
    assert numbers == list(range(count - 1, max(-1, count - 1 - limit), -1))
    return count


def until(done: threading.Event, work: Callable[[], None]) -> Callable[[], int]:
    def run() -> int:
        rounds = 0
        while not done.is_set():
            work()
            rounds += 1
        return rounds

    return run


def maintenance(timeline: Timeline, done: threading.Event) -> Callable[[], None]:
    """Seals, archives and merges, again and again, beside a writer."""

    def run() -> None:
        try:
            for number in range(OLD, OLD + ROUNDS):
                events_record(access=SYSTEM, drafts=[event(number)], clock=timeline.clock)
                timeline.archive()
                if number % 3 == 0:
                    archived = segments(SegmentState.ARCHIVED, rows=RowsState.GONE)
                    timeline.merge(archived[: 2 + number % 4])
        finally:
            done.set()

    return run


def test_queries_beside_maintenance_return_each_event_once() -> None:
    timeline, done = Timeline(), threading.Event()
    events_record(access=SYSTEM, drafts=[event(number) for number in range(OLD)], clock=timeline.clock)

    def reader(limit: int) -> Callable[[], int]:
        counts = [0]

        def ask() -> None:
            counts.append(check(events_query(SYSTEM, EventQuery(top_k=limit)), limit))
            # What was there stays there.
            assert counts[-1] >= counts[-2]

        return until(done, ask)

    outcomes = at_once(maintenance(timeline, done), *[reader(limit) for limit in (1000, 7, 1000)])
    assert min(outcomes[1:]) >= 3
    assert check(timeline.query(top_k=1000), 1000) == OLD + ROUNDS


def test_processes_that_start_beside_maintenance_answer_same(monkeypatch: pytest.MonkeyPatch) -> None:
    timeline, done = Timeline(), threading.Event()
    events_record(access=SYSTEM, drafts=[event(number) for number in range(OLD)], clock=timeline.clock)
    own = threading.local()

    def of_thread() -> ArchiveCache:
        return own.cache if hasattr(own, "cache") else archive_cache()

    monkeypatch.setattr("apps.episodic.queries.archived.archive_cache", of_thread)

    def ask_anew() -> None:
        own.cache = ArchiveCache()
        check(events_query(SYSTEM, EventQuery(top_k=1000)), 1000)

    outcomes = at_once(maintenance(timeline, done), until(done, ask_anew))
    assert outcomes[1] >= 3
