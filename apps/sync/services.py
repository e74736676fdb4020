"""The door of `sync` for writes."""

from collections.abc import Callable, Mapping
from uuid import UUID

from apps.core.domain.clock import SYSTEM_CLOCK, Clock
from apps.core.domain.scope import Access
from apps.core.steps import Step, no_step
from apps.sync.domain.errors import KnowledgeUnavailableError
from apps.sync.domain.state import Resolution
from apps.sync.models import PointerConflict, SyncKind, SyncRun
from apps.sync.runs.answers import Preview, PreviewFile, WebhookAnswer
from apps.sync.runs.request import sync_request
from apps.sync.sources.change import session_note, source_create, source_pause, source_resume, source_update

__all__ = [
    "KnowledgeUnavailableError",
    "Preview",
    "PreviewFile",
    "WebhookAnswer",
    "conflict_resolve",
    "session_note",
    "source_create",
    "source_delete",
    "source_pause",
    "source_resume",
    "source_update",
    "sync_due",
    "sync_preview",
    "sync_request",
    "sync_rollback",
    "sync_run",
    "webhook_receive",
]


def source_delete(*, access: Access, uuid: UUID, clock: Clock = SYSTEM_CLOCK) -> None:
    """Delete a source with everything that is kept of it; its pointers are soft-deleted.

    Raises NotFoundError, ForbiddenError, ConflictError while a sync of it runs.
    """
    raise NotImplementedError


def sync_run(
    *,
    access: Access,
    uuid: UUID,
    kind: SyncKind,
    item_id: str = "",
    reason: str = "manual",
    on_progress: Callable[[SyncRun], None] | None = None,
    clock: Clock = SYSTEM_CLOCK,
    step: Step = no_step,
) -> SyncRun:
    """Sync a source now, and return the run. Call it outside a transaction.

    Raises NotFoundError, ForbiddenError, InvalidInputError, ConflictError (code `sync_running`),
    KnowledgeUnavailableError, UnavailableError.
    """
    raise NotImplementedError


def sync_preview(*, access: Access, uuid: UUID) -> Preview:
    """Return what a full sync would do now, without writing. Raises NotFoundError, KnowledgeUnavailableError."""
    raise NotImplementedError


def sync_rollback(*, access: Access, uuid: UUID, checkpoint: UUID, clock: Clock = SYSTEM_CLOCK) -> SyncRun:
    """Take back what was synced since a checkpoint, and pause the source. Raises NotFoundError, ForbiddenError."""
    raise NotImplementedError


def conflict_resolve(
    *, access: Access, uuid: UUID, resolution: Resolution, clock: Clock = SYSTEM_CLOCK
) -> PointerConflict:
    """Decide about a conflict that waits for a person. Raises NotFoundError, ForbiddenError, ConflictError."""
    raise NotImplementedError


def sync_due(*, clock: Clock = SYSTEM_CLOCK) -> list[SyncRun]:
    """Request the syncs that are due, and finish interrupted runs; each minute."""
    raise NotImplementedError


def webhook_receive(
    *, uuid: UUID, headers: Mapping[str, str], body: bytes, clock: Clock = SYSTEM_CLOCK
) -> WebhookAnswer:
    """Request an incremental sync because a server says that the repository has changed. Raises NotFoundError."""
    raise NotImplementedError
