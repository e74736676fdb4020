"""Nothing stays replaced by what is gone: what a deleted or expired memory had replaced holds again (ADR 70)."""

from collections.abc import Sequence
from itertools import groupby

from apps.core.db.user_locks import UserLockedError, of_unlocked
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.semantic.domain.disagreement import is_contradiction
from apps.semantic.models import Conflict, Memory, MemoryRevision, MemoryStatus, RevisionAction
from apps.semantic.store.rows import dated_key
from apps.semantic.store.unit_of_work import UnitOfWork, unit_of_work

# Reasons in the history of what comes back, and of what is replaced again when that is restored.
SUCCESSOR_GONE, SUCCESSOR_BACK = "successor gone", "successor back"
EXPIRED = "expired"
ACTOR = "system:expiry"
# In one transaction, and in one sweep; the next one goes on.
CHUNK, MAX_SWEPT = 200, 10_000


def bring_back(unit: UnitOfWork, gone: Sequence[Memory]) -> list[Memory]:
    """Make active again what memories had replaced because only one of two could hold. Return what came back.

    What it merely repeated stays gone with it, and so does what has expired or was saved again since. Of several that
    are equal the last one comes back.
    """
    found = {}
    for row in Memory.objects.filter(superseded_by__in=gone, status=MemoryStatus.SUPERSEDED).order_by("pk"):
        memory = unit.attach(row)
        receipt = None if memory.has_expired(unit.now) else find_decision(memory)
        if receipt is None or not is_contradiction(receipt.signals):
            continue
        assert memory.superseded_by_id is not None
        if Memory.objects.active().with_key(*dated_key(memory)).exclude(pk=memory.superseded_by_id).exists():
            continue
        found[dated_key(memory)] = memory, receipt
    for memory, receipt in found.values():
        unit.change_status(
            memory,
            MemoryStatus.ACTIVE,
            None,
            action=RevisionAction.RESTORED,
            receipt=receipt.uuid,
            since=unit.now,
            reason=SUCCESSOR_GONE,
        )
    return [memory for memory, _ in found.values()]


def find_decision(memory: Memory) -> Conflict | None:
    """Find the decision in force by which a memory was replaced."""
    receipts = Conflict.objects.in_force().filter(user_id=memory.user_id, result=memory.superseded_by_id)
    for receipt in receipts.order_by("-pk"):
        if any(step["memory"] == str(memory.uuid) for step in receipt.transitions):
            return receipt
    return None


def replace_again(unit: UnitOfWork, restored: Memory) -> None:
    """Undo `bring_back` for a memory that is restored: what it had replaced is replaced by it again."""
    back = MemoryRevision.objects.filter(
        memory__status=MemoryStatus.ACTIVE,
        memory__user_id=restored.user_id,
        action=RevisionAction.RESTORED,
        reason=SUCCESSOR_GONE,
        changes__superseded_by=[str(restored.uuid), None],
    )
    for memory in Memory.objects.filter(pk__in=back.values("memory")).order_by("pk"):
        last = memory.revisions.exclude(action__in=(RevisionAction.UPDATED, RevisionAction.REINFORCED)).last()
        if last is not None and last.reason == SUCCESSOR_GONE:
            assert last.conflict is not None
            unit.change_status(
                unit.attach(memory),
                MemoryStatus.SUPERSEDED,
                restored,
                action=RevisionAction.SUPERSEDED,
                receipt=last.conflict,
                since=unit.now,
                reason=SUCCESSOR_BACK,
            )


def delete_with_history(unit: UnitOfWork, memories: Sequence[Memory], reason: str) -> list[Memory]:
    """Soft-delete memories, and bring back what they had replaced. Return what came back."""
    for memory in memories:
        unit.delete(memory, reason=reason)
    return bring_back(unit, memories)


def memories_expire(*, clock: Clock = SYSTEM_CLOCK) -> int:
    """Soft-delete the memories that have expired, each with its history. Return how many there were.

    Searches and lists leave them out before; this makes room for the same content, and says in the history what became
    of them. They can be restored, and are found without end then. Those of a user who is being forgotten go with it.
    """
    now, swept = utcnow(clock), 0
    due = of_unlocked(Memory.objects.active()).filter(expires_at__lte=now).order_by("user_id", "pk")
    found = list(due.values_list("user_id", "pk")[:MAX_SWEPT])
    for user, rows in groupby(found, key=lambda row: row[0]):
        keys = [key for _, key in rows]
        try:
            for start in range(0, len(keys), CHUNK):
                with unit_of_work(user, actor=ACTOR, clock=clock) as unit:
                    # Read again: it may have been given more time since.
                    part = Memory.objects.active().filter(pk__in=keys[start : start + CHUNK], expires_at__lte=now)
                    memories = list(part)
                    delete_with_history(unit, memories, EXPIRED)
                swept += len(memories)
        except UserLockedError:  # since they were read
            continue
    return swept
