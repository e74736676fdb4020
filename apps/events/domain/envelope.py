"""What a subscriber receives."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from apps.events.domain.payload import EventPayload


@dataclass(frozen=True)
class Envelope:
    """One event on its way to one subscriber.

    event_id: the same on every redelivery, so a subscriber with effects outside the database can tell.
    occurred_at: aware, when the event was emitted. attempt: 1 for the first try.
    """

    event_id: UUID
    name: str
    payload: EventPayload
    occurred_at: datetime
    attempt: int
