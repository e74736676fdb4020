"""What became of a run: on its row, in the state, in metrics, logs and hub events (spec 003, observability)."""

import logging
import traceback
from datetime import datetime

from django.db import Error, connection, transaction
from django.db.models import QuerySet

from apps.core.domain.clock import Clock, utcnow
from apps.core.domain.errors import MemoryHubError, UnavailableError
from apps.events.services import emit
from apps.sync import metrics
from apps.sync.domain.triggers import retry_delay
from apps.sync.events import SyncFailed, SyncFinished
from apps.sync.models import KnowledgeSource, SyncKind, SyncRun, SyncRunState, SyncState

logger = logging.getLogger(__name__)
INTERRUPTED = "interrupted"
ERROR = "error"
ERROR_DETAIL = "A fault of the hub: its log has the cause."
INTERRUPTED_DETAIL = "Its process ended before the sync did: nothing of it was kept."
MAX_DETAIL_CHARS = 1_000
PAUSED_AFTER = 10


def finish_run(run: SyncRun, at: datetime) -> None:
    """Write a run that has done its work, with its hub event, in the caller's transaction."""
    step, run.ended_at, run.step = run.step, at, ""
    run.save()
    run.step = step  # for the log, where the transaction fails after this
    emit(
        SyncFinished(
            source_id=run.source.uuid,
            run_id=run.uuid,
            user_id=run.source.user_id,
            at=at,
            kind=str(run.kind),
            state=str(run.state),
            added=run.added,
            updated=run.updated,
            deleted=run.deleted,
            failed=run.failed,
            remaining=run.remaining,
            commit=run.to_commit,
        )
    )


def count_finished(run: SyncRun, conflicts: dict[str, int]) -> None:
    """Count and log a run that was committed. conflicts: how many of each type it found."""
    count_ended(run)
    metrics.ITEMS_ADDED.inc(run.added)
    metrics.ITEMS_UPDATED.inc(run.updated)
    metrics.ITEMS_DELETED.inc(run.deleted)
    for type_, number in conflicts.items():
        metrics.CONFLICTS.labels(type_).inc(number)
    if run.state == SyncRunState.PARTIAL:
        metrics.FAILURES.labels(run.code).inc()
    logger.info(
        "sync %s (%s) of source %s is %s at %s: %d added, %d updated, %d deleted, %d unchanged, %d conflicts, "
        "%d failed, %d remaining",
        run.uuid,
        run.kind,
        run.source.uuid,
        run.state,
        run.to_commit[:12],
        run.added,
        run.updated,
        run.deleted,
        run.unchanged,
        run.conflicts,
        run.failed,
        run.remaining,
    )


def count_ended(run: SyncRun) -> None:
    """Count a run that has ended, and its time."""
    metrics.OPERATIONS.labels(str(run.kind), str(run.state)).inc()
    if run.started_at and run.ended_at:
        metrics.OPERATION_SECONDS.labels(str(run.kind)).observe((run.ended_at - run.started_at).total_seconds())


def fail_run(run: SyncRun, error: BaseException, clock: Clock) -> None:
    """Record why a run failed; its transaction was rolled back, so that nothing else was changed.

    It is tried again later and later (spec 003, knowledge unavailable).
    """
    # Of unexpected errors only the kind may be shown.
    code, detail = ERROR, f"{ERROR_DETAIL} ({type(error).__name__})"
    if isinstance(error, MemoryHubError):
        code, detail = error.code[:50], error.detail[:MAX_DETAIL_CHARS]
    logger.log(
        logging.WARNING if isinstance(error, MemoryHubError) else logging.ERROR,
        "sync %s (%s) of source %s failed at %s with %s (%s) and was rolled back: pointers and state are as before%s",
        run.uuid,
        run.kind,
        run.source.uuid,
        run.step or "its begin",
        code,
        type(error).__name__,
        "" if isinstance(error, MemoryHubError) else "\n" + "".join(traceback.format_tb(error.__traceback__)),
    )
    metrics.FAILURES.labels(code).inc()
    run.state, run.code, run.detail, run.ended_at = SyncRunState.FAILED, code, detail, utcnow(clock)
    count_ended(run)
    try:
        if not connection.in_atomic_block and not connection.is_usable():
            connection.close()
        record_failure(run, is_retryable=isinstance(error, UnavailableError), now=run.ended_at)
    except Error as failure:
        # The next start finds that the run was interrupted.
        logger.warning("the failure of sync %s could not be recorded: %s", run.uuid, type(failure).__name__)


