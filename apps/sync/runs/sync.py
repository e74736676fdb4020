"""Running syncs: in the foreground, of requests in the worker, and dry."""

import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from django.db import Error, IntegrityError, transaction

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.deadline import Deadline
from apps.core.domain.errors import ConflictError, InvalidInputError, MemoryHubError, NotFoundError
from apps.core.domain.scope import Access, Permission
from apps.core.steps import Step, no_step
from apps.sync.domain.knowledge import KnowledgeItem, RefusedFile
from apps.sync.domain.state import Delta, PointerChange, Resolution, SyncConflict
from apps.sync.models import KnowledgeSource, SyncKind, SyncRun, SyncRunState
from apps.sync.repository.reader import open_reader
from apps.sync.repository.source import SourceSettings
from apps.sync.runs.compare import SourceComparison, compare
from apps.sync.runs.lock import RUNNING_CODE, source_lock
from apps.sync.runs.manifest import Manifest, no_progress, read_manifest
from apps.sync.runs.outcome import count_finished, end_interrupted, end_waiting, fail_run
from apps.sync.runs.stored import checkpoints_trim, load_stored
from apps.sync.runs.work import OnProgress, RunProgress, SyncWork
from apps.sync.sources.access import NO_SUCH_SOURCE, source_to_change
from apps.sync.sources.removal import copies_remove
from apps.sync.sources.values import check_values
from apps.sync.triggers.request import check_request

logger = logging.getLogger(__name__)
# Why the hub itself requests runs: what else is requested was asked for by a person or a program.
TRIGGERED = frozenset({"threshold", "scheduled", "retry", "remaining", "interrupted", "webhook"})
# A task in the worker embeds for so long at most, and leaves the rest to the next one, so that other tasks get a turn.
PART_SECONDS = 240.0
# The step of a run that waits without a task, because another one was running.
BUSY = "busy"
# Of fewer files nobody needs advice.
FEW_FILES = 5
# Settings that a dry run may try.
TRIED = frozenset({"mapping", "folder", "include", "exclude", "convention", "layer"})


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


def sync_run(
    *,
    access: Access,
    uuid: UUID,
    kind: SyncKind,
    item_id: str = "",
    reason: str = "manual",
    on_progress: OnProgress | None = None,
    clock: Clock = SYSTEM_CLOCK,
    step: Step = no_step,
    allow_empty: bool = False,
) -> SyncRun:
    """Sync a source now, and return the run; some files may have failed then. Call it outside a transaction.

    on_progress: called at most every half second. step: called with each of SYNC_STEPS, for tests. allow_empty: delete
    all pointers if there is no file any more; otherwise that is a KnowledgeUnavailableError.

    Raises NotFoundError, ForbiddenError, InvalidInputError, ConflictError (`sync_running`), KnowledgeUnavailableError
    and other UnavailableErrors; after these nothing was changed.
    """
    source = source_to_change(access, uuid, Permission.WRITE)
    check_request(source, kind, item_id)
    now = utcnow(clock)
    run = SyncRun(source=source, kind=kind, item_id=item_id, reason=reason[:50], actor=access.actor, requested_at=now)
    run.allow_empty = allow_empty
    with source_lock(source.pk):
        run.source = read_again(source)
        check_request(run.source, kind, item_id)
        end_interrupted(run.source, clock)
        begin_run(run, clock)
        carry_out(run, SyncWork(run, RunProgress(run, on_progress), clock, step, Deadline(None)), clock)
    return run


def run_waiting(uuid: UUID, *, clock: Clock = SYSTEM_CLOCK, step: Step = no_step) -> SyncRun | None:
    """Work on a run that waits, in the worker. Return it, or None where there is nothing to do. Safe to repeat.

    While the source is being synced the run keeps waiting, and `sync_due` enqueues it again. An error is recorded on
    the run and not raised. A run of a source that was switched off or paused since is ended; but not one that a person
    requested of a paused source.
    """
    run = SyncRun.objects.filter(uuid=uuid, state=SyncRunState.WAITING).select_related("source").first()
    if run is None:
        return None
    try:
        with source_lock(run.source.pk):
            end_interrupted(run.source, clock)
            run = SyncRun.objects.filter(uuid=uuid, state=SyncRunState.WAITING).select_related("source").first()
            if run is None or refuse_waiting(run, clock):
                return run
            begin_run(run, clock)
            carry_out(run, SyncWork(run, RunProgress(run), clock, step, Deadline(PART_SECONDS)), clock)
    except ConflictError as error:
        if error.code != RUNNING_CODE:
            raise
        SyncRun.objects.filter(uuid=uuid, state=SyncRunState.WAITING).update(step=BUSY)
        return None
    except MemoryHubError:
        return run
    return run


