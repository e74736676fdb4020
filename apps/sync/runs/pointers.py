"""Pointers as drafts of memories."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import Scope
from apps.semantic.domain.confidence import DecayPolicy
from apps.semantic.domain.memory import MemoryDraft
from apps.sync.domain.knowledge import KnowledgeItem
from apps.sync.domain.pointers import item_uuid, pointer_content, pointer_importance, pointer_keywords, pointer_metadata
from apps.sync.models import KnowledgeItem as ItemRow
from apps.sync.models import KnowledgeSource

MEMORY_SOURCE = "knowledge"


def pointer_draft(source: KnowledgeSource, item: KnowledgeItem) -> MemoryDraft:
    """Return the memory that an item is kept as."""
    return MemoryDraft(
        content=pointer_content(item, source.name),
        scope=Scope(source.user_id),
        project=source.project,
        type=item.type.value,
        decay_policy=DecayPolicy.STABLE,
        importance=pointer_importance(item),
        keywords=pointer_keywords(item),
        source=MEMORY_SOURCE,
        origin=WriteOrigin.DOCUMENT,
        metadata=pointer_metadata(item, source.name, item_uuid(source.uuid, item.item_id)),
    )


def draft_from_json(source: KnowledgeSource, data: dict[str, Any]) -> MemoryDraft:
    """Return the draft of a memory that a change keeps."""
    return MemoryDraft(
        content=data["content"],
        scope=Scope(source.user_id),
        project=data["project"],
        type=data["type"],
        decay_policy=DecayPolicy.STABLE,
        importance=data["importance"],
        keywords=tuple(data["keywords"]),
        source=MEMORY_SOURCE,
        origin=WriteOrigin.DOCUMENT,
        metadata=data["metadata"],
    )


def pointer_of(row: dict[str, Any]) -> UUID | None:
    """Return the pointer of the row of an item as a change keeps it."""
    return UUID(row["pointer"]) if row.get("pointer") else None


def find_pointers(manager: str, item_ids: Collection[str]) -> dict[str, UUID]:
    """Return the memories of some items of the source that keeps its pointers under a name, by the ids of the items."""
    sources = KnowledgeSource.objects.with_manager(manager)
    rows = ItemRow.objects.filter(source__in=sources, item_id__in=item_ids, pointer__isnull=False)
    return {item_id: pointer for item_id, pointer in rows.values_list("item_id", "pointer") if pointer}
