"""One sync: read, derive, compare, plan, embed, and apply in one transaction (spec 003, sync operations)."""

import gc
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from django.db import transaction

from apps.core.domain.clock import Clock, utcnow
from apps.core.domain.deadline import Deadline
from apps.core.steps import Step
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.services import ManagedChange, PreparedManaged, managed_prepare, managed_with_space
from apps.sync.domain.errors import NO_ITEMS, PARTIAL_FAILURE, STATE_CORRUPTED, KnowledgeUnavailableError
from apps.sync.domain.state import Plan, PointerAction, PointerChange
from apps.sync.models import KnowledgeFile, SourceKind, SyncKind, SyncRun, SyncRunState, SyncState
from apps.sync.repository.reader import open_reader
from apps.sync.repository.source import SourceSettings
from apps.sync.runs.apply import Applied, Prepared, apply_plan, begin_apply
from apps.sync.runs.compare import SourceComparison, compare, compare_one
from apps.sync.runs.manifest import CORRUPTED, NO_STATE, Manifest, read_digest, read_manifest
from apps.sync.runs.outcome import finish_run
from apps.sync.runs.pointers import pointer_draft
from apps.sync.runs.rows import write_conflicts, write_files
from apps.sync.runs.stored import (
    FILES,
    Stored,
    checkpoint_make,
    files_checksum,
    files_digest,
    load_stored,
    state_digest,
)

# Between two writes of progress.
SAVE_SECONDS = 0.5
OnProgress = Callable[[SyncRun], None]
_lock = threading.Lock()
_pauses = 0
# Where a kill may interrupt a sync, in this order.
SYNC_STEPS = (
    "started", "checkpoint", "read", "compared", "embedded", "pointers", "items", "changes", "conflicts", "files",
    "state", "applied", "committed",
)  # fmt: skip
# Items whose pointers are embedded between two looks at the clock.
EMBEDDED_AT_ONCE = 200
MAX_FAILED_ITEMS = 1_000


class RunProgress:
    """The progress of one run, written at most every half second, outside of the transaction that applies it."""

    def __init__(self, run: SyncRun, on_progress: OnProgress | None = None) -> None:
        self.run, self.on_progress = run, on_progress
        self._saved_at = float("-inf")

    def begin(self, step: str, total: int = 0) -> None:
        """Show the begin of a step."""
        self.run.step, self.run.done, self.run.total = step, 0, total
        self.save()

    def show(self, done: int, total: int) -> None:
        """Show how far a step is; its end always."""
        self.run.done, self.run.total = done, total
        if done >= total or time.monotonic() - self._saved_at >= SAVE_SECONDS:
            self.save()

    def save(self) -> None:
        """Write progress. A run whose source was removed has no row any more."""
        self._saved_at = time.monotonic()
        run = self.run
        SyncRun.objects.filter(pk=run.pk).update(step=run.step, done=run.done, total=run.total)
        if self.on_progress is not None:
            self.on_progress(run)


@contextmanager
def collector_paused() -> Iterator[None]:
    """Collect no cyclic garbage in this process during the block, which is to last a few seconds at most.

    For work that makes many objects which all stay: each collection goes through all of them, and finds nothing. It was
    half of the time of comparing 10,000 items.
    """
    global _pauses
    with _lock:
        was_enabled = _pauses > 0 or gc.isenabled()
        _pauses += was_enabled
        gc.disable()
    try:
        yield
    finally:
        with _lock:
            _pauses -= was_enabled
            if was_enabled and not _pauses:
                gc.enable()


