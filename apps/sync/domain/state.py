"""What a sync remembers, what it finds, and what it will do: plain values, compared without a database."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from apps.sync.domain.knowledge import ItemStatus, KnowledgeItem, Layer


@dataclass(frozen=True, slots=True)
class StoredItem:
    """An item as the last sync left it. pointer: its memory; None where it has none, such as one that is held back."""

    item_id: str
    hash: str
    status: ItemStatus
    layer: Layer
    pointer: UUID | None


@dataclass(frozen=True, slots=True)
class SeenPointer:
    """An active memory of a source, as it is now. hash, status and layer: what it was written from."""

    uuid: UUID
    item_id: str
    hash: str
    status: str
    layer: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Delta:
    """Which items are new, changed, gone and as they were (spec 003, delta detection). Ids, sorted."""

    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()


class ConflictType(StrEnum):
    """How a pointer and its item may differ (spec 003, conflict detection)."""

    HASH_MISMATCH = "hash_mismatch"
    ORPHANED_POINTER = "orphaned_pointer"
    DUPLICATE_POINTER = "duplicate_pointer"
    STATUS_CHANGE = "status_change"
    LAYER_MISMATCH = "layer_mismatch"


class Resolution(StrEnum):
    """What is done about a conflict. MANUAL: it waits for a person, and until then the pointer stays as it is."""

    UPDATE_MEMORY = "update_memory"
    DELETE_MEMORY = "delete_memory"
    KEEP_MEMORY = "keep_memory"
    MANUAL = "manual"


@dataclass(frozen=True, slots=True)
class SyncConflict:
    """A difference between pointers and an item. pointers: the newest first. detail: values, without content.

    detail: `pointer` and `item` are the values that differ; `changed` is which side is not as the last sync left it;
    `keep` is the pointer that stays of duplicates.
    """

    type: ConflictType
    item_id: str
    pointers: tuple[UUID, ...]
    suggested: Resolution
    detail: dict[str, str] = field(default_factory=dict)

    @property
    def key(self) -> tuple[ConflictType, str, tuple[UUID, ...], str, str]:
        """Return what is the same when a later sync finds this very conflict again."""
        return self.type, self.item_id, self.pointers, self.detail.get("pointer", ""), self.detail.get("item", "")


class PointerAction(StrEnum):
    """What a sync does to a pointer."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class PointerChange:
    """A step of a plan. reason: one word for its history.

    pointer: the memory to change. Of a CREATE the one that the item had before, which is made active again, or None.
    """

    action: PointerAction
    item_id: str
    pointer: UUID | None
    reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What a sync will do. resolved: with what is done about each conflict, but those of what is left for later.

    held: ids whose pointers stay as they are until a person decides; their stored rows stay as well. forgotten: ids
    whose rows are removed, because the item is gone. left: ids that the limit leaves for the next run, with their rows.
    pointers: of each item that has one already, the one that it keeps; the row of every item that is neither held nor
    left is written with it, or with the one that a CREATE makes.
    """

    changes: tuple[PointerChange, ...]
    resolved: tuple[tuple[SyncConflict, Resolution], ...] = ()
    held: frozenset[str] = frozenset()
    forgotten: frozenset[str] = frozenset()
    left: frozenset[str] = frozenset()
    pointers: dict[str, UUID] = field(default_factory=dict)


def detect_delta(stored: Mapping[str, StoredItem], items: Mapping[str, KnowledgeItem]) -> Delta:
    """Return what is new, changed, gone and as it was, in one pass over each side."""
    added, updated, unchanged = [], [], []
    for item_id, item in items.items():
        before = stored.get(item_id)
        if before is None:
            added.append(item_id)
        elif before.hash == item.hash:
            unchanged.append(item_id)
        else:
            updated.append(item_id)
    deleted = stored.keys() - items.keys()
    return Delta(*(tuple(sorted(ids)) for ids in (added, updated, deleted, unchanged)))
