"""What comes round by itself, put together from all apps."""

import pytest
from django.utils.module_loading import import_string
from django_q.models import Schedule

from apps.events.services import ScheduleSpec, schedules_ensure
from memoryhub.schedules import SCHEDULES
from memoryhub.words import JOBS


def test_each_schedule_has_a_name_of_its_own() -> None:
    assert len({spec.name for spec in SCHEDULES}) == len(SCHEDULES)


@pytest.mark.parametrize("spec", SCHEDULES, ids=lambda spec: spec.name)
def test_each_schedule_runs_a_task_that_exists(spec: ScheduleSpec) -> None:
    assert callable(import_string(spec.task))


@pytest.mark.django_db
def test_a_second_start_makes_none_of_them_again() -> None:
    assert set(schedules_ensure(specs=SCHEDULES)) == {
        "events: sweep",
        "events: trim",
        "imports: bring",
        "audit: trim",
        "bridge: catch up",
        "bridge: trim",
        "models: sweep guards",
        "monitor: alarms",
        "monitor: roll up",
        "monitor: sample",
        "notes: clear conversations",
        "notes: extract facts",
        "notes: look at the disk",
        "people: downloads",
        "oauth: trim sign-ins",
        "people: erase",
        "people: forget what apps learnt",
        "people: review foreign writes",
        "people: trim requests of apps",
        "semantic: consolidate",
        "semantic: expire memories",
        "semantic: judge conflicts",
        "store: tidy",
        "sync: trim runs",
        "sync: what is due",
        "timeline: maintain",
        "timeline: prune",
    }
    assert schedules_ensure(specs=SCHEDULES) == []
    assert Schedule.objects.count() == len(SCHEDULES)


@pytest.mark.django_db
def test_schedule_of_a_second_keeps_it() -> None:
    schedules_ensure(specs=SCHEDULES)
    sample = Schedule.objects.get(name="monitor: sample")
    assert (sample.next_run.second, sample.calculate_next_run(sample.next_run).second) == (10, 10)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", sorted({spec.task for spec in SCHEDULES}))
def test_each_scheduled_task_succeeds_in_an_empty_hub(path: str) -> None:
    import_string(path)()
    assert path in JOBS, "a title of its own on the pages"