class SyncWork:
    """The work of one run, of which the caller holds the lock.

    deadline: when it is over, what is not embedded yet is left for the next run.
    """

    def __init__(self, run: SyncRun, progress: RunProgress, clock: Clock, step: Step, deadline: Deadline) -> None:
        self.run, self.source, self.progress = run, run.source, progress
        self.clock, self.step, self.deadline = clock, step, deadline
        self.limit = self.source.max_items if run.kind == SyncKind.INCREMENTAL else None
        self.conflicts: Counter[str] = Counter()
        self.no_items_detail = ""

    def work(self) -> None:
        """Do all steps. Raises MemoryHubError; nothing is changed then."""
        self.step("started")
        with collector_paused():
            stored = load_stored(self.source)
        checkpoint_make(self.source, self.run, stored, self.clock)
        self.step("checkpoint")
        manifest = self.read(stored)
        self.step("read")
        require_files(self.run, manifest, stored)
        self.no_items_detail = no_items_detail(manifest)
        self.progress.begin("compare", len(manifest.files))
        with collector_paused():
            comparison = compare(self.source, manifest, stored, contents=self.run.kind == SyncKind.FULL)
            if self.run.kind == SyncKind.SINGLE:
                comparison = compare_one(comparison, self.run.item_id)
            plan = comparison.plan(self.limit)
        self.step("compared")
        managed_with_space(lambda: self.write(stored, manifest, comparison, plan))

    def read(self, stored: Stored) -> Manifest:
        """Read the files, and note why all of them were read by a sync that should not have. Raises MemoryHubError."""
        self.progress.begin("read")
        run = self.run
        run.from_commit = stored.state.last_commit
        if stored.damaged:
            run.code = STATE_CORRUPTED
            run.detail = f"The stored state was damaged ({', '.join(stored.damaged)}) and was rebuilt."
        with open_reader(SourceSettings.of(self.source)) as reader:
            is_full = run.kind == SyncKind.FULL
            manifest = read_manifest(self.source, reader, stored, full=is_full, progress=self.progress.show)
        run.fallback = manifest.fallback
        if manifest.fallback and (run.kind == SyncKind.INCREMENTAL or manifest.fallback in (CORRUPTED, NO_STATE)):
            run.kind, run.item_id = SyncKind.FULL, ""
        run.to_commit, run.commits = manifest.commit, manifest.commits
        return manifest

    def write(self, stored: Stored, manifest: Manifest, comparison: SourceComparison, plan: Plan) -> None:
        """Embed what is new, and apply all of it. Raises MemoryHubError, SpaceChangedError."""
        prepared = self.prepare(comparison, plan)
        self.step("embedded")
        self.progress.begin("apply", len(prepared.plan.changes))
        with transaction.atomic():
            begin_apply(self.source, self.run)
            applied = apply_plan(
                self.run, comparison, stored, prepared, commit=manifest.commit, clock=self.clock, step=self.step
            )
            self.write_conflicts(prepared.plan)
            self.step("conflicts")
            self.write_state(stored, manifest, comparison, prepared.plan, applied)
            self.step("state")
            self.finish(comparison, prepared.plan, applied)
            self.step("applied")

    def prepare(self, comparison: SourceComparison, plan: Plan) -> Prepared:
        """Embed the contents that are new, as far as there is time. Raises UnavailableError."""
        drafts = make_drafts(comparison, plan)
        self.progress.begin("embed", len(drafts))
        parts: list[PreparedManaged] = []
        for start in range(0, max(len(drafts), 1), EMBEDDED_AT_ONCE):
            if parts and self.deadline.expired:
                drafts = drafts[:start]
                items = list(dict.fromkeys(change.item_id for change in plan.changes))
                plan = comparison.plan(items.index(drafts[-1][0].item_id) + 1)
                break
            part = drafts[start : start + EMBEDDED_AT_ONCE]
            changes = [managed_change(comparison, change, draft) for change, draft in part]
            parts.append(managed_prepare(changes=changes, progress=partial(self.embedded, start, len(drafts))))
            self.embedded(start, len(drafts), len(part))
        return Prepared(plan, drafts, parts)

    def embedded(self, before: int, total: int, done: int, _: int = 0) -> None:
        """Show how many pointers are embedded."""
        self.progress.show(before + done, total)

    def write_conflicts(self, plan: Plan) -> None:
        """Write the conflicts that were found."""
        looked_at = [self.run.item_id] if self.run.kind == SyncKind.SINGLE else None
        now = utcnow(self.clock)
        self.conflicts = Counter(conflict.type.value for conflict, _ in plan.resolved)
        self.run.conflicts = write_conflicts(self.run, plan.resolved, looked_at=looked_at, left=plan.left, now=now)

    def write_state(
        self, stored: Stored, manifest: Manifest, comparison: SourceComparison, plan: Plan, applied: Applied
    ) -> None:
        """Write the files and the state. A sync of a single item leaves the rest as the last sync left it."""
        state, now = SyncState.objects.select_for_update().get(source=self.source), utcnow(self.clock)
        if self.run.kind != SyncKind.SINGLE:
            if FILES in stored.damaged:
                KnowledgeFile.objects.filter(source=self.source).delete()
            changed = write_files(self.source, stored.files, manifest.files)
            state.files_commit, state.read_digest = manifest.commit, read_digest(self.source)
            of_files = files_digest(self.source) if changed or FILES in stored.damaged else stored.files_digest
            state.files_checksum = files_checksum(state, of_files)
            state.remaining, state.retries, state.next_try_at = len(plan.left), 0, None
            state.is_complete = not plan.left and not comparison.refused
            if not plan.left:
                state.last_commit, state.last_sync_at, state.sessions_since_sync = manifest.commit, now, 0
                if self.run.kind == SyncKind.FULL:
                    state.last_full_sync_at = now
        self.step("files")
        state.generation += 1
        state.checksum = state_digest(state, applied.digest)
        state.save()

    def finish(self, comparison: SourceComparison, plan: Plan, applied: Applied) -> None:
        """Write the end of the run."""
        run = self.run
        run.added, run.updated, run.deleted = len(applied.added), len(applied.updated), len(applied.deleted)
        changed = applied.added | applied.updated | applied.deleted
        run.unchanged = len(comparison.items.keys() - changed - plan.left)
        run.remaining, run.failed = len(plan.left), len(comparison.refused)
        run.failed_items = [
            {"path": one.path, "code": one.code, "detail": one.detail} for one in comparison.refused[:MAX_FAILED_ITEMS]
        ]
        run.state = SyncRunState.COMPLETE
        if comparison.refused:
            run.state = SyncRunState.PARTIAL
            before = f"{run.detail} " if run.detail else ""
            what = f"{run.failed} files could not be read: their items are as they were, the others are synced."
            run.code, run.detail = PARTIAL_FAILURE, f"{before}{what}"
        elif not comparison.everything and not run.allow_empty:
            run.code, run.detail = NO_ITEMS, self.no_items_detail
        if plan.left:
            run.state = SyncRunState.LIMITED
        finish_run(run, utcnow(self.clock))


