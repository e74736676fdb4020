"""Tasks and schedules of django-q2: requested with a transaction, created once and then left to the operator."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone
from django_q.brokers import get_broker
from django_q.brokers.orm import ORM
from django_q.conf import Conf
from django_q.models import Schedule
from django_q.tasks import async_task

from apps.core.jobs import ScheduleSpec

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
