"""Memories as the conflict engine sees them, and as a receipt keeps them."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from apps.rules.domain.engine.record import MemoryRecord
from apps.semantic.domain.memory import DEFAULT_IMPORTANCE, DEFAULT_SOURCE
from apps.semantic.memories.prepare import Candidate
from apps.semantic.models import Memory

Vector = npt.NDArray[np.float32]
RECORD_COLUMNS = (
    "id", "uuid", "content", "importance", "source", "keywords", "user_id", "persona_id", "occurred_at", "created_at",
)  # fmt: skip


def record_from_draft(item: Candidate, now: datetime) -> MemoryRecord:
    """A draft that is saved now."""
    draft = item.draft
    return MemoryRecord(
        key=str(item.uuid),
        content=draft.content,
        timestamp=draft.occurred_at or now,
        importance=DEFAULT_IMPORTANCE if draft.importance is None else draft.importance,
        source=draft.source or DEFAULT_SOURCE,
        keywords=tuple(draft.keywords),
        user_id=item.key[0],
        persona_id=item.key[2] or None,
        embedding=item.vector,
    )


def record_from_memory(memory: Memory, vector: Vector | None) -> MemoryRecord:
    """A stored memory."""
    return record_from_row([getattr(memory, column) for column in RECORD_COLUMNS], vector)


def record_from_row(row: Iterable[Any], vector: Vector | None) -> MemoryRecord:
    """A stored memory, of which only RECORD_COLUMNS were read."""
    _, uuid, content, importance, source, keywords, user_id, persona_id, occurred_at, created_at = row
    return MemoryRecord(
        key=str(uuid),
        content=content,
        timestamp=occurred_at or created_at,
        importance=importance,
        source=source,
        keywords=tuple(keywords),
        user_id=user_id,
        persona_id=persona_id or None,
        embedding=vector,
    )


def record_as_json(record: MemoryRecord) -> dict[str, Any]:
    """What a receipt keeps of a memory: all that the engine looked at, but for the vector."""
    return {
        "id": record.key,
        "content": record.content,
        "timestamp": record.timestamp.isoformat(),
        "importance": record.importance,
        "source": record.source,
        "keywords": list(record.keywords),
        "user_id": record.user_id,
        "persona_id": record.persona_id,
    }


def record_from_json(data: Mapping[str, Any], vector: Vector | None) -> MemoryRecord:
    """What `record_as_json` gave, with a vector."""
    return MemoryRecord(
        key=data["id"],
        content=data["content"],
        timestamp=datetime.fromisoformat(data["timestamp"]),
        importance=data["importance"],
        source=data["source"],
        keywords=tuple(data["keywords"]),
        user_id=data["user_id"],
        persona_id=data["persona_id"],
        embedding=vector,
    )
