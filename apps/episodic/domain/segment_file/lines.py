"""Events as lines of NDJSON: what a segment holds, and what an export writes."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from apps.core.domain.origin import WriteOrigin
from apps.episodic.domain.event import EventRecord, ScopeKey

# Text stays as it is: half the size of escapes where it is not ASCII. Numbers must be ones that JSON knows.
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_decode = json.JSONDecoder().decode


def event_document(record: EventRecord) -> dict[str, Any]:
    """Return an event as a JSON object.

    Identifiers that it does not have are null, times are ISO 8601, that of the event in the offset of its writer. Who
    recorded it is there where it was noted, and its origin where it is not `app`, which earlier lines mean, too.
    """
    return {
        "arrival": record.arrival,
        "id": str(record.uuid),
        "user_id": record.key.user_id,
        "household_id": record.key.household_id or None,
        "persona_id": record.key.persona_id or None,
        "timestamp": record.timestamp.isoformat(),
        "event_type": record.event_type,
        "content": record.content,
        "importance": record.importance,
        "source": record.source,
        "metadata": record.metadata,
        "identity": str(record.identity),
        "recorded_at": record.recorded_at.astimezone(UTC).isoformat(),
        **({"actor": record.actor} if record.actor else {}),
        **({"origin": record.origin.value} if record.origin is not WriteOrigin.APP else {}),
    }


def encode_line(record: EventRecord) -> bytes:
    """Return one line with its end. Raises ValueError for what JSON cannot hold: lone surrogates, infinite numbers."""
    return _encode(event_document(record)).encode() + b"\n"


def decode_line(line: bytes) -> EventRecord:
    """Return the event of a line. Raises ValueError, KeyError or TypeError if `encode_line` would not write it."""
    document = _decode(line.decode())
    metadata = document["metadata"]
    if not isinstance(metadata, dict):
        raise TypeError("metadata must be an object.")
    return EventRecord(
        arrival=document["arrival"],
        uuid=UUID(document["id"]),
        key=ScopeKey(document["user_id"], document["household_id"] or "", document["persona_id"] or ""),
        timestamp=datetime.fromisoformat(document["timestamp"]),
        event_type=document["event_type"],
        content=document["content"],
        importance=document["importance"],
        source=document["source"],
        metadata=metadata,
        identity=UUID(document["identity"]),
        recorded_at=datetime.fromisoformat(document["recorded_at"]),
        actor=document.get("actor", ""),
        origin=WriteOrigin(document.get("origin", WriteOrigin.APP)),
    )
