"""Sources of knowledge, their files and items, and what the last sync of each left."""

import uuid
from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from apps.core.domain.scope import MAX_IDENTIFIER_CHARS
from apps.sync.domain.knowledge import Convention, ItemStatus, ItemType, Layer
from apps.sync.querysets import KnowledgeFileQuerySet, KnowledgeItemQuerySet, SourceQuerySet

MAX_NAME_CHARS = 100
# Four bytes a character fit into a row of an index.
MAX_PATH_CHARS = 600
MAX_ITEM_ID_CHARS = 200
MAX_PATTERNS = 50


class SourceKind(models.TextChoices):
    """Where the files of a source lie."""

    GIT = "git", "Git repository"
    FOLDER = "folder", "Folder"


class ConventionChoices(models.TextChoices):
    """`Convention` for forms and columns."""

    AUTO = Convention.AUTO, "Recognised file by file"
    FRONT_MATTER = Convention.FRONT_MATTER, "YAML front matter"
    DECISION_RECORD = Convention.DECISION_RECORD, "Decision records (MADR, Nygard)"
    HEADERS = Convention.HEADERS, "Header lines (as in PEPs)"
    PLAIN = Convention.PLAIN, "Plain Markdown"


class LayerChoices(models.TextChoices):
    """`Layer` for forms and columns."""

    COMPANY = Layer.COMPANY, "Company"
    ORG = Layer.ORG, "Organisation"
    TEAM = Layer.TEAM, "Team"
    PROJECT = Layer.PROJECT, "Project"


class ItemTypeChoices(models.TextChoices):
    """`ItemType` for forms and columns."""

    ADR = ItemType.ADR, "Decision"
    POLICY = ItemType.POLICY, "Policy"
    PATTERN = ItemType.PATTERN, "Pattern"
    SPEC = ItemType.SPEC, "Specification"


class ItemStatusChoices(models.TextChoices):
    """`ItemStatus` for forms and columns."""

    DRAFT = ItemStatus.DRAFT, "Draft"
    PROPOSED = ItemStatus.PROPOSED, "Proposed"
    ACCEPTED = ItemStatus.ACCEPTED, "Accepted"
    DEPRECATED = ItemStatus.DEPRECATED, "Deprecated"
    SUPERSEDED = ItemStatus.SUPERSEDED, "Superseded"
    REJECTED = ItemStatus.REJECTED, "Rejected"
    UNKNOWN = ItemStatus.UNKNOWN, "Unknown"


def patterns_field(help_text: str) -> ArrayField:
    return ArrayField(models.CharField(max_length=200), default=list, blank=True, help_text=help_text)


