"""Status of the store, and figures for an operator's overview."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models import Count
from django.db.models.functions import TruncDate
from django.utils.timezone import localdate

from apps.core.domain.scope import Access, IdentifierCount
from apps.core.health import readiness
from apps.core.models import ProcessKind
from apps.core.processes import ProcessState, live_processes
from apps.llm.selectors import EmbeddingSpace, active_space
from apps.semantic.domain.index_health import IndexLevel
from apps.semantic.index.cache import index_cache
from apps.semantic.index.warm_up import index_facts
from apps.semantic.models import Memory, MemoryEmbedding, MemoryRevision, MemoryStatus

# The diagnostics of a search say which of them answered it.
INDEX_KIND = "exact or hnsw"


@dataclass(frozen=True)
class StoreStatus:
    """The state of the store. error: what is wrong, None when it is healthy.

    index: of all web processes together. checks: those of readiness. processes: all live ones of the hub.
    """

    healthy: bool
    host: str
    name: str
    count: int | None
    index: Mapping[str, Any]
    error: str | None = None
    checks: Mapping[str, str] = field(default_factory=dict)
    processes: Sequence[ProcessState] = ()


def store_status(access: Access) -> StoreStatus:
    """Check whether the store answers, and count the active memories that the caller can see (spec 004)."""
    try:
        count = Memory.objects.visible_to(access).active().count()
        space, processes = active_space(), live_processes()
    except DatabaseError as error:
        return unhealthy_status(error)
    others = [state for state in processes if state.kind is ProcessKind.WEB and not state.is_this_one]
    # Each process has indexes of its own: a figure is the highest of all, the level the worst, and what one of them
    # still loads or builds is missing.
    facts = [index_facts(), *(state.facts["index"] for state in others if "index" in state.facts)]
    levels, [first, *_] = list(IndexLevel), facts
    index = {
        "kind": INDEX_KIND,
        **({"model": space.model, "dimension": space.dimension} if space else {}),
        **{name: max(each.get(name, 0) for each in facts) for name in first if isinstance(first[name], int | float)},
        "making": next((each["making"] for each in facts if each.get("making")), None),
        "missing": next((each["missing"] for each in facts if each.get("missing")), None),
        "level": max((IndexLevel(each["level"]) for each in facts), key=levels.index).value,
        "reasons": list(dict.fromkeys(reason for each in facts for reason in each["reasons"])),
    }
    return StoreStatus(True, *store_address(), count, index, checks=readiness().checks, processes=processes)


def unhealthy_status(error: Exception) -> StoreStatus:
    """Return the status for when the database does not answer."""
    detail = f"The database does not answer ({type(error).__name__})."
    return StoreStatus(False, *store_address(), None, {}, detail)


def store_address() -> tuple[str, str]:
    """Return host and name of the database; the host of the embedded one is a directory, which is not shown."""
    host = str(connection.settings_dict["HOST"])
    return ("embedded" if host.startswith("/") else host), str(connection.settings_dict["NAME"])


@dataclass(frozen=True)
class MemoryCounts:
    """Counts of memories. by_day: day -> saved, the oldest first. users: with active memories."""

    by_status: Mapping[str, int]
    by_day: Mapping[date, int]
    users: int

    @property
    def saved(self) -> int:
        """Return how many were saved in those days."""
        return sum(self.by_day.values())


@dataclass(frozen=True)
class SearchStore:
    """What searches work on. missing: active memories without a vector in the active space.

    cache_bytes and cache_users: of the indexes in this process. stored_bytes: memories, vectors and history on disk.
    """

    space: EmbeddingSpace | None
    missing: int
    cache_bytes: int
    cache_limit: int
    cache_users: int
    stored_bytes: int


def memory_counts(access: Access, now: datetime, days: int = 7) -> MemoryCounts:
    """Count the caller's memories by status, and those saved on each of the last `days` days, today included."""
    memories = Memory.objects.visible_to(access)
    by_status = dict(memories.order_by().values_list("status").annotate(Count("id")))
    recent = memories.filter(created_at__gte=now - timedelta(days=days)).order_by()
    by_day = dict(recent.annotate(day=TruncDate("created_at")).values_list("day").annotate(Count("id")))
    wanted = [localdate(now) - timedelta(days=back) for back in reversed(range(days))]
    return MemoryCounts(
        by_status={status: by_status.get(status, 0) for status in MemoryStatus.values},
        by_day={day: by_day.get(day, 0) for day in wanted},
        users=memories.active().aggregate(users=Count("user_id", distinct=True))["users"],
    )


def identifier_counts(name: str, limit: int) -> dict[str, IdentifierCount]:
    """Count people and active memories of the users, households or personas with the most. name: `user_id`, ..."""
    memories = Memory.objects.active().exclude(**{name: ""}).order_by().values(name)
    counted = memories.annotate(people=Count("user_id", distinct=True), memories=Count("id")).order_by("-memories")
    return {
        row[name]: IdentifierCount(None if name == "user_id" else row["people"], row["memories"])
        for row in counted[:limit]
    }


def search_store() -> SearchStore:
    """Return the figures of what searches work on."""
    space, cache = active_space(), index_cache().describe()
    tables = [model._meta.db_table for model in (Memory, MemoryEmbedding, MemoryRevision)]
    with connection.cursor() as cursor:
        cursor.execute("SELECT sum(pg_total_relation_size(name::regclass)) FROM unnest(%s::text[]) AS name", [tables])
        (stored_bytes,) = cursor.fetchone()
    return SearchStore(
        space=space,
        missing=0 if space is None else Memory.objects.active().exclude(embeddings__space=space).count(),
        cache_bytes=int(cache["bytes"]),
        cache_limit=settings.MEMORYHUB.index_cache_mb * 1024 * 1024,
        cache_users=int(cache["indexes"]),
        stored_bytes=int(stored_bytes),
    )
