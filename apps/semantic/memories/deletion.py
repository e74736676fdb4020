"""Deletion of many memories that are chosen by their ids or by a filter, and removal of all of a scope."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import groupby
from typing import NamedTuple
from uuid import UUID

from django.db import transaction

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ConflictError, NotFoundError
from apps.core.domain.filters.expression import EVERYTHING, Expression, names_field
from apps.core.domain.origin import ORIGIN_ORDER
from apps.core.domain.scope import Access, Scope
from apps.events.services import emit
from apps.semantic.events import MemoriesPurged
from apps.semantic.index.snapshots import delete_snapshots
from apps.semantic.memories.bring_back import delete_with_history
from apps.semantic.memories.lifecycle import manager_exists, memory_restore
from apps.semantic.models import (
    Conflict,
    Ingestion,
    JudgedPair,
    Memory,
    MemoryEmbedding,
    MemoryRevision,
    MemoryShard,
    MemoryStatus,
    RevisionAction,
)
from apps.semantic.models.filters import memory_condition
from apps.semantic.querysets import MemoryQuerySet
from apps.semantic.store.unit_of_work import lock_shards, unit_of_work

# Memories of one user in one transaction: others wait for it.
CHUNK = 200
# The reason in the history of what was deleted so.
BULK = "bulk"


@dataclass(frozen=True)
class Selection:
    """Memories of a scope, by their ids or by a filter. Of any status but deleted if a filter speaks of it."""

    scope: Scope
    ids: tuple[UUID, ...] = ()
    where: Expression = EVERYTHING


class DeletionResult(NamedTuple):
    """How many memories were chosen, how many of them were deleted, and how many left out: managed, or more trusted."""

    matched: int
    deleted: int
    managed: int = 0
    protected: int = 0


class RestoreResult(NamedTuple):
    """How many memories were restored, and how many were left, since the same was saved again."""

    restored: int
    left: int


def memories_delete(
    *, access: Access, chosen: Selection, dry_run: bool = False, clock: Clock = SYSTEM_CLOCK
) -> DeletionResult:
    """Soft-delete the caller's memories that were chosen, each with its history; all can be restored.

    What does not exist or is not the caller's is not counted. Chunks of one user are deleted together, so that another
    process may see some deleted before others. What changed in between so that it would not be chosen any more stays.
    Managed memories whose manager exists stay as well, and so do those of a higher origin than the caller's, unless it
    is an operator; both are counted apart.
    """
    now = utcnow(clock)
    above = [origin for origin in ORIGIN_ORDER if not access.may_change(origin)]
    everything = select(access, chosen, now)
    protected = everything.filter(origin__in=above, managed_by="").count() if above else 0
    memories = everything.exclude(origin__in=above, managed_by="")
    managers = memories.exclude(managed_by="").values_list("managed_by", flat=True).distinct()
    kept = [manager for manager in sorted(managers) if manager_exists(manager)]
    managed = memories.filter(managed_by__in=kept).count() if kept else 0
    found = list(memories.exclude(managed_by__in=kept).order_by("user_id", "pk").values_list("user_id", "pk"))
    if dry_run:
        return DeletionResult(len(found), 0, managed, protected)
    matched = deleted = 0
    while found:
        matched += len(found)
        back: list[int] = []
        for user, keys in chunks(found):
            with unit_of_work(user, actor=access.actor, clock=clock) as unit:
                rows = select(access, chosen, now).exclude(origin__in=above, managed_by="").filter(pk__in=keys)
                gone = [unit.attach(memory) for memory in rows]
                back += [memory.pk for memory in delete_with_history(unit, gone, BULK)]
                deleted += len(gone)
        # What came back and was chosen as well goes, too.
        again = select(access, chosen, now).exclude(origin__in=above, managed_by="").filter(pk__in=back)
        found = list(again.order_by("user_id", "pk").values_list("user_id", "pk")) if back else []
    return DeletionResult(matched, deleted, managed, protected)


def memories_restore(*, access: Access, at: datetime, clock: Clock = SYSTEM_CLOCK) -> RestoreResult:
    """Undo what the caller deleted with `memories_delete` at a moment, as far as it is still deleted."""
    mine = MemoryRevision.objects.filter(action=RevisionAction.DELETED, actor=access.actor, reason=BULK, at=at)
    deleted = Memory.objects.visible_to(access).filter(status=MemoryStatus.DELETED, pk__in=mine.values("memory"))
    uuids = list(deleted.order_by("pk").values_list("uuid", flat=True))
    restored = 0
    for uuid in uuids:
        # One of the same content may have been saved since.
        with suppress(ConflictError, NotFoundError), transaction.atomic():
            memory_restore(access=access, uuid=uuid, clock=clock)
            restored += 1
    return RestoreResult(restored, len(uuids) - restored)


def select(access: Access, chosen: Selection, now: datetime) -> MemoryQuerySet:
    """Return the caller's memories that are chosen and not deleted."""
    memories = Memory.objects.visible_to(access, chosen.scope).exclude(status=MemoryStatus.DELETED)
    if chosen.ids:
        return memories.filter(uuid__in=chosen.ids)
    if not names_field(chosen.where, "status"):
        memories = memories.active()
    return memories.filter(memory_condition(chosen.where, now))


def chunks(found: list[tuple[str, int]]) -> Iterator[tuple[str, list[int]]]:
    """Yield the keys of each user in chunks. found: user and key, sorted."""
    for user, rows in groupby(found, key=lambda row: row[0]):
        keys = [key for _, key in rows]
        for start in range(0, len(keys), CHUNK):
            yield user, keys[start : start + CHUNK]


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
