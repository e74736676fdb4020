"""What the use cases of sync return besides rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from apps.sync.domain.knowledge import KnowledgeItem, RefusedFile
from apps.sync.domain.state import Delta, PointerChange, Resolution, SyncConflict


@dataclass(frozen=True)
class PreviewFile:
    """What a file would become. item: None for a file that could not be read, with why in refused."""

    path: str
    item: KnowledgeItem | None
    refused: RefusedFile | None = None


@dataclass(frozen=True)
class Preview:
    """What a sync would do now.

    from_commit: of the last sync. conflicts: with what would be done about each. statuses: how many items have each.
    advice: what would make the source better, for people; empty for nothing.
    """

    commit: str
    from_commit: str
    files: tuple[PreviewFile, ...]
    delta: Delta
    conflicts: tuple[tuple[SyncConflict, Resolution], ...]
    changes: tuple[PointerChange, ...]
    statuses: Mapping[str, int]
    advice: str = ""


@dataclass(frozen=True)
class WebhookAnswer:
    """What became of the call of a webhook. accepted: a sync was requested. reason: one word why, or why not."""

    accepted: bool
    reason: str
    run: UUID | None = None


@dataclass(frozen=True)
class ItemText:
    """The text of an item as it is kept in its source, at a commit."""

    text: str
    commit: str
    path: str


@dataclass(frozen=True)
class ItemDiff:
    """How the text of an item changed between two commits, as a unified diff. Empty: not at all."""

    diff: str
    old: str
    new: str
    path: str


@dataclass(frozen=True)
class ManifestEntry:
    """A line of the manifest of a source: an item as the last sync left it."""

    item_id: str
    uuid: UUID
    path: str
    type: str
    title: str
    status: str
    layer: str
    hash: str
    commit: str
    pointer: UUID | None
    synced_at: datetime
