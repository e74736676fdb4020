"""Conversations that chat applications send, and what was learnt from them (spec 001, automatic extraction)."""

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import MD5

from apps.core.db.offsets import OffsetField, WithOffset
from apps.core.domain.scope import MAX_IDENTIFIER_CHARS
from apps.notes.querysets import ConversationQuerySet, FactQuerySet, MessageQuerySet, RunQuerySet

MAX_NAME_CHARS = 200
MAX_CATEGORY_CHARS = 100
MAX_REASON_CHARS = 200


class MessageRole(models.TextChoices):
    """Who speaks."""

    USER = "user", "Person"
    ASSISTANT = "assistant", "Assistant"
    SYSTEM = "system", "System"
    TOOL = "tool", "Tool"


class RunTrigger(models.TextChoices):
    """What led to a run of extraction."""

    IDLE = "idle", "A turn was complete"
    END = "end", "The conversation ended"
    USAGE = "usage", "The context is nearly full"
    COMPACTION = "compaction", "The context is about to be compacted"


class RunState(models.TextChoices):
    """How far a run of extraction is. running: also of a run whose worker died; the next one continues it."""

    WAITING = "waiting", "Waiting"
    RUNNING = "running", "Running"
    FINISHED = "finished", "Finished"
    FAILED = "failed", "Failed"


class FactState(models.TextChoices):
    """What became of an extracted fact."""

    FOUND = "found", "Found"
    DROPPED = "dropped", "Dropped"
    APPLIED = "applied", "Applied"
    UNDONE = "undone", "Undone"


class Conversation(models.Model):
    """One conversation of a user with a chat application. Written by `services` only.

    session_id: the application's. messages: how many came in, recalled texts not among them; numbers rise by one for
    each message and each recalled text. tokens_used, token_limit, context_use: what the application said last of its
    context; the last one as a share. cycle: rises with each compaction of the context; flushed_cycle: the last one in
    which was flushed.
    """

    uuid = models.UUIDField("id", default=uuid.uuid4, unique=True, editable=False)
    user_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS)
    session_id = models.CharField(max_length=MAX_NAME_CHARS)
    created_at = models.DateTimeField()
    last_message_at = models.DateTimeField(null=True)
    last_extraction_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    messages = models.PositiveIntegerField(default=0)
    last_number = models.PositiveIntegerField(default=0)
    tokens_used = models.PositiveBigIntegerField(null=True)
    token_limit = models.PositiveBigIntegerField(null=True)
    context_use = models.FloatField(null=True)
    cycle = models.PositiveIntegerField(default=1)
    flushed_cycle = models.PositiveIntegerField(default=0)

    objects = ConversationQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # Two requests that bring the first messages of a conversation make one.
            models.UniqueConstraint(name="notes_conversation_session", fields=["user_id", "session_id"]),
        ]

    def __str__(self) -> str:
        return str(self.uuid)


class ExtractionRun(models.Model):
    """One extraction from messages of a conversation. It stays when its conversation is deleted.

    It claims its messages in the transaction of the event that led to it, so each message is extracted from once.
    actor: who sent the event, for the records. received: the numbers of what came in. steps: what each step decided,
    and why. stage: the last step whose outcome is stored, where a run that was cut off continues. cost_usd: of the
    calls of models.
    """

    uuid = models.UUIDField("id", default=uuid.uuid4, unique=True, editable=False)
    user_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS)
    conversation = models.ForeignKey(Conversation, null=True, on_delete=models.SET_NULL, related_name="runs")
    session_id = models.CharField(max_length=MAX_NAME_CHARS)
    trigger = models.CharField(max_length=10, choices=RunTrigger.choices)
    cycle = models.PositiveIntegerField()
    actor = models.CharField(max_length=200)
    state = models.CharField(max_length=8, choices=RunState.choices, default=RunState.WAITING)
    stage = models.CharField(max_length=10, blank=True, default="")
    received = models.JSONField(default=dict)
    steps = models.JSONField(default=list)
    model = models.CharField(max_length=200, blank=True, default="")
    cost_usd = models.DecimalField(max_digits=18, decimal_places=9, default=0)
    error = models.CharField(max_length=MAX_REASON_CHARS, blank=True, default="")
    tries = models.PositiveSmallIntegerField(default=0)
    requested_at = models.DateTimeField()
    next_try_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    duration_ms = models.PositiveBigIntegerField(default=0, help_text="All tries combined.")

    objects = RunQuerySet.as_manager()

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            # The worker asks each minute for what is to be done, among all that ever was.
            models.Index(name="notes_run_open", fields=["next_try_at"], condition=Q(state__in=["waiting", "running"])),
            # The runs of a user, the newest first.
            models.Index(name="notes_run_user", fields=["user_id", "id"]),
        ]

    def __str__(self) -> str:
        return str(self.uuid)


