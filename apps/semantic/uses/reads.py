"""Reads of what a memory was made of, and of who used it."""

from uuid import UUID

from apps.core.domain.scope import Access
from apps.semantic.models import Ingestion, IngestionStatus, MemoryUse
from apps.semantic.selectors import memory_get_any


def memory_used_by(access: Access, uuid: UUID, limit: int) -> list[MemoryUse]:
    """Return which applications got a memory as an answer, the last one first. Raises NotFoundError."""
    rows = MemoryUse.objects.filter(memory=memory_get_any(access, uuid)).order_by("-last_at", "pk")
    return list(rows[:limit])


def memory_sources(access: Access, uuid: UUID, limit: int) -> list[UUID]:
    """Return the ids of the events of which a memory was made, or that say the same, the first ones."""
    rows = Ingestion.objects.filter(memory=memory_get_any(access, uuid), status=IngestionStatus.LINKED)
    return list(rows.order_by("timestamp", "pk").values_list("event_id", flat=True)[:limit])
