"""What the schedule does: syncs that are due, interrupted runs, lost tasks; and how long runs are kept."""

import logging
from datetime import timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from apps.core.db.user_locks import of_unlocked
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ConflictError, NotFoundError
from apps.sync.domain.state import Resolution
from apps.sync.domain.triggers import should_sync
from apps.sync.models import (
    KnowledgeSource,
    PointerConflict,
    SyncCheckpoint,
    SyncConflictState,
    SyncKind,
    SyncRun,
    SyncRunState,
    SyncState,
    WebhookDelivery,
)
from apps.sync.runs.lock import is_locked, source_lock
from apps.sync.runs.outcome import end_interrupted
from apps.sync.runs.stored import checkpoints_trim
from apps.sync.runs.sync import BUSY
from apps.sync.sources.access import trigger_facts
from apps.sync.sources.removal import copies_sweep
from apps.sync.triggers.request import REQUESTED, enqueue, run_request
from apps.sync.triggers.webhook import MAX_AGE

logger = logging.getLogger(__name__)
ACTOR = "system"
INTERRUPTED_REASON = "interrupted"
# A run that was interrupted so often in a row is not begun again without a trigger.
MAX_INTERRUPTED = 3
# A task that has not begun after so long was lost; longer than django-q2 waits before it begins one again.
LOST_AFTER = timedelta(minutes=20)
# Of each source.
KEPT_RUNS = 200
BATCH = 500
# Longer than a delivery may be old, for clocks that differ.
KEPT_DELIVERIES = MAX_AGE + timedelta(days=1)


def sync_due(*, clock: Clock = SYSTEM_CLOCK) -> list[SyncRun]:
    """Request the syncs that are due, and end interrupted runs; each minute. Return the runs that were requested.

    A source that fails does not hold up others.
    """
    requested = []
    for source in of_unlocked(KnowledgeSource.objects.all()).order_by("pk"):
        try:
            run = request_due(source, clock)
        except (ConflictError, NotFoundError, KnowledgeSource.DoesNotExist):
            continue  # it is being synced, forgotten or deleted
        except Exception as error:  # noqa: BLE001
            logger.error("source %s could not be checked: %s", source.uuid, type(error).__name__)
            continue
        if run is not None:
            requested.append(run)
    return requested


def request_due(source: KnowledgeSource, clock: Clock) -> SyncRun | None:
    """Request a sync of a source if one is due; return a run that was requested. Raises ConflictError."""
    if is_locked(source.pk):
        return None
    if again := request_interrupted(source, clock):
        return again
    waiting = SyncRun.objects.filter(source=source, state=SyncRunState.WAITING).order_by("pk")
    if waiting.exists():
        enqueue_lost(source, clock)
        return None
    state, _ = SyncState.objects.get_or_create(source=source)
    answer = should_sync(trigger_facts(source, state), utcnow(clock))
    if not answer.should:
        return None
    return run_request(source, SyncKind.INCREMENTAL, reason=answer.reason, actor=ACTOR, clock=clock)


def request_interrupted(source: KnowledgeSource, clock: Clock) -> SyncRun | None:
    """End the runs whose processes have ended, and request the last one again. Raises ConflictError."""
    if not SyncRun.objects.filter(source=source, state=SyncRunState.RUNNING).exists():
        return None
    with source_lock(source.pk):
        ended = end_interrupted(source, clock)
    last = next((run for run in reversed(ended) if run.kind in REQUESTED), None)
    if last is None or source.paused or not source.enabled:
        return None
    recent = SyncRun.objects.filter(source=source).newest_first().values_list("state", flat=True)[:MAX_INTERRUPTED]
    if list(recent) == [SyncRunState.INTERRUPTED] * MAX_INTERRUPTED:
        return None
    kind = SyncKind(last.kind)
    return run_request(
        source,
        kind,
        item_id=last.item_id,
        reason=INTERRUPTED_REASON,
        actor=ACTOR,
        clock=clock,
        allow_empty=last.allow_empty,
    )


@transaction.atomic
def enqueue_lost(source: KnowledgeSource, clock: Clock) -> None:
    """Enqueue the tasks of runs that wait without one: the source was busy, or a task was lost."""
    now = utcnow(clock)
    for run in SyncRun.objects.select_for_update().filter(source=source, state=SyncRunState.WAITING).order_by("pk"):
        if run.step != BUSY and run.requested_at > now - LOST_AFTER:
            continue
        run.step, run.requested_at = "", now
        run.save(update_fields=["step", "requested_at"])
        enqueue(run)


def runs_trim(*, clock: Clock = SYSTEM_CLOCK) -> int:
    """Delete old runs of every source with their changes and conflicts, and what sources and webhooks left; each hour.

    The last 200 of a source stay, and with them those that a checkpoint needs, that found a conflict which waits, or
    in which a person decided to leave a memory as it is. Deliveries of webhooks stay for a month. Return how many runs
    were deleted.
    """
    copies_sweep()
    WebhookDelivery.objects.filter(received_at__lt=utcnow(clock) - KEPT_DELIVERIES).delete()
    return sum(trim_source(source) for source in KnowledgeSource.objects.order_by("pk"))


def trim_source(source: KnowledgeSource) -> int:
    """Delete the old runs of a source; return how many."""
    checkpoints_trim(source)
    runs = SyncRun.objects.filter(source=source).newest_first()
    kept = set(runs.values_list("pk", flat=True)[:KEPT_RUNS])
    # Each checkpoint that is left is needed, with all that ran since the oldest of them: those runs have one, or did
    # nothing that could be taken back.
    is_kept = Q(state=SyncConflictState.RESOLVED, resolution=Resolution.KEEP_MEMORY) & ~Q(resolved_by="")
    needed = Exists(SyncCheckpoint.objects.filter(run=OuterRef("pk"))) | Exists(
        PointerConflict.objects.filter(Q(state=SyncConflictState.OPEN) | is_kept, run=OuterRef("pk"))
    )
    old = runs.exclude(pk__in=kept).exclude(needed).exclude(state__in=[SyncRunState.WAITING, SyncRunState.RUNNING])
    removed = 0
    while keys := list(old.values_list("pk", flat=True)[:BATCH]):
        SyncRun.objects.filter(pk__in=keys).delete()
        removed += len(keys)
    return removed
