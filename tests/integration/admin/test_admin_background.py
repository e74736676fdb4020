"""Background work in the admin."""

from collections.abc import Callable
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone
from django_q.models import Failure, OrmQ, Schedule

from tests.integration.admin.pages import address, run, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def schedule() -> Schedule:
    return Schedule.objects.create(
        name="sweep", func="apps.events.tasks.sweep", schedule_type=Schedule.MINUTES, minutes=1
    )


@pytest.fixture
def failure() -> Failure:
    now = timezone.now()
    return Failure.objects.create(
        id=uuid4().hex, name="broken", func="apps.events.tasks.drain", started=now, stopped=now, success=False
    )


def change(client: Client, schedule: Schedule, **fields: str) -> int:
    data = {
        "schedule_type": "I", "minutes": "5", "next_run_0": "2030-01-01", "next_run_1": "00:00:00", **fields,
    }  # fmt: skip
    return client.post(address(Schedule, "change", schedule.pk), data).status_code


def test_how_often_something_runs_can_be_changed(operator: Client, schedule: Schedule) -> None:
    assert change(operator, schedule) == 302
    schedule.refresh_from_db()
    assert schedule.minutes == 5
    assert "5 minutes" in text_of(operator, address(Schedule, "changelist"))


def test_what_runs_cannot_be_changed(operator: Client, schedule: Schedule) -> None:
    change(operator, schedule, func="os.system", args="'true'", kwargs="", hook="os.system", name="other")
    schedule.refresh_from_db()
    assert (schedule.name, schedule.func, schedule.args, schedule.hook) == (
        "sweep", "apps.events.tasks.sweep", None, None,
    )  # fmt: skip


def test_schedules_are_neither_added_nor_deleted_by_hand(operator: Client, schedule: Schedule) -> None:
    assert operator.post(address(Schedule, "add"), {"func": "os.system"}).status_code == 403
    assert operator.post(address(Schedule, "delete", schedule.pk), {"post": "yes"}).status_code == 403
    assert Schedule.objects.count() == 1


def test_a_failed_task_is_run_again(operator: Client, failure: Failure) -> None:
    response = run(operator, "resubmit", [failure])
    assert "1 task is queued again." in response.content.decode()
    assert [task.func() for task in OrmQ.objects.all()] == ["apps.events.tasks.drain"]
    assert not Failure.objects.exists()


def test_who_may_only_look_cannot_run_task_again(staff: Callable[..., Client], failure: Failure) -> None:
    run(staff("view_failure"), "resubmit", [failure])
    assert Failure.objects.exists()
    assert not OrmQ.objects.exists()
