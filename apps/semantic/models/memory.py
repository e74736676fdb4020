"""Memories, their vectors and their history."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from functools import lru_cache
from hashlib import blake2b
from types import MappingProxyType
from typing import ClassVar

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import MD5, Concat
from pgvector.django import VectorField

from apps.core.db.offsets import OffsetField, WithOffset
from apps.core.db.origins import origin_field
from apps.core.domain.scope import MAX_IDENTIFIER_CHARS, Scope
from apps.llm.selectors import EmbeddingSpace
from apps.retrieval.domain.scores import HalfLives
from apps.semantic.domain.confidence import DecayPolicy, current_confidence
from apps.semantic.domain.memory import DEFAULT_IMPORTANCE, DEFAULT_SOURCE, TAGS
from apps.semantic.domain.standing import share_of_score
from apps.semantic.querysets import MemoryQuerySet

MAX_TAG_CHARS = 200
MAX_MANAGER_CHARS = 50


def half_lives() -> HalfLives:
    """Return how fast each decay policy halves the confidence; None for never (DESIGN D4)."""
    config = settings.MEMORYHUB
    return make_half_lives(config.reinforceable_half_life_days, config.contextual_half_life_days)


@lru_cache(maxsize=8)
def make_half_lives(reinforceable: float, contextual: float) -> HalfLives:
    """Return the half-lives of each decay policy. Both in days."""
    return MappingProxyType(
        {
            DecayPolicy.STABLE: None,
            DecayPolicy.REINFORCEABLE: timedelta(days=reinforceable),
            DecayPolicy.CONTEXTUAL: timedelta(days=contextual),
        }
    )


@lru_cache(maxsize=8)
def make_version_hash(secret: str) -> blake2b:
    """Return the keyed hash of versions, to be copied: with a key it takes one round to begin."""
    return blake2b(key=secret.encode()[:64], digest_size=10)


class MemoryShard(models.Model):
    """The memories of one user, as the unit of writing and of caching.

    Every change to a user's memories raises `version` in its transaction. The row lock that this takes puts
    the writers of one user in a line, so versions of one user become visible in their order and a reader that
    asks for `version > last seen` misses nothing. `reset_version`: rows were removed for good at that version, so
    what was cached before must be loaded again. The row of a forgotten user is deleted; `EndedShards` sees to it that
    versions do not restart.
    """

    user_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS, primary_key=True)
    version = models.BigIntegerField(default=0)
    reset_version = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return self.user_id


class EndedShards(models.Model):
    """One row: the highest version that a deleted shard had. A new shard begins above it."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    version = models.BigIntegerField(default=0)

    class Meta:
        verbose_name_plural = "ended shards"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(name="semantic_ended_shards_one_row", condition=Q(id=1)),
        ]

    def __str__(self) -> str:
        return f"version {self.version}"


class MemoryStatus(models.TextChoices):
    """The status of a memory. Only active ones are found by a search."""

    ACTIVE = "active", "Active"
    SUPERSEDED = "superseded", "Superseded"
    MERGED = "merged", "Merged"
    REJECTED = "rejected", "Rejected"
    DELETED = "deleted", "Deleted"


class DecayPolicyChoices(models.TextChoices):
    """`DecayPolicy` for forms and columns."""

    STABLE = DecayPolicy.STABLE, "Stable"
    REINFORCEABLE = DecayPolicy.REINFORCEABLE, "Reinforceable"
    CONTEXTUAL = DecayPolicy.CONTEXTUAL, "Contextual"


def identifier_field(help_text: str) -> models.CharField[str, str]:
    return models.CharField(max_length=MAX_IDENTIFIER_CHARS, blank=True, default="", help_text=help_text)


def tag_field() -> models.CharField[str, str]:
    return models.CharField(max_length=MAX_TAG_CHARS, blank=True, default="")


