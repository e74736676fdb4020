"""Asks django-q2 for work on the timeline; ids and plain values only."""

from typing import Any

from django_q.tasks import async_task

from apps.events.queue import request_once

_TASKS = "apps.episodic.tasks."


def request_maintenance() -> None:
    """Have the timeline looked after soon, once for a transaction. The schedule sees to it anyway."""
    request_once(f"{_TASKS}maintain", "timeline: maintain")


def request(task: str, **arguments: Any) -> None:
    """Enqueue another one of `tasks`. No row of its result is kept: the log, the rows and the warnings tell of it."""
    async_task(f"{_TASKS}{task}", **arguments, q_options={"task_name": f"timeline: {task}", "save": False})
