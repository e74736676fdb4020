"""The rows of the timeline: the events that are not only in a file yet; and how long events are kept."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Exists, OuterRef, Q, QuerySet

from apps.core.db.offsets import OffsetField, WithOffset
from apps.core.db.origins import origin_field
from apps.core.db.scoped import scope_filter
from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import MAX_IDENTIFIER_CHARS, Access, Scope
from apps.episodic.domain.event import (
    DEFAULT_IMPORTANCE,
    DEFAULT_SOURCE,
    MAX_ACTOR_CHARS,
    MAX_EVENT_TYPE_CHARS,
    MAX_SOURCE_CHARS,
    EventRecord,
    ScopeKey,
)
from apps.episodic.domain.segment_state import RowsState
from apps.episodic.models.segment import Segment


class TimelineEventQuerySet(QuerySet["TimelineEvent"]):
    """Events that are rows."""

    def in_scope(self, scope: Scope) -> TimelineEventQuerySet:
        """Return those that a scope matches."""
        return self.filter(scope_filter(scope))

    def visible_to(self, access: Access) -> TimelineEventQuerySet:
        """Return those that a caller may read."""
        return self.in_scope(access.bound)

    def readable(self) -> TimelineEventQuerySet:
        """Return those that no file has replaced: the rows of a segment whose rows are leaving are not read."""
        leaving = Segment.objects.filter(rows=RowsState.LEAVING, pk=OuterRef("segment"))
        return self.exclude(Exists(leaving))


class TimelineEvent(WithOffset):
    """Something that happened to a user. Inserted by `recording` only, never changed, and deleted once archived.

    `id` is the arrival number. A household or persona that an event does not have is the empty string.
    """

    uuid = models.UUIDField("id", default=uuid.uuid4, editable=False)
    user_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS)
    household_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS, blank=True, default="")
    persona_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS, blank=True, default="")
    timestamp = models.DateTimeField(help_text="When it happened.")
    timestamp_offset = OffsetField(moment="timestamp")
    event_type = models.CharField(max_length=MAX_EVENT_TYPE_CHARS)
    content = models.TextField()
    importance = models.FloatField(default=DEFAULT_IMPORTANCE)
    source = models.CharField(max_length=MAX_SOURCE_CHARS, default=DEFAULT_SOURCE)
    metadata = models.JSONField(default=dict, blank=True)
    identity = models.UUIDField(editable=False)
    recorded_at = models.DateTimeField()
    actor = models.CharField(max_length=MAX_ACTOR_CHARS, blank=True, default="", help_text="Who recorded it.")
    origin = origin_field("Who it comes from, as stated by the key or tool that recorded it.")
    # An index on it would only serve sealing, which reads a whole segment, and has `episodic_event_segment`.
    segment = models.ForeignKey(Segment, on_delete=models.PROTECT, related_name="events", db_index=False)

    OFFSET = ("timestamp", "timestamp_offset")

    objects = TimelineEventQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # The rule of deduplication (`event_identity`), also for concurrent writes. The identity includes the scope.
            models.UniqueConstraint(name="episodic_event_identity", fields=["identity"]),
            models.CheckConstraint(name="episodic_event_user_required", condition=~Q(user_id="")),
            models.CheckConstraint(
                name="episodic_event_importance_range", condition=Q(importance__gte=0, importance__lte=1)
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            # A window of one user, the newest first.
            models.Index(name="episodic_event_user_time", fields=["user_id", "-timestamp", "-id"]),
            # A window of all users, for operators: lists, and counts by type without a look at the rows.
            models.Index(name="episodic_event_time", fields=["-timestamp", "-id"], include=["event_type", "segment"]),
            # Windows of a household or a persona; rows without one are not in the index.
            models.Index(
                name="episodic_event_household_time",
                fields=["household_id", "-timestamp", "-id"],
                condition=~Q(household_id=""),
            ),
            models.Index(
                name="episodic_event_persona_time",
                fields=["persona_id", "-timestamp", "-id"],
                condition=~Q(persona_id=""),
            ),
            # For sealing, counting and deleting the rows of one segment.
            models.Index(name="episodic_event_segment", fields=["segment", "id"]),
            # For one event by its id, and for the cursors of lists.
            models.Index(name="episodic_event_uuid", fields=["uuid"]),
        ]

    def __str__(self) -> str:
        return str(self.uuid)

    @property
    def record(self) -> EventRecord:
        """Return the event as it is everywhere else."""
        return EventRecord(
            arrival=self.pk,
            uuid=self.uuid,
            key=ScopeKey(self.user_id, self.household_id, self.persona_id),
            timestamp=self.timestamp,
            event_type=self.event_type,
            content=self.content,
            importance=self.importance,
            source=self.source,
            metadata=self.metadata,
            identity=self.identity,
            recorded_at=self.recorded_at,
            actor=self.actor,
            origin=WriteOrigin(self.origin),
        )


class RetentionPolicy(models.Model):
    """Events older than `days` are pruned. A household's own policy replaces the global one.

    Off until an operator switches it on: nothing is deleted by default (the prepared one has 90 days). A household
    whose policy is off keeps everything, even if the global one is on.
    """

    household_id = models.CharField(
        max_length=MAX_IDENTIFIER_CHARS,
        blank=True,
        default="",
        help_text="Leave blank for the global policy, which applies to everybody without a policy of their own.",
    )
    days = models.PositiveIntegerField(validators=[MinValueValidator(1)], help_text="Older events are deleted.")
    is_enabled = models.BooleanField("enabled", default=False)
    updated_at = models.DateTimeField(auto_now=True)
    last_run_at = models.DateTimeField(null=True, blank=True, editable=False)
    last_pruned_count = models.PositiveIntegerField(null=True, blank=True, editable=False)

    class Meta:
        verbose_name_plural = "retention policies"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # One for each household, and one global.
            models.UniqueConstraint(name="episodic_retention_household", fields=["household_id"]),
            models.CheckConstraint(name="episodic_retention_days", condition=models.Q(days__gte=1)),
        ]

    def __str__(self) -> str:
        return f"{self.household_id or 'everybody'}: {self.days} days"
