"""Background work as operators see it: schedules with their last runs, what waits, runs and failed, and deliveries."""

import hashlib
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import psutil
from django.conf import settings
from django.db.models import Count, F, Max, Min, Q, Window
from django.db.models.functions import RowNumber
from django.utils.module_loading import import_string
from django.utils.translation import gettext
from django_q.models import Failure, OrmQ, Schedule

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.words import Words
from apps.events.domain.failures import TaskFailure, parse_failure
from apps.events.jobs import PAUSED, label_of
from apps.events.models import Delivery, Event, JobRun, SetAsideTask
from apps.events.runs import lost_runs
from apps.events.subscribers import subscription_table

# Whose docstrings say what a task does where the table has no words for it.
OWN_CODE = "apps."


@dataclass(frozen=True)
class JobWords:
    """A task in words. title: a few words. does: one sentence."""

    title: Words
    does: Words


def job_words(function: str) -> JobWords:
    """Return a task in words: those of settings.JOB_WORDS, or else of its own name and docstring."""
    table: Mapping[str, JobWords] = import_string(settings.JOB_WORDS)
    return table.get(function) or JobWords(readable(function), first_sentence(function))


def readable(path: str) -> str:
    """Return the name of a function as words."""
    return path.rpartition(".")[2].replace("_", " ").strip().capitalize() or gettext("Without a name")


def first_sentence(function: str) -> str:
    """Return the first line of the docstring of a task of ours; nothing for others, which are not imported."""
    if not function.startswith(OWN_CODE):
        return ""
    try:
        text = str(import_string(function).__doc__ or "")
    except ImportError:
        return gettext("The code no longer has this task.")
    return text.strip().partition("\n")[0]


SHOWN_RUNS = 30
# The worker looks for schedules that are due every half minute.
PUNCTUAL = timedelta(seconds=60)
MAX_FAILURES = 500
MAX_LISTED = 5
MAX_RUNNING = 50
RECENT = timedelta(hours=1)


@dataclass(frozen=True)
class ScheduleState:
    """A schedule. every: in words. runs: its last ones, the oldest first. late: by how much it is overdue."""

    pk: int
    name: str
    words: JobWords
    every: str
    is_paused: bool
    next_run: datetime | None
    late: timedelta | None
    runs: Sequence[JobRun]

    @property
    def last(self) -> JobRun | None:
        """Return the last run."""
        return self.runs[-1] if self.runs else None


def schedule_states(*, clock: Clock = SYSTEM_CLOCK) -> list[ScheduleState]:
    """List the schedules: those that are late or whose last run failed first, then by name."""
    now = utcnow(clock)
    schedules = list(Schedule.objects.order_by("name", "pk"))
    labels = [label_of(schedule) for schedule in schedules]
    place = Window(RowNumber(), partition_by=F("label"), order_by=F("id").desc())
    rows = JobRun.objects.filter(label__in=labels).exclude(label="").annotate(place=place)
    runs: dict[str, list[JobRun]] = {label: [] for label in labels}
    for run in rows.filter(place__lte=SHOWN_RUNS).order_by("id"):
        runs[run.label].append(run)
    states = [state_of(schedule, runs[label], now) for schedule, label in zip(schedules, labels, strict=True)]
    return sorted(states, key=lambda state: not needs_attention(state))


def needs_attention(state: ScheduleState) -> bool:
    """Return whether a schedule is late, or its last run has not succeeded."""
    is_bad = state.last is not None and state.last.outcome in {JobRun.Outcome.FAILED, JobRun.Outcome.LOST}
    return state.late is not None or is_bad


def state_of(schedule: Schedule, runs: Sequence[JobRun], now: datetime) -> ScheduleState:
    """Return the state of a schedule."""
    is_paused, due = schedule.repeats == PAUSED, schedule.next_run
    late = now - due if due is not None and not is_paused and now - due > PUNCTUAL else None
    every = str(schedule.get_schedule_type_display()).lower()
    if schedule.schedule_type == Schedule.MINUTES:
        every = "every minute" if (schedule.minutes or 1) == 1 else f"every {schedule.minutes} minutes"
    elif schedule.schedule_type == Schedule.CRON:
        every = f"cron {schedule.cron}"
    words = job_words(schedule.func)
    return ScheduleState(schedule.pk, label_of(schedule), words, every, is_paused, due, late, runs)


@dataclass(frozen=True)
class QueuedTask:
    """A task that runs or waits for a worker. age: since it began, or was requested."""

    words: JobWords
    function: str
    age: timedelta


@dataclass(frozen=True)
class QueueState:
    """waiting: how many tasks wait, and since when the oldest does. listed: the first of them."""

    waiting: int
    oldest: timedelta | None
    running: Sequence[QueuedTask] = ()
    listed: Sequence[QueuedTask] = ()


