"""Versions of notes, and compactions: drafts of a shorter MEMORY.md by a chat model (spec 001, compaction)."""

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import MD5

from apps.core.domain.scope import MAX_IDENTIFIER_CHARS
from apps.notes.querysets import CompactionQuerySet, NoteVersionQuerySet

# Up to 8 parts of at most 150 bytes.
MAX_PLACE_CHARS = 1300
MAX_CODE_CHARS = 200
VERSION_ONCE = "notes_version_number"


class ChangeKind(models.TextChoices):
    """What led to a version."""

    APPEND = "append", "Added by the hub"
    EDIT = "edit", "Edited through the hub"
    RESTORE = "restore", "Restored"
    FOUND = "found", "Changed on the disk"
    KEPT = "kept", "Lost to another change, kept here"
    DELETE = "delete", "Deleted"
    RENAME = "rename", "Renamed"


class NoteVersion(models.Model):
    """One version of a file. Written by `services` only; nothing in it is changed but `is_written`.

    number: rises by one for each version of the file, from 1. text: the whole text, compressed; of an append what was
    inserted, at `offset` of the version before. whole: the whole text, compressed, of one append of many, so that no
    text is put together from more, and of one whose entry an editor had saved before it was recorded. operation: chosen
    by the caller, so that repeating it changes nothing.
    is_written: whether the file is known to have it; false from the moment before the file is replaced, and of a text
    that was found until the entries that it lacks are added again.
    other_place: of a note that was renamed: where its text went, of the version without text; where it came from, of
    the version at the new place.
    again: an entry that an editor had overwritten, without having seen it, and that was added once more.
    """

    uuid = models.UUIDField("id", default=uuid.uuid4, unique=True, editable=False)
    user_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS)
    place = models.CharField(max_length=MAX_PLACE_CHARS)
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=8, choices=ChangeKind.choices)
    sha256 = models.CharField(max_length=64)
    size = models.PositiveIntegerField(help_text="Bytes of the whole text.")
    text = models.BinaryField()
    whole = models.BinaryField(null=True)
    offset = models.PositiveIntegerField(null=True)
    other_place = models.CharField(max_length=MAX_PLACE_CHARS, blank=True, default="")
    operation = models.CharField(max_length=200, blank=True, default="")
    author = models.CharField(max_length=200)
    at = models.DateTimeField()
    is_written = models.BooleanField(default=True)
    again = models.BooleanField(default=False)

    objects = NoteVersionQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # The place as a digest: it may be too long for an index.
            models.UniqueConstraint("user_id", MD5("place"), "number", name=VERSION_ONCE),
            # A repeated operation finds its first one, whatever runs at the same time.
            models.UniqueConstraint(
                name="notes_version_operation", fields=["user_id", "operation"], condition=~Q(operation="")
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            # Each look at a file begins with what was not finished, which is almost always nothing.
            models.Index("user_id", MD5("place"), condition=Q(is_written=False), name="notes_version_unfinished"),
        ]

    def __str__(self) -> str:
        return f"version {self.number}"


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
