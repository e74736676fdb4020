"""Reads of semantic memory. Every one takes the caller's access, so that none can forget it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import DatabaseError, connection
from django.db.models import Q, QuerySet

from apps.core.domain.errors import NotFoundError
from apps.core.domain.scope import Access, Scope
from apps.llm.selectors import active_space
from apps.semantic.index.cache import index_cache
from apps.semantic.index.health import index_guard
from apps.semantic.models import Conflict, Memory, MemoryRevision
from apps.semantic.querysets import ConflictQuerySet, MemoryQuerySet

NO_SUCH_MEMORY = "There is no such memory."
NO_SUCH_CONFLICT = "There is no such receipt."
_CONFLICT_MEMORIES = (
    "candidate", "candidate__superseded_by", "existing", "existing__superseded_by", "result", "result__superseded_by",
)  # fmt: skip
COLLECTION = Memory._meta.db_table
# Which one answers a search its diagnostics say.
INDEX_KIND = "exact or hnsw"


def memory_get_any(access: Access, uuid: UUID) -> Memory:
    """A memory of the caller's, deleted or not. Raises NotFoundError."""
    memory = Memory.objects.visible_to(access).filter(uuid=uuid).select_related("superseded_by").first()
    if memory is None:
        raise NotFoundError(NO_SUCH_MEMORY)
    return memory


def memory_get(access: Access, uuid: UUID) -> Memory:
    """A memory of the caller's that is not deleted. Raises NotFoundError."""
    memory = memory_get_any(access, uuid)
    if memory.status == "deleted":
        raise NotFoundError(NO_SUCH_MEMORY)
    return memory


def memory_list(access: Access, scope: Scope, filters: Mapping[str, Any]) -> MemoryQuerySet:
    """The caller's memories in a scope, the newest first; `filters` are exact values of columns."""
    memories = Memory.objects.visible_to(access, scope).filter(**{"status": "active", **filters})
    return memories.select_related("superseded_by").newest_first()


def memory_history(access: Access, uuid: UUID) -> QuerySet[MemoryRevision]:
    """What happened to a memory of the caller's, the first thing first. Raises NotFoundError."""
    return MemoryRevision.objects.filter(memory=memory_get_any(access, uuid)).order_by("id")


def conflict_get(access: Access, uuid: UUID) -> Conflict:
    """A receipt of the caller's. Raises NotFoundError."""
    receipts = Conflict.objects.visible_to(access).select_related("about", *_CONFLICT_MEMORIES)
    receipt = receipts.filter(uuid=uuid).first()
    if receipt is None:
        raise NotFoundError(NO_SUCH_CONFLICT)
    return receipt


def conflict_list(access: Access, scope: Scope, filters: Mapping[str, Any]) -> ConflictQuerySet:
    """The caller's receipts in a scope, the newest first.

    filters: look-ups of columns, and `memory`, the id of a memory that is one of the two.
    """
    columns = {name: value for name, value in filters.items() if name != "memory"}
    receipts = Conflict.objects.visible_to(access, scope).filter(**columns)
    if "memory" in filters:
        receipts = receipts.filter(Q(candidate__uuid=filters["memory"]) | Q(existing__uuid=filters["memory"]))
    return receipts.select_related("about", *_CONFLICT_MEMORIES).newest_first()


def users_in(access: Access, scope: Scope) -> list[str]:
    """The users who have active memories there."""
    memories = Memory.objects.visible_to(access, scope).active()
    return list(memories.order_by("user_id").values_list("user_id", flat=True).distinct())


@dataclass(frozen=True)
class StoreStatus:
    """How the store is. error: what is wrong, None when all is well."""

    healthy: bool
    host: str
    name: str
    count: int | None
    index: Mapping[str, Any]
    error: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The shape that the API answers with (DESIGN section 5)."""
        answer: dict[str, Any] = {
            "status": "healthy" if self.healthy else "unhealthy",
            "store": {"host": self.host, "name": self.name},
            "collection": COLLECTION,
            "count": self.count,
            "index": dict(self.index),
        }
        return answer if self.error is None else {**answer, "error": self.error}


def store_status(access: Access) -> StoreStatus:
    """Whether the store answers, and how many active memories the caller can see (spec 004)."""
    host, name = _store()
    try:
        count = Memory.objects.visible_to(access).active().count()
        space = active_space()
    except DatabaseError as error:
        return unhealthy_status(error)
    model = {"model": space.model, "dimension": space.dimension} if space else {}
    return StoreStatus(True, host, name, count, _index_facts(model))


def _index_facts(model: dict[str, Any]) -> dict[str, Any]:
    """What this process holds in memory, and how it is."""
    health, cache = index_guard().health, index_cache()
    making = cache.keeper.making
    return {
        "kind": INDEX_KIND,
        **model,
        **cache.describe(),
        "making": None if making is None else {"done": making[0], "of": making[1]},
        "level": health.level.value,
        "reasons": [reason.value for reason in health.reasons],
    }


def unhealthy_status(error: Exception) -> StoreStatus:
    """What can be said when the database does not answer."""
    host, name = _store()
    detail = f"The database does not answer ({type(error).__name__})."
    return StoreStatus(False, host, name, None, {}, detail)


def _store() -> tuple[str, str]:
    settings = connection.settings_dict
    host = str(settings["HOST"])
    return ("embedded" if host.startswith("/") else host), str(settings["NAME"])
