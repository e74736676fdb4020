"""Asks django-q2 for work on the timeline."""

from django_q.tasks import async_task

from apps.events.services import request_once

_TASKS = "apps.episodic.tasks."


def request_maintenance() -> None:
    """Have the timeline looked after soon, once for a transaction. The schedule sees to it anyway."""
    request_once(f"{_TASKS}maintain", "timeline: maintain")


def request_pruning(*, resume: bool) -> None:
    """Have what is expired removed soon; see `tasks.prune`. No row of its result is kept: the policies tell of it."""
    async_task(f"{_TASKS}prune", resume=resume, q_options={"task_name": "timeline: prune", "save": False})
