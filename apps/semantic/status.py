"""What the store holds, in numbers, for an operator's overview."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.conf import settings
from django.db import connection
from django.db.models import Count
from django.db.models.functions import TruncDate
from django.utils.timezone import localdate

from apps.core.domain.scope import Access
from apps.llm.selectors import EmbeddingSpace, active_space
from apps.semantic.index.cache import index_cache
from apps.semantic.models import Memory, MemoryEmbedding, MemoryRevision, MemoryStatus


@dataclass(frozen=True)
class MemoryCounts:
    """by_status: every status -> memories. by_day: day -> saved, the oldest first. users: with active memories."""

    by_status: Mapping[str, int]
    by_day: Mapping[date, int]
    users: int

    @property
    def saved(self) -> int:
        """How many were saved in those days."""
        return sum(self.by_day.values())


@dataclass(frozen=True)
class SearchStore:
    """space: the one in use. missing: active memories without a vector in it. Sizes are in bytes.

    cache_bytes and cache_users: what this process has in memory. stored_bytes: memories, vectors and history on disk.
    """

    space: EmbeddingSpace | None
    missing: int
    cache_bytes: int
    cache_limit: int
    cache_users: int
    stored_bytes: int


def memory_counts(access: Access, now: datetime, days: int = 7) -> MemoryCounts:
    """The caller's memories by status, and those saved on each of the last `days` days, today included."""
    memories = Memory.objects.visible_to(access)
    found = dict(memories.order_by().values_list("status").annotate(Count("id")))
    return MemoryCounts(
        by_status={status: found.get(status, 0) for status in MemoryStatus.values},
        by_day=_saved_by_day(access, now, days),
        users=memories.active().aggregate(users=Count("user_id", distinct=True))["users"],
    )


def _saved_by_day(access: Access, now: datetime, days: int) -> dict[date, int]:
    today = localdate(now)
    wanted = [today - timedelta(days=back) for back in reversed(range(days))]
    recent = Memory.objects.visible_to(access).filter(created_at__gte=now - timedelta(days=days))
    found = dict(recent.order_by().annotate(day=TruncDate("created_at")).values_list("day").annotate(Count("id")))
    return {day: found.get(day, 0) for day in wanted}


def search_store() -> SearchStore:
    """What searches work on."""
    space, cache = active_space(), index_cache().describe()
    return SearchStore(
        space=space,
        missing=_without_vector(space),
        cache_bytes=cache["bytes"],
        cache_limit=settings.MEMORYHUB.index_cache_mb * 1024 * 1024,
        cache_users=cache["shards"],
        stored_bytes=_stored_bytes(),
    )


def _without_vector(space: EmbeddingSpace | None) -> int:
    if space is None:
        return 0
    return Memory.objects.active().exclude(embeddings__space=space).count()


def _stored_bytes() -> int:
    tables = [model._meta.db_table for model in (Memory, MemoryEmbedding, MemoryRevision)]
    with connection.cursor() as cursor:
        cursor.execute("SELECT sum(pg_total_relation_size(name::regclass)) FROM unnest(%s::text[]) AS name", [tables])
        (size,) = cursor.fetchone()
    return int(size)
