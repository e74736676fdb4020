"""Races, with connections and processes of their own."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.parse import quote

import pytest
from django.db import connection
from django_q.models import Schedule

from apps.events import delivery as delivery_module
from apps.events import services
from apps.events.models import Delivery, Event
from apps.events.schedules import schedules_ensure
from tests.events import support
from tests.events.support import emit
from tests.threads import PATIENCE, at_once

pytestmark = pytest.mark.django_db(transaction=True)

ROOT = Path(__file__).parents[2]
DRAIN_PROGRAM = "import django; django.setup(); from apps.events import services; services.drain()"


def test_two_drains_at_once_never_run_a_delivery_twice(table):
    table(support.RECORD, support.RECORD_TOO)
    ids = emit(150)
    # The last one takes what two of them passed over because the other held its row just then.
    reports = [*at_once(services.drain, services.drain, services.drain), services.drain()]
    assert len(support.seen) == 300
    assert sorted({envelope.event_id for envelope in support.seen}) == sorted(ids)
    assert sum(report.delivered for report in reports) == 300


def test_two_drains_that_finish_an_event_together_leave_it_done(table, monkeypatch):
    table(support.RECORD, support.RECORD_TOO)
    emit()
    complete = delivery_module._complete_events
    first_counted, second_counted = threading.Event(), threading.Event()

    def first_stays_open(ids, clock):
        if first_counted.is_set():
            complete(ids, clock)
            second_counted.set()
        else:
            complete(ids, clock)
            first_counted.set()
            second_counted.wait(0.5)  # which it cannot, while this transaction holds the event

    monkeypatch.setattr(delivery_module, "_complete_events", first_stays_open)

    def second():
        first_counted.wait(PATIENCE)
        return services.drain(limit=1)

    reports = at_once(lambda: services.drain(limit=1), second)
    assert [report.delivered for report in reports] == [1, 1]
    assert Event.objects.get().delivered_at is not None


def test_a_delivery_that_one_drain_is_running_is_left_alone_by_another(table, monkeypatch):
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


def test_a_worker_killed_inside_a_handler_leads_to_redelivery_and_leaves_no_half_effect(table, tmp_path):
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


def test_a_trim_beside_a_redeliver_removes_no_event_that_is_open_again(table, monkeypatch):
    table(support.RECORD)
    emit(20)
    services.drain()
    Event.objects.update(delivered_at="2020-01-01T00:00:00Z")
    chosen = list(Delivery.objects.values_list("id", flat=True)[:10])
    removed, reopened = at_once(services.trim, lambda: services.redeliver(delivery_ids=chosen))
    assert removed + reopened == 20 or removed == 20
    assert Delivery.objects.pending().count() == reopened
    assert Event.objects.count() == reopened


def test_two_processes_that_ensure_the_schedules_make_each_once():
    made = at_once(schedules_ensure, schedules_ensure, schedules_ensure)
    assert sorted(len(names) for names in made) == [0, 0, 2]
    assert sorted(Schedule.objects.values_list("name", flat=True)) == ["events: sweep", "events: trim"]
