"""Hub events of the timeline (spec 000, Episodic-Semantic Event Bridge)."""

from enum import StrEnum
from typing import ClassVar
from uuid import UUID

from apps.core.domain.origin import WriteOrigin
from apps.episodic.domain.alarms import Severity, WarningKind
from apps.episodic.domain.segment_state import SegmentState
from apps.events.domain.payload import EventPayload, Moment, Text


class EventSaved(EventPayload):
    """An event was recorded.

    The one payload that carries content: the requirement lists it, and a subscriber must not depend on whether the
    event is still a row. `services.events_purge` removes it from the outbox with the event.
    """

    name: ClassVar[str] = "memory:episodic:saved"
    event_id: UUID
    user_id: Text
    household_id: Text | None
    persona_id: Text | None
    event_type: Text
    timestamp: Moment
    importance: float
    content: Text
    source: Text
    segment_id: UUID
    recorded_at: Moment
    actor: Text
    origin: WriteOrigin = WriteOrigin.APP


class PruneReason(StrEnum):
    """Why events were removed for good. repair: an event had two ids, and keeps the other one."""

    RETENTION = "retention"
    MANUAL = "manual"
    REPAIR = "repair"


class EventsPruned(EventPayload):
    """Events of one scope were removed for good. hashes: their identities in hex, in the order of event_ids."""

    name: ClassVar[str] = "memory:episodic:pruned"
    user_id: Text
    household_id: Text | None
    persona_id: Text | None
    event_ids: tuple[UUID, ...]
    hashes: tuple[Text, ...]
    reason: PruneReason
    actor: Text
    at: Moment


class TimelineWarned(EventPayload):
    """Something is wrong with the timeline. hint: what an operator can do about it."""

    name: ClassVar[str] = "memory:episodic:warning"
    kind: WarningKind
    severity: Severity
    detail: Text
    hint: Text
    segment_id: UUID | None
    at: Moment


class TimelineHealthy(EventPayload):
    """A warning is over. is_healthy: no other one suspends the making of memories from events."""

    name: ClassVar[str] = "memory:episodic:healthy"
    kind: WarningKind
    segment_id: UUID | None
    warned_at: Moment
    is_healthy: bool
    at: Moment


class SegmentChanged(EventPayload):
    """A segment changed its state."""

    name: ClassVar[str] = "memory:episodic:segment_changed"
    segment_id: UUID
    before: SegmentState
    state: SegmentState
    event_count: int
    at: Moment
