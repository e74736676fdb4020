"""What a process of the hub finds in a restored data directory; `manage.py shell` runs it there."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch
from uuid import UUID

from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils.module_loading import import_string
from django_q.models import OrmQ, Schedule, Task

from apps.episodic.maintenance.jobs import JobStatus, run_status
from apps.events.models import Delivery, Event
from apps.events.subscribers import payload_class_of
from apps.retrieval.domain import planner as planning
from apps.retrieval.domain.vectors.graph import VectorGraph
from apps.semantic.index.cache import index_cache
from apps.semantic.store.embedding_space import current_space


def report(facts: dict[str, Any]) -> None:
    """Migrate, and print as JSON what is there and what of it can be used; of a part that fails the error."""
    call_command("migrate", verbosity=0, interactive=False)
    parts: dict[str, Callable[[], Any]] = {
        "migrations": migrations_left,
        "rows": lambda: {table: count_rows(table) for table in facts["rows"]},
        "schedules": lambda: [resolve(one) for one in Schedule.objects.values_list("func", flat=True)],
        "queued": lambda: [resolve(task.task["func"]) for task in OrmQ.objects.all()],
        "recorded": lambda: [resolve(one) for one in Task.objects.values_list("func", flat=True)],
        "subscribers": lambda: [resolve(one) for one in Delivery.objects.values_list("subscriber", flat=True)],
        "payloads": lambda: [read_payload(event) for event in Event.objects.all()],
        "run": lambda: describe(run_status(UUID(facts["verify_run"]))),
        "permissions": lambda: sorted(User.objects.get(username="rita").get_all_permissions()),
        "content_types": lambda: [kind.model for kind in ContentType.objects.all() if kind.model_class() is None],
        "graph": lambda: take_graph(facts["graph_rows"]),
    }
    print(json.dumps({name: attempt(part) for name, part in parts.items()}))


def attempt(part: Callable[[], Any]) -> Any:
    """Return what a part finds, or its error as text, which no test takes for a finding."""
    try:
        return part()
    except Exception as error:  # noqa: BLE001  (the test shows what it is)
        return f"{type(error).__name__}: {error}"


def migrations_left() -> list[str]:
    """Return the names of migrations that were not applied."""
    executor = MigrationExecutor(connection)
    return [str(step) for step, _ in executor.migration_plan(executor.loader.graph.leaf_nodes())]


def count_rows(table: str) -> int:
    """Return how many rows a table has."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {connection.ops.quote_name(table)}")
        return int(cursor.fetchone()[0])


def resolve(path: str) -> str:
    """Return an error where a dotted path leads to nothing that can be called, else the empty string."""
    try:
        return "" if callable(import_string(path)) else f"{path} cannot be called"
    except ImportError as error:
        return str(error)


def read_payload(event: Event) -> str:
    """Return an error where the payload of an event cannot be read, else the empty string."""
    try:
        payload_class_of(event.name).from_json(event.payload)
    except Exception as error:  # noqa: BLE001  (the test shows what it is)
        return f"{event.name}: {error}"
    return ""


def describe(status: JobStatus) -> dict[str, Any]:
    """Return what is known of a run of work on segments."""
    lines = [[line.severity.value, line.text] for line in status.messages]
    return {"finished": status.finished, "failed": status.failed, "kind": status.kind, "lines": lines}


def take_graph(rows: int) -> dict[str, int]:
    """Take the graph of ana's memories into use; it comes from its snapshot, or this fails."""
    cache, space = index_cache(), current_space()
    with patch.object(planning, "GRAPH_ROWS", rows), no_graph_is_made():
        with cache.refreshed(["ana"], space):
            pass
        cache.keeper.update("ana", space)
    with cache.refreshed(["ana"], space) as [shard]:
        return {"memories": len(shard), "known": 0 if shard.graph is None else len(shard.graph)}


@contextmanager
def no_graph_is_made() -> Iterator[None]:
    """Let every attempt to make a graph from rows fail."""
    with patch.object(VectorGraph, "of", side_effect=AssertionError("a graph is made from rows")):
        yield
