"""Races, with connections and processes of their own."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from urllib.parse import quote

import pytest
from django.db import DatabaseError, InterfaceError, OperationalError, connection, transaction
from django_q.models import Schedule

from apps.events import delivery as delivery_module
from apps.events import services
from apps.events.delivery import Drain, try_hold_deliveries
from apps.events.domain.retry import DEFAULT_POLICY
from apps.events.models import Delivery, Event
from apps.events.schedules import SCHEDULES
from apps.events.services import schedules_ensure
from tests.integration.events import support
from tests.integration.events.support import emit
from tests.threads import PATIENCE, at_once, outcomes_at_once

pytestmark = pytest.mark.django_db(transaction=True)

ROOT = Path(__file__).parents[3]
DRAIN_PROGRAM = "import django; django.setup(); from apps.events import services; services.drain()"


def test_two_drains_at_once_never_run_delivery_twice(table):
    table(support.RECORD, support.RECORD_TOO)
    ids = emit(150)
    # The last one takes what two of them passed over because the other held its row just then.
    reports = [*at_once(services.drain, services.drain, services.drain), services.drain()]
    assert len(support.seen) == 300
    assert sorted({envelope.event_id for envelope in support.seen}) == sorted(ids)
    assert sum(report.delivered for report in reports) == 300


def test_two_drains_that_finish_event_together_leave_it_done(table, monkeypatch):
    table(support.RECORD, support.RECORD_TOO)
    emit()
    complete = delivery_module.complete_events
    first_counted, second_counted = threading.Event(), threading.Event()

    def first_stays_open(ids, clock):
        if first_counted.is_set():
            complete(ids, clock)
            second_counted.set()
        else:
            complete(ids, clock)
            first_counted.set()
            second_counted.wait(0.5)  # which it cannot, while this transaction holds the event

    monkeypatch.setattr(delivery_module, "complete_events", first_stays_open)

    def second():
        first_counted.wait(PATIENCE)
        return services.drain(limit=1)

    reports = at_once(lambda: services.drain(limit=1), second)
    assert [report.delivered for report in reports] == [1, 1]
    assert Event.objects.get().delivered_at is not None


def test_delivery_that_one_drain_is_running_is_left_alone_by_another(table, monkeypatch):
    table(support.RECORD)
    emit()
    inside, leave = threading.Event(), threading.Event()

    def wait_inside(envelope):
        support.seen.append(envelope)
        inside.set()
        leave.wait(PATIENCE)

    monkeypatch.setattr(support, "record", wait_inside)

    def second():
        inside.wait(PATIENCE)
        try:
            return services.drain()
        finally:
            leave.set()

    first, other = at_once(services.drain, second)
    assert (first.delivered, other.delivered) == (1, 0)
    assert len(support.seen) == 1


def test_worker_killed_inside_handler_leads_to_redelivery_and_leaves_no_half_effect(table, tmp_path):
    table(support.HANG_IN_CHILD)
    emit()
    marker = tmp_path / "inside"
    child = subprocess.Popen([sys.executable, "-c", DRAIN_PROGRAM], cwd=ROOT, env=child_environment(marker))
    try:
        wait_until(marker.exists, child)
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    wait_until(lambda: services.drain().delivered == 1)
    delivery = Delivery.objects.get()
    assert (delivery.status, delivery.attempts, delivery.claims) == ("delivered", 1, 0)
    assert len(support.seen) == 1
    assert not Schedule.objects.exists()


@pytest.fixture
def drains_beside() -> int:
    """More drains than a delivery may have deaths."""
    return DEFAULT_POLICY.max_claims + 1


def test_delivery_that_is_claimed_and_not_yet_running_is_left_alone_by_other_drains(table, monkeypatch, drains_beside):
    table(support.RECORD)
    emit()
    claimed, others_ended = threading.Event(), threading.Event()
    run = Drain.run_batch

    def run_after_the_others(self, ids):
        if not claimed.is_set():
            claimed.set()
            others_ended.wait(PATIENCE)
        return run(self, ids)

    monkeypatch.setattr(Drain, "run_batch", run_after_the_others)

    def others():
        claimed.wait(PATIENCE)
        try:
            reports = [at_once(services.drain)[0] for _ in range(drains_beside)]  # each in a connection of its own
            return reports, Delivery.objects.get()
        finally:
            others_ended.set()

    first, (reports, between) = at_once(services.drain, others)
    assert [(report.delivered, report.failed) for report in reports] == [(0, 0)] * drains_beside
    assert (between.status, between.attempts, between.claims) == ("pending", 0, 1)
    assert first.delivered == 1
    delivery = Delivery.objects.get()
    assert (delivery.status, delivery.attempts, delivery.claims) == ("delivered", 1, 0)
    assert len(support.seen) == 1


def test_drains_that_all_claim_before_one_runs_do_not_give_up_what_was_never_tried(table, monkeypatch, drains_beside):
    table(support.RECORD)
    emit()
    in_line, all_have_claimed = threading.Lock(), threading.Barrier(drains_beside)
    claim, waited = Drain.claim, threading.local()

    @contextmanager
    def claim_and_wait_for_all(self, size):
        with ExitStack() as stack:
            with in_line:
                ids = stack.enter_context(claim(self, size))
            if not hasattr(waited, "once"):
                waited.once = True
                all_have_claimed.wait(PATIENCE)
            yield ids

    monkeypatch.setattr(Drain, "claim", claim_and_wait_for_all)
    reports = at_once(*[services.drain] * drains_beside)
    assert (sum(report.delivered for report in reports), sum(report.failed for report in reports)) == (1, 0)
    delivery = Delivery.objects.get()
    assert (delivery.status, delivery.attempts, delivery.claims, delivery.last_error) == ("delivered", 1, 0, "")


def test_row_that_is_locked_for_moment_is_waited_for_by_drain_that_claimed_it(table, monkeypatch):
    table(support.RECORD)
    emit()
    run = Drain.run_batch
    locked, claimed = threading.Event(), threading.Event()

    def run_while_the_row_is_locked(self, ids):
        claimed.set()
        locked.wait(PATIENCE)
        return run(self, ids)

    monkeypatch.setattr(Drain, "run_batch", run_while_the_row_is_locked)

    def lock_row():
        claimed.wait(PATIENCE)
        with transaction.atomic():
            Delivery.objects.select_for_update().get()
            locked.set()
            time.sleep(0.3)

    report, _ = at_once(services.drain, lock_row)
    assert report.delivered == 1
    assert Delivery.objects.get().claims == 0


@pytest.mark.parametrize("moment", ["claimed", "in the handler"])
def test_drain_whose_connection_dies_leaves_its_delivery_to_next_one_with_one_death(table, monkeypatch, moment):
    table(support.RECORD)
    emit()
    run, claims_seen = Drain.run_batch, []

    def lose_connection():
        with connection.cursor() as cursor, suppress(OperationalError):
            cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    def lose_connection_first(self, ids):
        claims_seen.append(Delivery.objects.get().claims)
        if len(claims_seen) == 1 and moment == "claimed":
            lose_connection()
        return run(self, ids)

    def record(envelope):
        if len(claims_seen) == 1:
            lose_connection()
        support.seen.append(envelope)

    monkeypatch.setattr(Drain, "run_batch", lose_connection_first)
    monkeypatch.setattr(support, "record", record)
    [failure] = outcomes_at_once(services.drain)
    assert isinstance(failure, DatabaseError | InterfaceError)
    assert Delivery.objects.get().claims == 1
    assert services.drain().delivered == 1
    assert claims_seen == [1, 2]  # one death, and the claim of the one that takes it over
    delivery = Delivery.objects.get()
    assert (delivery.status, delivery.attempts, delivery.claims) == ("delivered", 1, 0)


def test_abandoned_delivery_behind_one_that_is_held_is_taken_over(table):
    table(support.RECORD)
    emit(3)
    Delivery.objects.update(claims=1)
    held, other, last = Delivery.objects.order_by("id").values_list("id", flat=True)
    holds, done = threading.Event(), threading.Event()

    def hold_the_first():
        try_hold_deliveries([held])
        holds.set()
        done.wait(PATIENCE)

    def drain_beside():
        holds.wait(PATIENCE)
        try:
            return services.drain()
        finally:
            done.set()

    _, report = at_once(hold_the_first, drain_beside)
    assert report.delivered == 2
    assert set(Delivery.objects.filter(status="delivered").values_list("id", flat=True)) == {other, last}
    assert Delivery.objects.get(id=held).claims == 1


def test_a_drain_leaves_no_lock_behind(table):
    table(support.RUN_TOO_LONG, support.RECORD)
    emit()
    with pytest.raises(SystemExit):
        services.drain()
    services.drain()
    assert Delivery.objects.filter(status="delivered").count() == 1
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()")
        assert cursor.fetchone() == (0,)


def child_environment(marker: Path) -> dict[str, str]:
    wanted = connection.settings_dict
    account = quote(wanted["USER"], safe="") + (f":{quote(wanted['PASSWORD'], safe='')}" if wanted["PASSWORD"] else "")
    port = f":{wanted['PORT']}" if wanted["PORT"] else ""
    url = f"postgresql://{account}@{quote(wanted['HOST'], safe='')}{port}/{wanted['NAME']}"
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    return os.environ | {
        "DATABASE_URL": url,
        "OUTBOX_TEST_HANG": str(marker),
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
    }


def wait_until(condition, child: subprocess.Popen | None = None) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "waited too long"
        assert child is None or child.poll() is None, "the child ended by itself"
        time.sleep(0.05)


def test_trim_beside_redeliver_removes_no_event_that_is_open_again(table, monkeypatch):
    table(support.RECORD)
    emit(20)
    services.drain()
    Event.objects.update(delivered_at="2020-01-01T00:00:00Z")
    chosen = list(Delivery.objects.values_list("id", flat=True)[:10])
    removed, reopened = at_once(services.trim, lambda: services.redeliver(delivery_ids=chosen))
    assert removed + reopened == 20 or removed == 20
    assert Delivery.objects.pending().count() == reopened
    assert Event.objects.count() == reopened


def test_two_processes_that_ensure_schedules_make_each_once():
    made = at_once(*[partial(schedules_ensure, specs=SCHEDULES)] * 3)
    assert sorted(len(names) for names in made) == [0, 0, 2]
    assert sorted(Schedule.objects.values_list("name", flat=True)) == ["events: sweep", "events: trim"]
