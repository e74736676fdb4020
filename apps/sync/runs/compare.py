"""What a sync will do about the items of a source: derive, compare and plan (spec 003)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from apps.core.domain.errors import NotFoundError
from apps.semantic.selectors import managed_deleted, managed_memories
from apps.sync.domain.items import derive_items
from apps.sync.domain.knowledge import KnowledgeItem, RefusedFile
from apps.sync.domain.plan import choose_resolution, detect_conflicts, make_plan
from apps.sync.domain.pointers import pointer_content
from apps.sync.domain.state import (
    ConflictType,
    Delta,
    Plan,
    Resolution,
    SeenPointer,
    StoredItem,
    SyncConflict,
    detect_delta,
)
from apps.sync.models import KnowledgeSource, PointerConflict, SyncConflictState
from apps.sync.runs.manifest import Manifest
from apps.sync.runs.stored import Stored


@dataclass(frozen=True)
class SourceComparison:
    """Items as they are and were, and how they differ. decided: conflicts in which the memory is left as it is.

    everything, active: all items and pointers of the source, where the comparison is about one of them.
    """

    source: KnowledgeSource
    everything: dict[str, KnowledgeItem]
    items: dict[str, KnowledgeItem]
    stored: dict[str, StoredItem]
    pointers: Sequence[SeenPointer]
    refused: tuple[RefusedFile, ...]
    delta: Delta
    conflicts: tuple[SyncConflict, ...]
    decided: tuple[SyncConflict, ...]
    active: frozenset[UUID]

    def plan(self, limit: int | None = None, resolutions: dict[str, str] | None = None) -> Plan:
        """Return what a sync will do. limit: items whose pointers are changed. resolutions: by default the source's."""
        return make_plan(
            self.delta,
            self.conflicts,
            self.source.resolutions if resolutions is None else resolutions,
            stored=self.stored,
            pointers=self.pointers,
            limit=limit,
            decided=self.decided,
            former=managed_deleted(self.source.manager, "item_id") if self.delta.added else {},
        )


def basis_of(source: KnowledgeSource) -> str:
    """Return what pointers are written from besides their items."""
    return f"{source.name}\n{source.project}"


def compare(source: KnowledgeSource, manifest: Manifest, stored: Stored, *, contents: bool = False) -> SourceComparison:
    """Compare the items of a source with what the last sync left and with the pointers as they are.

    contents: compare what pointers say as well, which something else than a sync may have changed in the database.
    """
    derived = derive_items(manifest.parsed, basis_of(source), remembered=manifest.remembered)
    refused = (*manifest.refused, *derived.refused)
    active = frozenset(pointer.uuid for pointer in stored.pointers)
    items, pointers = stored.items, stored.pointers
    # Items whose files are there, cannot be read now and are not remembered: their rows and pointers stay as they are.
    unread = manifest.unread
    kept = {key for key, place in stored.places.items() if place.path in unread} - derived.items.keys()
    if kept:
        items = {key: item for key, item in items.items() if key not in kept}
        pointers = [pointer for pointer in pointers if pointer.item_id not in kept]
    if contents:
        # Without a hash those that do not say what their items say.
        said = {memory.uuid: memory.content for memory in managed_memories(source.manager)}
        pointers = [
            replace(pointer, hash="")
            if (item := derived.items.get(pointer.item_id)) is not None
            and pointer.hash == item.hash
            and said.get(pointer.uuid) != pointer_content(item, source.name)
            else pointer
            for pointer in pointers
        ]
    return make_comparison(source, derived.items, derived.items, items, pointers, refused, active)


def compare_one(comparison: SourceComparison, item_id: str) -> SourceComparison:
    """Return a comparison of one item only. Raises NotFoundError where there is neither an item nor a pointer."""
    items = {key: item for key, item in comparison.everything.items() if key == item_id}
    stored = {key: item for key, item in comparison.stored.items() if key == item_id}
    pointers = [pointer for pointer in comparison.pointers if pointer.item_id == item_id]
    if not items and not stored and not pointers:
        raise NotFoundError("There is no such item in this source.")
    paths = {item.path for item in items.values()}
    refused = tuple(one for one in comparison.refused if one.path in paths)
    source, everything, active = comparison.source, comparison.everything, comparison.active
    return make_comparison(source, everything, items, stored, pointers, refused, active)


def make_comparison(
    source: KnowledgeSource,
    everything: dict[str, KnowledgeItem],
    items: dict[str, KnowledgeItem],
    stored: dict[str, StoredItem],
    pointers: Sequence[SeenPointer],
    refused: tuple[RefusedFile, ...],
    active: frozenset[UUID],
) -> SourceComparison:
    """Return how items differ from what is stored and from pointers."""
    return SourceComparison(
        source=source,
        everything=everything,
        items=items,
        stored=stored,
        pointers=pointers,
        refused=refused,
        delta=detect_delta(stored, items),
        conflicts=tuple(detect_conflicts(stored, items, pointers)),
        decided=tuple(decided_conflicts(source)),
        active=active,
    )


def decided_conflicts(source: KnowledgeSource) -> list[SyncConflict]:
    """Return the conflicts in which a memory was left as it is: by a person, or by what the source still says."""
    rows = PointerConflict.objects.filter(
        source=source, state=SyncConflictState.RESOLVED, resolution=Resolution.KEEP_MEMORY
    )
    return [
        SyncConflict(
            ConflictType(row.type), row.item_id, tuple(row.pointers), Resolution(row.suggested), dict(row.detail)
        )
        for row in rows
        if row.resolved_by or choose_resolution(ConflictType(row.type), source.resolutions) is Resolution.KEEP_MEMORY
    ]
