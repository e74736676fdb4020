"""Requests of syncs in the background: a row that waits, and a task that works on it."""

from uuid import UUID

from django.conf import settings
from django.db import transaction
from django_q.tasks import async_task

from apps.core.db.user_locks import hold_users
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ConflictError, InvalidInputError, NotFoundError
from apps.core.domain.scope import Access, Permission
from apps.sync.models import MAX_ITEM_ID_CHARS, KnowledgeSource, SyncKind, SyncRun, SyncRunState
from apps.sync.sources.access import NO_SUCH_SOURCE, source_to_change

TASK = "apps.sync.tasks.run"
REQUESTED = (SyncKind.FULL, SyncKind.INCREMENTAL, SyncKind.SINGLE)
# Reading, comparing and writing may take so long after fetching; the worker ends a task that takes longer.
TASK_SECONDS = 1_800


def sync_request(
    *,
    access: Access,
    uuid: UUID,
    kind: SyncKind,
    item_id: str = "",
    reason: str = "manual",
    clock: Clock = SYSTEM_CLOCK,
    allow_empty: bool = False,
) -> SyncRun:
    """Have a source synced in the background, and return the run; one that waits for the same is returned instead.

    allow_empty: as of `sync_run`. Raises NotFoundError, ForbiddenError, InvalidInputError, ConflictError for a source
    that is switched off.
    """
    source = source_to_change(access, uuid, Permission.WRITE)
    check_request(source, kind, item_id)
    return run_request(
        source, kind, item_id=item_id, reason=reason, actor=access.actor, clock=clock, allow_empty=allow_empty
    )


def check_request(source: KnowledgeSource, kind: SyncKind, item_id: str) -> None:
    """Raise InvalidInputError or ConflictError for a sync that cannot be requested."""
    if kind not in REQUESTED:
        raise InvalidInputError(f"Choose one of {', '.join(REQUESTED)}.", attr="kind", code="invalid_choice")
    if (kind == SyncKind.SINGLE) != bool(item_id):
        raise InvalidInputError("Name an item for a single sync, and only for that.", attr="item_id")
    if len(item_id) > MAX_ITEM_ID_CHARS or "\0" in item_id:
        raise InvalidInputError("No item can have this id.", attr="item_id")
    if not source.enabled:
        raise ConflictError("This source is switched off.", code="source_disabled")


@transaction.atomic
def run_request(
    source: KnowledgeSource,
    kind: SyncKind,
    *,
    item_id: str = "",
    reason: str,
    actor: str,
    clock: Clock,
    allow_empty: bool = False,
) -> SyncRun:
    """Enqueue a run of a source, or return one that waits and does as much. Raises NotFoundError, UserLockedError."""
    hold_users([source.user_id])
    if not KnowledgeSource.objects.select_for_update(no_key=True).filter(pk=source.pk).exists():
        raise NotFoundError(NO_SUCH_SOURCE)
    waiting = SyncRun.objects.filter(source=source, state=SyncRunState.WAITING)
    kinds = [kind, SyncKind.FULL] if kind == SyncKind.INCREMENTAL else [kind]
    if allow_empty:
        waiting = waiting.filter(allow_empty=True)
    if known := waiting.filter(kind__in=kinds, item_id=item_id).order_by("pk").first():
        return known
    run = SyncRun.objects.create(
        source=source,
        kind=kind,
        item_id=item_id,
        reason=reason[:50],
        actor=actor,
        requested_at=utcnow(clock),
        allow_empty=allow_empty,
    )
    enqueue(run)
    return run


def enqueue(run: SyncRun) -> None:
    """Enqueue the task of a run that waits. The queue is in the same database, so it is a row of the transaction.

    timeout: the worker allows more than for other tasks. A task of which it has heard nothing for as long as `retry` is
    begun a second time, and ends at once: the run does not wait any more.
    """
    seconds = round(settings.MEMORYHUB.sync.fetch_seconds) + TASK_SECONDS
    options = {"save": False, "timeout": seconds}
    async_task(TASK, str(run.uuid), task_name=f"sync: {run.kind}", q_options=options)
