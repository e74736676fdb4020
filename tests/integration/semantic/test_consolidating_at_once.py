"""Consolidation beside other runs and beside writers, each in a thread with a connection of its own."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction

from apps.core.domain.scope import Scope, system_access
from apps.core.personal.columns import next_ids
from apps.semantic.consolidation import run as running
from apps.semantic.consolidation.candidates import last_visible_id
from apps.semantic.consolidation.run import RunEnd, RunLimits, RunReport
from apps.semantic.consolidation.services import consolidation_create, consolidation_run, consolidation_update
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Conflict, Consolidation, Memory
from apps.semantic.services import memory_delete, memory_save
from apps.semantic.store.unit_of_work import lock_shards
from tests.integration.semantic.opposites import TOWNS, opposites, unnoticed
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)

PATIENCE = 60.0
SYSTEM = system_access("test")


def save(text: str, user: str = "ana") -> Memory:
    return memory_save(access=SYSTEM, draft=MemoryDraft(text, scope=Scope(user))).memory


def disagreeing(*users: str) -> list[Memory]:
    """For each user ten pairs of memories that contradict each other and both stand."""
    with unnoticed():
        return [save(text, user) for text in opposites(10) for user in users or ("ana",)]


@pytest.fixture
def nightly() -> Consolidation:
    return consolidation_create(name="nightly", settings={"mode": "decide"})


def going(consolidation: Consolidation, **bounds: Any) -> Callable[[], RunReport]:
    asked = RunLimits(**{"memories": None, "decisions": None, "seconds": None, **bounds})
    return lambda: consolidation_run(pk=consolidation.pk, limits=asked)


def finish(consolidation: Consolidation) -> None:
    """Run until a pass is complete, as the schedule would in time."""
    for _ in range(50):
        if going(consolidation)().ended in {RunEnd.COMPLETE, RunEnd.NOTHING_NEW}:
            return
    pytest.fail("it never ends")


def test_two_runs_at_once_decide_nothing_twice_and_leave_nothing_out(nightly: Consolidation) -> None:
    disagreeing("ana", "ben")
    reports = at_once(*[going(nightly)] * 3)
    finish(nightly)
    assert [report.error for report in reports] == [""] * 3
    pairs = list(Conflict.objects.values_list("candidate", "existing"))
    assert len(pairs) == len(set(pairs)) == 20
    nightly.refresh_from_db()
    assert (nightly.looked_at, nightly.decided) == (40, 20)


@pytest.fixture
def meeting(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, Callable[[], None]], None]:
    """Do something in a thread of its own just before the nth decision commits, while its locks are held."""
    real = running.decision_apply

    def arm(number: int, what: Callable[[], None]) -> None:
        calls = iter(range(1, 1_000))

        def apply(*arguments: Any) -> Conflict:
            receipt = real(*arguments)
            if next(calls) == number:
                what()
            return receipt

        monkeypatch.setattr(running, "decision_apply", apply)

    return arm


def in_thread(call: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    results: list[Any] = []

    def run() -> None:
        try:
            results.append(call())
        finally:
            connection.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, results


def test_second_run_steps_aside_while_first_decides(nightly: Consolidation, meeting: Any) -> None:
    disagreeing()
    seen: list[RunReport] = []

    def another() -> None:
        thread, results = in_thread(going(nightly))
        thread.join(PATIENCE)
        seen.extend(results)

    meeting(3, another)
    report = going(nightly)()
    assert [(other.ended, other.receipts.total()) for other in seen] == [("stepped_aside", 0)]
    assert (report.ended, report.decided) == ("complete", 10)


def test_save_of_another_user_does_not_wait_for_decision(nightly: Consolidation, meeting: Any) -> None:
    disagreeing()
    saved: list[Memory] = []

    def another() -> None:
        thread, results = in_thread(lambda: save("Ben likes tea.", "ben"))
        thread.join(PATIENCE)
        saved.extend(results)

    meeting(3, another)
    assert going(nightly)().decided == 10
    assert [memory.status for memory in saved] == ["active"]


def test_save_of_same_user_waits_for_one_decision_only(
    nightly: Consolidation, meeting: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    disagreeing()
    waiting: list[threading.Thread] = []
    decided_before_it: list[int] = []

    def another() -> None:
        def save_and_look() -> None:
            save("Somebody likes tea.")
            decided_before_it.append(Conflict.objects.count())

        waiting.append(in_thread(save_and_look)[0])

    meeting(1, another)
    real = running.ConsolidationRun.note_progress

    def moved(self: Any, *arguments: Any) -> None:
        """Between two decisions: the save that waits gets its turn."""
        for thread in waiting:
            thread.join(PATIENCE)
        real(self, *arguments)

    monkeypatch.setattr(running.ConsolidationRun, "note_progress", moved)
    assert going(nightly)().decided == 10
    assert decided_before_it == [1]
    assert Memory.objects.active().filter(content="Somebody likes tea.").count() == 1


def test_writers_and_runs_at_once_lose_nothing(nightly: Consolidation) -> None:
    memories = disagreeing()

    def write() -> None:
        for number in range(15):
            save(f"Fact number {number} about the cellar.")

    def remove() -> None:
        for memory in memories[:5]:
            if Memory.objects.get(pk=memory.pk).status == "active":
                memory_delete(access=SYSTEM, uuid=memory.uuid)

    at_once(write, remove, going(nightly), going(nightly))
    finish(nightly)
    assert Memory.objects.active().filter(content__startswith="Fact number").count() == 15
    assert not any(Memory.objects.active().filter(content__endswith=f" {town}.").count() > 1 for town in TOWNS), (
        "two that contradict each other stand"
    )
    assert Memory.objects.exclude(status__in=("active", "superseded", "deleted")).count() == 0


def test_change_of_settings_beside_run_is_not_lost(nightly: Consolidation) -> None:
    disagreeing()
    at_once(going(nightly), lambda: consolidation_update(pk=nightly.pk, settings={"max_seconds": 7}))
    finish(nightly)
    nightly.refresh_from_db()
    assert (nightly.max_seconds, nightly.decided) == (7, 10)


# Ids of different users become visible out of order


class Slow:
    """A writer that has taken an id and ends its transaction when it is told to."""

    def __init__(self, user: str) -> None:
        self.has_id, self.go_on = threading.Event(), threading.Event()
        self.thread, _ = in_thread(lambda: self._write(user))
        assert self.has_id.wait(PATIENCE)

    def _write(self, user: str) -> None:
        with transaction.atomic():
            lock_shards([user])
            next_ids(Memory, 1)
            self.has_id.set()
            assert self.go_on.wait(PATIENCE)

    def finish(self) -> None:
        self.go_on.set()
        self.thread.join(PATIENCE)


def test_no_id_is_settled_while_somebody_who_has_lower_one_is_at_work() -> None:
    slow = Slow("ben")
    last = save("Ana likes tea.")
    assert last_visible_id(0.1) is None
    slow.finish()
    assert last_visible_id(PATIENCE) == last.pk


def test_writer_who_comes_later_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    first = Slow("ben")
    last = save("Ana likes tea.")
    later: list[Slow] = []

    def pause(_: float) -> None:
        if not later:
            later.append(Slow("cleo"))
            first.finish()

    monkeypatch.setattr("apps.semantic.consolidation.candidates.time.sleep", pause)
    assert last_visible_id(PATIENCE) == last.pk
    later[0].finish()


def test_a_run_waits_for_no_writer_for_long(nightly: Consolidation, monkeypatch: pytest.MonkeyPatch) -> None:
    disagreeing()
    monkeypatch.setattr(running, "PATIENCE_SECONDS", 0.1)
    slow = Slow("ben")
    assert going(nightly)().ended == "writers"
    slow.finish()
    assert going(nightly)().ended == "complete"
