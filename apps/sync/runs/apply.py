"""Writing what a sync found: pointers, rows, state, and what takes it back, in one transaction."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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
from apps.sync.domain.knowledge import ItemStatus, Layer
from apps.sync.domain.state import Plan, PointerAction, PointerChange, StoredItem
from apps.sync.models import KnowledgeItem, KnowledgeSource, PointerActionChoices, SyncChange, SyncRun, SyncRunState
from apps.sync.runs.compare import SourceComparison
from apps.sync.runs.lock import LockLostError, require_lock
from apps.sync.runs.rows import COLUMNS, batches, delete_items, item_of, item_row, read_rows, write_items
from apps.sync.runs.stored import ITEMS, Stored


@dataclass(frozen=True)
class Prepared:
    """A plan with the memories that it writes. written: changes and their drafts, in the order of `parts`."""

    plan: Plan
    written: Sequence[tuple[PointerChange, MemoryDraft]]
    parts: Sequence[PreparedManaged]


@dataclass(frozen=True)
class Applied:
    """What was written: a digest of the items as they are stored now, and which ids got, changed and lost a pointer."""

    digest: str
    added: set[str]
    updated: set[str]
    deleted: set[str]


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
    run: SyncRun,
    comparison: SourceComparison,
    stored: Stored,
    prepared: Prepared,
    *,
    commit: str,
    clock: Clock,
    step: Step,
) -> Applied:
    """Write pointers, rows of items, and the changes of the run, in the caller's transaction.

    commit: at which the items were read. Raises SpaceChangedError, UnavailableError, UserLockedError.
    """
    plan, source, now = prepared.plan, comparison.source, utcnow(clock)
    pointers = [change.pointer for change in plan.changes if change.pointer is not None]
    memories = {uuid: one for uuid, one in managed_get(pointers).items() if one.is_active}
    uuids = write_pointers(run, prepared, clock)
    step("pointers")
    written = {change.item_id: uuid for (change, _), uuid in zip(prepared.written, uuids, strict=True)}
    rows = rows_to_write(comparison, stored, plan, {**plan.pointers, **written}, commit, now)
    gone, changed = set(plan.forgotten), {change.item_id for change in plan.changes}
    before = read_rows(source, {*(row.item_id for row in rows), *gone, *changed})
    if ITEMS in stored.damaged:
        before = {row.item_id: row for row in before.values() if repair_row(row, stored)}
        KnowledgeItem.objects.filter(source=source).delete()
    delete_items(source, gone)
    write_items(rows)
    step("items")
    ChangeRows(run, before, {row.item_id: row for row in rows}, memories).write(prepared, uuids, gone)
    step("changes")
    ids: dict[PointerAction, set[str]] = {action: set() for action in PointerAction}
    for change in plan.changes:
        ids[change.action].add(change.item_id)
    digest = digest_after(stored, rows, gone)
    return Applied(digest, ids[PointerAction.CREATE], ids[PointerAction.UPDATE], ids[PointerAction.DELETE])


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
    deletes: Mapping[UUID, str] = {
        one.pointer: one.reason for one in prepared.plan.changes if one.action is PointerAction.DELETE and one.pointer
    }
    for part in prepared.parts:
        uuids += managed_write(manager=run.source.manager, prepared=part, deletes=deletes, actor=run.actor, clock=clock)
        deletes = {}
    if len(uuids) != len(prepared.written):
        raise UnavailableError("The pointers were not prepared as a whole.", code="not_prepared")
    return uuids


def rows_to_write(
    comparison: SourceComparison, stored: Stored, plan: Plan, pointers: Mapping[str, UUID], commit: str, now: datetime
) -> list[KnowledgeItem]:
    """Return the rows of items that are not as they are stored. pointers: of the items, with those just written.

    Rows of items that a person decides about, or that a later run writes, stay.
    """
    # Once: with a limit most items may be left for later, and joining both sets for each takes quadratic time.
    skipped, rows = plan.held | plan.left, []
    for item_id, item in comparison.items.items():
        former, pointer = comparison.stored.get(item_id), pointers.get(item_id)
        if item_id in skipped:
            if ITEMS in stored.damaged and former:
                # As its pointer says that it was.
                row = item_row(comparison.source, item, former.pointer, commit, now)
                row.hash, row.status, row.layer = former.hash, former.status.value, former.layer.value
                rows.append(row)
            continue
        place = stored.places.get(item_id)
        is_read_before = bool(former and place and former.hash == item.hash and place.path == item.path)
        if is_read_before and former == StoredItem(item_id, item.hash, item.status, item.layer, pointer):
            continue
        read_at = place.commit if is_read_before and place else commit
        rows.append(item_row(comparison.source, item, pointer, read_at, now))
    return rows


def digest_after(stored: Stored, rows: Iterable[KnowledgeItem], gone: set[str]) -> str:
    """Return a digest of all items as they are stored now."""
    is_rebuilt = ITEMS in stored.damaged
    written = {
        row.item_id: StoredItem(row.item_id, row.hash, ItemStatus(row.status), Layer(row.layer), row.pointer)
        for row in rows
    }
    if not (written or gone or is_rebuilt):
        return stored.items_digest
    items = {} if is_rebuilt else {key: item for key, item in stored.items.items() if key not in gone}
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
        row = self.before.get(change.item_id)
        before = self.side(row)
        if memory := self.memories.get(pointer) if pointer else None:
            before["memory"] = memory_to_json(memory)
        after = self.side(None if change.item_id in gone else self.after.get(change.item_id) or row)
        if draft:
            after["memory"] = memory_to_json(draft)
        action = PointerActionChoices(change.action.value)
        return SyncChange(
            run=self.run, item_id=change.item_id, action=action, pointer=pointer, before=before, after=after
        )

    def of_item(self, item_id: str) -> SyncChange:
        """Return the row of a change of an item alone."""
        before, after = self.before.get(item_id), self.after.get(item_id)
        action = PointerActionChoices.UPDATE if after else PointerActionChoices.DELETE
        return SyncChange(
            run=self.run, item_id=item_id, action=action, before=self.side(before), after=self.side(after)
        )

    @staticmethod
    def side(row: KnowledgeItem | None) -> dict[str, Any]:
        """Return a side of a change with the row of an item."""
        return {"item": COLUMNS.values(row)} if row else {}


def memory_to_json(memory: ManagedMemory | MemoryDraft) -> dict[str, Any]:
    """Return a memory, or a draft of one, as the change of a run keeps it."""
    return {
        "content": memory.content,
        "metadata": dict(memory.metadata),
        "type": memory.type,
        "project": memory.project,
        "keywords": list(memory.keywords),
        "importance": memory.importance,
    }
