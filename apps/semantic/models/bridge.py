"""The bridge from the timeline: which events become memories, the course of each, and an audit of pruned ones."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from apps.core.db.offsets import OffsetField, WithOffset
from apps.core.db.origins import origin_field
from apps.core.domain.scope import MAX_IDENTIFIER_CHARS, Scope
from apps.episodic.domain.event import MAX_EVENT_TYPE_CHARS, MAX_SOURCE_CHARS
from apps.semantic.domain import routing
from apps.semantic.models.memory import MAX_TAG_CHARS, DecayPolicyChoices, Memory
from apps.semantic.querysets import AuditQuerySet, IngestionQuerySet

MAX_NAME_CHARS = 100
DEFAULT_TYPE, DEFAULT_SOURCE = "event", "inferred"
DEFAULT_MIN_IMPORTANCE, DEFAULT_CONFIDENCE = 0.8, 0.8


class OnPruneChoices(models.TextChoices):
    """`routing.OnPrune` for forms and columns."""

    DEMOTE = routing.OnPrune.DEMOTE, "Demote: halve its importance and its confidence"
    DELETE = routing.OnPrune.DELETE, "Delete (can be restored)"
    KEEP = routing.OnPrune.KEEP, "Keep it as it is"


def share_field(default: float, help_text: str) -> models.FloatField[float, float]:
    limits = [MinValueValidator(0.0), MaxValueValidator(1.0)]
    return models.FloatField(default=default, validators=limits, help_text=help_text)


class RoutingPolicy(models.Model):
    """Which events of the timeline become memories, and as what. Written by `bridge.policies` only.

    Disabled until an operator enables it: by default recording an event makes no memory.
    """

    name = models.CharField(
        max_length=MAX_NAME_CHARS,
        unique=True,
        help_text="Memories and audit records refer to it, so it cannot be changed.",
    )
    enabled = models.BooleanField(default=False, help_text="Events are judged when they are recorded, not afterwards.")
    household_id = models.CharField(
        "household",
        max_length=MAX_IDENTIFIER_CHARS,
        blank=True,
        default="",
        help_text="Leave blank for every household without its own policy. A household with its own policy uses "
        "only that one, even if it is disabled.",
    )
    priority = models.IntegerField(
        default=0, help_text="If several policies select an event, the one with the highest priority is used."
    )
    min_importance = share_field(DEFAULT_MIN_IMPORTANCE, "Events of this importance and above, 0 to 1.")
    event_types = ArrayField(
        models.CharField(max_length=MAX_EVENT_TYPE_CHARS),
        default=list,
        blank=True,
        help_text="Leave empty for all types.",
    )
    memory_type = models.CharField(
        "type", max_length=MAX_TAG_CHARS, blank=True, default=DEFAULT_TYPE, help_text="The tag `type` of the memory."
    )
    decay_policy = models.CharField(
        max_length=20, choices=DecayPolicyChoices.choices, default=DecayPolicyChoices.REINFORCEABLE
    )
    source = models.CharField(
        max_length=MAX_SOURCE_CHARS,
        default=DEFAULT_SOURCE,
        help_text="user, conversation, skill, system, inferred, or your own word. Inferred content never overrides "
        "a better source.",
    )
    confidence = share_field(
        DEFAULT_CONFIDENCE,
        "How sure the memory claims to be, 0 to 1. Below 1, the hub can tell when others save the same memory, and "
        "keeps it when its events are pruned.",
    )
    on_prune = models.CharField(
        "when its events are pruned", max_length=10, choices=OnPruneChoices.choices, default=OnPruneChoices.DEMOTE
    )
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name_plural = "routing policies"
        ordering: ClassVar[list[str]] = ["household_id", "-priority", "name"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # Memories have the same limits, and would refuse every event.
            models.CheckConstraint(
                name="semantic_routing_shares",
                condition=Q(min_importance__range=(0, 1)) & Q(confidence__range=(0, 1)),
            ),
            models.CheckConstraint(name="semantic_routing_named", condition=~Q(name="") & ~Q(source="")),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def criteria(self) -> routing.RoutingCriteria:
        """Return what events are judged by."""
        return routing.RoutingCriteria(
            name=self.name,
            household_id=self.household_id,
            is_enabled=self.enabled,
            priority=self.priority,
            min_importance=self.min_importance,
            event_types=frozenset(self.event_types),
        )


class IngestionStatus(models.TextChoices):
    """How far an event has come. Linked ones are the links between events and memories."""

    PENDING = "pending", "Waiting"
    LINKED = "linked", "Linked"
    FAILED = "failed", "Failed"
    DROPPED = "dropped", "Dropped"
    UNLINKING = "unlinking", "Being unlinked"
    PRUNED = "pruned", "Event pruned"


class PruneReasonChoices(models.TextChoices):
    """Why events were removed for good."""

    RETENTION = "retention", "Retention"
    MANUAL = "manual", "By hand"
    REPAIR = "repair", "Recorded twice"


class _Scoped(models.Model):
    """A row with a scope. A household or persona that does not exist is the empty string."""

    user_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS)
    household_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS, blank=True, default="")
    persona_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS, blank=True, default="")

    class Meta:
        abstract = True

    @property
    def scope(self) -> Scope:
        """Return the exact scope."""
        return Scope(self.user_id, self.household_id or None, self.persona_id or None)


class Ingestion(_Scoped, WithOffset):
    """The course of one event through the bridge, from the policy that wants it to the memory that it became.

    Pending ones hold what is needed to save; the content is deleted as soon as it is not needed any more. One that has
    ended stays for as long as its event may be delivered again, so that it makes no second memory. came_from_events:
    the memory did not exist before its first event. recorded_at: when the timeline recorded the event.
    """

    event_id = models.UUIDField(unique=True)
    event_type = models.CharField(max_length=MAX_EVENT_TYPE_CHARS, blank=True, default="")
    timestamp = models.DateTimeField(null=True, help_text="When it happened.")
    timestamp_offset = OffsetField(moment="timestamp")
    importance = models.FloatField(default=0.0)
    content = models.TextField(blank=True, default="")
    recorded_at = models.DateTimeField(null=True)
    origin = origin_field("Whom the event, and therefore its memory, comes from.")
    # By name: it outlives the policy. What it said about pruning is kept beside it for then.
    policy = models.CharField(max_length=MAX_NAME_CHARS, blank=True, default="")
    on_prune = models.CharField(max_length=10, choices=OnPruneChoices.choices, default=OnPruneChoices.DEMOTE)
    status = models.CharField(max_length=10, choices=IngestionStatus.choices, default=IngestionStatus.PENDING)
    created_at = models.DateTimeField()
    tries = models.PositiveSmallIntegerField(default=0)
    next_try_at = models.DateTimeField()
    error = models.CharField(max_length=200, blank=True, default="")
    action = models.CharField(max_length=20, blank=True, default="", help_text="What saving did.")
    memory = models.ForeignKey(Memory, null=True, on_delete=models.PROTECT, related_name="ingestions", db_index=False)
    conflict = models.UUIDField(null=True, help_text="The receipt of the decision, when memories disagreed.")
    came_from_events = models.BooleanField(default=False)
    pruned_reason = models.CharField(max_length=10, choices=PruneReasonChoices.choices, blank=True, default="")
    pruned_by = models.CharField(max_length=200, blank=True, default="")
    ended_at = models.DateTimeField(null=True)

    OFFSET = ("timestamp", "timestamp_offset")

    objects = IngestionQuerySet.as_manager()

    class Meta:
        verbose_name = "routed event"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # A linked row has a memory, and any other has none.
            models.CheckConstraint(
                name="semantic_ingestion_linked",
                condition=Q(status__in=["linked", "unlinking"], memory__isnull=False)
                | (~Q(status__in=["linked", "unlinking"]) & Q(memory=None)),
            ),
            # Content is kept here only for as long as a memory can still be made of it.
            models.CheckConstraint(
                name="semantic_ingestion_content", condition=Q(status__in=["pending", "failed"]) | Q(content="")
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            # Pending ones: a handful among many.
            models.Index(name="semantic_ingestion_due", fields=["id"], condition=Q(status="pending")),
            models.Index(name="semantic_ingestion_unlinking", fields=["id"], condition=Q(status="unlinking")),
            # What could not be saved, for the admin and the counts.
            models.Index(name="semantic_ingestion_failed", fields=["id"], condition=Q(status="failed")),
            # Other events of the same memory; a purge of memories.
            models.Index(name="semantic_ingestion_memory", fields=["memory"], condition=Q(memory__isnull=False)),
            models.Index(name="semantic_ingestion_user", fields=["user_id"]),
            # The last one that became a memory; the daily trim.
            models.Index(name="semantic_ingestion_ended", fields=["status", "-ended_at"]),
        ]

    def __str__(self) -> str:
        return str(self.event_id)

    @property
    def facts(self) -> routing.EventFacts:
        """Return what policies judge."""
        return routing.EventFacts(self.household_id, self.event_type, self.importance)


class AuditAction(models.TextChoices):
    """What was done because events were pruned."""

    DEMOTED = "demoted", "Demoted"
    DELETED = "deleted", "Deleted"
    KEPT = "kept", "Kept"
    DROPPED = "dropped", "Never made"


class BridgeAudit(_Scoped):
    """What became of one memory when its events were pruned, or of events that were not a memory yet.

    Append-only, without any content, and it outlives the memory, which is why it names it. changes: field ->
    [before, after]. reason and actor: why and by whom the events were pruned.
    """

    uuid = models.UUIDField("id", default=uuid.uuid4, unique=True, editable=False)
    at = models.DateTimeField()
    action = models.CharField(max_length=10, choices=AuditAction.choices)
    why = models.CharField(max_length=40, blank=True, default="")
    memory = models.UUIDField(null=True)
    event_ids = ArrayField(models.UUIDField())
    policy = models.CharField(max_length=MAX_NAME_CHARS, blank=True, default="")
    reason = models.CharField(max_length=10, choices=PruneReasonChoices.choices)
    actor = models.CharField(max_length=200)
    changes = models.JSONField(default=dict, help_text="Field -> [before, after].")

    objects = AuditQuerySet.as_manager()

    class Meta:
        verbose_name = "audit record"
        ordering: ClassVar[list[str]] = ["-id"]
        indexes: ClassVar[list[models.Index]] = [
            # The audit of one memory.
            models.Index(name="semantic_audit_memory", fields=["memory"], condition=Q(memory__isnull=False)),
            models.Index(name="semantic_audit_user", fields=["user_id", "-id"]),
        ]

    def __str__(self) -> str:
        return str(self.uuid)
