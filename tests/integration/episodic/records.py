"""Events for tests that need no database."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from apps.episodic.domain.event import EventRecord, ScopeKey, event_identity

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def record(arrival: int, **fields: Any) -> EventRecord:
    """Return an event of ana's, a minute after the one before it, unless the fields say otherwise."""
    values: dict[str, Any] = {
        "key": ScopeKey("ana"),
        "timestamp": NOW + timedelta(minutes=arrival),
        "event_type": "message",
        "content": f"event {arrival}",
        "importance": 0.5,
        "source": "user",
        "metadata": {},
        "recorded_at": NOW,
        **fields,
    }
    identity = event_identity(values["key"], values["event_type"], values["timestamp"], values["content"])
    return EventRecord(arrival=arrival, uuid=UUID(int=arrival), identity=identity, **values)
