import ast

import pytest
from django.utils.module_loading import import_string
from django_q.models import OrmQ, Schedule
from django_q.scheduler import scheduler

from apps.events.schedules import SCHEDULES
from apps.events.services import schedules_ensure

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_schedules_are_made_once():
    assert schedules_ensure(specs=SCHEDULES) == ["events: sweep", "events: trim"]
    assert schedules_ensure(specs=SCHEDULES) == []
    assert Schedule.objects.count() == 2


def test_what_an_operator_edited_stays():
    schedules_ensure(specs=SCHEDULES)
    Schedule.objects.filter(name="events: sweep").update(minutes=10, repeats=0)
    schedules_ensure(specs=SCHEDULES)
    sweep = Schedule.objects.get(name="events: sweep")
    assert (sweep.minutes, sweep.repeats) == (10, 0)


def test_a_schedule_that_was_deleted_comes_back():
    schedules_ensure(specs=SCHEDULES)
    Schedule.objects.filter(name="events: trim").delete()
    assert schedules_ensure(specs=SCHEDULES) == ["events: trim"]


@pytest.mark.parametrize("spec", SCHEDULES, ids=lambda spec: spec.name)
def test_each_schedule_names_a_task_that_exists(spec):
    assert callable(import_string(spec.task))


def test_scheduler_of_django_q2_turns_them_into_tasks_without_result_rows():
    schedules_ensure(specs=SCHEDULES)
    scheduler()
    tasks = [task.task for task in OrmQ.objects.all()]
    assert sorted(task["func"] for task in tasks) == ["apps.events.tasks.sweep", "apps.events.tasks.trim"]
    assert [task["save"] for task in tasks] == [False, False]
    assert [ast.literal_eval(schedule.kwargs) for schedule in Schedule.objects.all()]
