"""Writing what a sync found: pointers, rows, state, and what takes it back, in one transaction."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from apps.core.db.user_locks import hold_users
from apps.core.domain.clock import Clock, utcnow
from apps.core.domain.errors import UnavailableError
from apps.core.steps import Step
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.selectors import ManagedMemory, managed_get
from apps.semantic.services import PreparedManaged, managed_write
from apps.sync.domain.as_json import items_digest
from apps.sync.domain.state import Plan, PointerAction, PointerChange, StoredItem
from apps.sync.models import KnowledgeItem, KnowledgeSource, PointerActionChoices, SyncChange, SyncRun, SyncRunState
from apps.sync.runs.compare import Comparison
from apps.sync.runs.lock import LockLostError, require_lock
from apps.sync.runs.rows import batches, delete_items, item_of, item_row, read_rows, row_to_json, stored_of, write_items
from apps.sync.runs.stored import ITEMS, Stored


@dataclass(frozen=True)
class Prepared:
    """A plan with the memories that it writes. written: changes and their drafts, in the order of `parts`."""

    plan: Plan
    written: Sequence[tuple[PointerChange, MemoryDraft]]
    parts: Sequence[PreparedManaged]

    @property
    def pointers(self) -> list[UUID]:
        """Return the pointers that are changed or deleted."""
        return [change.pointer for change in self.plan.changes if change.pointer is not None]

    @property
    def deletes(self) -> dict[UUID, str]:
        """Return the pointers to delete, with why."""
        return {
            one.pointer: one.reason for one in self.plan.changes if one.action is PointerAction.DELETE and one.pointer
        }


@dataclass
class Applied:
    """What was written: a digest of the items as they are stored now, and which ids got, changed and lost a pointer."""

    digest: str
    added: set[str] = field(default_factory=set)
    updated: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)


def begin_apply(source: KnowledgeSource, run: SyncRun) -> None:
    """Make sure that a run may still write, until the caller's transaction ends.

    Raises LockLostError, UserLockedError.
    """
    assert transaction.get_connection().in_atomic_block
    hold_users([source.user_id])
    require_lock(source.pk)
    if not SyncRun.objects.select_for_update(no_key=True).filter(pk=run.pk, state=SyncRunState.RUNNING).exists():
        raise LockLostError("Another process has ended this run.")


def apply_plan(
    run: SyncRun, comparison: Comparison, stored: Stored, prepared: Prepared, *, commit: str, clock: Clock, step: Step
) -> Applied:
    """Write pointers, rows of items, and the changes of the run, in the caller's transaction.

    commit: at which the items were read. Raises SpaceChangedError, UnavailableError, UserLockedError.
    """
    now = utcnow(clock)
    memories = {uuid: one for uuid, one in managed_get(prepared.pointers).items() if one.is_active}
    uuids = write_pointers(run, prepared, clock)
    step("pointers")
    writing = Writing(comparison, stored, prepared, uuids, commit, now)
    rows, gone = writing.rows(), writing.gone()
    before = read_rows(comparison.source, {*(row.item_id for row in rows), *gone, *writing.changed_ids()})
    if ITEMS in stored.damaged:
        before = {row.item_id: row for row in before.values() if repair_row(row, stored)}
        KnowledgeItem.objects.filter(source=comparison.source).delete()
    delete_items(comparison.source, gone)
    write_items(rows)
    step("items")
    changes = ChangeRows(run, before, {row.item_id: row for row in rows}, memories)
    changes.write(prepared, uuids, gone)
    step("changes")
    return writing.applied(rows, gone)


def repair_row(row: KnowledgeItem, stored: Stored) -> bool:
    """Give a row of a damaged state what its pointer says. Return False for one that cannot be repaired."""
    known = stored.items.get(row.item_id)
    if known is None:
        return False
    row.hash, row.status, row.layer, row.pointer = known.hash, known.status.value, known.layer.value, known.pointer
    try:
        item_of(row)
    except (KeyError, TypeError, ValueError):
        return False
    return True


def write_pointers(run: SyncRun, prepared: Prepared, clock: Clock) -> list[UUID]:
    """Write the memories of a plan. Return the id of each written one."""
    uuids: list[UUID] = []
    deletes: Mapping[UUID, str] = prepared.deletes
    for part in prepared.parts:
        uuids += managed_write(manager=run.source.manager, prepared=part, deletes=deletes, actor=run.actor, clock=clock)
        deletes = {}
    if len(uuids) != len(prepared.written):
        raise UnavailableError("The pointers were not prepared as a whole.", code="not_prepared")
    return uuids


@dataclass(frozen=True)
class Writing:
    """Which rows of items a sync writes. uuids: of the written memories."""

    comparison: Comparison
    stored: Stored
    prepared: Prepared
    uuids: Sequence[UUID]
    commit: str
    now: datetime

    @property
    def skipped(self) -> frozenset[str]:
        """Return the ids whose rows stay: a person decides about them, or a later run does."""
        return self.prepared.plan.held | self.prepared.plan.left

    def changed_ids(self) -> set[str]:
        """Return the ids of which a pointer was changed."""
        return {change.item_id for change in self.prepared.plan.changes}

    def pointers(self) -> dict[str, UUID]:
        """Return the pointer of each item."""
        written = {change.item_id: uuid for (change, _), uuid in zip(self.prepared.written, self.uuids, strict=True)}
        return {**self.prepared.plan.pointers, **written}

    def rows(self) -> list[KnowledgeItem]:
        """Return the rows of items that are not as they are stored."""
        # Once: with a limit most items may be left for later, and joining both sets for each takes quadratic time.
        pointers, skipped, rows = self.pointers(), self.skipped, []
        for item_id, item in self.comparison.items.items():
            stored, pointer = self.comparison.stored.get(item_id), pointers.get(item_id)
            if item_id in skipped:
                if ITEMS in self.stored.damaged and stored:
                    rows.append(self.rebuilt_row(item_id, stored))
                continue
            place = self.stored.places.get(item_id)
            is_read_before = bool(stored and place and stored.hash == item.hash and place.path == item.path)
            if is_read_before and stored == StoredItem(item_id, item.hash, item.status, item.layer, pointer):
                continue
            commit = place.commit if is_read_before and place else self.commit
            rows.append(item_row(self.comparison.source, item, pointer, commit, self.now))
        return rows

    def rebuilt_row(self, item_id: str, stored: StoredItem) -> KnowledgeItem:
        """Return the row of an item that is left for later, as its pointer says that it was."""
        item = self.comparison.items[item_id]
        row = item_row(self.comparison.source, item, stored.pointer, self.commit, self.now)
        row.hash, row.status, row.layer = stored.hash, stored.status.value, stored.layer.value
        return row

    def gone(self) -> set[str]:
        """Return the ids whose rows are deleted."""
        return set(self.prepared.plan.forgotten)

    def applied(self, rows: Iterable[KnowledgeItem], gone: set[str]) -> Applied:
        """Return what was written."""
        applied = Applied(self.digest(rows, gone))
        of_action = {
            PointerAction.CREATE: applied.added,
            PointerAction.UPDATE: applied.updated,
            PointerAction.DELETE: applied.deleted,
        }
        for change in self.prepared.plan.changes:
            of_action[change.action].add(change.item_id)
        return applied

    def digest(self, rows: Iterable[KnowledgeItem], gone: set[str]) -> str:
        """Return a digest of all items as they are stored now."""
        is_rebuilt = ITEMS in self.stored.damaged
        written = {row.item_id: stored_of(row) for row in rows}
        if not (written or gone or is_rebuilt):
            return self.stored.items_digest
        items = {} if is_rebuilt else {key: item for key, item in self.stored.items.items() if key not in gone}
        return items_digest((items | written).values())


@dataclass(frozen=True)
class ChangeRows:
    """The changes of a run, by which it can be taken back. before, after: whole rows of items, by id."""

    run: SyncRun
    before: Mapping[str, KnowledgeItem]
    after: Mapping[str, KnowledgeItem]
    memories: Mapping[UUID, ManagedMemory]

    def write(self, prepared: Prepared, uuids: Sequence[UUID], gone: set[str]) -> None:
        """Write a row for each pointer that was changed, and for each item of which only the row was."""
        written = {change: (uuid, draft) for (change, draft), uuid in zip(prepared.written, uuids, strict=True)}
        rows = [self.of_pointer(change, gone, *written.get(change, (None, None))) for change in prepared.plan.changes]
        noted = {change.item_id for change in prepared.plan.changes}
        rows += [self.of_item(item_id) for item_id in sorted({*self.after, *gone} - noted)]
        for batch in batches(rows):
            SyncChange.objects.bulk_create(batch)

    def of_pointer(
        self, change: PointerChange, gone: set[str], written: UUID | None, draft: MemoryDraft | None
    ) -> SyncChange:
        """Return the row of a change of a pointer."""
        pointer = written or change.pointer
        before = self.sides(self.before.get(change.item_id))
        memory = self.memories.get(pointer) if pointer else None
        if memory:
            before["memory"] = {
                "content": memory.content,
                "metadata": dict(memory.metadata),
                "type": memory.type,
                "project": memory.project,
                "keywords": list(memory.keywords),
                "importance": memory.importance,
            }
        is_gone = change.item_id in gone
        after = self.sides(None if is_gone else self.after.get(change.item_id) or self.before.get(change.item_id))
        if draft:
            after["memory"] = {
                "content": draft.content,
                "metadata": draft.metadata,
                "type": draft.type,
                "project": draft.project,
                "keywords": list(draft.keywords),
                "importance": draft.importance,
            }
        return SyncChange(
            run=self.run,
            item_id=change.item_id,
            action=PointerActionChoices(change.action.value),
            pointer=pointer,
            before=before,
            after=after,
        )

    def of_item(self, item_id: str) -> SyncChange:
        """Return the row of a change of an item alone."""
        before, after = self.before.get(item_id), self.after.get(item_id)
        action = PointerActionChoices.UPDATE if after else PointerActionChoices.DELETE
        return SyncChange(
            run=self.run, item_id=item_id, action=action, before=self.sides(before), after=self.sides(after)
        )

    @staticmethod
    def sides(row: KnowledgeItem | None) -> dict[str, Any]:
        """Return a side of a change with the row of an item."""
        return {"item": row_to_json(row)} if row else {}
