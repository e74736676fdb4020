"""Writers are never blocked by maintenance (spec 000, Snapshot and compaction): shown by locks, not by a watch.

Every writer's connection gives up on a lock after 100 ms, which is what a write may wait at most.
"""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from django.db import connection

from apps.core.domain.scope import Scope
from apps.episodic.maintenance import archive, compact, seal
from apps.episodic.maintenance.run import timeline_compact, timeline_maintain
from apps.episodic.models import RetentionPolicy, Segment
from apps.episodic.recording import rows
from apps.episodic.recording.record import RecordAction, event_record
from apps.episodic.retention.prune import timeline_prune
from tests.integration.episodic.upkeep import (
    ACCESS,
    a_sealed_segment,
    an_archived_segment,
    clock_at,
    contents,
    draft,
    expected,
)
from tests.threads import PATIENCE, at_once

pytestmark = pytest.mark.django_db(transaction=True)

LOCK_MS = 100
WRITERS = 5
# Late ones lie in the time of what is archived, so each is looked for in files as well.
LATE = {"timestamp": draft(3).timestamp}


@pytest.fixture(autouse=True)
def small_segments(settings: Any) -> None:
    """Segments of at most 40 events."""
    hub = settings.MEMORYHUB
    settings.MEMORYHUB = replace(hub, timeline=replace(hub.timeline, segment_events=40))


def impatient(write: Callable[[], Any]) -> Callable[[], Any]:
    """The same with a connection that waits for no lock for longer than a write may wait."""

    def run() -> Any:
        with connection.cursor() as cursor:
            cursor.execute(f"SET lock_timeout = {LOCK_MS}")
        return write()

    return run


class Writers:
    """Several threads that write at once and must all come to their end; each call writes other events."""

    def __init__(self) -> None:
        self.written: list[int] = []
        self._next = 100

    def write(self) -> None:
        """New events, late ones, and for each writer one of the first that are archived."""
        self._next += 100
        at_once(*[impatient(partial(self._write_some, writer)) for writer in range(WRITERS)])

    def _write_some(self, writer: int) -> None:
        first, *late = numbers = range(self._next + 10 * writer, self._next + 10 * writer + 3)
        results = [event_record(access=ACCESS, draft=draft(first), clock=clock_at())]
        results += [event_record(access=ACCESS, draft=draft(one, **LATE), clock=clock_at()) for one in late]
        assert {result.action for result in results} == {RecordAction.RECORDED}
        again = event_record(access=ACCESS, draft=draft(writer), clock=clock_at())
        assert again.action is RecordAction.DUPLICATE
        self.written += numbers


@pytest.fixture
def writers() -> Writers:
    return Writers()


def writing_within(monkeypatch: pytest.MonkeyPatch, module: Any, writers: Writers) -> list[str]:
    """Have writers write, and wait for them, after each step of a segment within its transaction; says which."""
    real, been = module.segment_step, []

    def then_write(segment: Segment, state: str, **options: Any) -> None:
        real(segment, state, **options)
        assert connection.in_atomic_block
        writers.write()
        been.append(str(state))

    monkeypatch.setattr(module, "segment_step", then_write)
    return been


def test_compaction_holds_no_lock_that_writer_needs(monkeypatch: pytest.MonkeyPatch, writers: Writers) -> None:
    for number in range(3):
        an_archived_segment(range(number * 5, number * 5 + 5))
    been = writing_within(monkeypatch, compact, writers)
    assert timeline_compact(clock=clock_at()).merged == 3
    assert been == ["sealed", "archived", "compacted", "compacted", "compacted"]
    assert contents() == expected([*range(15), *writers.written])


def test_nor_does_closing_and_sealing(monkeypatch: pytest.MonkeyPatch, writers: Writers) -> None:
    an_archived_segment(range(5))
    been = writing_within(monkeypatch, seal, writers)
    been_closing = writing_within(monkeypatch, rows, writers)
    a_sealed_segment(range(5, 9))
    assert (been_closing, been) == (["sealing"], ["sealed"])
    assert contents() == expected([*range(9), *writers.written])


def test_nor_does_archiving(monkeypatch: pytest.MonkeyPatch, writers: Writers) -> None:
    an_archived_segment(range(5))
    a_sealed_segment(range(5, 9))
    been = writing_within(monkeypatch, archive, writers)
    assert timeline_maintain(clock=clock_at(7)).archived == 1
    assert been == ["archived"]
    assert contents() == expected([*range(9), *writers.written])


def test_nor_does_retention(monkeypatch: pytest.MonkeyPatch, writers: Writers) -> None:
    RetentionPolicy.objects.update_or_create(household_id="old", defaults={"days": 1, "is_enabled": True})
    an_archived_segment(range(5))
    an_archived_segment(range(5, 9), scope=Scope("ana", "old"))
    been = writing_within(monkeypatch, compact, writers)
    assert timeline_prune(clock=clock_at(9)).archived == 4
    assert been == ["pruned"]
    assert contents() == expected([*range(5), *writers.written])


class Steady(threading.Thread):
    """Writes ten events a second until it is stopped."""

    def __init__(self, first: int) -> None:
        super().__init__(daemon=True)
        self.written: list[int] = []
        self.failure: BaseException | None = None
        self.stopped = threading.Event()
        self._numbers = iter(range(first, first + 200))

    def run(self) -> None:
        try:
            impatient(self._write)()
        except BaseException as failure:  # noqa: BLE001  (the test checks it)
            self.failure = failure
        finally:
            connection.close()

    def _write(self) -> None:
        while not self.stopped.wait(0.1):
            number = next(self._numbers)
            event_record(access=ACCESS, draft=draft(number, **LATE), clock=clock_at())
            self.written.append(number)


@pytest.fixture
def fifty_a_second() -> Iterator[list[Steady]]:
    threads = [Steady(200 * (n + 1)) for n in range(WRITERS)]
    yield threads
    for thread in threads:
        thread.stopped.set()


def test_fifty_writers_second_beside_compaction_wait_for_no_lock(fifty_a_second: list[Steady]) -> None:
    for number in range(4):
        an_archived_segment([number])
    for thread in fifty_a_second:
        thread.start()
    merged, rounds, deadline = 0, 0, time.monotonic() + PATIENCE
    while min(len(thread.written) for thread in fifty_a_second) < 8 and time.monotonic() < deadline:
        if any(thread.failure for thread in fifty_a_second):
            break
        # Everything closed is archived at once, so there is always something small to merge.
        timeline_maintain(clock=clock_at(9), wait_seconds=10)
        for segment in Segment.objects.filter(state="sealed"):
            archive.segment_archive(segment, clock=clock_at(9))
        merged += timeline_compact(clock=clock_at(9)).merged
        rounds += 1
    for thread in fifty_a_second:
        thread.stopped.set()
    for thread in fifty_a_second:
        thread.join(PATIENCE)
    assert [thread.failure for thread in fifty_a_second] == [None] * WRITERS
    assert merged > 0
    assert contents() == expected([*range(4), *(number for thread in fifty_a_second for number in thread.written)])
