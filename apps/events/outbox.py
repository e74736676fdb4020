"""The outbox: write events with the change that they report, redact them, and remove old ones."""

import json
import logging
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from types import MappingProxyType
from uuid import UUID, uuid4

from django.conf import settings
from django.db import connection, transaction

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.scope import IDENTIFIERS
from apps.events import metrics
from apps.events.domain.payload import EventPayload
from apps.events.jobs import request_drain
from apps.events.models import Delivery, Event
from apps.events.subscribers import EVERY_EVENT, subscription_table

logger = logging.getLogger(__name__)

TRIM_BATCH = 1_000

# SQL, because the ORM takes four times as long for a batch: most of it goes into a thousand model instances that are
# not used (docs/reference/events.md has the figures).
_INSERT = """
WITH emitted AS (
    SELECT (item ->> 0)::uuid AS uuid, item ->> 1 AS name, item -> 2 AS payload, position
    FROM jsonb_array_elements(%(rows)s::jsonb) WITH ORDINALITY AS rows (item, position)
), subscription AS (
    SELECT item ->> 0 AS name, item ->> 1 AS subscriber
    FROM jsonb_array_elements(%(subscriptions)s::jsonb) AS pairs (item)
), event AS (
    INSERT INTO events_event (uuid, name, payload, created_at, delivered_at)
    SELECT uuid, name, payload, %(now)s, CASE WHEN name IN (SELECT name FROM subscription) THEN NULL ELSE %(now)s END
    FROM emitted ORDER BY position
    RETURNING id, name
)
INSERT INTO events_delivery (event_id, subscriber, status, attempts, claims, next_attempt_at, last_error)
SELECT event.id, subscription.subscriber, 'pending', 0, 0, %(now)s, ''
FROM event JOIN subscription ON subscription.name = event.name
ORDER BY event.id
"""


class OutsideTransactionError(RuntimeError):
    """An event was emitted outside transaction.atomic, where it could survive the change that it reports."""


def emit(payload: EventPayload, *, clock: Clock = SYSTEM_CLOCK) -> UUID:
    """Write one event to the outbox, in the caller's transaction; return its id. See `emit_many`."""
    [event_id] = emit_many([payload], clock=clock)
    return event_id


def emit_many(payloads: Iterable[EventPayload], *, clock: Clock = SYSTEM_CLOCK) -> list[UUID]:
    """Write events to the outbox, in the caller's transaction, with one pending delivery per subscriber.

    Return their ids in the order of `payloads`. An event without subscribers is written as delivered. One drain task
    is enqueued per outermost transaction. Raises OutsideTransactionError without transaction.atomic.
    """
    if not transaction.get_connection().in_atomic_block:
        raise OutsideTransactionError("Emit events inside transaction.atomic, together with the change.")
    now = utcnow(clock)
    payloads = list(payloads)
    if not payloads:
        return []
    ids = [uuid4() for _ in payloads]
    rows = [(str(uuid), payload.name, payload.to_json()) for uuid, payload in zip(ids, payloads, strict=True)]
    names, table = {payload.name for payload in payloads}, subscription_table()
    # The handlers of each event, each once.
    subscribers = {name: list(dict.fromkeys([*table.get(name, ()), *table.get(EVERY_EVENT, ())])) for name in names}
    parameters = {
        "rows": json.dumps(rows, ensure_ascii=False),
        "subscriptions": json.dumps([(name, path) for name, paths in subscribers.items() for path in paths]),
        "now": now,
    }
    with transaction.get_connection().cursor() as cursor:
        cursor.execute(_INSERT, parameters)
        if cursor.rowcount:
            request_drain()
    transaction.on_commit(partial(observe_emitted, ids, payloads))
    return ids


def observe_emitted(ids: Sequence[UUID], payloads: Sequence[EventPayload]) -> None:
    """Count events and log their names and identifiers; nothing that a person wrote."""
    for name, count in Counter(payload.name for payload in payloads).items():
        metrics.EVENTS.labels(name=name).inc(count)
    if logger.isEnabledFor(logging.DEBUG):
        for uuid, payload in zip(ids, payloads, strict=True):
            # Not whose it is: a log outlives the forgetting of a person.
            named = payload.identifiers().items()
            identifiers = " ".join(f"{key}={value}" for key, value in named if key not in IDENTIFIERS)
            logger.debug("event %s %s %s", uuid, payload.name, identifiers)


def trim(*, clock: Clock = SYSTEM_CLOCK, batch: int = TRIM_BATCH) -> int:
    """Delete the events that all subscribers received longer ago than the retention; return their number.

    Each batch is a transaction of its own. Events with a failed or pending delivery stay.
    """
    cutoff = utcnow(clock) - timedelta(days=settings.MEMORYHUB.event_retention_days)
    removed = 0
    while ids := list(Event.objects.delivered_before(cutoff).values_list("id", flat=True)[:batch]):
        # Deliveries are locked before events, as everywhere here, and then the events are read again: an operator
        # may just have requested that one is delivered again.
        with transaction.atomic():
            list(Delivery.objects.filter(event_id__in=ids).order_by("id").select_for_update())
            events = Event.objects.filter(id__in=ids, delivered_at__isnull=False).order_by("id")
            still = list(events.select_for_update().values_list("id", flat=True))
            Delivery.objects.filter(event_id__in=still).delete()
            Event.objects.filter(id__in=still).delete()
        removed += len(still)
    return removed


def payloads_redact(
    *,
    name: str,
    matching: Mapping[str, str],
    fields: Collection[str],
    until: datetime,
    among: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> int:
    """Empty text fields of stored payloads, when their contents must be gone everywhere; return how many events.

    matching: the values of other fields of the payloads. among: fields that have one of several values. until: only of
    events that were emitted until then. Each batch is a transaction of its own. A delivery that is running concurrently
    has read the payload before.
    """
    redacted, last = 0, 0
    empty = json.dumps(dict.fromkeys(fields, ""))
    found = Event.objects.filter(name=name, payload__contains=dict(matching), created_at__lte=until)
    found = found.filter(**{f"payload__{field}__in": list(values) for field, values in among.items()})
    while ids := list(found.filter(id__gt=last).order_by("id").values_list("id", flat=True)[:TRIM_BATCH]):
        with connection.cursor() as cursor:
            cursor.execute("UPDATE events_event SET payload = payload || %s::jsonb WHERE id = ANY(%s)", [empty, ids])
            redacted += cursor.rowcount
        last = ids[-1]
    return redacted