class ConversationMessage(WithOffset):
    """A message of a conversation, or a text that was recalled from memory for it.

    caller_id: the application's id; the same one again is the same message. at: when it was said, by default when it
    came in; its offset says which day it was. recalled: the assistant was given it from memory, so it is not learnt
    again. run: that extracts from it. cleared_at: when its content was deleted.
    """

    OFFSET = ("at", "at_offset")

    uuid = models.UUIDField("id", default=uuid.uuid4, unique=True, editable=False)
    user_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS)
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="message_rows")
    number = models.PositiveIntegerField()
    caller_id = models.CharField(max_length=MAX_NAME_CHARS, blank=True, default="")
    role = models.CharField(max_length=9, choices=MessageRole.choices)
    speaker = models.CharField(max_length=MAX_NAME_CHARS, blank=True, default="")
    content = models.TextField(blank=True)
    recalled = models.BooleanField(default=False)
    at = models.DateTimeField()
    at_offset = OffsetField(moment="at")
    received_at = models.DateTimeField()
    run = models.ForeignKey(ExtractionRun, null=True, on_delete=models.SET_NULL, related_name="messages")
    cleared_at = models.DateTimeField(null=True)

    objects = MessageQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(name="notes_message_number", fields=["conversation", "number"]),
            # A repeated message finds its first one, whatever runs at the same time.
            models.UniqueConstraint(
                name="notes_message_caller_id", fields=["conversation", "caller_id"], condition=~Q(caller_id="")
            ),
            # Every turn may recall the same texts again. As a digest: a text may be too long for an index.
            models.UniqueConstraint(
                "conversation", MD5("content"), name="notes_message_recalled",
                condition=Q(recalled=True, cleared_at__isnull=True),
            ),
        ]  # fmt: skip
        indexes: ClassVar[list[models.Index]] = [
            # What the next extraction is about, among all messages of a long conversation.
            models.Index(name="notes_message_new", fields=["conversation", "number"], condition=Q(run=None)),
            # What retention looks for each hour.
            models.Index(name="notes_message_content", fields=["received_at"], condition=Q(cleared_at=None)),
            # Forgetting a user.
            models.Index(name="notes_message_user", fields=["user_id"]),
        ]

    def __str__(self) -> str:
        return str(self.uuid)


class ExtractedFact(models.Model):
    """A fact that a run found, and what became of it.

    message, message_number: what it was taken from. pattern: of the one that found it, or the model. reason: why it
    was dropped. note_version: of the line in MEMORY.md. memory, memory_action, receipt: what saving it to semantic
    memory did. undo: what undoing it did.
    """

    uuid = models.UUIDField("id", default=uuid.uuid4, unique=True, editable=False)
    user_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS)
    run = models.ForeignKey(ExtractionRun, on_delete=models.CASCADE, related_name="facts")
    number = models.PositiveSmallIntegerField()
    message = models.ForeignKey(ConversationMessage, null=True, on_delete=models.SET_NULL, related_name="facts")
    message_number = models.PositiveIntegerField(null=True)
    content = models.TextField()
    category = models.CharField(max_length=MAX_CATEGORY_CHARS)
    confidence = models.FloatField()
    pattern = models.CharField(max_length=100)
    state = models.CharField(max_length=7, choices=FactState.choices, default=FactState.FOUND)
    reason = models.CharField(max_length=MAX_REASON_CHARS, blank=True, default="")
    note_version = models.UUIDField(null=True)
    memory = models.UUIDField(null=True)
    memory_action = models.CharField(max_length=30, blank=True, default="")
    receipt = models.UUIDField(null=True)
    undo = models.JSONField(default=dict)
    undone_at = models.DateTimeField(null=True)
    undone_by = models.CharField(max_length=200, blank=True, default="")

    objects = FactQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # A run that is continued finds its facts instead of adding them again.
            models.UniqueConstraint(name="notes_fact_number", fields=["run", "number"]),
        ]
        indexes: ClassVar[list[models.Index]] = [
            # Forgetting a user.
            models.Index(name="notes_fact_user", fields=["user_id"]),
        ]

    def __str__(self) -> str:
        return str(self.uuid)
