"""Tasks and schedules of django-q2: requested with a transaction, created once and then left to the operator.

The operator pauses, resumes and runs them, and runs failed tasks again or sets them aside.
"""

import ast
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone
from django_q.brokers import get_broker
from django_q.brokers.orm import ORM
from django_q.conf import Conf
from django_q.models import Failure, Schedule
from django_q.tasks import async_task

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ConflictError, NotFoundError
from apps.core.jobs import ScheduleSpec
from apps.events.models import SetAsideTask

# Any number that no other advisory lock of this project uses.
SCHEDULES_LOCK = 0x6D68_7363
DRAIN_TASK = "apps.events.tasks.drain"


@dataclass(frozen=True)
class TaskRequest:
    """Mark of a transaction, among its on-commit callbacks, that a task is requested; sends what is not sent yet."""

    task: str
    name: str
    is_sent: bool

    def __call__(self) -> None:
        if not self.is_sent:
            async_task(self.task, task_name=self.name, save=False)


def request_drain() -> None:
    """Enqueue one drain task for the current transaction; see `request_once`."""
    request_once(DRAIN_TASK, "events.drain")


def request_once(task: str, name: str) -> None:
    """Enqueue a task without arguments for the current transaction, one however often this is called in it.

    task: dotted path. With the ORM broker on the same database it is a row of the transaction itself. With any other
    broker it is sent after the commit; if the process dies in between it is lost, so a schedule must do later what it
    would have done. A rolled back savepoint takes task and mark with it, so the next call enqueues again. No result
    row is kept: the rows that the task works on record the outcome.
    """
    current = transaction.get_connection()
    if any(isinstance(mark, TaskRequest) and mark.task == task for _, mark, *_ in current.run_on_commit):
        return
    shares_transaction = (
        not Conf.SYNC  # which runs tasks inline
        and current.alias == settings.Q_CLUSTER.get("orm")
        and isinstance(get_broker(), ORM)
    )
    if shares_transaction:
        async_task(task, task_name=name, save=False)
    transaction.on_commit(TaskRequest(task, name, is_sent=shares_transaction))


def schedules_ensure(*, specs: Sequence[ScheduleSpec]) -> list[str]:
    """Create the schedules that are missing; return their names. Each runs now, or at its second of the next minute.

    One that exists by name is never changed, so what an operator edited stays. An advisory lock makes it
    safe for two processes at once, because django-q2 does not keep names unique.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [SCHEDULES_LOCK])
        existing = set(Schedule.objects.values_list("name", flat=True))
        missing = [spec for spec in specs if spec.name not in existing]
        now = timezone.now()
        next_minute = now.replace(microsecond=0) + timedelta(minutes=1)
        Schedule.objects.bulk_create(
            Schedule(
                name=spec.name,
                func=spec.task,
                schedule_type=spec.every,
                minutes=spec.minutes,
                next_run=now if spec.second is None else next_minute.replace(second=spec.second),
                # No result row for every sweep: they would push the interesting ones out of the kept 500.
                kwargs="{'q_options': {'save': False}}",
            )
            for spec in missing
        )
    return [spec.name for spec in missing]


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
