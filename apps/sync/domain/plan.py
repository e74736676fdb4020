"""What a sync does to pointers, so that afterwards they are as after a sync that begins with none."""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from uuid import UUID

from apps.sync.domain.conflicts import allowed_resolutions, by_item, choose_resolution
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

# How a pointer may differ from its item, the most special first: a changed status changes the hash as well.
DIFFERENCES = (ConflictType.STATUS_CHANGE, ConflictType.LAYER_MISMATCH, ConflictType.HASH_MISMATCH)


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
