"""The part of a query that rows answer, in one statement and so in one snapshot.

The version of the catalogue is read with the rows: together with the files of that version they are every event,
each once, whatever is sealed, archived or compacted concurrently.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import EmptyResultSet, FullResultSet
from django.db import connection

from apps.core.db.filters import condition
from apps.core.db.scoped import reach_sql
from apps.core.domain.filters.expression import EVERYTHING, Expression
from apps.core.domain.offsets import in_offset
from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import Reach
from apps.episodic.domain.event import EVENT_FIELDS, EventRecord, ScopeKey
from apps.episodic.domain.window import EventCounts, Window
from apps.episodic.models.event import TimelineEvent

COLUMNS = {name: "uuid" if name == "id" else name for name in EVENT_FIELDS}
EVENT_COLUMNS = (
    "id", "uuid", "user_id", "household_id", "persona_id", "timestamp", "event_type", "content",
    "importance", "source", "metadata", "identity", "recorded_at", "timestamp_offset",
    "actor", "origin",
)  # fmt: skip
# The rows of a segment whose file has taken over are read no more. An array, so that it is looked up once.
ROWS_COUNT = "e.segment_id <> ALL (ARRAY(SELECT id FROM episodic_segment WHERE rows = 'leaving'))"
VERSION = "coalesce((SELECT version FROM episodic_catalogue WHERE id = 1), 0)"
_SQL = f"""
SELECT {VERSION},
       (SELECT count(*) FROM episodic_segment WHERE state = 'quarantined'),
       counts.scanned, counts.inside, counts.wanted, counts.passed,
       {", ".join(f"found.{name}" for name in EVENT_COLUMNS)}
FROM (
    SELECT count(*) AS scanned,
           count(*) FILTER (WHERE {{window}}) AS inside,
           count(*) FILTER (WHERE {{window}} AND {{types}}) AS wanted,
           count(*) FILTER (WHERE {{window}} AND {{types}} AND {{filter}}) AS passed
    FROM episodic_timelineevent AS e WHERE {{scope}} AND {ROWS_COUNT}
) AS counts
LEFT JOIN LATERAL (
    SELECT * FROM (
        SELECT newest.*,
               sum(octet_length(content)) OVER (ORDER BY timestamp DESC, id DESC ROWS UNBOUNDED PRECEDING)
               - octet_length(content) AS newer_bytes
        FROM (
            SELECT * FROM episodic_timelineevent AS e
            WHERE {{scope}} AND {ROWS_COUNT} AND {{window}} AND {{types}} AND {{filter}}
            ORDER BY e.timestamp DESC, e.id DESC LIMIT %(limit)s
        ) AS newest
    ) AS sized WHERE %(max_bytes)s::bigint IS NULL OR newer_bytes < %(max_bytes)s::bigint
) AS found ON TRUE
"""  # noqa: S608  (built from constants; values are parameters)
FIRST_EVENT_COLUMN = 6


def filter_sql(asked: Expression) -> tuple[str, dict[str, Any]]:
    """Return the condition that a filter asks of rows called `e`, and its parameters by name."""
    if asked == EVERYTHING:
        return "TRUE", {}
    rows = TimelineEvent.objects.filter(condition(asked, COLUMNS))
    rows.query.change_aliases({TimelineEvent._meta.db_table: "e"})
    try:
        sql, parameters = rows.query.get_compiler(rows.db).compile(rows.query.where)
    except EmptyResultSet:
        return "FALSE", {}
    except FullResultSet:
        return "TRUE", {}
    names = [f"asked_{number}" for number in range(len(parameters))]
    return f"({sql % tuple(f'%({name})s' for name in names)})", dict(zip(names, parameters, strict=True))


@dataclass(frozen=True)
class RowsResult:
    """What rows say. version: of the catalogue. quarantined: damaged segments of the hub. records: newest first."""

    version: int
    quarantined: int
    counts: EventCounts
    records: tuple[EventRecord, ...]


def query_rows(
    reach: Reach,
    window: Window,
    event_types: Sequence[str],
    limit: int,
    max_bytes: int | None = None,
    where: Expression = EVERYTHING,
) -> RowsResult:
    """Count the rows that a read covers, and return the newest `limit` of those that pass.

    max_bytes: of content, beyond which no more rows are returned; the one that crosses it is.
    """
    conditions, values = rows_where(reach, window, event_types, where)
    with connection.cursor() as cursor:
        cursor.execute(_SQL.format(**conditions), {**values, "limit": limit, "max_bytes": max_bytes})
        answer = cursor.fetchall()
    version, quarantined, *counts = answer[0][:FIRST_EVENT_COLUMN]
    found = [row[FIRST_EVENT_COLUMN:] for row in answer if row[FIRST_EVENT_COLUMN] is not None]
    return RowsResult(version, quarantined, EventCounts(*counts), tuple(record_of(row) for row in found))


def rows_where(
    reach: Reach, window: Window, event_types: Sequence[str], where: Expression = EVERYTHING
) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the conditions `scope`, `window`, `types` and `filter` on rows called `e`, and their parameters."""
    covered, whose = reach_sql(reach, "e.")
    bounds = [(window.start, "e.timestamp >= %(start)s"), (window.end, "e.timestamp <= %(end)s")]
    conditions = {
        "scope": covered,
        "window": " AND ".join(condition for bound, condition in bounds if bound is not None) or "TRUE",
        "types": "e.event_type = ANY (%(types)s)" if event_types else "TRUE",
    }
    conditions["filter"], asked = filter_sql(where)
    return conditions, {**whose, **asked, "start": window.start, "end": window.end, "types": list(event_types)}


def record_of(row: Sequence[Any]) -> EventRecord:
    """Return the event of a row of EVENT_COLUMNS, as Django's cursor returns it (JSON as text)."""
    arrival, uuid, user, household, persona, timestamp, kind, content, importance, source, metadata, *rest = row
    identity, recorded_at, minutes, actor, origin = rest
    return EventRecord(
        arrival=arrival,
        uuid=uuid,
        key=ScopeKey(user, household, persona),
        timestamp=in_offset(timestamp, minutes) if minutes else timestamp,
        event_type=kind,
        content=content,
        importance=importance,
        source=source,
        metadata=json.loads(metadata),
        identity=identity,
        recorded_at=recorded_at,
        actor=actor,
        origin=WriteOrigin(origin),
    )
