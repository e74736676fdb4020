"""Writes of semantic memory. All of them: nothing else changes a memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ConflictError, NotFoundError
from apps.core.domain.scope import Access, Scope
from apps.events.services import emit
from apps.semantic.conflicts.review import conflict_accept, conflict_override, conflict_revert
from apps.semantic.domain.confidence import DecayPolicy
from apps.semantic.domain.state import Transition
from apps.semantic.events import (
    MemoriesPurged,
    MemoryChange,
    MemoryDeleted,
    MemoryReinforced,
    MemoryRestored,
    change_fields,
)
from apps.semantic.index.snapshots import delete_snapshots
from apps.semantic.memories.save import SaveOutcome, memory_save, memory_save_many
from apps.semantic.memories.writer import SaveResult
from apps.semantic.models import (
    Conflict,
    Ingestion,
    Memory,
    MemoryEmbedding,
    MemoryRevision,
    MemoryShard,
    MemoryStatus,
    RevisionAction,
)
from apps.semantic.selectors import NO_SUCH_MEMORY, memory_get_any
from apps.semantic.store.locks import lock_shards

__all__ = [
    "SaveOutcome",
    "SaveResult",
    "conflict_accept",
    "conflict_override",
    "conflict_revert",
    "memories_purge",
    "memory_delete",
    "memory_reinforce",
    "memory_restore",
    "memory_save",
    "memory_save_many",
]


def memory_reinforce(*, access: Access, uuid: UUID, clock: Clock = SYSTEM_CLOCK) -> Memory:
    """Start the decay of a reinforceable memory anew (spec 004).

    Raises NotFoundError, or ConflictError for a memory of another policy.
    """
    with _changing(access, uuid, clock) as change:
        memory = change.memory
        if memory.status != MemoryStatus.ACTIVE:
            raise NotFoundError(NO_SUCH_MEMORY)
        if memory.decay_policy != DecayPolicy.REINFORCEABLE:
            detail = f"A {memory.decay_policy} memory cannot be reinforced; only a reinforceable one can."
            raise ConflictError(detail, code="not_reinforceable")
        before = memory.last_reinforced_at
        memory.last_reinforced_at = change.now
        moments = [moment.isoformat() if moment else None for moment in (before, change.now)]
        change.apply(RevisionAction.REINFORCED, {"last_reinforced_at": moments}, MemoryReinforced)
    return memory


def memory_delete(*, access: Access, uuid: UUID, reason: str = "", clock: Clock = SYSTEM_CLOCK) -> Memory:
    """Soft-delete a memory: no search finds it, and it can be restored. Raises NotFoundError.

    reason: one word for its history.
    """
    with _changing(access, uuid, clock) as change:
        before = change.memory.status
        if before == MemoryStatus.DELETED:
            raise NotFoundError(NO_SUCH_MEMORY)
        change.set_status(MemoryStatus.DELETED)
        changes = {"status": [before, MemoryStatus.DELETED.value]}
        change.apply(RevisionAction.DELETED, changes, MemoryDeleted, reason=reason)
    return change.memory


def memory_restore(*, access: Access, uuid: UUID, clock: Clock = SYSTEM_CLOCK) -> Memory:
    """Undo a soft delete: the memory stands again where it stood.

    One that had lost to another memory by a decision that is not in force any more is active again. Nothing is held
    against it: who restores a memory wants it to stand. Raises NotFoundError, or ConflictError when it is not deleted,
    or the same content was saved meanwhile.
    """
    with _changing(access, uuid, clock) as change:
        memory = change.memory
        if memory.status != MemoryStatus.DELETED:
            raise ConflictError("This memory is not deleted.", code="not_deleted")
        status = _status_before_deletion(memory)
        if status != MemoryStatus.ACTIVE and not _is_decision_in_force(memory, status):
            status, memory.superseded_by = MemoryStatus.ACTIVE, None
        if status == MemoryStatus.ACTIVE and Memory.objects.active().duplicates_of(memory).exists():
            raise ConflictError("The same content was saved again since; delete that one first.", code="duplicate")
        change.set_status(status)
        change.apply(RevisionAction.RESTORED, {"status": [MemoryStatus.DELETED.value, status.value]}, MemoryRestored)
    return memory


@transaction.atomic
def memories_purge(*, access: Access, scope: Scope, clock: Clock = SYSTEM_CLOCK) -> int:
    """Remove every memory of a scope for good, with vectors, history, receipts and what the bridge holds of its events.

    Says how many memories there were. Events that wait to become memories are forgotten, too. The one way in which
    memories are destroyed besides retention (DESIGN D3). Raises ForbiddenError outside the caller's bound,
    InvalidInputError when the scope names no user.
    """
    scope = access.for_write(scope)
    assert scope.user_id is not None
    # Before the lock: who saves events holds their rows first, and waits for the lock then.
    Ingestion.objects.in_scope(scope)._raw_delete(Ingestion.objects.db)
    version = lock_shards([scope.user_id])[scope.user_id]
    doomed = Memory.objects.in_scope(scope)
    # Those that were linked between the two statements.
    Ingestion.objects.filter(memory__in=doomed)._raw_delete(doomed.db)
    # Raw deletes, children first: loading a whole scope with its contents only to delete it would be a waste.
    Memory.objects.filter(superseded_by__in=doomed).update(superseded_by=None)
    # Receipts hold the words of memories, and both memories of one are of the same scope.
    Conflict.objects.in_scope(scope)._raw_delete(doomed.db)
    MemoryRevision.objects.filter(memory__in=doomed)._raw_delete(doomed.db)
    MemoryEmbedding.objects.filter(memory__in=doomed)._raw_delete(doomed.db)
    count = doomed._raw_delete(doomed.db)
    MemoryShard.objects.filter(user_id=scope.user_id).update(reset_version=version)
    transaction.on_commit(partial(delete_snapshots, scope.user_id), robust=True)
    emit(
        MemoriesPurged(
            user_id=scope.user_id,
            household_id=scope.household_id,
            persona_id=scope.persona_id,
            count=count,
            actor=access.actor,
            at=utcnow(clock),
        )
    )
    return count


@dataclass
class _Change:
    """One change of one memory, in its transaction."""

    memory: Memory
    access: Access
    now: datetime
    version: int

    def set_status(self, status: MemoryStatus) -> None:
        self.memory.status = status
        self.memory.status_changed_at = self.now

    def apply(
        self, action: RevisionAction, changes: dict[str, Any], event: type[MemoryChange], *, reason: str = ""
    ) -> None:
        """Write the row, its history and its event."""
        memory = self.memory
        memory.updated_at, memory.version = self.now, self.version
        memory.save()
        MemoryRevision.objects.create(
            memory=memory, action=action, reason=reason, actor=self.access.actor, at=self.now, changes=changes
        )
        emit(event(**change_fields(memory, self.access.actor, self.now)))


@contextmanager
def _changing(access: Access, uuid: UUID, clock: Clock) -> Iterator[_Change]:
    """A memory of the caller's, as it stands once no other writer of its user is at work."""
    with transaction.atomic():
        user = memory_get_any(access, uuid).user_id
        version = lock_shards([user])[user]
        yield _Change(memory_get_any(access, uuid), access, utcnow(clock), version)


def _status_before_deletion(memory: Memory) -> MemoryStatus:
    deletion = memory.revisions.filter(action=RevisionAction.DELETED).last()
    return MemoryStatus(deletion.changes["status"][0]) if deletion else MemoryStatus.ACTIVE


def _is_decision_in_force(memory: Memory, status: MemoryStatus) -> bool:
    """Whether the decision that gave a memory this status was neither reverted nor overridden meanwhile."""
    steps = memory.revisions.filter(conflict__isnull=False).exclude(action=RevisionAction.DELETED)
    receipts = Conflict.objects.in_force().filter(uuid__in=steps.values("conflict"))
    return any(_gave(receipt, memory, status) for receipt in receipts)


def _gave(receipt: Conflict, memory: Memory, status: MemoryStatus) -> bool:
    steps = (Transition.from_json(step) for step in receipt.transitions)
    return any(step.memory == memory.uuid and step.after.status == status for step in steps)
