"""Requests for background work on the timeline."""

from typing import Any

from django_q.tasks import async_task

from apps.events.services import request_once

_TASKS = "apps.episodic.tasks."


def request_maintenance() -> None:
    """Enqueue maintenance, once for a transaction. The schedule does it in any case."""
    request_once(f"{_TASKS}maintain", "timeline: maintain")


def request_pruning(*, resume: bool) -> None:
    """Enqueue `tasks.prune`. Its result is not kept: the policies show it."""
    async_task(f"{_TASKS}prune", resume=resume, q_options={"task_name": "timeline: prune", "save": False})


def request_forgetting(**arguments: Any) -> None:
    """Enqueue `tasks.forget`. Its result is not kept: the timeline shows what is left."""
    async_task(f"{_TASKS}forget", **arguments, q_options={"task_name": "timeline: forget", "save": False})
