"""Removal of all memories of a scope."""

from functools import partial

from django.db import transaction

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.scope import Access, Scope
from apps.events.services import emit
from apps.semantic.events import MemoriesPurged
from apps.semantic.index.snapshots import delete_snapshots
from apps.semantic.models import (
    Conflict,
    Ingestion,
    JudgedPair,
    Memory,
    MemoryEmbedding,
    MemoryRevision,
    MemoryShard,
)
from apps.semantic.store.unit_of_work import lock_shards


@transaction.atomic
def memories_purge(*, access: Access, scope: Scope, clock: Clock = SYSTEM_CLOCK) -> int:
    """Destroy every memory of a scope, with vectors, history, receipts and what the bridge holds of its events.

    Return how many memories there were. Events that wait to become memories are deleted, too. The one way in which
    memories are destroyed besides retention (DESIGN D3). Raises ForbiddenError outside the caller's bound,
    InvalidInputError when the scope names no user.
    """
    scope = access.for_removal(scope)
    assert scope.user_id is not None
    # Before the lock: a save of events holds their rows first, and waits for the lock then.
    Ingestion.objects.in_scope(scope)._raw_delete(Ingestion.objects.db)
    version = lock_shards([scope.user_id])[scope.user_id]
    memories = Memory.objects.in_scope(scope)
    # Those that were linked between the two statements.
    Ingestion.objects.filter(memory__in=memories)._raw_delete(memories.db)
    # Raw deletes, children first: loading a whole scope with its contents only to delete it would be a waste.
    Memory.objects.filter(superseded_by__in=memories).update(superseded_by=None)
    JudgedPair.objects.filter(candidate__in=memories)._raw_delete(memories.db)
    # Receipts hold the words of memories, and both memories of one are of the same scope.
    Conflict.objects.in_scope(scope)._raw_delete(memories.db)
    MemoryRevision.objects.filter(memory__in=memories)._raw_delete(memories.db)
    MemoryEmbedding.objects.filter(memory__in=memories)._raw_delete(memories.db)
    count = memories._raw_delete(memories.db)
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
