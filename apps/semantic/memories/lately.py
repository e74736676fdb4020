"""What was learned of someone a moment ago, and taking that back as if it had not been said."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import OuterRef, Subquery

from apps.core.domain.clock import SYSTEM_CLOCK, Clock
from apps.core.domain.scope import Access
from apps.semantic.conflicts.review import can_revert, conflict_revert
from apps.semantic.memories.lifecycle import memory_delete
from apps.semantic.models import BY_RULES, Conflict, Memory, MemoryRevision, MemoryStatus, RevisionAction
from apps.semantic.selectors import memory_get_any


@dataclass(frozen=True)
class Learned:
    """A memory, and who saved it: the actor of its first step."""

    memory: Memory
    actor: str


def learned_lately(access: Access, since: datetime, limit: int) -> list[Learned]:
    """Return the caller's active memories that others than the caller saved since a moment, the newest first."""
    first = MemoryRevision.objects.filter(memory=OuterRef("pk"), action=RevisionAction.CREATED).order_by("id")
    memories = Memory.objects.visible_to(access).active().filter(created_at__gte=since, managed_by="")
    rows = memories.annotate(saved_by=Subquery(first.values("actor")[:1])).exclude(saved_by=access.actor)
    return [Learned(row, getattr(row, "saved_by", None) or "") for row in rows.newest_first().defer("lexemes")[:limit]]


@transaction.atomic
def learned_undo(*, access: Access, uuid: UUID, clock: Clock = SYSTEM_CLOCK) -> Memory:
    """Forget a memory, and bring back what rules let it supersede. Return it; it can be restored.

    Raises NotFoundError; ConflictError when it is managed, or when a decision about it has been changed since.
    """
    memory = memory_get_any(access, uuid)
    won = Conflict.objects.visible_to(access).in_force().filter(candidate=memory, origin__in=BY_RULES).order_by("-id")
    for receipt in [one for one in won if can_revert(one)]:
        conflict_revert(access=access, uuid=receipt.uuid, clock=clock)
    memory = memory_get_any(access, uuid)
    if memory.status != MemoryStatus.DELETED:
        memory = memory_delete(access=access, uuid=uuid, clock=clock)
    return memory