class KnowledgeSource(models.Model):
    """A repository or folder whose items are kept as pointers. Written by `services` only.

    user_id: whose memories the pointers are, mostly a team. credentials, webhook_secret: names of secrets, which are in
    the environment or in files. mapping: what names, statuses and folders of the source mean (`ReadMapping`).
    resolutions: by type of conflict what is done instead of the default. paused: why no trigger starts a sync, such as
    after a rollback; empty while nothing keeps it from running.
    """

    uuid = models.UUIDField("id", default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(max_length=MAX_NAME_CHARS, unique=True)
    user_id = models.CharField("owner", max_length=MAX_IDENTIFIER_CHARS)
    project = models.CharField(max_length=200, blank=True, default="")
    kind = models.CharField(max_length=10, choices=SourceKind.choices)
    location = models.CharField(max_length=MAX_PATH_CHARS, help_text="An address or a path.")
    branch = models.CharField(max_length=200, blank=True, default="", help_text="Empty: the one that is checked out.")
    folder = models.CharField(max_length=MAX_PATH_CHARS, blank=True, default="", help_text="Only what is below it.")
    include = patterns_field("Only files that match one of these; by default Markdown and reStructuredText.")
    exclude = patterns_field("Excludes files that match one of these.")
    layer = models.CharField(max_length=10, choices=LayerChoices.choices, default=LayerChoices.TEAM)
    convention = models.CharField(max_length=20, choices=ConventionChoices.choices, default=ConventionChoices.AUTO)
    mapping = models.JSONField(default=dict, blank=True)
    resolutions = models.JSONField(default=dict, blank=True)
    credentials = models.CharField(max_length=100, blank=True, default="", help_text="The name of a secret.")
    webhook_secret = models.CharField(max_length=100, blank=True, default="", help_text="The name of a secret.")
    staleness_seconds = models.PositiveIntegerField(null=True, blank=True)
    session_threshold = models.PositiveIntegerField(null=True, blank=True)
    daily_at = models.TimeField(null=True, blank=True, help_text="Every day at this time, UTC.")
    max_items = models.PositiveIntegerField(
        null=True, blank=True, help_text="At most this many in an incremental sync."
    )
    enabled = models.BooleanField(default=True)
    paused = models.CharField(max_length=500, blank=True, default="")
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    objects = SourceQuerySet.as_manager()

    class Meta:
        indexes: ClassVar[list[models.Index]] = [models.Index(name="sync_source_owner", fields=["user_id", "id"])]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(name="sync_source_owner_required", condition=~Q(user_id="")),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def manager(self) -> str:
        """Return the name under which its pointers are kept in semantic memory."""
        return f"sync:{self.uuid.hex}"


class SyncState(models.Model):
    """What the last sync of a source left (spec 003, sync state persistence).

    Hashes and pointers are in the rows of the items. checksum: over these, and over last_commit and last_sync_at.
    is_complete: whether all files could be read and nothing failed. remaining: items that a limit left for the next
    run; until there are none last_commit stays. files_commit: the commit of which the rows of files are, which is ahead
    of last_commit after a limited run and after a rollback; files_checksum: over these rows. read_digest: of the
    settings by which the files were read. retries: failures in a row that may pass; next_try_at: not before then.
    generation: raised by every change.
    """

    source = models.OneToOneField(KnowledgeSource, on_delete=models.CASCADE, related_name="state")
    last_sync_at = models.DateTimeField(null=True)
    last_full_sync_at = models.DateTimeField(null=True)
    last_commit = models.CharField(max_length=64, blank=True, default="")
    sessions_since_sync = models.PositiveIntegerField(default=0)
    is_complete = models.BooleanField(default=False)
    remaining = models.PositiveIntegerField(default=0)
    checksum = models.CharField(max_length=64, blank=True, default="")
    files_commit = models.CharField(max_length=64, blank=True, default="")
    files_checksum = models.CharField(max_length=64, blank=True, default="")
    read_digest = models.CharField(max_length=64, blank=True, default="")
    retries = models.PositiveIntegerField(default=0)
    next_try_at = models.DateTimeField(null=True)
    generation = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"state of {self.source_id}"


class KnowledgeFile(models.Model):
    """A file of a source as it was read last (a row of the manifest, which is generated).

    blob: what identifies its content: the object id in git, or size and time in a folder; empty where that is unknown.
    parsed: a `ParsedFile`. code, detail: why it could not be read as it is now; parsed then is as it was read last, and
    empty for one that never could be read.
    """

    source = models.ForeignKey(KnowledgeSource, on_delete=models.CASCADE, related_name="files")
    path = models.CharField(max_length=MAX_PATH_CHARS)
    blob = models.CharField(max_length=64)
    parsed = models.JSONField(default=dict)
    code = models.CharField(max_length=50, blank=True, default="")
    detail = models.CharField(max_length=500, blank=True, default="")

    objects = KnowledgeFileQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(name="sync_file_once", fields=["source", "path"]),
        ]

    def __str__(self) -> str:
        return self.path


class KnowledgeItem(models.Model):
    """An item of a source with the hash and the pointer of the last sync.

    uuid: the same for the same id in the same source, even after it was gone. hash: of the item that the pointer was
    written from. commit: at which it was read. pointer: the memory; None where there is none.
    """

    uuid = models.UUIDField("id", unique=True, editable=False)
    source = models.ForeignKey(KnowledgeSource, on_delete=models.CASCADE, related_name="items")
    item_id = models.CharField(max_length=MAX_ITEM_ID_CHARS)
    path = models.CharField(max_length=MAX_PATH_CHARS)
    type = models.CharField(max_length=10, choices=ItemTypeChoices.choices)
    title = models.CharField(max_length=500)
    summary = models.TextField(blank=True, default="")
    status = models.CharField(max_length=12, choices=ItemStatusChoices.choices)
    layer = models.CharField(max_length=10, choices=LayerChoices.choices)
    constraints = models.JSONField(default=list)
    tags = models.JSONField(default=list)
    supersedes = models.JSONField(default=list)
    superseded_by = models.JSONField(default=list)
    hash = models.CharField(max_length=64)
    commit = models.CharField(max_length=64, blank=True, default="")
    pointer = models.UUIDField(null=True)
    synced_at = models.DateTimeField()

    objects = KnowledgeItemQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(name="sync_item_once", fields=["source", "item_id"]),
        ]

    def __str__(self) -> str:
        return self.item_id


class WebhookDelivery(models.Model):
    """A delivery that started a sync, so that whoever has recorded it starts no other one with it.

    Written by `sync.triggers.webhook`, kept for a month. digest: SHA-256 of what is signed, nothing of which is stored.
    """

    source = models.ForeignKey(KnowledgeSource, on_delete=models.CASCADE, related_name="deliveries")
    digest = models.CharField(max_length=64)
    received_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "webhook deliveries"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # Of the same delivery sent at once, in whatever processes, one starts a sync.
            models.UniqueConstraint(name="sync_delivery_once", fields=["source", "digest"]),
        ]
        indexes: ClassVar[list[models.Index]] = [
            # Those that are over.
            models.Index(name="sync_delivery_received", fields=["received_at"]),
        ]

    def __str__(self) -> str:
        return self.digest[:12]
