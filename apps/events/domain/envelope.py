"""What a subscriber receives."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from apps.events.domain.payload import EventPayload


@dataclass(frozen=True)
class Envelope:
    """One event, as it is delivered to one subscriber.

    event_id: the same on every redelivery, so that a subscriber with effects outside the database can recognise it.
    occurred_at: aware, when the event was emitted. attempt: 1 for the first try.
    """

    event_id: UUID
    name: str
    payload: EventPayload
    occurred_at: datetime
    attempt: int


BatchHandler = Callable[[Sequence[Envelope]], None]
_MARK = "takes_batches"


def takes_batches(handler: BatchHandler) -> BatchHandler:
    """Mark a handler that takes a sequence of envelopes: all that is due for it, in one savepoint.

    When it raises, each of them is tried alone, so that one bad event fails alone.
    """
    setattr(handler, _MARK, True)
    return handler


def is_batch_handler(handler: Callable[..., Any]) -> bool:
    """Return whether a handler takes a sequence of envelopes."""
    return getattr(handler, _MARK, False) is True
