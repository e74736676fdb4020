"""Syncs: what each did, how it can be taken back, and the conflicts that it found."""

import uuid
from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from apps.sync.domain.state import ConflictType, PointerAction, Resolution
from apps.sync.models.sources import MAX_ITEM_ID_CHARS, KnowledgeSource
from apps.sync.querysets import ConflictQuerySet, RunQuerySet


class SyncKind(models.TextChoices):
    """What a run does."""

    FULL = "full", "Full"
    INCREMENTAL = "incremental", "Incremental"
    SINGLE = "single", "Single item"
    ROLLBACK = "rollback", "Rollback"
    RESOLUTION = "resolution", "Resolution"


class SyncRunState(models.TextChoices):
    """What became of a run. INTERRUPTED: its process ended; nothing of it was kept."""

    WAITING = "waiting", "Waiting"
    RUNNING = "running", "Running"
    COMPLETE = "complete", "Complete"
    PARTIAL = "partial", "Some items failed"
    LIMITED = "limited", "More items to come"
    FAILED = "failed", "Failed"
    INTERRUPTED = "interrupted", "Interrupted"


class PointerActionChoices(models.TextChoices):
    """`PointerAction` for columns."""

    CREATE = PointerAction.CREATE, "Created"
    UPDATE = PointerAction.UPDATE, "Updated"
    DELETE = PointerAction.DELETE, "Deleted"


class ConflictTypeChoices(models.TextChoices):
    """`ConflictType` for columns."""

    HASH_MISMATCH = ConflictType.HASH_MISMATCH, "Item and pointer differ"
    ORPHANED_POINTER = ConflictType.ORPHANED_POINTER, "The item is gone"
    DUPLICATE_POINTER = ConflictType.DUPLICATE_POINTER, "More than one pointer"
    STATUS_CHANGE = ConflictType.STATUS_CHANGE, "Status changed"
    LAYER_MISMATCH = ConflictType.LAYER_MISMATCH, "Other layer"


class ResolutionChoices(models.TextChoices):
    """`Resolution` for forms and columns."""

    UPDATE_MEMORY = Resolution.UPDATE_MEMORY, "Update the memory"
    DELETE_MEMORY = Resolution.DELETE_MEMORY, "Delete the memory"
    KEEP_MEMORY = Resolution.KEEP_MEMORY, "Leave the memory as it is"
    MANUAL = Resolution.MANUAL, "A person decides"


class SyncConflictState(models.TextChoices):
    """Whether a conflict waits. OUTDATED: a later sync did not find it any more."""

    OPEN = "open", "Open"
    RESOLVED = "resolved", "Resolved"
    OUTDATED = "outdated", "Outdated"


class SyncRun(models.Model):
    """One run of a source. Written by `services` only.

    reason: what started it, such as `threshold` or `webhook`. fallback: why an incremental sync became a full one.
    commits: since the last sync. done, total: of the present step, for progress. remaining: items that `max_items` left
    for the next run.
    failed_items: `RefusedFile`s, the first thousand. rolled_back_by: the run that took it back. allow_empty: whether a
    person asked for it although there may be no files any more.
    """

    uuid = models.UUIDField("id", default=uuid.uuid4, unique=True, editable=False)
    source = models.ForeignKey(KnowledgeSource, on_delete=models.CASCADE, related_name="runs")
    kind = models.CharField(max_length=12, choices=SyncKind.choices)
    state = models.CharField(max_length=12, choices=SyncRunState.choices, default=SyncRunState.WAITING)
    reason = models.CharField(max_length=50, blank=True, default="")
    actor = models.CharField(max_length=200)
    item_id = models.CharField(max_length=MAX_ITEM_ID_CHARS, blank=True, default="")
    from_commit = models.CharField(max_length=64, blank=True, default="")
    to_commit = models.CharField(max_length=64, blank=True, default="")
    commits = models.PositiveIntegerField(default=0)
    fallback = models.CharField(max_length=500, blank=True, default="")
    step = models.CharField(max_length=20, blank=True, default="")
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    added = models.PositiveIntegerField(default=0)
    updated = models.PositiveIntegerField(default=0)
    deleted = models.PositiveIntegerField(default=0)
    unchanged = models.PositiveIntegerField(default=0)
    conflicts = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    remaining = models.PositiveIntegerField(default=0)
    failed_items = models.JSONField(default=list)
    code = models.CharField(max_length=50, blank=True, default="")
    detail = models.CharField(max_length=1_000, blank=True, default="")
    requested_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    rolled_back_by = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="+")
    allow_empty = models.BooleanField(default=False)

    objects = RunQuerySet.as_manager()

    class Meta:
        indexes: ClassVar[list[models.Index]] = [models.Index(name="sync_run_of_source", fields=["source", "-id"])]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # One sync of a source at a time, across processes. The process that runs holds an advisory lock besides, by
            # which the next one sees that it has ended.
            models.UniqueConstraint(name="sync_run_one_at_once", fields=["source"], condition=Q(state="running")),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.uuid}"


class SyncCheckpoint(models.Model):
    """The state of a source before a run. content: compressed JSON of state, hashes and pointers. checksum: of it."""

    uuid = models.UUIDField("id", default=uuid.uuid4, unique=True, editable=False)
    source = models.ForeignKey(KnowledgeSource, on_delete=models.CASCADE, related_name="checkpoints")
    run = models.OneToOneField(SyncRun, on_delete=models.CASCADE, related_name="checkpoint")
    content = models.BinaryField()
    checksum = models.CharField(max_length=64)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return str(self.uuid)


class SyncChange(models.Model):
    """What a run did to one item, and to a pointer of it.

    pointer: None where only the row of the item changed, such as its path. before, after: `item` as a row, and `memory`
    with the content, metadata, type and project of the pointer; without what there was not.
    """

    run = models.ForeignKey(SyncRun, on_delete=models.CASCADE, related_name="changes")
    item_id = models.CharField(max_length=MAX_ITEM_ID_CHARS)
    action = models.CharField(max_length=10, choices=PointerActionChoices.choices)
    pointer = models.UUIDField(null=True)
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [models.Index(name="sync_change_of_run", fields=["run", "id"])]

    def __str__(self) -> str:
        return f"{self.action} {self.item_id}"


class PointerConflict(models.Model):
    """A conflict between pointers and an item: found by a run, and resolved by it, by a later one, or by a person."""

    uuid = models.UUIDField("id", default=uuid.uuid4, unique=True, editable=False)
    source = models.ForeignKey(KnowledgeSource, on_delete=models.CASCADE, related_name="conflicts")
    run = models.ForeignKey(SyncRun, on_delete=models.CASCADE, related_name="found")
    type = models.CharField(max_length=20, choices=ConflictTypeChoices.choices)
    item_id = models.CharField(max_length=MAX_ITEM_ID_CHARS)
    pointers = ArrayField(models.UUIDField(), default=list)
    detail = models.JSONField(default=dict)
    suggested = models.CharField(max_length=20, choices=ResolutionChoices.choices)
    resolution = models.CharField(max_length=20, choices=ResolutionChoices.choices, blank=True, default="")
    state = models.CharField(max_length=10, choices=SyncConflictState.choices, default=SyncConflictState.OPEN)
    detected_at = models.DateTimeField()
    resolved_at = models.DateTimeField(null=True)
    resolved_by = models.CharField(max_length=200, blank=True, default="")

    objects = ConflictQuerySet.as_manager()

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(name="sync_conflict_of_source", fields=["source", "-id"]),
        ]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                name="sync_conflict_open_once", fields=["source", "type", "item_id"], condition=Q(state="open")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.type} of {self.item_id}"
