"""Forgetting of a user's memories with vectors, history, receipts and indexes."""

from collections.abc import Iterator
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet

from apps.core.personal.erase import ROWS_AT_ONCE
from apps.core.personal.store import PersonalStore
from apps.core.steps import Step, no_step
from apps.semantic.index.cache import index_cache
from apps.semantic.index.snapshots import snapshots_remove, snapshots_with
from apps.semantic.models import (
    Conflict,
    Ingestion,
    JudgedPair,
    Memory,
    MemoryEmbedding,
    MemoryRevision,
    MemoryShard,
    RecallCheck,
)
from apps.semantic.store.unit_of_work import lock_shards_for_removal, shard_end


class MemoryErasure(PersonalStore):
    """Counts, forgets and finds memories, their vectors and history, and the indexes built of them."""

    def count(self, user_id: str) -> int:
        return Memory.objects.filter(user_id=user_id).count()

    def forget(self, user_id: str, step: Step = no_step) -> Iterator[int]:
        while count := forget_memories(user_id):
            step("memories: part")
            yield count
        delete_raw(RecallCheck.objects.filter(user_id=user_id))
        snapshots_remove(user_id)
        step("memories: snapshots")
        shard_end(user_id)
        yield 0

    def find(self, user_id: str) -> Iterator[str]:
        if Memory.objects.filter(user_id=user_id).exists():
            yield "semantic_memory"
        if MemoryShard.objects.filter(user_id=user_id).exists():
            yield "semantic_memoryshard"
        if RecallCheck.objects.filter(user_id=user_id).exists():
            yield "semantic_recallcheck"
        yield from (f"semantic-index/{path.name}" for path in snapshots_with(user_id))

    def drop_caches(self) -> None:
        index_cache().drop_forgotten()


@transaction.atomic
def forget_memories(user_id: str) -> int:
    """Delete some memories with everything that refers to them, and return how many."""
    keys = list(Memory.objects.filter(user_id=user_id).order_by("pk").values_list("pk", flat=True)[:ROWS_AT_ONCE])
    if not keys:
        return 0
    version = lock_shards_for_removal(user_id)
    part = Memory.objects.filter(pk__in=keys)
    Memory.objects.filter(superseded_by__in=keys).update(superseded_by=None)
    touched = Q(candidate__in=keys) | Q(existing__in=keys)
    delete_raw(JudgedPair.objects.filter(touched))
    delete_raw(Ingestion.objects.filter(memory__in=keys))
    receipts = Conflict.objects.filter(touched | Q(result__in=keys))
    Conflict.objects.filter(about__in=receipts).update(about=None)
    delete_raw(JudgedPair.objects.filter(notice__in=receipts))
    delete_raw(receipts)
    delete_raw(MemoryRevision.objects.filter(memory__in=keys))
    delete_raw(MemoryEmbedding.objects.filter(memory__in=keys))
    delete_raw(part)
    MemoryShard.objects.filter(user_id=user_id).update(reset_version=version)
    return len(keys)


def delete_raw(rows: QuerySet[Any]) -> None:
    """Delete rows without loading them."""
    rows._raw_delete(rows.db)


class ReceiptErasure(PersonalStore):
    """Counts, forgets and finds receipts, and what a chat model said of their pairs."""

    def count(self, user_id: str) -> int:
        return Conflict.objects.filter(user_id=user_id).count()

    def forget(self, user_id: str, step: Step = no_step) -> Iterator[int]:
        while count := forget_receipts(user_id):
            yield count

    def find(self, user_id: str) -> Iterator[str]:
        if Conflict.objects.filter(user_id=user_id).exists():
            yield "semantic_conflict"


@transaction.atomic
def forget_receipts(user_id: str) -> int:
    """Delete some receipts with the pairs that were judged for them, and return how many."""
    keys = list(Conflict.objects.filter(user_id=user_id).order_by("pk").values_list("pk", flat=True)[:ROWS_AT_ONCE])
    Conflict.objects.filter(about__in=keys).update(about=None)
    delete_raw(JudgedPair.objects.filter(notice__in=keys))
    delete_raw(Conflict.objects.filter(pk__in=keys))
    return len(keys)
