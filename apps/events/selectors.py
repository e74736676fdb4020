"""Reads of the outbox and of schedules."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db.models import Count, Max, Min, Q, QuerySet
from django_q.models import OrmQ, Schedule, Task

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.processes import ProcessState, live_workers
from apps.events.models import Delivery, Event, JobRun, SetAsideTask

__all__ = [
    "Event",
    "FailedJobs",
    "JobRun",
    "OutboxStatus",
    "OverdueSchedules",
    "QueueStatus",
    "failed_jobs",
    "is_overdue",
    "outbox_status",
    "overdue_schedules",
    "queue_status",
    "schedules_ready",
    "undelivered",
]


@dataclass(frozen=True)
class OutboxStatus:
    """pending: deliveries still to be made. failed: given up. overdue_seconds: age of the longest due one."""

    pending: int
    failed: int
    overdue_seconds: float


def outbox_status(*, clock: Clock = SYSTEM_CLOCK) -> OutboxStatus:
    """Return how many deliveries are open or failed, and how far delivery is behind."""
    now = utcnow(clock)
    pending, failed = Q(status=Delivery.Status.PENDING), Q(status=Delivery.Status.FAILED)
    found = Delivery.objects.filter(pending | failed).aggregate(
        pending=Count("id", filter=pending),
        failed=Count("id", filter=failed),
        oldest=Min("next_attempt_at", filter=pending),
    )
    oldest = found["oldest"] or now
    return OutboxStatus(found["pending"], found["failed"], max(0.0, (now - oldest).total_seconds()))


def undelivered(subscriber: str, *, given_up: bool = True) -> QuerySet[Event]:
    """Return the events that a subscriber has not received: pending ones, and with `given_up` the failed ones, too."""
    states = [Delivery.Status.PENDING, Delivery.Status.FAILED] if given_up else [Delivery.Status.PENDING]
    waiting = Delivery.objects.filter(subscriber=subscriber, status__in=states)
    return Event.objects.filter(delivered_at=None, id__in=waiting.values("event_id"))


@dataclass(frozen=True)
class QueueStatus:
    """waiting: tasks that no worker has taken. oldest_seconds: how long the first of them waits."""

    waiting: int
    oldest_seconds: float


def queue_status(*, clock: Clock = SYSTEM_CLOCK) -> QueueStatus:
    """Return how many tasks wait for a worker, and for how long."""
    now = utcnow(clock)
    # A task that a worker has taken is locked until it counts as lost.
    found = OrmQ.objects.filter(lock__lte=now).aggregate(waiting=Count("id"), oldest=Min("lock"))
    return QueueStatus(found["waiting"], max(0.0, (now - (found["oldest"] or now)).total_seconds()))


@dataclass(frozen=True)
class FailedJobs:
    """The failed tasks of one function that were neither run again nor set aside nor deleted."""

    func: str
    count: int
    first: datetime
    last: datetime


def failed_jobs(limit: int) -> list[FailedJobs]:
    """Return failed tasks by function, those that failed last first; at most `limit` functions."""
    failed = Task.objects.filter(success=False).exclude(id__in=SetAsideTask.objects.values("task_id"))
    counted = failed.order_by().values("func").annotate(count=Count("id"), first=Min("started"), last=Max("stopped"))
    return [FailedJobs(**row) for row in counted.order_by("-last")[:limit]]


@dataclass(frozen=True)
class OverdueSchedules:
    """names: of the schedules that are overdue by two periods. since: when the first of them should have run."""

    names: tuple[str, ...]
    since: datetime | None


def schedules_ready(*, clock: Clock = SYSTEM_CLOCK) -> str | None:
    """Check that no schedule is overdue by two of its periods. Return what is wrong."""
    overdue = len(overdue_schedules(live_workers(), clock=clock).names)
    return f"{overdue} schedules are overdue by two periods or more" if overdue else None


def overdue_schedules(workers: Iterable[ProcessState], *, clock: Clock = SYSTEM_CLOCK) -> OverdueSchedules:
    """Return the schedules that are overdue by two of their periods. workers: those that are alive.

    What was due while no worker ran is not counted against one that has just started.
    """
    now = utcnow(clock)
    started = min((worker.started_at for worker in workers), default=None)
    due = Schedule.objects.exclude(repeats=0).exclude(schedule_type=Schedule.ONCE).filter(next_run__lt=now)
    own = due.filter(Q(cluster=None) | Q(cluster=settings.Q_CLUSTER["name"])).order_by("name")
    overdue = [schedule for schedule in own if is_overdue(schedule, now, started)]
    return OverdueSchedules(
        tuple(schedule.name or schedule.func for schedule in overdue),
        min((schedule.next_run for schedule in overdue), default=None),
    )


def is_overdue(schedule: Schedule, now: datetime, started: datetime | None) -> bool:
    """Return whether a schedule has not run for two periods since it was due and the worker has run."""
    try:
        period = schedule.calculate_next_run(schedule.next_run) - schedule.next_run
    except (ImportError, ValueError):  # of an operator's own cron expression, which the worker reports
        return False
    since = schedule.next_run if started is None else max(schedule.next_run, started)
    return bool(now - since >= 2 * period)
