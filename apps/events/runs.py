"""A record of every run of a background task: written by the worker, kept short, without arguments or contents.

django-q2 calls the receivers in the process that runs a task. Whatever goes wrong here must not stop the task.
"""

import logging
import os
import socket
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import Q
from django_q.signals import post_execute_in_worker, pre_execute
from django_q.utils import get_func_repr

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.events.domain.failures import parse_failure
from apps.events.models import JobRun

logger = logging.getLogger(__name__)

KEPT_RUNS = 200
KEPT_DAYS = 30
# A process removes what is too much of a function after so many of its runs.
TRIM_EVERY = 50
# After its limit of time a task that still seems to run has ended with its process.
LOST_AFTER = timedelta(seconds=60)
_TRIM = """
DELETE FROM events_jobrun WHERE function = %s AND id <= (
    SELECT id FROM events_jobrun WHERE function = %s ORDER BY id DESC OFFSET %s LIMIT 1
)
"""

_since_trim: dict[str, int] = {}


def watch_runs() -> None:
    """Record the runs of this process from now on."""
    pre_execute.connect(run_begins, dispatch_uid="events.run_begins")
    post_execute_in_worker.connect(run_ends, dispatch_uid="events.run_ends")


def run_begins(sender: object, task: dict[str, Any], **kwargs: Any) -> None:
    """Note that this process begins a task; what it seemed to run before, and earlier tries of it, were lost."""
    try:
        host, pid, now = socket.gethostname(), os.getpid(), utcnow(SYSTEM_CLOCK)
        before = Q(host=host, pid=pid) | Q(task_id=task["id"])
        JobRun.objects.running().filter(before).update(outcome=JobRun.Outcome.LOST, ended_at=now)
        JobRun.objects.create(
            task_id=task["id"],
            function=get_func_repr(task["func"])[:256],
            label=str(task.get("group") or "")[:100],
            started_at=now,
            host=host[:255],
            pid=pid,
        )
    except Exception as error:  # noqa: BLE001  (else it would end the worker)
        note_trouble(error)


def run_ends(sender: object, task: dict[str, Any], **kwargs: Any) -> None:
    """Note how a task of this process ended."""
    try:
        has_succeeded = bool(task.get("success"))
        JobRun.objects.running().filter(task_id=task["id"]).update(
            ended_at=utcnow(SYSTEM_CLOCK),
            outcome=JobRun.Outcome.SUCCEEDED if has_succeeded else JobRun.Outcome.FAILED,
            error="" if has_succeeded else parse_failure(str(task.get("result") or "")).kept,
        )
        function = get_func_repr(task["func"])[:256]
        _since_trim[function] = _since_trim.get(function, 0) + 1
        if _since_trim[function] >= TRIM_EVERY:
            _since_trim[function] = 0
            trim_function(function)
    except Exception as error:  # noqa: BLE001  (else it would end the worker)
        note_trouble(error)


def note_trouble(error: Exception) -> None:
    """Log that a run could not be recorded, and let go of a connection that may be broken."""
    logger.warning("the run of a task could not be recorded: %s", type(error).__name__)
    if not connection.in_atomic_block:
        connection.close()


def trim_function(function: str) -> None:
    """Delete the records of a task but the newest KEPT_RUNS."""
    with connection.cursor() as cursor:
        cursor.execute(_TRIM, [function, function, KEPT_RUNS])


def runs_trim(*, clock: Clock = SYSTEM_CLOCK) -> None:
    """Delete records that are old or too many, and mark runs as lost that can no longer be going on."""
    now = utcnow(clock)
    lost_runs(now).update(outcome=JobRun.Outcome.LOST, ended_at=now)
    JobRun.objects.filter(started_at__lt=now - timedelta(days=KEPT_DAYS)).delete()
    for function in JobRun.objects.order_by().values_list("function", flat=True).distinct():
        trim_function(function)


def lost_runs(now: datetime) -> Any:
    """Return the runs that have no end although their limit of time is over."""
    limit = timedelta(seconds=float(str(settings.Q_CLUSTER["timeout"]))) + LOST_AFTER
    return JobRun.objects.running().filter(started_at__lt=now - limit)
