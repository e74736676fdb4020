"""The transactional outbox (DESIGN D7): events, and one delivery per subscriber; and the runs of background tasks."""

import uuid
from datetime import datetime

from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import Q, QuerySet

from apps.events.domain.payload import MAX_NAME_CHARS


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


class Event(models.Model):
    """Something that happened, written in the same transaction as the change that it reports.

    Written by `services.emit_many` only, and never changed but for `delivered_at`.
    """

    uuid = models.UUIDField("event id", default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=MAX_NAME_CHARS)
    payload = models.JSONField()
    created_at = models.DateTimeField()
    delivered_at = models.DateTimeField(null=True, blank=True)

    objects = EventQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            # Subscribers recognise redeliveries by it, and the admin finds events by it.
            models.UniqueConstraint(fields=["uuid"], name="event_uuid_unique"),
        ]
        indexes = [
            # What is not delivered yet: a handful of rows among many delivered ones.
            models.Index(fields=["id"], condition=Q(delivered_at=None), name="event_pending"),
            # The daily trim walks the delivered ones from the oldest.
            models.Index(fields=["delivered_at"], condition=Q(delivered_at__isnull=False), name="event_delivered_at"),
            # The admin filters by name, newest first.
            models.Index(fields=["name", "-id"], name="event_name"),
            # What happened in a span of time; events arrive in order, so this small index finds their pages.
            BrinIndex(fields=["created_at"], name="event_created", autosummarize=True),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.uuid}"


class Delivery(models.Model):
    """The state of one event at one subscriber. Changed through `services` only.

    attempts: finished tries. claims: tries begun since the last finished one; above zero while a worker
    runs the delivery, and after a worker died in it.
    """

    class Status(models.TextChoices):
        PENDING = "pending"
        DELIVERED = "delivered"
        FAILED = "failed"

    event = models.ForeignKey(Event, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    subscriber = models.CharField(max_length=200)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.PENDING)
    attempts = models.PositiveSmallIntegerField(default=0)
    claims = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField()
    last_error = models.CharField(max_length=300, blank=True, default="")
    delivered_at = models.DateTimeField(null=True, blank=True)

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "deliveries"
        ordering = ["-id"]
        permissions = [("redeliver_delivery", "Can deliver again")]
        constraints = [
            # A subscriber gets an event once; also the index of the foreign key.
            models.UniqueConstraint(fields=["event", "subscriber"], name="delivery_event_subscriber_unique"),
            # A status that no code knows would never be drained nor shown.
            models.CheckConstraint(
                condition=Q(status__in=["pending", "delivered", "failed"]), name="delivery_status_known"
            ),
            # The lag and the trim rely on the time of delivery.
            models.CheckConstraint(
                condition=Q(status="delivered", delivered_at__isnull=False)
                | (~Q(status="delivered") & Q(delivered_at=None)),
                name="delivery_delivered_has_time",
            ),
        ]
        indexes = [
            # The drain and the sweep select the due ones all the time.
            models.Index(fields=["next_attempt_at", "id"], condition=Q(status="pending"), name="delivery_due"),
            # The dead letters, few among many: the admin's filter and the status count.
            models.Index(fields=["id"], condition=Q(status="failed"), name="delivery_failed"),
        ]

    def __str__(self) -> str:
        return f"{self.subscriber} of event {self.event_id}"


class JobRun(models.Model):
    """One run of a background task, written by the worker (`runs`). It holds neither arguments nor contents.

    label: the name of the schedule, or the group of background runs, that the task belongs to. error: class and place.
    """

    class Outcome(models.TextChoices):
        RUNNING = "running"
        SUCCEEDED = "succeeded"
        FAILED = "failed"
        LOST = "lost"

    task_id = models.CharField(max_length=32)
    function = models.CharField(max_length=256)
    label = models.CharField(max_length=100, blank=True, default="")
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=10, choices=Outcome.choices, default=Outcome.RUNNING)
    error = models.CharField(max_length=300, blank=True, default="")
    host = models.CharField(max_length=255)
    pid = models.BigIntegerField("process id")

    objects = JobRunQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(outcome__in=["running", "succeeded", "failed", "lost"]), name="jobrun_outcome_known"
            ),
            # A run has ended, or is running.
            models.CheckConstraint(
                condition=Q(outcome="running", ended_at=None) | (~Q(outcome="running") & Q(ended_at__isnull=False)),
                name="jobrun_ended_has_time",
            ),
        ]
        indexes = [
            # Each function keeps its newest ones.
            models.Index(fields=["function", "-id"], name="jobrun_function"),
            # The page of background work shows the newest of each schedule.
            models.Index(fields=["label", "-id"], condition=~Q(label=""), name="jobrun_label"),
            # What runs now: a handful; the worker looks for its own with every task.
            models.Index(fields=["task_id"], condition=Q(outcome="running"), name="jobrun_running"),
        ]

    def __str__(self) -> str:
        return f"{self.function} {self.started_at:%Y-%m-%d %H:%M:%S}"


class SetAsideTask(models.Model):
    """A failed task that an operator has dealt with: it is kept, and no longer asks for attention."""

    task_id = models.CharField(max_length=32, primary_key=True)
    at = models.DateTimeField()
    by = models.CharField(max_length=200)

    def __str__(self) -> str:
        return f"{self.task_id} by {self.by}"
