"""Compactions: drafts of a shorter MEMORY.md by a chat model, and what became of them (spec 001, compaction)."""

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q

from apps.core.domain.scope import MAX_IDENTIFIER_CHARS
from apps.notes.querysets import CompactionQuerySet

MAX_CODE_CHARS = 200


class CompactionState(models.TextChoices):
    """What became of a compaction."""

    ASKED = "asked", "Waiting for its draft"
    DRAFTED = "drafted", "Draft waiting for a decision"
    APPLIED = "applied", "Applied"
    DISCARDED = "discarded", "Discarded"
    STALE = "stale", "MEMORY.md has changed since"
    UNDONE = "undone", "Undone"
    UNCHANGED = "unchanged", "Nothing to shorten"
    FAILED = "failed", "No draft"


class Compaction(models.Model):
    """One compaction of a user's MEMORY.md. Written by `services` only.

    actor: who asked for it; decided_by: who applied, discarded or undid it. automatic: it followed an extraction.
    base_sha256: of the text that the model read. draft: the whole text, compressed; empty without one. facts: what it
    does with each fact (`domain.draft.FactChange`). facts_before, facts_after: how many facts the text has.
    model_use: which model, and what it cost (`gateway.ask.ModelUse`). code, detail: why there is no draft, or why it
    was not applied. tries: how often it was begun; a run that was killed is begun again.
    """

    uuid = models.UUIDField("id", default=uuid.uuid4, unique=True, editable=False)
    user_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS)
    actor = models.CharField(max_length=200)
    automatic = models.BooleanField(default=False)
    state = models.CharField(max_length=10, choices=CompactionState.choices, default=CompactionState.ASKED)
    base_sha256 = models.CharField(max_length=64, blank=True, default="")
    draft_sha256 = models.CharField(max_length=64, blank=True, default="")
    draft = models.BinaryField(default=bytes)
    facts = models.JSONField(default=list)
    facts_before = models.PositiveIntegerField(default=0)
    facts_after = models.PositiveIntegerField(default=0)
    model_use = models.JSONField(default=dict)
    code = models.CharField(max_length=MAX_CODE_CHARS, blank=True, default="")
    detail = models.CharField(max_length=500, blank=True, default="")
    tries = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField()
    drafted_at = models.DateTimeField(null=True)
    decided_at = models.DateTimeField(null=True)
    decided_by = models.CharField(max_length=200, blank=True, default="")

    objects = CompactionQuerySet.as_manager()

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(name="notes_compaction_of_user", fields=["user_id", "id"]),
        ]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # Never two at once for one user, whatever runs at the same time.
            models.UniqueConstraint(
                name="notes_compaction_one_asked", fields=["user_id"], condition=Q(state=CompactionState.ASKED)
            ),
        ]

    def __str__(self) -> str:
        return f"compaction {self.uuid}"