class Memory(WithOffset):
    """A piece of knowledge about a user.

    Written only by `services`, which keep hash, lexemes, vector, history, shard version and events in step.
    A household or persona that a memory does not have is the empty string. `occurred_at` is in its writer's offset.
    managed_by: what writes a memory that follows something kept elsewhere, see `memories.managed`; empty for others.
    """

    uuid = models.UUIDField("id", default=uuid.uuid4, unique=True, editable=False)
    user_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS)
    household_id = identifier_field("The household it belongs to, if any.")
    persona_id = identifier_field("The persona it belongs to, if any.")
    content = models.TextField()
    content_hash = models.CharField(max_length=64, editable=False)
    agent = tag_field()
    personality = tag_field()
    project = tag_field()
    type = tag_field()
    is_global = models.BooleanField("global", default=False)
    decay_policy = models.CharField(
        max_length=20, choices=DecayPolicyChoices.choices, default=DecayPolicyChoices.STABLE
    )
    importance = models.FloatField(default=DEFAULT_IMPORTANCE)
    base_confidence = models.FloatField(default=1.0, help_text="What the writer claimed.")
    keywords = ArrayField(models.CharField(max_length=100), default=list, blank=True)
    source = models.CharField(max_length=64, default=DEFAULT_SOURCE)
    origin = origin_field("Whom it comes from, according to the key or tool that wrote it.")
    occurred_at = models.DateTimeField(null=True, blank=True, help_text="When it happened, if known.")
    occurred_offset = OffsetField(moment="occurred_at")
    expires_at = models.DateTimeField(
        null=True, blank=True, help_text="After that, searches no longer find it, and the next sweep deletes it."
    )
    session_id = tag_field()
    further_sessions = ArrayField(
        models.CharField(max_length=MAX_TAG_CHARS),
        default=list,
        blank=True,
        help_text="Other sessions in which the same was said.",
    )
    context = models.TextField(blank=True, default="", help_text="Circumstances; searches find them by their words.")
    metadata = models.JSONField(default=dict, blank=True)
    managed_by = models.CharField(
        max_length=MAX_MANAGER_CHARS, blank=True, default="", editable=False, help_text="What keeps it up to date."
    )
    status = models.CharField(max_length=12, choices=MemoryStatus.choices, default=MemoryStatus.ACTIVE)
    superseded_by = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="supersedes"
    )
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    last_reinforced_at = models.DateTimeField(null=True, blank=True)
    status_changed_at = models.DateTimeField(null=True, blank=True)
    # Made from the words by `lexemes` and `substance` of apps.retrieval.domain, of the version below.
    lexemes = models.BinaryField(default=bytes, editable=False)
    question_share = models.FloatField(default=0.0, editable=False)
    fullness = models.FloatField(default=1.0, editable=False)
    lexemes_version = models.PositiveSmallIntegerField(default=0, editable=False)
    version = models.BigIntegerField(default=0, editable=False)

    OFFSET = ("occurred_at", "occurred_offset")

    objects = MemoryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "memories"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # The last defence of spec 002 section 9 and ADR 35, whatever races the services lose. User and content
            # come first, since saves look for these. The tags are one digest: they may be too long for an index. A
            # person may say what a managed memory says.
            models.UniqueConstraint(
                "user_id",
                "content_hash",
                "household_id",
                "persona_id",
                "occurred_at",
                MD5(Concat(*(MD5(tag) for tag in TAGS))),
                name="semantic_memory_active_once",
                condition=Q(status="active", managed_by=""),
                nulls_distinct=False,
            ),
            models.CheckConstraint(name="semantic_memory_user_required", condition=~Q(user_id="")),
            models.CheckConstraint(
                name="semantic_memory_importance_range", condition=Q(importance__gte=0, importance__lte=1)
            ),
            models.CheckConstraint(
                name="semantic_memory_confidence_range",
                condition=Q(base_confidence__gte=0, base_confidence__lte=1),
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            # Recognising what was decided before, see `prepare.find_already_decided`.
            models.Index(
                name="semantic_memory_settled",
                fields=["user_id", "content_hash"],
                condition=Q(status__in=["superseded", "merged", "rejected"]),
            ),
            # Catching up a cached shard.
            models.Index(name="semantic_memory_shard_version", fields=["user_id", "version"]),
            # All memories of a manager; others are not in the index.
            models.Index(name="semantic_memory_manager", fields=["managed_by"], condition=~Q(managed_by="")),
            # Lists of a user, the newest first: ids rise with arrival.
            models.Index(name="semantic_memory_user_newest", fields=["user_id", "-id"]),
            # What matters most of a user, whatever is asked (`search.standing`).
            models.Index(
                name="semantic_memory_best",
                fields=["user_id", "-importance", "-id"],
                condition=Q(status="active", managed_by=""),
            ),
            # Counts of users, households, tags and sessions, from an index alone. A row of an index has less than 2,704
            # bytes, so three columns of 200 characters are the most that always fit.
            models.Index(name="semantic_memory_projects", fields=["user_id", "project", "status"]),
            models.Index(name="semantic_memory_types", fields=["user_id", "type", "status"]),
            models.Index(name="semantic_memory_sessions", fields=["user_id", "session_id", "status"]),
            models.Index(name="semantic_memory_homes", fields=["household_id", "persona_id", "status"]),
            # Those that a sweep has to look for.
            models.Index(
                name="semantic_memory_expiry",
                fields=["expires_at"],
                condition=Q(status="active", expires_at__isnull=False),
            ),
            # Lists and users of a household or a persona; rows without one are not in the index.
            models.Index(
                name="semantic_memory_household",
                fields=["household_id", "user_id", "-id"],
                condition=~Q(household_id=""),
            ),
            models.Index(
                name="semantic_memory_persona",
                fields=["persona_id", "user_id", "-id"],
                condition=~Q(persona_id=""),
            ),
        ]

    def __str__(self) -> str:
        return str(self.uuid)

    @property
    def scope(self) -> Scope:
        """Return the exact scope."""
        return Scope(self.user_id, self.household_id or None, self.persona_id or None)

    @property
    def is_managed(self) -> bool:
        """Return whether it follows something that is kept elsewhere."""
        return bool(self.managed_by)

    @property
    def is_in_force(self) -> bool:
        """Return whether it follows no item, or one that is in force."""
        return share_of_score(self.managed_by, self.metadata) == 1

    def has_expired(self, now: datetime) -> bool:
        """Return whether it is past the time until which it was to be found."""
        return self.expires_at is not None and self.expires_at <= now

    @property
    def version_tag(self) -> str:
        """Return a text that differs after every change; it says nothing of how often there were others."""
        hashed = make_version_hash(settings.SECRET_KEY).copy()
        hashed.update(f"{self.uuid} {self.version}".encode())
        return hashed.hexdigest()

    def confidence_at(self, now: datetime) -> float:
        """Return the confidence at a time (DESIGN D4)."""
        policy = DecayPolicy(self.decay_policy)
        return current_confidence(
            self.base_confidence, policy, self.created_at, self.last_reinforced_at, now, half_lives()
        )


