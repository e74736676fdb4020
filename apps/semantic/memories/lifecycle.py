"""Changes of one stored memory: reinforce, delete, restore; and what keeps others from a managed one.

Nothing but its manager changes a managed memory (docs/guides/memories.md). A manager is named `<kind>:<name>`, such as
`sync:` and the id of a source of knowledge. The app that writes memories of a kind registers which of these exist: a
memory whose manager is gone, as after an import from another hub, may be deleted by those who may write it.
"""

from collections.abc import Callable
from uuid import UUID

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ConflictError, NotFoundError
from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import Access
from apps.semantic.domain.confidence import DecayPolicy
from apps.semantic.domain.state import Transition
from apps.semantic.events import MemoryRestored
from apps.semantic.memories.bring_back import bring_back, replace_again
from apps.semantic.models import Conflict, Memory, MemoryStatus, RevisionAction
from apps.semantic.selectors import NO_SUCH_MEMORY, memory_get_any
from apps.semantic.store.rows import dated_key
from apps.semantic.store.unit_of_work import unit_of_work

DETAIL = "This memory follows an item of knowledge: change the item where it is kept."
_checks: dict[str, Callable[[str], bool]] = {}


def memory_reinforce(*, access: Access, uuid: UUID, clock: Clock = SYSTEM_CLOCK) -> Memory:
    """Restart the decay of a reinforceable memory (spec 004).

    Raises NotFoundError, or ConflictError for a memory of another policy, that is managed or that another one has
    replaced.
    """
    user = memory_get_any(access, uuid).user_id
    with unit_of_work(user, actor=access.actor, clock=clock) as unit:
        memory = memory_get_any(access, uuid)
        require_active(access, memory)
        require_unmanaged(memory)
        if memory.decay_policy != DecayPolicy.REINFORCEABLE:
            detail = f"A {memory.decay_policy} memory cannot be reinforced; only a reinforceable one can."
            raise ConflictError(detail, code="not_reinforceable")
        unit.reinforce(memory)
    return memory


def require_active(access: Access, memory: Memory) -> None:
    """Raise NotFoundError for a deleted or expired memory, ConflictError with its status for one that lost.

    The latter names the active memory at the end of those that replaced each other, if there is one.
    """
    has_expired = memory.has_expired(utcnow(SYSTEM_CLOCK))
    if memory.status == MemoryStatus.ACTIVE and not has_expired:
        return
    if memory.status == MemoryStatus.DELETED or has_expired:
        raise NotFoundError(NO_SUCH_MEMORY)
    current = find_successor(access, memory)
    detail = f"This memory is not active: it was {memory.status}."
    if current is not None:
        raise ConflictError(
            f"{detail} {current.uuid} has taken its place.", code=memory.status, current=str(current.uuid)
        )
    raise ConflictError(detail, code=memory.status)


def find_successor(access: Access, memory: Memory) -> Memory | None:
    """Return the active memory that replaced one, directly or by others; None if the caller sees none."""
    seen = {memory.pk}
    following = memory.superseded_by_id
    while following is not None and following not in seen:
        seen.add(following)
        found = Memory.objects.visible_to(access).filter(pk=following).first()
        if found is None or found.status == MemoryStatus.ACTIVE:
            return found
        following = found.superseded_by_id
    return None


def memory_delete(*, access: Access, uuid: UUID, reason: str = "", clock: Clock = SYSTEM_CLOCK) -> Memory:
    """Soft-delete a memory: no search finds it, and it can be restored. What it had replaced holds again.

    reason: one word for its history. Raises NotFoundError; ConflictError for a managed memory whose manager exists;
    ForbiddenError for one of a higher origin than the caller's, unless an operator.
    """
    user = memory_get_any(access, uuid).user_id
    with unit_of_work(user, actor=access.actor, clock=clock) as unit:
        memory = memory_get_any(access, uuid)
        if memory.status == MemoryStatus.DELETED:
            raise NotFoundError(NO_SUCH_MEMORY)
        if manager_exists(memory.managed_by):
            require_unmanaged(memory)
        access.require_origin(WriteOrigin(memory.origin))
        unit.delete(memory, reason=reason)
        bring_back(unit, [memory])
    return memory


def memory_restore(*, access: Access, uuid: UUID, clock: Clock = SYSTEM_CLOCK) -> Memory:
    """Undo a soft delete: the memory has the status again that it had before.

    One that had lost to another memory by a decision that is not in force any more becomes active. No conflicts are
    detected: restoring a memory says that it holds, and one that has expired holds without end. Raises NotFoundError,
    or ConflictError when it is not deleted or managed, or the same content was saved since.
    """
    user = memory_get_any(access, uuid).user_id
    with unit_of_work(user, actor=access.actor, clock=clock) as unit:
        memory = memory_get_any(access, uuid)
        if memory.status != MemoryStatus.DELETED:
            raise ConflictError("This memory is not deleted.", code="not_deleted")
        require_unmanaged(memory)
        deletion = memory.revisions.filter(action=RevisionAction.DELETED).last()
        status = MemoryStatus(deletion.changes["status"][0]) if deletion else MemoryStatus.ACTIVE
        superseded_by = memory.superseded_by
        if status != MemoryStatus.ACTIVE:
            steps = memory.revisions.filter(conflict__isnull=False).exclude(action=RevisionAction.DELETED)
            receipts = Conflict.objects.in_force().filter(uuid__in=steps.values("conflict"))
            decided = [Transition.from_json(step) for receipt in receipts for step in receipt.transitions]
            if not any(step.memory == memory.uuid and step.after.status == status for step in decided):
                # The decision that set this status was reverted or overridden since.
                status, superseded_by = MemoryStatus.ACTIVE, None
        if status == MemoryStatus.ACTIVE and Memory.objects.active().with_key(*dated_key(memory)).exists():
            raise ConflictError(
                "The same content has been saved again since; delete that memory first.", code="duplicate"
            )
        changes: dict[str, list[str | None]] = {"status": [MemoryStatus.DELETED.value, status.value]}
        after = {"status": status, "superseded_by": superseded_by, "status_changed_at": unit.now}
        if memory.expires_at is not None and memory.has_expired(unit.now):
            changes["expires_at"] = [memory.expires_at.isoformat(), None]
            after["expires_at"] = None
        unit.update(memory, after, action=RevisionAction.RESTORED, changes=changes, event=MemoryRestored)
        replace_again(unit, memory)
    return memory


def manager_register(kind: str, exists: Callable[[str], bool]) -> None:
    """Register what says whether a manager of a kind exists, by its whole name."""
    _checks[kind] = exists


def manager_exists(manager: str) -> bool:
    """Return whether a manager exists, so that its memories are kept up to date."""
    check = _checks.get(manager.partition(":")[0])
    return check is not None and check(manager)


def require_unmanaged(memory: Memory) -> None:
    """Raise ConflictError for a managed memory."""
    if memory.managed_by:
        raise ConflictError(DETAIL, code="managed")
