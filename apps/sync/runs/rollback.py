"""Taking back what was synced since a checkpoint (spec 003, checkpoint and rollback)."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import transaction

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import NotFoundError
from apps.core.domain.scope import Access
from apps.core.steps import Step, no_step
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.selectors import managed_get
from apps.semantic.services import ManagedChange, managed_prepare, managed_with_space
from apps.sync.domain.as_json import items_digest
from apps.sync.domain.state import Plan, PointerAction, PointerChange
from apps.sync.models import (
    KnowledgeItem,
    PointerConflict,
    SyncChange,
    SyncCheckpoint,
    SyncConflictState,
    SyncKind,
    SyncRun,
    SyncRunState,
    SyncState,
)
from apps.sync.runs.apply import ChangeRows, Prepared, begin_apply, write_pointers
from apps.sync.runs.lock import source_lock
from apps.sync.runs.outcome import end_interrupted, end_waiting, finish_run
from apps.sync.runs.pointers import draft_from_json
from apps.sync.runs.rows import COLUMNS, delete_items, read_rows, write_items
from apps.sync.runs.stored import checkpoint_make, checkpoint_read, load_items, load_stored, state_digest
from apps.sync.runs.sync import begin_run, carry_out, read_again
from apps.sync.runs.work import RunProgress
from apps.sync.sources.access import source_to_change

REASON = "rollback"
# Where a kill may interrupt a rollback, in this order.
ROLLBACK_STEPS = ("started", "checkpoint", "embedded", "pointers", "items", "changes", "state", "applied", "committed")


def sync_rollback(
    *,
    access: Access,
    uuid: UUID,
    checkpoint: UUID,
    clock: Clock = SYSTEM_CLOCK,
    step: Step = no_step,
) -> SyncRun:
    """Take back what was synced since a checkpoint, and pause the source, so that no trigger does the same again.

    Return the run, which can be taken back as well. Call it outside a transaction. Raises NotFoundError,
    ForbiddenError, ConflictError (`sync_running`), StateCorruptedError for a damaged checkpoint, UnavailableError.
    """
    source = source_to_change(access, uuid)
    run = SyncRun(
        source=source, kind=SyncKind.ROLLBACK, reason="manual", actor=access.actor, requested_at=utcnow(clock)
    )
    with source_lock(source.pk):
        run.source = read_again(source)
        end_interrupted(run.source, clock)
        target = SyncCheckpoint.objects.filter(source=source, uuid=checkpoint).select_related("run").first()
        if target is None:
            raise NotFoundError("There is no such checkpoint.")
        begin_run(run, clock)
        carry_out(run, RollbackWork(run, target, clock, step), clock)
    return run


@dataclass
class Before:
    """What items and pointers were at a checkpoint: an empty object for what there was not."""

    items: dict[str, dict[str, Any]] = field(default_factory=dict)
    memories: dict[UUID, dict[str, Any]] = field(default_factory=dict)
    item_of: dict[UUID, str] = field(default_factory=dict)


class RollbackWork:
    """The work of a rollback, under the lock of its source."""

    def __init__(self, run: SyncRun, checkpoint: SyncCheckpoint, clock: Clock, step: Step) -> None:
        self.run, self.source, self.checkpoint = run, run.source, checkpoint
        self.clock, self.step = clock, step
        self.progress = RunProgress(run)
        self.conflicts: Counter[str] = Counter()

    def work(self) -> None:
        """Do all steps. Raises MemoryHubError; nothing is changed then."""
        self.step("started")
        stored = load_stored(self.source)
        self.run.from_commit = stored.state.last_commit
        checkpoint_make(self.source, self.run, stored, self.clock)
        self.step("checkpoint")
        before = Before()
        for change in SyncChange.objects.filter(run__in=self.runs()).order_by("pk").iterator(1_000):
            before.items.setdefault(change.item_id, change.before.get("item", {}))
            if change.pointer is not None:
                before.memories.setdefault(change.pointer, change.before.get("memory", {}))
                before.item_of.setdefault(change.pointer, change.item_id)
        managed_with_space(lambda: self.write(before))

    def runs(self) -> list[int]:
        """Return the keys of the runs since the checkpoint, in the order in which they ran."""
        since = SyncCheckpoint.objects.filter(source=self.source, pk__gte=self.checkpoint.pk)
        return list(since.exclude(run=self.run).order_by("pk").values_list("run", flat=True))

    def write(self, before: Before) -> None:
        """Embed what was other text, and write all of it. Raises MemoryHubError, SpaceChangedError."""
        prepared = self.prepare(before)
        self.step("embedded")
        self.progress.begin("apply", len(prepared.plan.changes))
        with transaction.atomic():
            begin_apply(self.source, self.run)
            memories = managed_get(before.memories)
            uuids = write_pointers(self.run, prepared, self.clock)
            self.step("pointers")
            moved = {
                change.pointer: uuid
                for (change, _), uuid in zip(prepared.written, uuids, strict=True)
                if change.pointer
            }
            rows = [KnowledgeItem(source=self.source, **COLUMNS.read(data)) for data in before.items.values() if data]
            for row in rows:
                row.pointer = moved.get(row.pointer, row.pointer) if row.pointer else None
            gone = {item_id for item_id, data in before.items.items() if not data}
            present = read_rows(self.source, before.items)
            delete_items(self.source, gone)
            write_items(rows)
            self.step("items")
            active = {uuid: memory for uuid, memory in memories.items() if memory.is_active}
            ChangeRows(self.run, present, {row.item_id: row for row in rows}, active).write(prepared, uuids, gone)
            self.step("changes")
            self.write_state()
            self.step("state")
            actions = [change.action for change in prepared.plan.changes]
            run = self.run
            run.added = actions.count(PointerAction.CREATE)
            run.updated = actions.count(PointerAction.UPDATE)
            run.deleted = actions.count(PointerAction.DELETE)
            run.state = SyncRunState.COMPLETE
            finish_run(run, utcnow(self.clock))
            self.step("applied")

    def prepare(self, before: Before) -> Prepared:
        """Return what makes the pointers what they were. Raises UnavailableError."""
        now = {uuid for uuid, memory in managed_get(before.memories).items() if memory.is_active}
        changes: list[PointerChange] = []
        written: list[tuple[PointerChange, MemoryDraft]] = []
        for pointer, data in before.memories.items():
            if not data:
                if pointer in now:
                    changes.append(PointerChange(PointerAction.DELETE, before.item_of[pointer], pointer, REASON))
                continue
            action = PointerAction.UPDATE if pointer in now else PointerAction.CREATE
            change = PointerChange(action, before.item_of[pointer], pointer, REASON)
            changes.append(change)
            written.append((change, draft_from_json(self.source, data)))
        self.progress.begin("embed", len(written))
        drafts = [ManagedChange(draft=draft, uuid=change.pointer, reason=REASON) for change, draft in written]
        part = managed_prepare(changes=drafts, progress=self.progress.show)
        return Prepared(Plan(tuple(changes)), written, [part])

    def write_state(self) -> None:
        """Restore the state of the checkpoint, note which runs were taken back, and pause the source.

        Runs that wait would do the same again, and are ended.
        The rows of files stay: they are of another commit, which the state says.
        """
        saved = checkpoint_read(self.checkpoint)
        now = utcnow(self.clock)
        state = SyncState.objects.select_for_update().get(source=self.source)
        # All fields but the generation, which only rises.
        for name, value in saved.fields.items():
            if name != "generation":
                setattr(state, name, value)
        state.remaining, state.retries, state.next_try_at = 0, 0, None
        state.generation += 1
        state.checksum = state_digest(state, items_digest(load_items(self.source)[0].values()))
        state.save()
        runs = SyncRun.objects.filter(pk__in=self.runs(), rolled_back_by=None)
        PointerConflict.objects.filter(run__in=self.runs()).open().update(
            state=SyncConflictState.OUTDATED, resolved_at=now
        )
        runs.update(rolled_back_by=self.run)
        waiting = SyncRun.objects.filter(source=self.source)
        end_waiting(waiting, "source_paused", "The source was rolled back and paused.", self.clock)
        self.run.to_commit = state.last_commit
        self.source.paused = f"Rolled back to the state before {self.checkpoint.run.started_at:%Y-%m-%d %H:%M:%S} UTC."
        self.source.updated_at = now
        self.source.save(update_fields=["paused", "updated_at"])
