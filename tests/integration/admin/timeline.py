"""Rows of the timeline for tests of its pages, in whatever state a page has to show."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from apps.episodic.models import Segment, TimelineEvent, TimelineWarning

NOON = datetime(2026, 5, 10, 12, tzinfo=UTC)
SEALED_FILE = {
    "format_version": 1,
    "event_count": 40,
    "size_bytes": 2_000,
    "sha256": "ab" * 32,
    "first_timestamp": NOON - timedelta(days=1),
    "last_timestamp": NOON,
    "closed_at": NOON,
    "sealed_at": NOON,
    "checked_at": NOON,
}


def segment(state: str = "open", **fields: Any) -> Segment:
    """A segment in a state. Those that were sealed have a file of 40 events in 2,000 bytes."""
    uuid = uuid4()
    if state not in ("open", "sealing"):
        fields = {**SEALED_FILE, "file_name": f"2026-05-10-{uuid}.segment", **fields}
    return Segment.objects.create(uuid=uuid, state=state, **{"opened_at": NOON - timedelta(days=1), **fields})


def event(content: str = "Ana asked for tea", **fields: Any) -> TimelineEvent:
    """A recorded event of the user ana, in the open segment unless another one is given."""
    if "segment" not in fields:
        fields["segment"] = Segment.objects.filter(state="open").first() or segment()
    given = {"user_id": "ana", "event_type": "conversation", "timestamp": NOON, "recorded_at": NOON, **fields}
    return TimelineEvent.objects.create(content=content, identity=uuid4(), **given)


def warning(kind: str = "capacity", **fields: Any) -> TimelineWarning:
    """An active warning, unless it has an end."""
    given = {"severity": "warning", "detail": "It is so.", "began_at": NOON, "last_seen_at": NOON, **fields}
    return TimelineWarning.objects.create(kind=kind, **given)