class MemoryEmbedding(models.Model):
    """The vector of a memory in one embedding space, of unit length.

    While `manage.py reembed` works there are two per memory: searches use the one of the active space.
    """

    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="embeddings")
    space = models.ForeignKey(EmbeddingSpace, on_delete=models.PROTECT)
    vector = VectorField()
    is_given = models.BooleanField(default=False, help_text="The writer sent the vector; it was not computed here.")

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(name="semantic_embedding_once", fields=["memory", "space"]),
        ]

    def __str__(self) -> str:
        return f"{self.memory_id} in {self.space_id}"


class RevisionAction(models.TextChoices):
    """What happened to a memory."""

    CREATED = "created", "Created"
    UPDATED = "updated", "Updated"
    REINFORCED = "reinforced", "Reinforced"
    DELETED = "deleted", "Deleted"
    RESTORED = "restored", "Restored"
    SUPERSEDED = "superseded", "Superseded"
    MERGED = "merged", "Merged"
    REJECTED = "rejected", "Rejected"
    REVERTED = "reverted", "Decision reverted"


class MemoryRevision(models.Model):
    """One step in the history of a memory: who did what when, and what each changed field was before.

    Append-only.
    """

    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="revisions")
    action = models.CharField(max_length=20, choices=RevisionAction.choices)
    reason = models.CharField(max_length=100, blank=True, default="")
    actor = models.CharField(max_length=200)
    at = models.DateTimeField()
    changes = models.JSONField(default=dict, help_text="Field -> [before, after].")
    conflict = models.UUIDField(null=True, blank=True, help_text="The receipt of the decision that did it.")

    class Meta:
        ordering: ClassVar[list[str]] = ["id"]
        indexes: ClassVar[list[models.Index]] = [models.Index(name="semantic_revision_memory", fields=["memory", "id"])]

    def __str__(self) -> str:
        return f"{self.action} by {self.actor}"
