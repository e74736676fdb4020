"""A worker for tests: does what is enqueued for runs of work, and leaves the results that django-q2 would leave."""

from uuid import uuid4

from django.utils import timezone
from django_q.models import OrmQ, Task

from apps.episodic.maintenance.jobs import TASK, run_part


def work_off(limit: int = 100) -> int:
    """Do the tasks of runs until none is left, or so many; return how many were done. One that raises has failed."""
    done = 0
    while done < limit and (entry := _next()):
        task = entry.task
        result = Task(
            id=uuid4().hex,
            name=task["name"],
            func=TASK,
            kwargs=task["kwargs"],
            group=task["group"],
            started=timezone.now(),
        )
        try:
            result.result, result.success = run_part(**task["kwargs"]), True
        except Exception as error:  # noqa: BLE001  (as a worker does)
            result.result, result.success = repr(error), False
        result.stopped = timezone.now()
        result.save()
        entry.delete()
        done += 1
    return done


def _next() -> OrmQ | None:
    return next((entry for entry in OrmQ.objects.order_by("pk") if entry.func() == TASK), None)
