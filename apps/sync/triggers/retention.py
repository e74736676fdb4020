"""How long runs are kept, for rollbacks and for people who look at them, and deliveries of webhooks."""

from datetime import timedelta

from django.db.models import Exists, OuterRef, Q

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.sync.domain.state import Resolution
from apps.sync.models import (
    KnowledgeSource,
    PointerConflict,
    SyncCheckpoint,
    SyncConflictState,
    SyncRun,
    SyncRunState,
    WebhookDelivery,
)
from apps.sync.runs.checkpoint import checkpoints_trim
from apps.sync.sources.removal import copies_sweep
from apps.sync.triggers.webhook import MAX_AGE

# Of each source.
KEPT_RUNS = 200
BATCH = 500
# Longer than a delivery may be old, for clocks that differ.
KEPT_DELIVERIES = MAX_AGE + timedelta(days=1)


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