def read_again(source: KnowledgeSource) -> KnowledgeSource:
    """Return a source as it is now that its lock is held. Raises NotFoundError for one that was deleted since."""
    present = KnowledgeSource.objects.filter(pk=source.pk).first()
    if present is None:
        raise NotFoundError(NO_SUCH_SOURCE)
    return present


def refuse_waiting(run: SyncRun, clock: Clock) -> bool:
    """End a run that must not begin any more; return whether it must not."""
    source = run.source
    if not source.enabled:
        code, detail = "source_disabled", "The source was switched off."
    elif source.paused and run.reason in TRIGGERED:
        code, detail = "source_paused", "The source was paused."
    else:
        return False
    end_waiting(SyncRun.objects.filter(pk=run.pk), code, detail, clock)
    run.refresh_from_db()
    return True


def begin_run(run: SyncRun, clock: Clock) -> None:
    """Write a run as the running one of its source. Raises ConflictError, NotFoundError."""
    run.state, run.started_at = SyncRunState.RUNNING, utcnow(clock)
    try:
        with transaction.atomic():
            run.save()
    except IntegrityError:
        read_again(run.source)
        raise ConflictError("This source is being synced: try again when that has ended.", code=RUNNING_CODE) from None


class Work(Protocol):
    """What a run does. step: see `apps.core.steps`. conflicts: how many of each type it found."""

    step: Step
    conflicts: Counter[str]

    def work(self) -> None:
        """Do all steps up to the commit. Raises MemoryHubError; nothing is changed then."""


def carry_out(run: SyncRun, work: Work, clock: Clock) -> None:
    """Do the work of a run, and record how it failed. Raises what the work raises.

    What follows the commit cannot make it fail any more: old checkpoints are deleted each hour as well.
    """
    try:
        work.work()
    except BaseException as error:
        fail_run(run, error, clock)
        raise
    work.step("committed")
    count_finished(run, work.conflicts)
    try:
        checkpoints_trim(run.source)
    except Error as error:
        logger.warning("checkpoints of source %s were not trimmed: %s", run.source.uuid, type(error).__name__)


def sync_preview(*, access: Access, uuid: UUID, values: Mapping[str, Any] | None = None) -> Preview:
    """Return what a full sync would do now: what each file would become, what changes, and the conflicts.

    values: of settings that decide which files are read and how, to be tried instead of those of the source. No row is
    written. Raises NotFoundError, ForbiddenError, InvalidInputError, KnowledgeUnavailableError.
    """
    source = source_to_change(access, uuid, Permission.WRITE)
    for name, value in check_values({**(values or {})}).items():
        if name not in TRIED:
            raise InvalidInputError("A dry run does not check this.", attr=name)
        setattr(source, name, value)
    return preview_of(source)


def preview_of(source: KnowledgeSource) -> Preview:
    """Return what a full sync of a source would do now.

    Raises KnowledgeUnavailableError, and NotFoundError for one that is deleted while it is fetched.
    """
    stored = load_stored(source)
    with open_reader(SourceSettings.of(source)) as reader:
        manifest = read_manifest(source, reader, stored, full=True, progress=no_progress)
    if not KnowledgeSource.objects.filter(pk=source.pk).exists():
        copies_remove(source)
        raise NotFoundError(NO_SUCH_SOURCE)
    comparison = compare(source, manifest, stored)
    plan = comparison.plan()
    items = {item.path: item for item in comparison.items.values()}
    refused = {one.path: one for one in comparison.refused}
    return Preview(
        commit=manifest.commit,
        from_commit=stored.state.last_commit,
        files=tuple(
            PreviewFile(path, items.get(path), refused.get(path) or file.refused)
            for path, file in sorted(manifest.files.items())
        ),
        delta=comparison.delta,
        conflicts=plan.resolved,
        changes=plan.changes,
        statuses=Counter(str(item.status) for item in comparison.items.values()),
        advice=advice_on(source, manifest, comparison),
    )


def advice_on(source: KnowledgeSource, manifest: Manifest, comparison: SourceComparison) -> str:
    """Return what would make a source better: a folder, where most files of it are no knowledge. Empty for nothing."""
    total, items = len(manifest.files), comparison.items.values()
    noise = total - len(items)
    if source.folder or source.include or total < FEW_FILES or noise <= len(items):
        return ""
    said = f"Most files are not documents of a known kind: {noise} of {total}."
    folders = Counter(item.path.rpartition("/")[0] for item in items if "/" in item.path)
    if not folders:
        return f"{said} Name the folder that has them, or patterns."
    [(folder, count)] = folders.most_common(1)
    return f"{said} Name a folder, such as {folder}, which has {count} of the items."
