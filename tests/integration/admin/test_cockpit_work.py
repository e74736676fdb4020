"""The page of background work."""

import re
from collections.abc import Callable
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from django_q.models import Failure, OrmQ, Schedule
from django_q.tasks import async_task

from apps.events.models import Delivery, JobRun
from apps.events.services import schedules_ensure
from memoryhub.schedules import SCHEDULES
from tests.integration.admin.pages import text_of
from tests.integration.events import support
from tests.integration.events.working import work_off

pytestmark = pytest.mark.django_db

WORK = "/admin/work/"
EVIL = "<script>alert(1)</script>"


@pytest.fixture
def sweep() -> Schedule:
    schedules_ensure(specs=SCHEDULES)
    return Schedule.objects.get(name="events: sweep")


def fail(words: str = "the disk is full", function: str = "apps.sync.tasks.due", line: int = 7) -> Failure:
    now = timezone.now()
    report = (
        f"{words} : Traceback (most recent call last):\n"
        f'  File "/hub/apps/sync/tasks.py", line {line}, in due\n    go()\nOSError: {words}\n'
    )
    return Failure.objects.create(
        id=uuid4().hex, name="venus-east", func=function, started=now, stopped=now, success=False, result=report
    )


def post(client: Client, name: str, *args: object, **data: str) -> str:
    answer = client.post(reverse(f"cockpit_{name}", args=args), data, follow=True)
    assert answer.status_code == 200, answer.status_code
    return answer.content.decode()


@pytest.mark.django_db(transaction=True)
def test_schedules_are_there_in_words_with_their_last_runs(operator: Client, sweep: Schedule) -> None:
    post(operator, "work_run", sweep.pk)
    work_off()
    text = text_of(operator, WORK)
    assert "Look for deliveries" in text
    assert "Last 1 runs: 1 succeeded, 0 failed" in text
    assert f"All {len(SCHEDULES)} schedules are on time." in text


def test_overdue_schedule_says_by_how_much(operator: Client, sweep: Schedule) -> None:
    Schedule.objects.filter(pk=sweep.pk).update(next_run=timezone.now() - timedelta(minutes=3, seconds=10))
    text = text_of(operator, WORK)
    assert "overdue 3 min" in text
    assert "1 is late" in text


def test_schedule_is_paused_and_resumed(operator: Client, sweep: Schedule) -> None:
    assert "1 is paused" in post(operator, "work_pause", sweep.pk)
    assert "already paused" in post(operator, "work_pause", sweep.pk)
    post(operator, "work_resume", sweep.pk)
    sweep.refresh_from_db()
    assert sweep.repeats == -1


def test_failed_tasks_are_grouped_in_words(operator: Client, sweep: Schedule) -> None:
    for _ in range(3):
        fail()
    fail(line=9)
    text = text_of(operator, WORK)
    assert "3×" in text
    assert "OSError at sync/tasks.py:7" in text
    assert "Start syncs" in text
    assert "venus-east" not in text


def key_of(client: Client) -> str:
    found = re.search(r"/admin/work/failures/([0-9a-f]{16})/", text_of(client, WORK))
    assert found
    return found[1]


def test_kind_of_failure_is_run_again_as_a_whole(operator: Client) -> None:
    fail()
    fail()
    assert "2 tasks are queued again." in post(operator, "work_rerun", key_of(operator))
    assert [task.func() for task in OrmQ.objects.all()] == ["apps.sync.tasks.due"] * 2
    assert not Failure.objects.exists()


def test_kind_of_failure_is_set_aside_until_it_fails_again(operator: Client) -> None:
    fail()
    key = key_of(operator)
    post(operator, "work_aside", key)
    text = text_of(operator, WORK)
    assert "No failed tasks need you." in text
    assert "Set aside: 1 kind" in text
    assert "OSError" in text_of(operator, reverse("cockpit_work_failure", args=[key]))
    fail()
    assert "No failed tasks need you." not in text_of(operator, WORK)


def test_queue_says_what_waits_and_runs(operator: Client) -> None:
    async_task("apps.events.tasks.sweep")
    JobRun.objects.create(
        task_id="0" * 32, function="apps.episodic.tasks.maintain", host="elsewhere", pid=1,
        started_at=timezone.now() - timedelta(minutes=2),
    )  # fmt: skip
    text = text_of(operator, reverse("cockpit_work_queue"))
    assert "Look for deliveries" in text
    assert "Maintain the timeline" in text
    assert "for 2 min" in text


def test_what_failed_says_is_never_markup(operator: Client) -> None:
    fail(words=EVIL)
    key = key_of(operator)
    for url in (WORK, reverse("cockpit_work_failure", args=[key])):
        text = text_of(operator, url)
        assert EVIL not in text
        assert "&lt;script&gt;alert(1)" in text


@pytest.mark.django_db(transaction=True)
def test_deliveries_are_there_in_words_and_made_again(operator: Client, subscriber: None) -> None:
    support.TABLE["*"] = (support.FAIL,)
    support.emit(2)
    Delivery.objects.update(status="failed", last_error="ValueError at disk.py:1: full")
    text = text_of(operator, reverse("cockpit_work_deliveries"))
    assert "2 given up: ValueError at disk.py:1: full" in text
    post(operator, "work_redeliver", event="test:outbox:happened", subscriber=support.FAIL)
    assert set(Delivery.objects.values_list("status", flat=True)) == {"pending"}


def test_who_may_look_cannot_act(staff: Callable[..., Client], sweep: Schedule) -> None:
    fail()
    client = staff("view_schedule", "view_failure", "view_delivery")
    text = text_of(client, WORK)
    assert "Run now" not in text
    assert "Set aside" not in text
    key = key_of(client)
    for name, args in (
        ("run", [sweep.pk]),
        ("pause", [sweep.pk]),
        ("rerun", [key]),
        ("aside", [key]),
        ("redeliver", []),
    ):
        assert client.post(reverse(f"cockpit_work_{name}", args=args)).status_code == 403
    assert Failure.objects.exists()


def test_who_may_not_look_sees_nothing(staff: Callable[..., Client], sweep: Schedule) -> None:
    client = staff("view_memory")
    for name in ("work", "work_queue", "work_schedules", "work_failures", "work_deliveries", "work_routes"):
        assert client.get(reverse(f"cockpit_{name}")).status_code == 403
    assert client.get(reverse("cockpit_work_failure", args=["0" * 16])).status_code == 403


def test_looking_changes_nothing(operator: Client, sweep: Schedule) -> None:
    for name in ("run", "pause", "resume"):
        assert operator.get(reverse(f"cockpit_work_{name}", args=[sweep.pk])).status_code == 405


def test_page_takes_as_many_queries_with_many_rows(operator: Client, sweep: Schedule) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as made:
            text_of(operator, WORK)
        return len(made)

    queries()
    few = queries()
    for number in range(5):
        fail(line=number)
        async_task("apps.events.tasks.sweep")
        Schedule.objects.create(name=f"more {number}", func="apps.events.tasks.sweep", minutes=1)
    assert queries() <= few
