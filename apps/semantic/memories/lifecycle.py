"""Changes of one stored memory: reinforce, delete, restore."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ConflictError, NotFoundError
from apps.core.domain.scope import Access
from apps.events.services import emit
from apps.semantic.domain.confidence import DecayPolicy
from apps.semantic.domain.state import Transition
from apps.semantic.events import MemoryChange, MemoryDeleted, MemoryReinforced, MemoryRestored, change_fields
from apps.semantic.models import Conflict, Memory, MemoryRevision, MemoryStatus, RevisionAction
from apps.semantic.selectors import NO_SUCH_MEMORY, memory_get_any
from apps.semantic.store.locks import lock_shards


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
