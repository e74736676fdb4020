"""Composable filters over events and deliveries."""

from datetime import datetime
from typing import TYPE_CHECKING

from django.db.models import QuerySet

if TYPE_CHECKING:
    from apps.events.models import Delivery, Event  # noqa: F401  (named in strings below)


class EventQuerySet(QuerySet["Event"]):
    """Filters over events."""

    def delivered_before(self, moment: datetime) -> "EventQuerySet":
        """Events whose last delivery was done before `moment`."""
        return self.filter(delivered_at__lt=moment)

    def complete(self) -> "EventQuerySet":
        """Events that no delivery keeps open."""
        return self.exclude(deliveries__status__in=["pending", "failed"])


class DeliveryQuerySet(QuerySet["Delivery"]):
    """Filters over deliveries."""

    def pending(self) -> "DeliveryQuerySet":
        return self.filter(status="pending")

    def due(self, now: datetime) -> "DeliveryQuerySet":
        """Pending ones whose time has come, the longest waiting first."""
        return self.pending().filter(next_attempt_at__lte=now).order_by("next_attempt_at", "id")

    def fresh(self) -> "DeliveryQuerySet":
        """Those that no worker has begun and left unfinished."""
        return self.filter(claims=0)

    def abandoned(self) -> "DeliveryQuerySet":
        """Those that a worker has begun and not finished: it runs now, or it has died."""
        return self.filter(claims__gt=0)
