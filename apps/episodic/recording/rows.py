"""The statements that insert and find rows of events, and the segment that takes the writes.

SQL, because a batch of a thousand would spend most of its time in model instances that are not used.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.offsets import offset_minutes
from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.segment_state import SegmentState, is_full, is_old
from apps.episodic.jobs import request_maintenance
from apps.episodic.models import Segment, TimelineEvent
from apps.episodic.store.catalogue import SEGMENT_LOCKS, StaleSegmentError, last_arrival, segment_step
from apps.episodic.store.rows import EVENT_COLUMNS, record_of

# The lock is tried, not waited for: it is only taken otherwise once the segment has been closed.
OPEN_SQL = """
SELECT id, uuid, first_arrival, pg_try_advisory_xact_lock_shared(%s, id::int)
FROM episodic_segment WHERE state = 'open'
"""

# Numbers follow the order of the events sent, which is their order of arrival. Rows are inserted in the order of their
# identities, so that two writers of the same events never deadlock. Known events take no number, because a segment is
# full by its numbers.
INSERT_SQL = """
WITH still_open AS MATERIALIZED (
    SELECT id FROM episodic_segment WHERE id = %(segment)s AND state = 'open'
), sent AS MATERIALIZED (
    SELECT (item ->> 0)::uuid AS uuid, item ->> 1 AS user_id, item ->> 2 AS household_id, item ->> 3 AS persona_id,
           (item ->> 4)::timestamptz AS "timestamp", item ->> 5 AS event_type, item ->> 6 AS content,
           (item ->> 7)::float8 AS importance, item ->> 8 AS source, item -> 9 AS metadata,
           (item ->> 10)::uuid AS identity, (item ->> 11)::timestamptz AS recorded_at,
           (item ->> 12)::int2 AS timestamp_offset, item ->> 13 AS actor, item ->> 14 AS origin, position
    FROM jsonb_array_elements(%(events)s::jsonb) WITH ORDINALITY AS events (item, position)
), fresh AS MATERIALIZED (
    SELECT nextval('episodic_timelineevent_id_seq') AS id, unknown.*
    FROM (
        SELECT sent.* FROM sent
        WHERE EXISTS (SELECT 1 FROM still_open)
          AND NOT EXISTS (SELECT 1 FROM episodic_timelineevent AS e WHERE e.identity = sent.identity)
        ORDER BY position
    ) AS unknown
), inserted AS (
    INSERT INTO episodic_timelineevent (
        id, uuid, user_id, household_id, persona_id, "timestamp", event_type, content, importance, source, metadata,
        identity, recorded_at, timestamp_offset, actor, origin, segment_id
    )
    SELECT id, uuid, user_id, household_id, persona_id, "timestamp", event_type, content, importance, source, metadata,
           identity, recorded_at, timestamp_offset, actor, origin, %(segment)s
    FROM fresh ORDER BY identity
    ON CONFLICT (identity) DO NOTHING
    RETURNING id, identity
)
SELECT still_open.id, inserted.id, inserted.identity
FROM (VALUES (1)) AS one LEFT JOIN still_open ON TRUE LEFT JOIN inserted ON TRUE
"""

KNOWN_SQL = f"""
SELECT s.uuid, {", ".join(f"e.{name}" for name in EVENT_COLUMNS)}
FROM episodic_timelineevent AS e JOIN episodic_segment AS s ON s.id = e.segment_id
WHERE e.identity = ANY (%s)
"""  # noqa: S608  (put together from constants)

ARCHIVED_SQL = "SELECT EXISTS (SELECT 1 FROM episodic_segment WHERE state = 'archived' AND last_timestamp >= %s)"


@dataclass(frozen=True)
class OpenSegment:
    """The segment that takes the writes, held open for this transaction. first_arrival: after which it begins."""

    id: int
    uuid: UUID
    first_arrival: int


def take_open_segment() -> OpenSegment | None:
    """Return the open segment, locked against being sealed before this transaction ends; None to try again.

    It may have been closed before it was locked, which the insert finds out.
    """
    with connection.cursor() as cursor:
        cursor.execute(OPEN_SQL, [SEGMENT_LOCKS])
        row = cursor.fetchone()
    return OpenSegment(*row[:3]) if row and row[3] else None


def insert_rows(segment: OpenSegment, records: Sequence[EventRecord]) -> dict[UUID, int] | None:
    """Insert the events that are not rows yet. Return identity -> arrival number; None when the segment was closed.

    records: no identity twice; their arrival numbers are ignored.
    """
    events = [
        [
            str(record.uuid), *record.key, record.timestamp.astimezone(UTC).isoformat(), record.event_type,
            record.content, record.importance, record.source, record.metadata, str(record.identity),
            record.recorded_at.isoformat(), offset_minutes(record.timestamp), record.actor,
            record.origin,
        ]
        for record in records
    ]  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(INSERT_SQL, {"segment": segment.id, "events": json.dumps(events, ensure_ascii=False)})
        rows = cursor.fetchall()
    if rows[0][0] is None:
        return None
    return {identity: arrival for _, arrival, identity in rows if arrival is not None}


def known_rows(identities: Collection[UUID]) -> Mapping[UUID, tuple[EventRecord, UUID]]:
    """Return the events that are rows, by identity, each with the id of its segment."""
    if not identities:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(KNOWN_SQL, [list(identities)])
        found = [(record_of(row[1:]), row[0]) for row in cursor.fetchall()]
    return {record.identity: (record, segment) for record, segment in found}


def may_be_archived(earliest: datetime) -> bool:
    """Return whether a file has events of this time or later; for an event of now mostly none has to be searched."""
    with connection.cursor() as cursor:
        cursor.execute(ARCHIVED_SQL, [earliest])
        return bool(cursor.fetchone()[0])


def delete_rows(arrivals: Collection[int]) -> None:
    """Delete rows that this transaction inserted."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM episodic_timelineevent WHERE id = ANY (%s)", [list(arrivals)])


