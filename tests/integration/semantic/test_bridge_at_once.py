"""The bridge beside writers and other workers, and after the death of one; each with a connection of its own."""

import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction
from django_q.models import OrmQ

from apps.core.domain.clock import SYSTEM_CLOCK
from apps.core.domain.scope import Scope, system_access
from apps.events.models import Delivery
from apps.events.services import drain, emit, emit_many
from apps.semantic.bridge import batch as bridge_batch
from apps.semantic.bridge import handlers, ingest, reconcile
from apps.semantic.bridge.ingest import IngestEnd, bridge_catch_up, events_ingest
from apps.semantic.bridge.jobs import ingest_lock
from apps.semantic.bridge.policies import policy_update
from apps.semantic.bridge.reconcile import links_reconcile
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import BridgeAudit, Ingestion, Memory
from apps.semantic.services import memories_purge, memory_save
from apps.semantic.store.embedding_space import forget_space
from tests.integration.semantic.bridge_support import (
    INGEST,
    active,
    ingestion,
    policy,
    pruned,
    queued,
    recover,
    saved,
    tell,
    warn,
)
from tests.threads import PATIENCE, at_once, met_by

pytestmark = pytest.mark.django_db(transaction=True)

SYSTEM = system_access("test")


@pytest.fixture(autouse=True)
def _the_space_of_this_test() -> None:
    """Every test has a database without a space, which is no change of it."""
    forget_space()


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)


# Tasks


def test_transaction_that_tells_of_many_events_asks_for_one_task() -> None:
    policy()
    tell(*(saved(f"event {n}") for n in range(20)))
    assert queued(INGEST) == 1


def test_run_that_has_no_time_left_asks_for_another() -> None:
    policy()
    tell(saved())
    OrmQ.objects.all().delete()
    assert events_ingest(seconds=0).ended is IngestEnd.TIME
    assert queued(INGEST) == 1


def test_run_that_has_done_everything_asks_for_nothing() -> None:
    policy()
    tell(saved())
    OrmQ.objects.all().delete()
    assert events_ingest().ended is IngestEnd.DONE
    assert queued(INGEST) == 0


def test_warning_asks_for_nothing_and_its_end_asks_for_what_waited() -> None:
    policy()
    warn()
    tell(saved())
    OrmQ.objects.all().delete()
    events_ingest()
    bridge_catch_up()
    assert queued(INGEST) == 0
    recover()
    drain()
    assert queued(INGEST) == 1


def test_schedule_asks_for_what_lost_task_has_left() -> None:
    policy(on_prune="delete")
    first, second = saved("first"), saved("second")
    tell(first)
    events_ingest()
    tell(second, pruned(first))
    OrmQ.objects.all().delete()
    bridge_catch_up()
    assert sorted(row.task["func"].rpartition(".")[2] for row in OrmQ.objects.all()) == [
        "ingest_events",
        "reconcile_events",
    ]


def test_schedule_asks_for_nothing_when_nothing_waits() -> None:
    bridge_catch_up()
    assert not OrmQ.objects.exists()


# Several workers


def test_several_workers_at_once_save_every_event_once() -> None:
    policy()
    events = [saved(f"event {n}") for n in range(60)]
    tell(*events)
    at_once(*[events_ingest] * 3)
    events_ingest()
    assert active() == sorted(event.content for event in events)
    assert Ingestion.objects.filter(status="linked").count() == 60


def test_second_run_leaves_work_to_first() -> None:
    policy()
    tell(saved())

    def second() -> Any:
        return events_ingest().ended

    with ingest_lock() as alone:
        assert alone
        [ended] = at_once(second)
    assert ended is IngestEnd.BUSY


def test_that_none_is_saved_twice_does_not_depend_on_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    policy()
    events = [saved(f"event {n}") for n in range(40)]
    tell(*events)
    batches = [list(Ingestion.objects.order_by("id")) for _ in range(3)]
    at_once(*[lambda batch=batch: bridge_batch.batch_save(batch=batch, clock=SYSTEM_CLOCK) for batch in batches])
    assert active() == sorted(event.content for event in events)
    assert set(Ingestion.objects.values_list("action", flat=True)) == {"inserted"}


def test_event_that_is_delivered_by_two_drains_at_once_makes_one_memory() -> None:
    policy()
    event = saved()
    with transaction.atomic():
        emit_many([event] * 8)
    at_once(drain, drain, drain)
    drain()
    events_ingest()
    assert (Ingestion.objects.count(), active()) == (1, [event.content])


def test_several_workers_look_at_each_memory_once() -> None:
    policy(on_prune="delete")
    events = [saved(f"event {n}") for n in range(20)]
    tell(*events)
    events_ingest()
    tell(pruned(*events))
    at_once(*[links_reconcile] * 3)
    links_reconcile()
    assert active() == []
    assert BridgeAudit.objects.filter(action="deleted").count() == 20


# Beside people who save


@pytest.fixture
def between(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Callable[[], Any]], None]:
    """Do something in a thread of its own just before or after a batch is written in its transaction."""
    real = bridge_batch.save_write

    def arm(when: str, what: Callable[[], Any]) -> None:
        def write(**options: Any) -> Any:
            if when == "before":
                at_once(what)
            written = real(**options)
            if when == "after":
                at_once(what)
            return written

        monkeypatch.setattr(bridge_batch, "save_write", write)

    return arm


def save(content: str, user: str) -> Memory:
    return memory_save(access=SYSTEM, draft=MemoryDraft(content, scope=Scope(user))).memory


