"""Every run of a task leaves a short record, written by the worker."""

from datetime import timedelta

import pytest
from django.utils import timezone
from django_q.models import Failure, Schedule
from django_q.scheduler import scheduler
from django_q.tasks import async_task

from apps.events import services
from apps.events.domain.failures import parse_failure
from apps.events.models import JobRun
from apps.events.runs import KEPT_DAYS, KEPT_RUNS, runs_trim
from apps.events.schedules import SCHEDULES
from tests.integration.events.working import work_off

# A worker closes the connection that it finds.
pytestmark = pytest.mark.django_db(transaction=True)

BREAKS = "tests.integration.events.test_job_runs.break_down"
REFUSES = "tests.integration.events.test_job_runs.refuse"


def break_down(secret: str) -> None:
    raise ValueError(f"row of {secret}\nand more")


def refuse() -> None:
    from apps.core.domain.errors import NotFoundError

    raise NotFoundError("There is no such rule.")


def old_run(days: int = 0, **fields: object) -> JobRun:
    began = timezone.now() - timedelta(days=days)
    given = {"outcome": "succeeded", "ended_at": began, "function": "apps.events.tasks.trim", **fields}
    return JobRun.objects.create(task_id="0" * 32, started_at=began, host="elsewhere", pid=1, **given)


def test_schedule_leaves_record_of_its_run() -> None:
    services.schedules_ensure(specs=SCHEDULES)
    Schedule.objects.filter(name="events: trim").update(next_run=timezone.now() - timedelta(seconds=1))
    scheduler()
    work_off()
    run = JobRun.objects.get(label="events: trim")
    assert (run.function, run.outcome, run.error) == ("apps.events.tasks.trim", "succeeded", "")
    assert run.ended_at is not None
    assert run.ended_at >= run.started_at


def test_failed_run_keeps_class_and_place_and_no_contents() -> None:
    async_task(BREAKS, "Ana prefers tea")
    async_task(REFUSES)
    work_off()
    broken, refused = JobRun.objects.order_by("id")
    assert broken.outcome == refused.outcome == "failed"
    assert broken.error.startswith("ValueError at test_job_runs.py:")
    assert "tea" not in broken.error
    assert refused.error.endswith("There is no such rule.")
    assert Failure.objects.count() == 2


def test_run_of_a_process_that_died_is_lost_with_the_next_one() -> None:
    async_task("apps.events.tasks.sweep")
    work_off()
    JobRun.objects.update(outcome="running", ended_at=None)
    async_task("apps.events.tasks.sweep")
    work_off()
    assert list(JobRun.objects.order_by("id").values_list("outcome", flat=True)) == ["lost", "succeeded"]


def test_records_are_few_and_young() -> None:
    old_run(days=KEPT_DAYS + 1, function="apps.events.tasks.sweep")
    stuck = old_run(days=1, outcome="running", ended_at=None, function="apps.events.tasks.drain")
    JobRun.objects.bulk_create(
        JobRun(
            task_id="1" * 32, function="apps.events.tasks.trim", started_at=timezone.now(), host="here", pid=1,
            outcome="succeeded", ended_at=timezone.now(),
        )
        for _ in range(KEPT_RUNS + 5)
    )  # fmt: skip
    runs_trim()
    assert JobRun.objects.filter(function="apps.events.tasks.trim").count() == KEPT_RUNS
    assert not JobRun.objects.filter(function="apps.events.tasks.sweep").exists()
    stuck.refresh_from_db()
    assert stuck.outcome == "lost"


def test_error_of_a_library_is_placed_where_our_code_called_it() -> None:
    failure = parse_failure(
        'boom : Traceback (most recent call last):\n  File "/x/apps/sync/tasks.py", line 11, in run\n    go()\n'
        '  File "/lib/psycopg/cursor.py", line 97, in execute\n    raise\npsycopg.errors.UniqueViolation: Key (x)=(A)\n'
    )
    assert (failure.name, failure.place) == ("psycopg.errors.UniqueViolation", "sync/tasks.py:11")
    assert failure.kept == "UniqueViolation at sync/tasks.py:11"


def test_paused_schedule_stays_paused_after_a_start_and_is_not_missing() -> None:
    services.schedules_ensure(specs=SCHEDULES)
    sweep = Schedule.objects.get(name="events: sweep")
    services.schedule_pause(pk=sweep.pk)
    Schedule.objects.filter(pk=sweep.pk).update(next_run=timezone.now() - timedelta(days=400))
    assert services.schedules_ensure(specs=SCHEDULES) == []
    scheduler()
    assert not JobRun.objects.exists()
    [state] = [one for one in services.schedule_states() if one.name == "events: sweep"]
    assert state.is_paused
    assert state.late is None
    resumed = services.schedule_resume(pk=sweep.pk)
    assert resumed.repeats == -1
    assert abs(resumed.next_run - timezone.now()) < timedelta(minutes=1)


def test_daily_schedule_keeps_its_time_of_the_day_over_a_pause() -> None:
    services.schedules_ensure(specs=SCHEDULES)
    trim = Schedule.objects.get(name="events: trim")
    services.schedule_pause(pk=trim.pk)
    due = timezone.now() - timedelta(days=9, hours=5)
    Schedule.objects.filter(pk=trim.pk).update(next_run=due)
    assert services.schedule_resume(pk=trim.pk).next_run - due == timedelta(days=10)


def test_schedule_run_now_counts_as_its_run_and_keeps_its_time() -> None:
    services.schedules_ensure(specs=SCHEDULES)
    sweep = Schedule.objects.get(name="events: sweep")
    services.schedule_run_now(pk=sweep.pk)
    work_off()
    assert JobRun.objects.get(label="events: sweep").outcome == "succeeded"
    assert Schedule.objects.get(pk=sweep.pk).next_run == sweep.next_run
