"""The hub is ready when all its processes are, the worker among them, and its schedules run."""

import signal
import socket
import subprocess
import time
from dataclasses import replace
from datetime import timedelta
from typing import Any

import psutil
import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone
from django_q.models import Schedule

from apps.core.domain.scope import Scope
from apps.core.health import readiness, report_process
from apps.core.models import HubProcess, ProcessKind
from apps.core.processes import LIVE_STATE_SQL, ProcessBeat, live_processes, publish, withdraw
from apps.events.broker import HubBroker
from tests.api import api_for
from tests.integration.core.processes import beside

pytestmark = pytest.mark.django_db

CHECKS = "tests.integration.core.checks"


@pytest.fixture
def wanting_two(settings: Any) -> None:
    """A run of two web processes, of which this is one that is ready."""
    settings.MEMORYHUB = replace(settings.MEMORYHUB, run="this-run", web_processes=2)
    settings.READINESS_CHECKS = {"index": f"{CHECKS}.content", "web": "apps.core.processes.web_ready"}
    settings.PROCESS_CHECKS = ("index",)


@pytest.mark.usefixtures("wanting_two")
def test_hub_is_ready_when_all_its_web_processes_are() -> None:
    assert readiness().checks == {"index": "ok", "web": "1 of 2 web processes run"}
    beside("web", index="loading the index, 1 of 3")
    assert readiness().checks == {"index": "loading the index, 1 of 3 (in 1 of 2 web processes)", "web": "ok"}
    HubProcess.objects.update(checks={"index": "ok"})
    assert readiness().ready


@pytest.mark.usefixtures("wanting_two")
def test_dead_process_vanishes() -> None:
    beside("web", age=16, index="loading the index, 1 of 3")
    assert readiness().checks == {"index": "ok", "web": "1 of 2 web processes run"}
    assert live_processes() == []


@pytest.mark.usefixtures("wanting_two")
def test_processes_of_earlier_run_count_for_nothing(settings: Any) -> None:
    beside("web", index="ok")
    settings.MEMORYHUB = replace(settings.MEMORYHUB, run="next-run")
    assert readiness().checks["web"] == "1 of 2 web processes run"


def test_process_publishes_itself_once_and_withdraws() -> None:
    for _ in range(2):
        publish(ProcessKind.WEB, {"index": "ok"}, {"index": {"bytes": 5}})
    [state] = live_processes()
    assert (state.is_this_one, state.checks, state.facts) == (True, {"index": "ok"}, {"index": {"bytes": 5}})
    withdraw(ProcessKind.WEB)
    assert live_processes() == []


def test_process_that_was_silent_for_long_is_forgotten() -> None:
    beside("web", age=601)
    publish(ProcessKind.WEB, {}, {})
    assert HubProcess.objects.count() == 1


def test_process_that_begins_removes_those_of_this_machine_that_have_ended() -> None:
    beside("web")
    beside("worker")
    HubProcess.objects.filter(kind="web").update(host=socket.gethostname())  # where no process has this id
    ProcessBeat(ProcessKind.WEB, report_process).beat()
    assert sorted((state.kind.value, state.is_this_one) for state in live_processes()) == [
        ("web", True),
        ("worker", False),
    ]


def test_beat_publishes_checks_and_index_of_this_process() -> None:
    ProcessBeat(ProcessKind.WEB, report_process).beat()
    [state] = live_processes()
    assert set(state.checks) == {"files", "embedding", "index", "timeline"}
    assert state.facts["index"]["level"] == "ok"


def worker_answer() -> str:
    answer: str = Client().get("/readyz").json()["checks"]["worker"]
    return answer


def test_worker_that_is_silent_makes_hub_unready() -> None:
    assert worker_answer().startswith("no worker has reported in the last 45 seconds")
    beside("worker", age=46)
    assert worker_answer() != "ok"
    beside("worker", age=40)
    assert worker_answer() == "ok"


def test_guard_of_worker_gives_signs_of_life() -> None:
    broker = HubBroker()
    for _ in range(2):  # twice a second in earnest, and published every ten
        broker.set_stat("key", "value", 3)
    assert [state.kind for state in live_processes()] == [ProcessKind.WORKER]
    assert worker_answer() == "ok"


def test_worker_with_a_stopped_process_gives_no_sign() -> None:
    child = subprocess.Popen(["sleep", "60"])
    try:
        child.send_signal(signal.SIGSTOP)
        while psutil.Process(child.pid).status() != psutil.STATUS_STOPPED:
            time.sleep(0.01)
        HubBroker().set_stat("key", "value", 3)
        assert live_processes() == []
        child.send_signal(signal.SIGCONT)
        while psutil.Process(child.pid).status() == psutil.STATUS_STOPPED:
            time.sleep(0.01)
        HubBroker().set_stat("key", "value", 3)
        assert [state.kind for state in live_processes()] == [ProcessKind.WORKER]
    finally:
        child.kill()
        child.wait()