@transaction.atomic
def record_failure(run: SyncRun, *, is_retryable: bool, now: datetime) -> None:
    """Write the end of a failed run, and when it is tried again. Of a source that was removed there is nothing left."""
    rows = SyncRun.objects.filter(pk=run.pk, state=SyncRunState.RUNNING)
    if not rows.update(state=run.state, code=run.code, detail=run.detail, ended_at=now, fallback=run.fallback):
        return
    note_failure(run, is_retryable=is_retryable, now=now)
    emit(
        SyncFailed(
            source_id=run.source.uuid,
            run_id=run.uuid,
            user_id=run.source.user_id,
            at=now,
            kind=str(run.kind),
            code=run.code,
            is_retryable=is_retryable,
        )
    )


def end_waiting(runs: QuerySet[SyncRun], code: str, detail: str, clock: Clock) -> int:
    """End those of some runs that wait, because they must not begin any more. Return how many."""
    waiting = runs.filter(state=SyncRunState.WAITING)
    return waiting.update(state=SyncRunState.FAILED, code=code, detail=detail, step="", ended_at=utcnow(clock))


def note_failure(run: SyncRun, *, is_retryable: bool, now: datetime) -> None:
    """Have triggers wait after a run that has written no state, longer after each one; in the caller's transaction.

    A source is paused after many in a row that failed alike and for no reason that passes.
    """
    if run.kind not in (SyncKind.FULL, SyncKind.INCREMENTAL):
        return
    state, _ = SyncState.objects.select_for_update().get_or_create(source=run.source)
    state.retries += 1
    state.next_try_at = now + retry_delay(state.retries)
    state.save(update_fields=["retries", "next_try_at"])
    if is_retryable or state.retries < PAUSED_AFTER:
        return
    runs = SyncRun.objects.filter(source=run.source, kind__in=[SyncKind.FULL, SyncKind.INCREMENTAL])
    recent = runs.filter(started_at__isnull=False).newest_first().values_list("state", "code")[:PAUSED_AFTER]
    if set(recent) == {(str(run.state), run.code)}:
        reason = f"Its last {PAUSED_AFTER} syncs failed ({run.code}): {run.detail}"[:500]
        KnowledgeSource.objects.filter(pk=run.source.pk, paused="").update(paused=reason, updated_at=now)
        logger.warning("source %s is paused: its last %d syncs failed (%s)", run.source.uuid, PAUSED_AFTER, run.code)


def end_interrupted(source: KnowledgeSource, clock: Clock) -> list[SyncRun]:
    """End the runs of a source whose processes have ended, and return them. The caller holds the lock of the source.

    What they had not committed is gone, so the state is that before them.
    """
    ended = []
    for run in SyncRun.objects.filter(source=source, state=SyncRunState.RUNNING).select_related("source"):
        run.state, run.code, run.detail = SyncRunState.INTERRUPTED, INTERRUPTED, INTERRUPTED_DETAIL
        run.ended_at = utcnow(clock)
        with transaction.atomic():
            run.save(update_fields=["state", "code", "detail", "ended_at"])
            note_failure(run, is_retryable=False, now=run.ended_at)
        logger.warning(
            "sync %s (%s) of source %s was interrupted at %s and rolled back",
            run.uuid,
            run.kind,
            source.uuid,
            run.step or "its begin",
        )
        metrics.FAILURES.labels(INTERRUPTED).inc()
        count_ended(run)
        ended.append(run)
    return ended
