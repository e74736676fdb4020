"""The one statement that ends the way of many events, and so links them to their memories.

SQL, because it runs while the writers of these users wait, and the ORM takes longer over it than saving takes.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from django.db import connection

from apps.semantic.models import Ingestion

_COLUMNS = ("status", "policy", "on_prune", "error", "action", "memory_id", "conflict", "came_from_events")
# What failed keeps its words, to be tried again; nothing else needs them any more.
_UPDATE = f"""
UPDATE {Ingestion._meta.db_table} AS old
SET {", ".join(f"{name} = ended.{name}" for name in _COLUMNS)}, ended_at = %s,
    content = CASE WHEN ended.status = 'failed' THEN old.content ELSE '' END
FROM jsonb_to_recordset(%s::jsonb) AS ended (
    id bigint, status text, policy text, on_prune text, error text, action text, memory_id bigint, conflict uuid,
    came_from_events boolean
)
WHERE old.id = ended.id
"""  # noqa: S608  (names of our own table)


@dataclass(frozen=True)
class EndedRow:
    """What one event has come to: see the fields of `Ingestion`."""

    id: int
    status: str
    policy: str
    on_prune: str
    error: str = ""
    action: str = ""
    memory_id: int | None = None
    conflict: str | None = None
    came_from_events: bool = False


def links_write(rows: Sequence[EndedRow], at: datetime) -> None:
    """End rows that are locked by this transaction."""
    with connection.cursor() as cursor:
        cursor.execute(_UPDATE, [at, json.dumps([asdict(row) for row in rows])])