def require_files(run: SyncRun, manifest: Manifest, stored: Stored) -> None:
    """Raise KnowledgeUnavailableError where no file is left of a source that had items, or none is in its folder.

    Mostly a volume is not mounted, or a folder or a pattern was mistyped. A person may say that it is meant so.
    """
    if manifest.files or run.allow_empty:
        return
    source = run.source
    # A folder of a repository without any file does not exist.
    if stored.items or stored.pointers or (source.kind == SourceKind.GIT and source.folder):
        raise KnowledgeUnavailableError(
            "No file of the source was found: check that it is mounted, and its branch, folder and patterns. If it is "
            "meant to be empty, ask for a sync with allow_empty."
        )


def make_drafts(comparison: SourceComparison, plan: Plan) -> list[tuple[PointerChange, MemoryDraft]]:
    """Return the memories that a plan writes, in its order."""
    return [
        (change, pointer_draft(comparison.source, comparison.items[change.item_id]))
        for change in plan.changes
        if change.action is not PointerAction.DELETE
    ]


def managed_change(comparison: SourceComparison, change: PointerChange, draft: MemoryDraft) -> ManagedChange:
    """Return the change of a memory.

    One that was deleted behind its item becomes active again, but not one that has become a pointer of another item.
    """
    stored = comparison.stored.get(change.item_id)
    former = stored.pointer if stored and stored.pointer not in comparison.active else None
    pointer = change.pointer or former
    return ManagedChange(draft=draft, uuid=pointer, reason=change.reason)


def no_items_detail(manifest: Manifest) -> str:
    """Return why none of the files of a source is an item: the commonest reason, and how many files have it."""
    if not manifest.files:
        return "No file of the source is wanted: check its branch, folder and patterns."
    reasons = Counter(file.detail for file in manifest.files.values() if file.detail)
    total = len(manifest.files)
    if not reasons:
        return f"Files were found, {total}, and none became an item."
    [(reason, count)] = reasons.most_common(1)
    return f"Files were found, {total}, and none became an item. Of {count} of them: {reason}"
