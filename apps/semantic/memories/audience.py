"""Whom a memory is for: the person alone, or a household of theirs as well (DESIGN D1: its household, or none)."""

from uuid import UUID

from django.db.models import Q

from apps.core.db.memberships import WriteScopes
from apps.core.domain.clock import SYSTEM_CLOCK, Clock
from apps.core.domain.errors import ConflictError
from apps.core.domain.scope import Access, Scope
from apps.semantic.memories.lifecycle import require_active
from apps.semantic.memories.managers import require_unmanaged
from apps.semantic.memories.update import outdate_notices
from apps.semantic.models import Conflict, Memory
from apps.semantic.selectors import memory_get_any
from apps.semantic.store.rows import key_after
from apps.semantic.store.unit_of_work import unit_of_work

MADE_PRIVATE, SHARED = "made_private", "shared"


def memory_set_household(*, access: Access, uuid: UUID, household_id: str, clock: Clock = SYSTEM_CLOCK) -> Memory:
    """Give an active memory another household, none for a blank id. It is in its history, and done again the other way.

    What was decided between it and others goes with a memory that becomes private, since receipts have its words; what
    was noticed and not decided is over, since the two are not compared any more. Raises NotFoundError; ConflictError
    for a memory that is not active or managed, and where the same is known there; ForbiddenError for a household that
    the user does not belong to.
    """
    user = memory_get_any(access, uuid).user_id
    with unit_of_work(user, actor=access.actor, clock=clock) as unit:
        memory = memory_get_any(access, uuid)
        require_active(access, memory)
        require_unmanaged(memory)
        if memory.household_id == household_id:
            return memory
        if household_id:
            WriteScopes(access).settle(Scope(user, household_id))
        after = {"household_id": household_id}
        if Memory.objects.active().with_key(*key_after(memory, after)).exclude(pk=memory.pk).exists():
            raise ConflictError("This is already known there.", code="duplicate")
        outdate_notices(unit, memory)
        if not household_id:
            about = Q(candidate=memory) | Q(existing=memory) | Q(result=memory)
            Conflict.objects.filter(about).update(household_id="")
        unit.update(memory, after, reason=SHARED if household_id else MADE_PRIVATE)
    return memory
