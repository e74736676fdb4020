"""Imports: what a person brought of other programs, as one thing that can be undone."""

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q

from apps.core.domain.scope import MAX_IDENTIFIER_CHARS
from apps.core.models import IMPORT_ACTOR
from apps.imports.querysets import ImportQuerySet

MAX_NAME_CHARS = 200
# Of the name of a key after `key:`.
MAX_ACTOR_CHARS = 220


class ImportKind(models.TextChoices):
    """What wrote the files."""

    CHATGPT = "chatgpt", "ChatGPT"
    CLAUDE = "claude", "Claude"
    MEM0 = "mem0", "mem0"
    BASIC_MEMORY = "basic-memory", "Basic Memory"
    MARKDOWN = "markdown", "Folder of Markdown"
    CLAUDE_CODE = "claude-code", "Claude Code"


class ImportState(models.TextChoices):
    """How far an import is. failed: it broke off, and what it had kept can be undone.

    The first three are of a file that a person has uploaded, of which nothing is kept yet. looked: it is known what
    would be kept. refused: nothing of it can be.
    """

    WAITING = "waiting", "Waiting"
    LOOKED = "looked", "Looked at"
    REFUSED = "refused", "Refused"
    RUNNING = "running", "Running"
    DONE = "done", "Done"
    UNDOING = "undoing", "Undoing"
    UNDONE = "undone", "Undone"
    FAILED = "failed", "Failed"


UPLOADED_STATES = (ImportState.WAITING, ImportState.LOOKED, ImportState.REFUSED)
OPEN_STATES = (ImportState.RUNNING, ImportState.UNDOING)


class Import(models.Model):
    """An import of files of another program for one person. Written by `running` and `uploads` only.

    Everything that it writes has `actor` as its author, by which it is found again. name: of the file or folder. done,
    total: bytes read so far, and to be read. position: items read whose outcome is counted. counts: what was kept
    (`domain.counts`). undone: what was forgotten, and what stays. problem: a word for why it failed. from_user: see
    `sources.kinds.Reading`. kind: "" of a file that is to be recognised.

    Of an uploaded file also: until: when it is removed, null where there is none. looked: what would be kept, as in
    `counts`. tries: how often a process has begun to work on it and did not come to an end.
    """

    uuid = models.UUIDField("id", default=uuid.uuid4, unique=True, editable=False)
    user_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS)
    kind = models.CharField(max_length=20, choices=ImportKind.choices, blank=True)
    name = models.CharField(max_length=MAX_NAME_CHARS)
    from_user = models.CharField(max_length=MAX_IDENTIFIER_CHARS, blank=True, default="")
    state = models.CharField(max_length=10, choices=ImportState.choices)
    asked_by = models.CharField(max_length=MAX_ACTOR_CHARS)
    asked_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(default=0)
    position = models.PositiveBigIntegerField(default=0)
    counts = models.JSONField(default=dict)
    undone = models.JSONField(default=dict)
    problem = models.CharField(max_length=50, blank=True, default="")
    until = models.DateTimeField(null=True)
    looked = models.JSONField(default=dict)
    tries = models.PositiveSmallIntegerField(default=0)

    objects = ImportQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # Two imports of a person at once would count each other's items.
            models.UniqueConstraint(
                name="imports_import_one_open",
                fields=["user_id"],
                condition=Q(state__in=["running", "undoing"]),
            ),
            # A person decides about one file at a time; another one takes its place.
            models.UniqueConstraint(
                name="imports_import_one_upload",
                fields=["user_id"],
                condition=Q(state__in=["waiting", "looked", "refused"]),
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            # Those of one person, the newest first.
            models.Index(name="imports_import_user", fields=["user_id", "-id"]),
        ]

    def __str__(self) -> str:
        return str(self.uuid)

    @property
    def actor(self) -> str:
        """Return the author of all that it writes."""
        return f"{IMPORT_ACTOR}{self.uuid}"