def test_who_saves_for_another_user_does_not_wait(between: Any) -> None:
    policy()
    tell(saved())
    between("after", lambda: save("Ben likes tea", "ben"))
    assert events_ingest().outcomes == {"inserted": 1}
    assert active("ben") == ["Ben likes tea"]


def test_who_saves_waits_for_no_event_that_is_only_heard_of() -> None:
    policy()
    with transaction.atomic():  # as long as the deliveries of a batch are in hand
        emit(saved())
        drain()
        assert Ingestion.objects.exists()
        at_once(lambda: save("Ana likes tea", "ana"))
    events_ingest()
    assert len(active()) == 2


def test_event_that_is_pruned_while_its_batch_is_prepared_is_left_out(between: Any) -> None:
    policy()
    events = [saved(f"event {n}") for n in range(3)]
    tell(*events)
    real = bridge_batch.save_prepare

    def prepare(**options: Any) -> Any:
        at_once(lambda: tell(pruned(events[1])))
        return real(**options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bridge_batch, "save_prepare", prepare)
        events_ingest()
    assert active() == ["event 0", "event 2"]
    assert ingestion(events[1]).status == "pruned"


def test_event_that_is_pruned_while_it_is_saved_is_unlinked_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    policy(on_prune="delete")
    event = saved()
    tell(event)
    pruning: list[threading.Thread] = []
    real = bridge_batch.save_write

    def write(**options: Any) -> Any:
        def prune() -> None:
            try:
                tell(pruned(event))
            finally:
                connection.close()

        pruning.append(threading.Thread(target=prune, daemon=True))
        pruning[0].start()
        pruning[0].join(0.3)  # it waits for this transaction
        assert pruning[0].is_alive()
        return real(**options)

    monkeypatch.setattr(bridge_batch, "save_write", write)
    events_ingest()
    pruning[0].join(PATIENCE)
    assert ingestion(event).status == "unlinking"
    assert links_reconcile() == {"deleted": 1}


def test_purge_beside_run_waits_for_it_and_leaves_nothing() -> None:
    policy()
    events = [saved(f"event {n}") for n in range(64)]
    tell(*events)
    at_once(events_ingest, lambda: memories_purge(access=SYSTEM, scope=Scope("ana")), events_ingest)
    memories_purge(access=SYSTEM, scope=Scope("ana"))
    assert not Memory.objects.exists()
    assert not Ingestion.objects.exists()


# Beside operators who change its policies


def test_changes_of_a_policy_at_once_are_both_kept() -> None:
    row = policy(priority=1, confidence=0.5)
    with met_by(lambda: policy_update(pk=row.pk, settings={"confidence": 0.7})):
        policy_update(pk=row.pk, settings={"priority": 2})
    row.refresh_from_db()
    assert (row.priority, row.confidence) == (2, 0.7)


# Workers that are killed


def killed(module: Any, step: str, work: Callable[[], Any]) -> None:
    """Do some work in a process of its own, and kill it (SIGKILL) right after it has done a step of it."""
    inside, tell_inside = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            _hang_after(module, step, tell_inside)
            work()
        finally:
            os._exit(1)
    os.close(tell_inside)
    try:
        assert os.read(inside, 1) == b"x", "it ended by itself"
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(inside)


def _hang_after(module: Any, step: str, tell_inside: int) -> None:
    # The connection is the parent's: kept, so that nothing here ends it.
    _hang_after.parents = connection.connection  # type: ignore[attr-defined]
    connection.connection = None
    real = getattr(module, step)

    def hang(*arguments: Any, **options: Any) -> None:
        real(*arguments, **options)
        os.write(tell_inside, b"x")
        time.sleep(PATIENCE)

    setattr(module, step, hang)


STEPS = [
    (ingest, "is_suspended"),
    (bridge_batch, "routing_table"),
    (bridge_batch, "save_prepare"),
    (bridge_batch, "lock_pending"),
    (bridge_batch, "save_write"),
    (bridge_batch, "link_events"),
    (bridge_batch, "write_ended"),
    (bridge_batch, "observe_lag"),
]


@pytest.mark.parametrize(("module", "step"), STEPS, ids=[step for _, step in STEPS])
def test_event_becomes_memory_once_wherever_its_worker_is_killed(module: Any, step: str) -> None:
    policy()
    events = [saved(f"event {n}") for n in range(5)]
    tell(*events)
    killed(module, step, events_ingest)
    wait_until(lambda: events_ingest().ended is IngestEnd.DONE)  # the lock of the dead one goes with its connection
    assert active() == sorted(event.content for event in events)
    assert set(Ingestion.objects.values_list("status", "action")) == {("linked", "inserted")}
    assert Memory.objects.count() == 5


def test_worker_that_is_killed_while_it_hears_of_events_loses_none_and_notes_none_twice() -> None:
    policy()
    events = [saved(f"event {n}") for n in range(5)]
    with transaction.atomic():
        emit_many(events)
    killed(handlers, "request_ingest", drain)
    wait_until(lambda: drain().delivered >= 0 and not Delivery.objects.pending().exists())
    events_ingest()
    assert active() == sorted(event.content for event in events)
    assert Ingestion.objects.count() == 5


@pytest.mark.parametrize("step", ["apply_remedy", "audit"])
def test_memory_is_taken_back_once_wherever_worker_is_killed(step: str) -> None:
    policy()
    event = saved()
    tell(event)
    events_ingest()
    tell(pruned(event))
    killed(reconcile, step, links_reconcile)
    wait_until(lambda: bool(links_reconcile()))
    memory = Memory.objects.get()
    assert (memory.importance, BridgeAudit.objects.count()) == (0.45, 1)