def segment_open(*, now: datetime) -> None:
    """Create the open segment if there is none; a unique constraint keeps it the only one, however many try at once.

    Waits for a transaction that is just creating one.
    """
    segment = Segment(state=SegmentState.OPEN, opened_at=now, first_arrival=last_arrival())
    Segment.objects.bulk_create([segment], ignore_conflicts=True)


def segment_close(*, segment_id: int, clock: Clock = SYSTEM_CLOCK) -> bool:
    """Close the open segment, open the next one, and request that the closed one is sealed. Return whether it did.

    Running writers may still add to the closed one until they commit; neither side waits. A segment that holds nothing
    stays open, and its arrivals are counted from here on.
    """
    segment = Segment.objects.filter(pk=segment_id, state=SegmentState.OPEN).first()
    if segment is None or not close_unless_empty(segment, clock):
        return False
    request_maintenance()
    return True


def rotate_if_due(*, clock: Clock = SYSTEM_CLOCK) -> bool:
    """Close the open segment if it is full, or has held events for too long. Return whether it did."""
    segment = Segment.objects.filter(state=SegmentState.OPEN).first()
    if segment is None:
        return False
    timeline = settings.MEMORYHUB.timeline
    if not is_full(segment.first_arrival, last_arrival(), timeline.segment_events):
        events = TimelineEvent.objects.filter(segment=segment).order_by("id")
        if not is_old(events.values_list("recorded_at", flat=True).first(), utcnow(clock), timeline.rotate_hours):
            return False
    return close_unless_empty(segment, clock)


def close_unless_empty(segment: Segment, clock: Clock) -> bool:
    """Close a segment that the caller saw open, and open the next one. Return whether this call did it."""
    if not TimelineEvent.objects.filter(segment=segment).exists():
        Segment.objects.filter(pk=segment.pk, state=SegmentState.OPEN).update(first_arrival=last_arrival())
        return False
    now = utcnow(clock)
    try:
        with transaction.atomic():
            segment_step(segment, SegmentState.SEALING, clock=clock, closed_at=now)
            segment_open(now=now)
    except StaleSegmentError:
        return False
    return True
