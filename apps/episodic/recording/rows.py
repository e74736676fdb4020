"""The statements by which events become rows.

SQL, because a batch of a thousand would spend most of its time in model instances that nobody looks at.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection

from apps.episodic.domain.event import EventRecord
from apps.episodic.store.locks import SEGMENT_LOCKS
from apps.episodic.store.rows import EVENT_COLUMNS, record_of

# The lock is tried, not waited for: only a segment that was closed meanwhile is locked otherwise.
_OPEN_SQL = """
SELECT id, uuid, first_arrival, pg_try_advisory_xact_lock_shared(%s, id::int)
FROM episodic_segment WHERE state = 'open'
"""

# Numbers follow the order of the given events, which is their order of arrival. Rows are inserted in the order of their
# identities, so that two writers of the same events never wait for each other in a circle. What is known already takes
# no number: a segment is full by its numbers.
_INSERT_SQL = """
WITH still_open AS MATERIALIZED (
    SELECT id FROM episodic_segment WHERE id = %(segment)s AND state = 'open'
), given AS MATERIALIZED (
    SELECT (item ->> 0)::uuid AS uuid, item ->> 1 AS user_id, item ->> 2 AS household_id, item ->> 3 AS persona_id,
           (item ->> 4)::timestamptz AS "timestamp", item ->> 5 AS event_type, item ->> 6 AS content,
           (item ->> 7)::float8 AS importance, item ->> 8 AS source, item -> 9 AS metadata,
           (item ->> 10)::uuid AS identity, (item ->> 11)::timestamptz AS recorded_at, position
    FROM jsonb_array_elements(%(events)s::jsonb) WITH ORDINALITY AS events (item, position)
), fresh AS MATERIALIZED (
    SELECT nextval('episodic_timelineevent_id_seq') AS id, unknown.*
    FROM (
        SELECT given.* FROM given
        WHERE EXISTS (SELECT 1 FROM still_open)
          AND NOT EXISTS (SELECT 1 FROM episodic_timelineevent AS e WHERE e.identity = given.identity)
        ORDER BY position
    ) AS unknown
), inserted AS (
    INSERT INTO episodic_timelineevent (
        id, uuid, user_id, household_id, persona_id, "timestamp", event_type, content, importance, source, metadata,
        identity, recorded_at, segment_id
    )
    SELECT id, uuid, user_id, household_id, persona_id, "timestamp", event_type, content, importance, source, metadata,
           identity, recorded_at, %(segment)s
    FROM fresh ORDER BY identity
    ON CONFLICT (identity) DO NOTHING
    RETURNING id, identity
)
SELECT still_open.id, inserted.id, inserted.identity
FROM (VALUES (1)) AS one LEFT JOIN still_open ON TRUE LEFT JOIN inserted ON TRUE
"""

_KNOWN_SQL = f"""
SELECT s.uuid, {", ".join(f"e.{name}" for name in EVENT_COLUMNS)}
FROM episodic_timelineevent AS e JOIN episodic_segment AS s ON s.id = e.segment_id
WHERE e.identity = ANY (%s)
"""  # noqa: S608  (put together from constants)

_ARCHIVED_SQL = "SELECT EXISTS (SELECT 1 FROM episodic_segment WHERE state = 'archived' AND last_timestamp >= %s)"


@dataclass(frozen=True)
class OpenSegment:
    """The segment that takes the writes, held open for this transaction. first_arrival: after which it begins."""

    id: int
    uuid: UUID
    first_arrival: int


def take_open_segment() -> OpenSegment | None:
    """The open segment, locked against being sealed before this transaction ends; None to ask again.

    Whether it is still open once it is locked only the insert can tell.
    """
    with connection.cursor() as cursor:
        cursor.execute(_OPEN_SQL, [SEGMENT_LOCKS])
        row = cursor.fetchone()
    return OpenSegment(*row[:3]) if row and row[3] else None


def insert_rows(segment: OpenSegment, records: Sequence[EventRecord]) -> dict[UUID, int] | None:
    """Insert the events that are not rows yet; identity -> arrival number. None when the segment is open no more.

    records: no identity twice; their arrival numbers are not looked at.
    """
    with connection.cursor() as cursor:
        cursor.execute(_INSERT_SQL, {"segment": segment.id, "events": _as_json(records)})
        rows = cursor.fetchall()
    if rows[0][0] is None:
        return None
    return {identity: arrival for _, arrival, identity in rows if arrival is not None}


def known_rows(identities: Collection[UUID]) -> Mapping[UUID, tuple[EventRecord, UUID]]:
    """The events that are rows, by identity, each with the id of its segment."""
    if not identities:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(_KNOWN_SQL, [list(identities)])
        found = [(record_of(row[1:]), row[0]) for row in cursor.fetchall()]
    return {record.identity: (record, segment) for record, segment in found}


def may_be_archived(earliest: datetime) -> bool:
    """Whether an archived event is not earlier. What happens now mostly is not held against any file."""
    with connection.cursor() as cursor:
        cursor.execute(_ARCHIVED_SQL, [earliest])
        return bool(cursor.fetchone()[0])


def delete_rows(arrivals: Collection[int]) -> None:
    """Take rows of this transaction back."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM episodic_timelineevent WHERE id = ANY (%s)", [list(arrivals)])


def _as_json(records: Sequence[EventRecord]) -> str:
    items = [
        [
            str(record.uuid), *record.key, record.timestamp.isoformat(), record.event_type, record.content,
            record.importance, record.source, record.metadata, str(record.identity), record.recorded_at.isoformat(),
        ]
        for record in records
    ]  # fmt: skip
    return json.dumps(items, ensure_ascii=False)
