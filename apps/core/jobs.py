"""Schedules, and background runs: work that a person asked for, done by consecutive tasks of django-q2.

The tasks of a run share a group. Each one returns a dictionary, in which `finished` says whether it was the last, and
requests the next one itself. So no task is long, and the results of the ended ones are visible while the run goes on.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from django_q.models import Task
from django_q.tasks import async_task


@dataclass(frozen=True)
class ScheduleSpec:
    """name: by which it is found later. task: dotted path. every: a `Schedule` type; minutes: for MINUTES.

    second: of the minute in which it runs; without one that of the first start.
    """

    name: str
    task: str
    every: str
    minutes: int | None = None
    second: int | None = None


@dataclass(frozen=True)
class RunResults:
    """The ended tasks of a run. kwargs: of the first one. results: of those that succeeded, in their order."""

    kwargs: Mapping[str, Any] | None
    results: tuple[dict[str, Any], ...]
    failed: bool

    @property
    def finished(self) -> bool:
        """Return whether the last task of the run has succeeded."""
        return any(result["finished"] for result in self.results)


@dataclass(frozen=True)
class BackgroundJob:
    """A kind of work that is done in runs. func: the path of its task. prefix: what the group of a run begins with.

    Queued and finished tasks hold both, and runs are found by the group, so neither may change.
    """

    func: str
    prefix: str

    def start(self, *, task_name: str, **kwargs: Any) -> UUID:
        """Enqueue the first task of a new run. Return the run, by which `results` finds its tasks."""
        run = uuid4()
        self.enqueue(run=str(run), task_name=task_name, **kwargs)
        return run

    def enqueue(self, *, run: str, task_name: str, **kwargs: Any) -> None:
        """Enqueue a task of a run, which is called with `run` and `kwargs`."""
        async_task(self.func, run=run, **kwargs, q_options={"group": f"{self.prefix} {run}", "task_name": task_name})

    def results(self, run: UUID) -> RunResults:
        """Return what the tasks of a run that have ended returned."""
        tasks = list(Task.objects.filter(group=f"{self.prefix} {run}").order_by("started"))
        return RunResults(
            kwargs=tasks[0].kwargs if tasks else None,
            results=tuple(task.result for task in tasks if task.success),
            failed=any(not task.success for task in tasks),
        )
