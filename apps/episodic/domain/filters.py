"""What events can be filtered by (docs/reference/api-conventions.md)."""

from collections.abc import Mapping
from typing import Any

from apps.core.domain.filters.expression import FieldKind
from apps.episodic.domain.event import EventRecord

EVENT_FIELDS: Mapping[str, FieldKind] = {
    "id": FieldKind.ID,
    "user_id": FieldKind.TEXT,
    "household_id": FieldKind.TEXT,
    "persona_id": FieldKind.TEXT,
    "event_type": FieldKind.TEXT,
    "source": FieldKind.TEXT,
    "origin": FieldKind.TEXT,
    "importance": FieldKind.NUMBER,
    "timestamp": FieldKind.MOMENT,
    "recorded_at": FieldKind.MOMENT,
    "metadata": FieldKind.JSON,
}


def event_values(record: EventRecord) -> dict[str, Any]:
    """Return an event by its fields, for `matching.matches`."""
    return {
        "id": record.uuid,
        **record.key._asdict(),
        "event_type": record.event_type,
        "source": record.source,
        "origin": record.origin.value,
        "importance": record.importance,
        "timestamp": record.timestamp,
        "recorded_at": record.recorded_at,
        "metadata": record.metadata,
    }
