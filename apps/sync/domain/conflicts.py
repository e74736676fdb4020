"""How the pointers of a source differ from its items, and what is done about it (spec 003, conflicts)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from apps.sync.domain.knowledge import ItemStatus, KnowledgeItem
from apps.sync.domain.state import ConflictType, Resolution, SeenPointer, StoredItem, SyncConflict

DEFAULTS: Mapping[ConflictType, Resolution] = {
    ConflictType.HASH_MISMATCH: Resolution.UPDATE_MEMORY,
    ConflictType.ORPHANED_POINTER: Resolution.DELETE_MEMORY,
    ConflictType.DUPLICATE_POINTER: Resolution.DELETE_MEMORY,
    ConflictType.STATUS_CHANGE: Resolution.UPDATE_MEMORY,
    ConflictType.LAYER_MISMATCH: Resolution.UPDATE_MEMORY,
}
NOT_IN_FORCE = frozenset({ItemStatus.DEPRECATED, ItemStatus.SUPERSEDED})


def allowed_resolutions(conflict: ConflictType) -> tuple[Resolution, ...]:
    """Return what can be done about a type: its default, nothing, or to wait for a person.

    A pointer without an item cannot be updated, and one whose item exists would be created again once it was deleted.
    """
    return DEFAULTS[conflict], Resolution.KEEP_MEMORY, Resolution.MANUAL


def choose_resolution(conflict: ConflictType, resolutions: Mapping[str, str]) -> Resolution:
    """Return what the settings of a source say of a type; the default where they say nothing that can be done."""
    chosen = resolutions.get(conflict)
    return next((one for one in allowed_resolutions(conflict) if one == chosen), DEFAULTS[conflict])


def by_item(pointers: Iterable[SeenPointer]) -> dict[str, list[SeenPointer]]:
    """Return the pointers of each item, the newest first; it is the one that is kept."""
    groups: dict[str, list[SeenPointer]] = defaultdict(list)
    for pointer in pointers:
        groups[pointer.item_id].append(pointer)
    for group in groups.values():
        if len(group) > 1:
            group.sort(key=lambda pointer: (pointer.created_at, pointer.updated_at, pointer.uuid), reverse=True)
    return groups


def detect_conflicts(
    stored: Mapping[str, StoredItem], items: Mapping[str, KnowledgeItem], pointers: Sequence[SeenPointer]
) -> list[SyncConflict]:
    """Return the conflicts by item id, then in the order of the types. An item without a pointer is none."""
    found: list[SyncConflict] = []
    for item_id, group in sorted(by_item(pointers).items()):
        item = items.get(item_id)
        if item is None:
            found.append(make_conflict(ConflictType.ORPHANED_POINTER, group))
            continue
        if len(group) > 1:
            found.append(make_conflict(ConflictType.DUPLICATE_POINTER, group, {"keep": str(group[0].uuid)}))
        found.extend(compare_pointer(group[0], item, stored.get(item_id)))
    return found


def compare_pointer(pointer: SeenPointer, item: KnowledgeItem, stored: StoredItem | None) -> Iterator[SyncConflict]:
    """Yield how a pointer differs from its item.

    The status is part of the hash, so that a changed status is a mismatch of hashes as well. A pointer that is as the
    item says is no conflict, whatever the last sync stored.
    """
    if pointer.hash != item.hash or pointer.status != item.status:
        detail = {"pointer": pointer.hash, "item": item.hash, "changed": what_changed(pointer, item, stored)}
        yield make_conflict(ConflictType.HASH_MISMATCH, [pointer], detail)
    if item.status in NOT_IN_FORCE and pointer.status != item.status:
        detail = {"pointer": pointer.status, "item": item.status.value}
        yield make_conflict(ConflictType.STATUS_CHANGE, [pointer], detail)
    if pointer.layer != item.layer:
        detail = {"pointer": pointer.layer, "item": item.layer.value}
        yield make_conflict(ConflictType.LAYER_MISMATCH, [pointer], detail)


def what_changed(pointer: SeenPointer, item: KnowledgeItem, stored: StoredItem | None) -> str:
    """Return which side is not as the last sync left it: `item`, `pointer`, `both`, or `unknown`."""
    if stored is None:
        return "unknown"
    is_pointer_changed = pointer.hash != stored.hash or pointer.status != stored.status
    if item.hash == stored.hash:
        return "pointer"
    return "both" if is_pointer_changed else "item"


def make_conflict(
    conflict: ConflictType, pointers: Sequence[SeenPointer], detail: dict[str, str] | None = None
) -> SyncConflict:
    """Return a conflict of pointers to one item, with what is suggested about it."""
    uuids = tuple(pointer.uuid for pointer in pointers)
    return SyncConflict(conflict, pointers[0].item_id, uuids, DEFAULTS[conflict], detail or {})
