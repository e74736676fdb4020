"""Other processes of the hub, as they publish themselves."""

from typing import Any

from django.db import connection
from psycopg.types.json import Jsonb

from apps.core import processes
from apps.core.models import HubProcess, ProcessKind


def beside(
    kind: str, *, age: float = 0.0, facts: dict[str, Any] | None = None, host: str = "elsewhere", **checks: str
) -> int:
    """Have a process of this run on another host say what it is ready for, so long ago. Return its process id."""
    pid = 2_000_000_000 + HubProcess.objects.count()
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO core_hubprocess (kind, run, host, pid, started_at, seen_at, checks, facts)"
            " VALUES (%s, %s, %s, %s, clock_timestamp() - make_interval(secs => %s),"
            " clock_timestamp() - make_interval(secs => %s), %s, %s)",
            [
                ProcessKind(kind).value,
                processes.run_name(),
                host,
                pid,
                age,
                age,
                Jsonb(checks),
                Jsonb(facts or {}),
            ],
        )
    return pid