def queue_state(*, clock: Clock = SYSTEM_CLOCK) -> QueueState:
    """Return what waits for a worker and what runs, the oldest first.

    Nothing runs whose process on this machine is gone, or whose time is over.
    """
    now = utcnow(clock)
    going_on = JobRun.objects.running().exclude(pk__in=lost_runs(now).values("pk")).order_by("started_at")
    running = [
        QueuedTask(job_words(run.function), run.function, now - run.started_at)
        for run in going_on[:MAX_RUNNING]
        if run.host != socket.gethostname() or psutil.pid_exists(run.pid)
    ]
    waits = Q(lock__lte=now)
    figures = OrmQ.objects.aggregate(free=Count("id", filter=waits), taken=Count("id", filter=~waits))
    # A worker takes some tasks ahead; those that do not run yet wait as well.
    ahead = max(0, figures["taken"] - len(running))
    free = list(OrmQ.objects.filter(waits).order_by("lock", "id")[:MAX_LISTED])
    oldest = now - free[0].lock if free else None
    listed = [QueuedTask(job_words(task.func()), task.func(), now - task.lock) for task in free]
    return QueueState(figures["free"] + ahead, oldest, running, listed)


@dataclass(frozen=True)
class FailureGroup:
    """Failed tasks of one function with one error. task_ids: the newest first. report: of the newest one."""

    key: str
    words: JobWords
    function: str
    failure: TaskFailure
    count: int
    first: datetime
    last: datetime
    task_ids: Sequence[str] = field(repr=False)
    report: str = field(repr=False)


def failure_count() -> int:
    """Return how many failed tasks need attention."""
    return waiting_failures(are_set_aside=False).count()


def waiting_failures(*, are_set_aside: bool) -> Any:
    """Return the failed tasks that were set aside, or the others."""
    aside = Q(id__in=SetAsideTask.objects.values("task_id"))
    return Failure.objects.filter(aside if are_set_aside else ~aside)


def failure_groups(*, are_set_aside: bool = False) -> list[FailureGroup]:
    """Group the newest MAX_FAILURES failed tasks by function and error, the group that failed last first."""
    rows = waiting_failures(are_set_aside=are_set_aside).order_by("-stopped")
    groups: dict[str, list[Any]] = {}
    for task in rows.only("id", "func", "started", "stopped", "result")[:MAX_FAILURES]:
        failure = parse_failure(str(task.result or ""))
        key = hashlib.sha256(f"{task.func}\n{failure}".encode()).hexdigest()[:16]
        groups.setdefault(key, []).append((task, failure))
    return [
        FailureGroup(
            key=key,
            words=job_words(members[0][0].func),
            function=members[0][0].func,
            failure=members[0][1],
            count=len(members),
            first=members[-1][0].stopped,
            last=members[0][0].stopped,
            task_ids=[task.id for task, _ in members],
            report=str(members[0][0].result or ""),
        )
        for key, members in groups.items()
    ]


@dataclass(frozen=True)
class DeliveryRoute:
    """What one subscriber makes of one kind of event. recent: delivered in the last hour. errors: of the newest."""

    event: str
    subscriber: str
    says: str
    does: str
    waiting: int
    failed: int
    oldest: timedelta | None
    recent: int
    error: str


def delivery_routes(*, clock: Clock = SYSTEM_CLOCK) -> list[DeliveryRoute]:
    """List the routes of the table of subscriptions, and others that have deliveries; those with failed ones first."""
    now = utcnow(clock)
    declared = [(event, path) for event, subscribers in subscription_table().items() for path in subscribers]
    opened = opened_deliveries()
    done = Event.objects.filter(delivered_at__gte=now - RECENT, deliveries__isnull=False).order_by()
    counted = done.values_list("name", "deliveries__subscriber").annotate(count=Count("id"))
    recent = {(name, subscriber): count for name, subscriber, count in counted}
    nothing = {"waiting": 0, "failed": 0, "oldest": None, "error": ""}
    # Such as `timeline event saved` and `make memories`; what has no words is called by its own name.
    event_words, handler_words = import_string(settings.EVENT_WORDS), import_string(settings.HANDLER_WORDS)
    routes = []
    for event, subscriber in dict.fromkeys([*declared, *opened, *recent]):
        found = opened.get((event, subscriber), nothing)
        oldest = found["oldest"]
        routes.append(
            DeliveryRoute(
                event=event,
                subscriber=subscriber,
                says=gettext("every event") if event == "*" else str(event_words.get(event, event)),
                does=str(handler_words.get(subscriber) or readable(subscriber).lower()),
                waiting=found["waiting"],
                failed=found["failed"],
                oldest=now - oldest if oldest is not None and oldest < now else None,
                recent=recent.get((event, subscriber), 0),
                error=found["error"] or "",
            )
        )
    return sorted(routes, key=lambda route: (-route.failed, -route.waiting))


def opened_deliveries() -> dict[tuple[str, str], Mapping[str, Any]]:
    """Count the deliveries that wait and those that failed, by event and subscriber."""
    pending, failed = Q(status=Delivery.Status.PENDING), Q(status=Delivery.Status.FAILED)
    rows = Delivery.objects.filter(pending | failed).order_by().values("event__name", "subscriber")
    counted = rows.annotate(
        waiting=Count("id", filter=pending),
        failed=Count("id", filter=failed),
        oldest=Min("next_attempt_at", filter=pending),
        error=Max("last_error"),
    )
    return {(row["event__name"], row["subscriber"]): row for row in counted}


def failed_deliveries(event: str, subscriber: str) -> list[int]:
    """Return the failed deliveries of a route, at most MAX_FAILURES, the oldest first."""
    rows = Delivery.objects.filter(event__name=event, subscriber=subscriber, status=Delivery.Status.FAILED)
    return list(rows.order_by("id").values_list("id", flat=True)[:MAX_FAILURES])
