"""A person says that a memory which was replaced holds after all: beside what replaced it, or instead of it."""

from uuid import UUID, uuid4

from django.db import transaction

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ConflictError
from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import Access
from apps.semantic.conflicts.receipts import record_as_json, scope_columns
from apps.semantic.conflicts.review import DECIDED, OUTCOMES, StateChange, Winner, apply_changes, conflict_override
from apps.semantic.domain.state import MemoryState
from apps.semantic.memories.bring_back import find_decision
from apps.semantic.memories.lifecycle import find_successor, require_unmanaged
from apps.semantic.models import Conflict, Memory, MemoryStatus, Origin
from apps.semantic.selectors import memory_get_any
from apps.semantic.store.rows import record_from_memory
from apps.semantic.store.unit_of_work import unit_of_work

REPLACED = (MemoryStatus.SUPERSEDED, MemoryStatus.MERGED, MemoryStatus.REJECTED)


def current_successor(access: Access, memory: Memory, clock: Clock = SYSTEM_CLOCK) -> Memory | None:
    """Return the memory that searches find in place of a replaced one; None where there is none any more."""
    found = find_successor(access, memory)
    return None if found is None or found.has_expired(utcnow(clock)) else found


@transaction.atomic
def memory_hold(*, access: Access, uuid: UUID, alone: bool, clock: Clock = SYSTEM_CLOCK) -> Conflict:
    """Make a replaced memory active again. Return the receipt; reverting it puts everything back.

    alone: instead of what holds in its place now, which is superseded; else beside it. The decision that replaced it is
    overridden; where that is not possible, since more has happened after it, the receipt answers to none. Raises
    NotFoundError; ForbiddenError for a memory of a higher origin than the caller's; ConflictError for one that is
    managed or was not replaced, or whose content was saved again since.
    """
    memory = memory_get_any(access, uuid)
    require_unmanaged(memory)
    if memory.status not in REPLACED:
        raise ConflictError(f"This memory was not replaced: it is {memory.status}.", code="not_replaced")
    receipt = find_decision(memory)
    # With which winner to override that decision so that the memory holds; None if that would change others too.
    winner = None
    if receipt is not None and memory.pk in (receipt.candidate_id, receipt.existing_id):
        if alone:
            winner = Winner.CANDIDATE if memory.pk == receipt.candidate_id else Winner.EXISTING
        elif not any(other["applied"] for other in receipt.others):
            winner = Winner.BOTH
    if receipt is not None and winner is not None:
        try:
            with transaction.atomic():
                return conflict_override(access=access, uuid=receipt.uuid, winner=winner, clock=clock)
        except ConflictError as error:
            if error.code == "duplicate":
                raise
    return hold_now(access, uuid, alone, clock)


def hold_now(access: Access, uuid: UUID, alone: bool, clock: Clock) -> Conflict:
    """Make a replaced memory active, whatever was decided before. Return the receipt."""
    user = memory_get_any(access, uuid).user_id
    with unit_of_work(user, actor=access.actor, clock=clock) as unit:
        memory = unit.attach(memory_get_any(access, uuid))
        successor = current_successor(access, memory, clock)
        other = successor or memory.superseded_by
        if other is None:
            raise ConflictError("Nothing has replaced this memory.", code="not_replaced")
        other = unit.attach(other)
        access.require_origin(WriteOrigin(memory.origin))
        changes = [StateChange(memory, MemoryState(MemoryStatus.ACTIVE.value))]
        if alone and successor is not None:
            require_unmanaged(successor)
            access.require_origin(WriteOrigin(successor.origin))
            changes.append(StateChange(other, MemoryState(MemoryStatus.SUPERSEDED.value, memory.uuid, unit.now)))
        receipt = build_override(memory, other, alone=alone, actor=access.actor)
        apply_changes(unit, receipt, changes, memory if alone else None)
    return receipt


def build_override(memory: Memory, other: Memory, *, alone: bool, actor: str) -> Conflict:
    """Return the receipt of a person's decision about two memories that no receipt in force is about."""
    candidate, existing = (memory, other) if memory.pk > other.pk else (other, memory)
    side = Winner.CANDIDATE if candidate is memory else Winner.EXISTING
    winner = side if alone else Winner.BOTH
    records = {"candidate": candidate, "existing": existing}
    return Conflict(
        **scope_columns(memory),
        uuid=uuid4(),
        origin=Origin.OVERRIDE,
        outcome=OUTCOMES[winner],
        candidate=candidate,
        existing=existing,
        winner=side.value if alone else "",
        action="keep",
        strategy=str(Origin.OVERRIDE),
        confidence=1.0,
        reason=f"{actor} decided: {DECIDED[winner]}",
        records={name: record_as_json(record_from_memory(row, None)) for name, row in records.items()},
    )
