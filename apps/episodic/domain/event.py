"""Events of the timeline, as a caller tells of them and as they are kept."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from apps.core.domain.scope import Scope

DEFAULT_IMPORTANCE = 0.5
DEFAULT_SOURCE = "user"
MAX_EVENT_TYPE_CHARS = 100
MAX_SOURCE_CHARS = 64


class ScopeKey(NamedTuple):
    """Whose event it is; the empty string stands for no household and no persona. Sorts as archives do."""

    user_id: str
    household_id: str = ""
    persona_id: str = ""

    @classmethod
    def of(cls, scope: Scope) -> "ScopeKey":
        """The key of the scope of a row, which names a user."""
        return cls(scope.user_id or "", scope.household_id or "", scope.persona_id or "")

    @property
    def scope(self) -> Scope:
        return Scope(self.user_id, self.household_id or None, self.persona_id or None)

    def is_in(self, scope: Scope) -> bool:
        """Whether every identifier that the scope names is this key's."""
        return all(getattr(self, name) == value for name, value in scope.named().items())


@dataclass(frozen=True)
class EventDraft:
    """An event to be recorded. timestamp: when it happened, aware. importance: in [0, 1]."""

    timestamp: datetime
    event_type: str
    content: str
    scope: Scope = field(default_factory=Scope)
    importance: float = DEFAULT_IMPORTANCE
    source: str = DEFAULT_SOURCE
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class EventRecord:
    """A recorded event, wherever it is kept: as a row or as a line of a segment.

    arrival: rises with the order of recording. timestamp and recorded_at: aware, in UTC, to the microsecond.
    identity: by which the same event is known again, see `domain.identity`.
    """

    arrival: int
    uuid: UUID
    key: ScopeKey
    timestamp: datetime
    event_type: str
    content: str
    importance: float
    source: str
    metadata: dict[str, Any]
    identity: UUID
    recorded_at: datetime

    @property
    def order(self) -> tuple[datetime, int]:
        """By time, then by arrival (spec 000, Record episodic event)."""
        return self.timestamp, self.arrival

    @property
    def archive_order(self) -> tuple[ScopeKey, datetime, int]:
        """The order of the lines of a segment: the events of one scope together, by time and arrival."""
        return self.key, self.timestamp, self.arrival
