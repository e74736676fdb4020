"""How pointers differ from items, and what a sync does, so that they are as after one that begins with none."""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from uuid import UUID

from apps.sync.domain.knowledge import ItemStatus, KnowledgeItem
from apps.sync.domain.state import (
    ConflictType,
    Delta,
    Plan,
    PointerAction,
    PointerChange,
    Resolution,
    SeenPointer,
    StoredItem,
    SyncConflict,
)

DEFAULTS: Mapping[ConflictType, Resolution] = {
    ConflictType.HASH_MISMATCH: Resolution.UPDATE_MEMORY,
    ConflictType.ORPHANED_POINTER: Resolution.DELETE_MEMORY,
    ConflictType.DUPLICATE_POINTER: Resolution.DELETE_MEMORY,
    ConflictType.STATUS_CHANGE: Resolution.UPDATE_MEMORY,
    ConflictType.LAYER_MISMATCH: Resolution.UPDATE_MEMORY,
}
NOT_IN_FORCE = frozenset({ItemStatus.DEPRECATED, ItemStatus.SUPERSEDED})
# How a pointer may differ from its item, the most special first: a changed status changes the hash as well.
DIFFERENCES = (ConflictType.STATUS_CHANGE, ConflictType.LAYER_MISMATCH, ConflictType.HASH_MISMATCH)


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


@dataclass(frozen=True, slots=True)
class ItemPlan:
    """What is done about one id. is_held: a person decides first."""

    changes: tuple[PointerChange, ...]
    resolved: tuple[tuple[SyncConflict, Resolution], ...] = ()
    is_held: bool = False


@dataclass(frozen=True, slots=True)
class PlanRules:
    """What a plan is made by. decided: keys of conflicts in which a person left the memory as it is.

    former: of items without a pointer, the memory that each of them had.
    """

    delta: Delta
    resolutions: Mapping[str, str]
    stored: Mapping[str, StoredItem]
    decided: frozenset[Hashable]
    former: Mapping[str, UUID]

    def plan_item(self, item_id: str, group: Sequence[SeenPointer], found: Sequence[SyncConflict]) -> ItemPlan:
        """Return what is done about one id with its pointers, the newest first, and its conflicts.

        Where a person has to decide about one conflict, the others of the item wait as well.
        """
        if not group:
            reason = "missing" if item_id in self.stored else "added"
            return ItemPlan((PointerChange(PointerAction.CREATE, item_id, self.former.get(item_id), reason),))
        resolved = self.resolve(found)
        if any(resolution is Resolution.MANUAL for _, resolution in resolved):
            return ItemPlan((), tuple((conflict, Resolution.MANUAL) for conflict, _ in resolved), is_held=True)
        return ItemPlan((*self.updates(resolved), *self.deletes(resolved)), resolved)

    def resolve(self, found: Sequence[SyncConflict]) -> tuple[tuple[SyncConflict, Resolution], ...]:
        """Return what is done about the conflicts of one id, without those that were decided before.

        A pointer is written as a whole, so all its differences get one answer: what the source says of the most
        special type that it mentions, or else the default.
        """
        left = [conflict for conflict in found if conflict.key not in self.decided]
        types = {conflict.type for conflict in left}
        mentioned = [
            one for one in DIFFERENCES if one in types and self.resolutions.get(one) in allowed_resolutions(one)
        ]
        answer = choose_resolution(mentioned[0], self.resolutions) if mentioned else Resolution.UPDATE_MEMORY
        return tuple(
            (one, answer if one.type in DIFFERENCES else choose_resolution(one.type, self.resolutions)) for one in left
        )

    def updates(self, resolved: Sequence[tuple[SyncConflict, Resolution]]) -> list[PointerChange]:
        """Return the update of the pointer that stays, if there is one."""
        updates = {one.type: one for one, resolution in resolved if resolution is Resolution.UPDATE_MEMORY}
        if not updates:
            return []
        conflict = next(updates[one] for one in DIFFERENCES if one in updates)
        is_ordinary = conflict.detail.get("changed") == "item"
        reason = "updated" if is_ordinary else conflict.type.value
        return [PointerChange(PointerAction.UPDATE, conflict.item_id, conflict.pointers[0], reason)]

    def deletes(self, resolved: Sequence[tuple[SyncConflict, Resolution]]) -> list[PointerChange]:
        """Return the removal of the pointers of an item that is gone, or of all but the newest one."""
        changes = []
        for conflict, resolution in resolved:
            if resolution is Resolution.DELETE_MEMORY:
                is_duplicate = conflict.type is ConflictType.DUPLICATE_POINTER
                is_ordinary = not is_duplicate and conflict.item_id in self.stored
                reason = "deleted" if is_ordinary else conflict.type.value
                removed = conflict.pointers[1:] if is_duplicate else conflict.pointers
                changes += [PointerChange(PointerAction.DELETE, conflict.item_id, one, reason) for one in removed]
        return changes


def former_pointers(
    item_ids: Iterable[str], stored: Mapping[str, StoredItem], former: Mapping[str, UUID], seen: Iterable[SeenPointer]
) -> dict[str, UUID]:
    """Return the memories that items had and that no other item has now; each of them once."""
    taken = {pointer.uuid for pointer in seen}
    found: dict[str, UUID] = {}
    for item_id in item_ids:
        row = stored.get(item_id)
        pointer = (row.pointer if row else None) or former.get(item_id)
        if pointer and pointer not in taken:
            taken.add(pointer)
            found[item_id] = pointer
    return found


def make_plan(
    delta: Delta,
    conflicts: Sequence[SyncConflict],
    resolutions: Mapping[str, str],
    *,
    stored: Mapping[str, StoredItem],
    pointers: Sequence[SeenPointer],
    limit: int | None = None,
    decided: Collection[SyncConflict] = (),
    former: Mapping[str, UUID] = MappingProxyType({}),
) -> Plan:
    """Return what a sync will do, by item id.

    resolutions: by type of conflict what is done instead of the default. limit: change the pointers of at most so many
    items, 1 or more. decided: conflicts in which a person chose KEEP_MEMORY. former: the memories of items that were
    gone, which they get back.
    """
    groups = by_item(pointers)
    found: dict[str, list[SyncConflict]] = defaultdict(list)
    for conflict in conflicts:
        found[conflict.item_id].append(conflict)
    present = (*delta.added, *delta.updated, *delta.unchanged)
    new = sorted(one for one in present if one not in groups)
    had = former_pointers(new, stored, former, pointers)
    rules = PlanRules(delta, resolutions, stored, frozenset(one.key for one in decided), had)
    changes: list[PointerChange] = []
    resolved: list[tuple[SyncConflict, Resolution]] = []
    held, left, changed = set(), set(), 0
    for item_id in sorted({*new, *found}):
        plan = rules.plan_item(item_id, groups.get(item_id, ()), found.get(item_id, ()))
        if plan.changes and changed == limit:
            left.add(item_id)
            continue
        changed += bool(plan.changes)
        changes += plan.changes
        resolved += plan.resolved
        if plan.is_held:
            held.add(item_id)
    return Plan(
        changes=tuple(changes),
        resolved=tuple(resolved),
        held=frozenset(held),
        forgotten=frozenset(delta.deleted) - held - left,
        left=frozenset(left),
        pointers={one: groups[one][0].uuid for one in present if one in groups},
    )