def live_state() -> list[tuple[Any, ...]]:
    """What live push sees of the processes; a change of it is announced."""
    with connection.cursor() as cursor:
        cursor.execute(LIVE_STATE_SQL)
        return list(cursor.fetchall())


def test_progress_of_a_graph_is_a_change_for_live_push_and_bytes_are_not() -> None:
    facts = {"index": {"level": "ok", "making": {"done": 10, "of": 90}, "bytes": 5}}
    beside("web", facts=facts)
    before = live_state()
    HubProcess.objects.update(facts={"index": {**facts["index"], "bytes": 6}})
    assert live_state() == before
    HubProcess.objects.update(facts={"index": {**facts["index"], "making": {"done": 50, "of": 90}}})
    assert live_state() != before


def test_sign_of_life_from_before_the_clock_was_put_back_counts_for_nothing() -> None:
    beside("worker", age=-3_600)
    assert worker_answer() != "ok"
    assert live_state() == []
    pid = beside("worker", age=-4)
    assert worker_answer() == "ok"
    assert [row[3] for row in live_state()] == [pid]
    publish(ProcessKind.WEB, {}, {})
    assert not HubProcess.objects.filter(seen_at__gt=timezone.now() + timedelta(minutes=1)).exists()


@pytest.mark.parametrize(("age", "is_new"), [(44, False), (46, True), (-3_600, True)])
def test_process_that_was_away_counts_from_its_return(age: int, is_new: bool) -> None:
    publish(ProcessKind.WORKER, {}, {})
    moment = timezone.now() - timedelta(seconds=age)
    HubProcess.objects.update(started_at=moment - timedelta(hours=2), seen_at=moment)
    publish(ProcessKind.WORKER, {}, {})
    [state] = live_processes()
    assert (abs((timezone.now() - state.started_at).total_seconds()) < 30) is is_new


def test_schedule_is_not_overdue_when_the_machine_has_slept() -> None:
    publish(ProcessKind.WORKER, {}, {})
    long_ago = timezone.now() - timedelta(hours=8)
    HubProcess.objects.update(started_at=long_ago - timedelta(hours=8), seen_at=long_ago)
    publish(ProcessKind.WORKER, {}, {})
    assert overdue(480) == "ok"


def overdue(minutes: int) -> str:
    Schedule.objects.all().delete()
    due = timezone.now() - timedelta(minutes=minutes)
    Schedule.objects.create(name="tick", func="a.b", schedule_type=Schedule.MINUTES, minutes=10, next_run=due)
    return readiness().checks["schedules"]


def test_schedule_that_is_overdue_by_two_periods_makes_hub_unready() -> None:
    assert overdue(19) == "ok"
    assert overdue(20) == "1 schedules are overdue by two periods or more"


def test_schedule_that_was_due_before_worker_started_is_not_overdue_yet() -> None:
    beside("worker", age=30)
    assert overdue(600) == "ok"


def test_schedule_that_is_switched_off_is_not_overdue() -> None:
    Schedule.objects.create(
        name="tick", func="a.b", schedule_type=Schedule.DAILY, repeats=0, next_run=timezone.now() - timedelta(days=9)
    )
    assert readiness().checks["schedules"] == "ok"


def test_status_shows_all_processes_and_the_worst_of_their_indexes() -> None:
    facts = {"indexes": 3, "bytes": 70, "level": "degraded", "reasons": ["backlog"], "making": None, "missing": None}
    pid = beside("web", index="ok", facts={"index": facts})
    beside("worker")
    answer = api_for(Scope()).get("/api/semantic/status").json()
    assert (answer["index"]["level"], answer["index"]["reasons"]) == ("degraded", ["backlog"])
    assert answer["index"]["bytes"] == 70
    assert [(each["kind"], each["ready"]) for each in answer["processes"]] == [("web", True), ("worker", True)]
    assert answer["processes"][0]["pid"] == pid
    assert answer["processes"][0]["index"]["level"] == "degraded"
    assert answer["checks"]["worker"] == "ok"


def test_bound_key_learns_nothing_of_processes() -> None:
    beside("web", index="ok", facts={"index": {"level": "ok", "reasons": []}})
    answer = api_for(Scope(user_id="ana")).get("/api/semantic/status").json()
    assert not {"processes", "checks", "ready"} & set(answer)
    assert set(answer["index"]) <= {"kind", "model", "dimension"}
