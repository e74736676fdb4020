"""Writes of the outbox: emit, deliver, sweep, trim, deliver again."""

import json
import logging
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID, uuid4

from django.conf import settings
from django.db import connection, transaction

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.randomness import RNG, SYSTEM_RNG
from apps.events import metrics, outbox
from apps.events.delivery import Drain, DrainReport
from apps.events.domain.payload import EventPayload
from apps.events.domain.retry import DEFAULT_POLICY, RetryPolicy
from apps.events.jobs import ScheduleSpec, request_drain, request_once, schedules_ensure
from apps.events.models import Delivery, Event
from apps.events.outbox import OutboxRow
from apps.events.subscribers import subscribers_of

__all__ = [
    "OutsideTransactionError",
    "ScheduleSpec",
    "drain",
    "emit",
    "emit_many",
    "payloads_redact",
    "redeliver",
    "request_once",
    "schedules_ensure",
    "sweep",
    "trim",
]

logger = logging.getLogger(__name__)

DRAIN_LIMIT = 2_000
# A stopping worker finishes its task first, so a drain is short and asks for another one.
DRAIN_SECONDS = 20.0
TRIM_BATCH = 1_000


class OutsideTransactionError(RuntimeError):
    """An event was emitted outside transaction.atomic, where it could survive the change it tells of."""


def emit(payload: EventPayload, *, clock: Clock = SYSTEM_CLOCK) -> UUID:
    """Write one event to the outbox, in the caller's transaction; gives its id. See `emit_many`."""
    [event_id] = emit_many([payload], clock=clock)
    return event_id


def emit_many(payloads: Iterable[EventPayload], *, clock: Clock = SYSTEM_CLOCK) -> list[UUID]:
    """Write events to the outbox, in the caller's transaction, with one delivery per subscriber.

    Gives their ids in the order of `payloads`. One drain task is enqueued per outermost transaction.
    Raises OutsideTransactionError without transaction.atomic, PayloadError for a payload that breaks its
    schema (then nothing is written).
    """
    if not transaction.get_connection().in_atomic_block:
        raise OutsideTransactionError("Emit events inside transaction.atomic, together with the change.")
    now = utcnow(clock)
    payloads = list(payloads)
    rows = [OutboxRow(uuid4(), payload.name, payload.to_json()) for payload in payloads]
    if not rows:
        return []
    heard = {name: subscribers_of(name) for name in {row.name for row in rows}}
    if outbox.write(rows, heard, now):
        request_drain()
    transaction.on_commit(partial(_observe, rows, payloads))
    return [row.uuid for row in rows]


def _observe(rows: Sequence[OutboxRow], payloads: Sequence[EventPayload]) -> None:
    """Count events and log their names and identifiers; nothing that a person wrote."""
    for name, count in Counter(row.name for row in rows).items():
        metrics.EVENTS.labels(name=name).inc(count)
    if logger.isEnabledFor(logging.DEBUG):
        for row, payload in zip(rows, payloads, strict=True):
            identifiers = " ".join(f"{key}={value}" for key, value in payload.identifiers().items())
            logger.debug("event %s %s %s", row.uuid, row.name, identifiers)


def drain(
    *,
    limit: int = DRAIN_LIMIT,
    seconds: float = DRAIN_SECONDS,
    clock: Clock = SYSTEM_CLOCK,
    rng: RNG = SYSTEM_RNG,
    policy: RetryPolicy = DEFAULT_POLICY,
) -> DrainReport:
    """Run the handlers of all due deliveries.

    Stops when nothing is due, after `limit` tries or about `seconds`; in the latter cases it enqueues
    another drain if something is still due. Safe beside other drains: none runs a delivery that another
    one is running. Call it outside a transaction.
    """
    return Drain(clock, rng, policy).run(limit=limit, seconds=seconds)


def sweep(*, clock: Clock = SYSTEM_CLOCK) -> bool:
    """Enqueue a drain if anything is due: retries, and what a lost task left. True if it did."""
    due = Delivery.objects.due(utcnow(clock)).exists()
    if due:
        request_drain()
    return due


def redeliver(*, delivery_ids: Collection[int], clock: Clock = SYSTEM_CLOCK) -> int:
    """Make deliveries pending again, whatever became of them, with all tries ahead of them.

    Gives how many there were. One that a drain is running at this moment is run again after it.
    """
    with transaction.atomic():
        locked = Delivery.objects.filter(id__in=delivery_ids).order_by("id").select_for_update()
        pairs = list(locked.values_list("id", "event_id"))
        Delivery.objects.filter(id__in=[delivery for delivery, _ in pairs]).update(
            status=Delivery.Status.PENDING,
            attempts=0,
            claims=0,
            next_attempt_at=utcnow(clock),
            last_error="",
            delivered_at=None,
        )
        Event.objects.filter(id__in=[event for _, event in pairs]).update(delivered_at=None)
        if pairs:
            request_drain()
    return len(pairs)


def trim(*, clock: Clock = SYSTEM_CLOCK, batch: int = TRIM_BATCH) -> int:
    """Delete the events that were delivered to everyone longer ago than the retention; gives how many.

    Each batch is a transaction of its own. Events with a failed or pending delivery stay.
    """
    cutoff = utcnow(clock) - timedelta(days=settings.MEMORYHUB.event_retention_days)
    removed = 0
    while ids := list(Event.objects.delivered_before(cutoff).values_list("id", flat=True)[:batch]):
        removed += _trim_batch(ids)
    return removed


def payloads_redact(*, name: str, matching: Mapping[str, str], fields: Collection[str], until: datetime) -> int:
    """Empty text fields of stored payloads, when what they say must be gone everywhere; gives how many events.

    matching: what the payloads have in other fields. until: only of events that were emitted until then. Each batch is
    a transaction of its own. A delivery that is running meanwhile has read the payload before.
    """
    redacted, last = 0, 0
    empty = json.dumps(dict.fromkeys(fields, ""))
    found = Event.objects.filter(name=name, payload__contains=dict(matching), created_at__lte=until)
    while ids := list(found.filter(id__gt=last).order_by("id").values_list("id", flat=True)[:TRIM_BATCH]):
        with connection.cursor() as cursor:
            cursor.execute("UPDATE events_event SET payload = payload || %s::jsonb WHERE id = ANY(%s)", [empty, ids])
            redacted += cursor.rowcount
        last = ids[-1]
    return redacted


def _trim_batch(ids: Collection[int]) -> int:
    # Deliveries are locked before events, as everywhere here, and then looked at again: an operator may
    # just have asked for one to be delivered again.
    with transaction.atomic():
        list(Delivery.objects.filter(event_id__in=ids).order_by("id").select_for_update())
        events = Event.objects.filter(id__in=ids, delivered_at__isnull=False).order_by("id")
        still = list(events.select_for_update().values_list("id", flat=True))
        Delivery.objects.filter(event_id__in=still).delete()
        Event.objects.filter(id__in=still).delete()
    return len(still)
