"""What memories can be filtered by (docs/reference/api-conventions.md)."""

from collections.abc import Mapping

from apps.core.domain.filters.expression import FieldKind

MEMORY_FIELDS: Mapping[str, FieldKind] = {
    "id": FieldKind.ID,
    "user_id": FieldKind.TEXT,
    "household_id": FieldKind.TEXT,
    "persona_id": FieldKind.TEXT,
    "agent": FieldKind.TEXT,
    "personality": FieldKind.TEXT,
    "project": FieldKind.TEXT,
    "type": FieldKind.TEXT,
    "session_id": FieldKind.TEXT,
    "further_sessions": FieldKind.TEXTS,
    "source": FieldKind.TEXT,
    "origin": FieldKind.TEXT,
    "decay_policy": FieldKind.TEXT,
    "status": FieldKind.TEXT,
    "global": FieldKind.FLAG,
    "managed": FieldKind.FLAG,
    "keywords": FieldKind.TEXTS,
    "importance": FieldKind.NUMBER,
    "confidence": FieldKind.NUMBER,
    "base_confidence": FieldKind.NUMBER,
    "created_at": FieldKind.MOMENT,
    "updated_at": FieldKind.MOMENT,
    "occurred_at": FieldKind.MOMENT,
    "expires_at": FieldKind.MOMENT,
    "last_reinforced_at": FieldKind.MOMENT,
    "metadata": FieldKind.JSON,
}
