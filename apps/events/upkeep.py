"""What operators do with background work: run a schedule now, pause it, run failed tasks again or set them aside."""

import ast
from collections.abc import Collection
from datetime import datetime
from typing import Any

from django.db import transaction
from django_q.models import Failure, Schedule
from django_q.tasks import async_task

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ConflictError, NotFoundError
from apps.events.models import SetAsideTask

# django-q2 leaves such a schedule alone, and so does `schedules_ensure`, which finds it by its name.
PAUSED, FOREVER = 0, -1
# Of these a run that was left out is simply done at the next moment; the others keep their time of the day.
FREQUENT = (Schedule.MINUTES, Schedule.HOURLY)


@transaction.atomic
def schedule_run_now(*, pk: int) -> Schedule:
    """Enqueue the task of a schedule at once; its next run stays. Raises NotFoundError, ConflictError."""
    schedule = lock_schedule(pk)
    args, kwargs = arguments_of(schedule)
    options = {**kwargs.pop("q_options", {}), "group": label_of(schedule)}
    if schedule.hook:
        options["hook"] = schedule.hook
    if schedule.cluster:
        options["cluster"] = schedule.cluster
    if schedule.intended_date_kwarg:
        kwargs[schedule.intended_date_kwarg] = utcnow(SYSTEM_CLOCK).isoformat()
    schedule.task = async_task(schedule.func, *args, **kwargs, q_options=options)
    schedule.save(update_fields=["task"])
    return schedule


@transaction.atomic
def schedule_pause(*, pk: int) -> Schedule:
    """Have a schedule not run until it is resumed. Raises NotFoundError, and ConflictError where it is paused."""
    schedule = lock_schedule(pk)
    if schedule.repeats == PAUSED:
        raise ConflictError("This schedule is already paused.", code="paused")
    schedule.repeats = PAUSED
    schedule.save(update_fields=["repeats"])
    return schedule


@transaction.atomic
def schedule_resume(*, pk: int, clock: Clock = SYSTEM_CLOCK) -> Schedule:
    """Have a paused schedule run from its next time on. Raises NotFoundError, and ConflictError where it runs."""
    schedule = lock_schedule(pk)
    if schedule.repeats != PAUSED:
        raise ConflictError("This schedule is not paused.", code="not_paused")
    schedule.repeats, schedule.next_run = FOREVER, next_time(schedule, utcnow(clock))
    schedule.save(update_fields=["repeats", "next_run"])
    return schedule


def lock_schedule(pk: int) -> Schedule:
    """Lock a schedule. Raises NotFoundError."""
    schedule = Schedule.objects.select_for_update().filter(pk=pk).first()
    if schedule is None:
        raise NotFoundError("There is no such schedule.")
    return schedule


def label_of(schedule: Schedule) -> str:
    """Return the group that django-q2 puts the tasks of a schedule into."""
    return str(schedule.name or schedule.pk)


def arguments_of(schedule: Schedule) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return what the task of a schedule is called with, as django-q2 reads it. Raises ConflictError."""
    try:
        call = ast.parse(f"f({schedule.kwargs or ''})", mode="eval").body
        assert isinstance(call, ast.Call)
        kwargs = {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}
        if call.args:  # a dictionary, which is how the hub writes them
            kwargs = dict(ast.literal_eval(call.args[0]))
        args = ast.literal_eval(schedule.args) if schedule.args else ()
    except (SyntaxError, ValueError, TypeError) as error:
        raise ConflictError("The arguments of this schedule cannot be read.", code="unreadable") from error
    return args if isinstance(args, tuple) else (args,), kwargs


def next_time(schedule: Schedule, now: datetime) -> datetime:
    """Return when a schedule that was paused runs next: what was left out is not made up for."""
    following: datetime = schedule.next_run or now
    if following > now:
        return following
    if schedule.schedule_type in FREQUENT or schedule.schedule_type == Schedule.ONCE:
        return now
    while following <= now:
        following = schedule.calculate_next_run(following)
    return following


@transaction.atomic
def failures_rerun(*, task_ids: Collection[str]) -> int:
    """Enqueue failed tasks again as they were, and remove their records. Return how many there were."""
    failures = list(Failure.objects.select_for_update().filter(id__in=task_ids).order_by("stopped"))
    for failure in failures:
        options = {"hook": failure.hook, "group": failure.group, "cluster": failure.cluster, "task_name": failure.name}
        given = {name: value for name, value in options.items() if value}
        async_task(failure.func, *(failure.args or ()), **(failure.kwargs or {}), q_options=given)
    found = [failure.id for failure in failures]
    Failure.objects.filter(id__in=found).delete()
    SetAsideTask.objects.filter(task_id__in=found).delete()
    return len(found)


@transaction.atomic
def failures_set_aside(*, task_ids: Collection[str], actor: str, clock: Clock = SYSTEM_CLOCK) -> int:
    """Note that failed tasks need no attention any more; they are kept. Return how many there were."""
    found = list(Failure.objects.filter(id__in=task_ids).values_list("id", flat=True))
    now = utcnow(clock)
    rows = [SetAsideTask(task_id=task_id, at=now, by=actor[:200]) for task_id in found]
    SetAsideTask.objects.bulk_create(rows, ignore_conflicts=True)
    SetAsideTask.objects.exclude(task_id__in=Failure.objects.values("id")).delete()
    return len(found)
