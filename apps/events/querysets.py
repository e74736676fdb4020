"""Composable filters over events, deliveries and runs of tasks."""

from datetime import datetime
from typing import TYPE_CHECKING

from django.db.models import QuerySet

if TYPE_CHECKING:
    from apps.events.models import Delivery, Event, JobRun  # noqa: F401  (named in strings below)


class EventQuerySet(QuerySet["Event"]):
    """Filters over events."""

    def delivered_before(self, moment: datetime) -> "EventQuerySet":
        """Return events whose last delivery was done before `moment`."""
        return self.filter(delivered_at__lt=moment)

    def complete(self) -> "EventQuerySet":
        """Return events without a pending or failed delivery."""
        return self.exclude(deliveries__status__in=["pending", "failed"])


class DeliveryQuerySet(QuerySet["Delivery"]):
    """Filters over deliveries."""

    def pending(self) -> "DeliveryQuerySet":
        """Return the deliveries that are not finished."""
        return self.filter(status="pending")

    def due(self, now: datetime) -> "DeliveryQuerySet":
        """Return pending deliveries whose next try is due, the longest waiting first."""
        return self.pending().filter(next_attempt_at__lte=now).order_by("next_attempt_at", "id")


class JobRunQuerySet(QuerySet["JobRun"]):
    """Filters over runs of tasks."""

    def running(self) -> "JobRunQuerySet":
        """Return the runs without an end."""
        return self.filter(outcome="running")
