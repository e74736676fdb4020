"""Requests for background work on the timeline."""

from django_q.tasks import async_task

from apps.events.services import request_once

_TASKS = "apps.episodic.tasks."


def request_maintenance() -> None:
    """Enqueue maintenance, once for a transaction. The schedule does it in any case."""
    request_once(f"{_TASKS}maintain", "timeline: maintain")


def request_pruning(*, resume: bool) -> None:
    """Enqueue `tasks.prune`. Its result is not kept: the policies show it."""
    async_task(f"{_TASKS}prune", resume=resume, q_options={"task_name": "timeline: prune", "save": False})
