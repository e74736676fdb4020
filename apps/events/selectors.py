"""Reads of the outbox."""

from dataclasses import dataclass

from django.db.models import Count, Min, Q, QuerySet

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.events.models import Delivery, Event


@dataclass(frozen=True)
class OutboxStatus:
    """pending: deliveries still to be made. failed: given up. overdue_seconds: age of the longest due one."""

    pending: int
    failed: int
    overdue_seconds: float


def outbox_status(*, clock: Clock = SYSTEM_CLOCK) -> OutboxStatus:
    """Return how many deliveries are open or failed, and how far delivery is behind."""
    now = utcnow(clock)
    pending, failed = Q(status=Delivery.Status.PENDING), Q(status=Delivery.Status.FAILED)
    found = Delivery.objects.filter(pending | failed).aggregate(
        pending=Count("id", filter=pending),
        failed=Count("id", filter=failed),
        oldest=Min("next_attempt_at", filter=pending),
    )
    oldest = found["oldest"] or now
    return OutboxStatus(found["pending"], found["failed"], max(0.0, (now - oldest).total_seconds()))


def undelivered(subscriber: str, *, given_up: bool = True) -> QuerySet[Event]:
    """Return the events that a subscriber has not received: pending ones, and with `given_up` the failed ones, too."""
    states = [Delivery.Status.PENDING, Delivery.Status.FAILED] if given_up else [Delivery.Status.PENDING]
    waiting = Delivery.objects.filter(subscriber=subscriber, status__in=states)
    return Event.objects.filter(delivered_at=None, id__in=waiting.values("event_id"))
