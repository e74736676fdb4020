"""Hub events of knowledge sync. They never have content: subscribers read it under their own rights."""

from typing import ClassVar
from uuid import UUID

from apps.events.domain.payload import EventPayload, Moment, Text


class SyncEvent(EventPayload):
    """Which source of whom a run was about, and when."""

    source_id: UUID
    run_id: UUID
    user_id: Text
    at: Moment


class SyncFinished(SyncEvent):
    """A run has written what it found. state: `complete`, `partial` or `limited`. failed: files that were refused."""

    name: ClassVar[str] = "memory:sync:finished"
    kind: Text
    state: Text
    added: int
    updated: int
    deleted: int
    failed: int
    remaining: int
    commit: Text


class SyncFailed(SyncEvent):
    """A run has failed, and nothing was changed. code: of the error. is_retryable: the hub tries again."""

    name: ClassVar[str] = "memory:sync:failed"
    kind: Text
    code: Text
    is_retryable: bool


class ConflictFound(SyncEvent):
    """A conflict waits for a person."""

    name: ClassVar[str] = "memory:sync:conflict"
    conflict_id: UUID
    type: Text
    item_id: Text
