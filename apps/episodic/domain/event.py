"""Events of the timeline: as a caller sends them and as they are kept, their limits, and which two are the same."""

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from apps.core.domain.errors import InvalidInputError
from apps.core.domain.filters.expression import FieldKind
from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import Scope
from apps.retrieval.domain.content import normalise_content

DEFAULT_IMPORTANCE = 0.5
DEFAULT_SOURCE = "user"
MAX_EVENT_TYPE_CHARS = 100
MAX_SOURCE_CHARS = 64
# Of the name of a key after `key:`, or of a user after `person:`.
MAX_ACTOR_CHARS = 220
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
# A word for programs, such as `message`, `chat.message` or `order:paid`: policies and filters name it exactly.
EVENT_TYPE_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_.:/-]*$"
EVENT_TYPE_HINT = "letters, digits and _ . : / - without spaces, beginning with a letter or a digit"
EVENT_TYPE = re.compile(EVENT_TYPE_PATTERN[1:-1])
# An event is in the past. A day allows for wrong clocks and for local times that were taken for UTC; an event further
# ahead would come before everything newer in every window, and retention would never reach it.
MAX_AHEAD = timedelta(days=1)
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


class ScopeKey(NamedTuple):
    """The scope of an event; an empty string means no household or no persona. Sorts as archives do."""

    user_id: str
    household_id: str = ""
    persona_id: str = ""

    @classmethod
    def of(cls, scope: Scope) -> "ScopeKey":
        """Return the key of the scope of a row, which names a user."""
        return cls(scope.user_id or "", scope.household_id or "", scope.persona_id or "")

    @property
    def scope(self) -> Scope:
        """Return the scope with None for what is missing."""
        return Scope(self.user_id, self.household_id or None, self.persona_id or None)

    def is_in(self, scope: Scope) -> bool:
        """Return whether a scope matches this key."""
        return self.user_id not in scope.without and all(
            getattr(self, name) == value for name, value in scope.named().items()
        )


@dataclass(frozen=True)
class EventDraft:
    """An event to be recorded.

    timestamp: when it happened, aware. importance: in [0, 1]. origin: None for that of the caller.
    """

    timestamp: datetime
    event_type: str
    content: str
    scope: Scope = field(default_factory=Scope)
    importance: float = DEFAULT_IMPORTANCE
    source: str = DEFAULT_SOURCE
    metadata: dict[str, Any] = field(default_factory=dict)
    origin: WriteOrigin | None = None


@dataclass(frozen=True)
class EventRecord:
    """A recorded event, whether it is kept as a row or as a line of a segment file.

    arrival: rises with the order of recording. timestamp: aware, in the offset of its writer, to the microsecond.
    recorded_at: the same in UTC.
    identity: equal for duplicates, see `event_identity`. actor: who recorded it, empty where that was not noted.
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
    actor: str = ""
    origin: WriteOrigin = WriteOrigin.APP

    @property
    def order(self) -> tuple[datetime, int]:
        """Return what events are ordered by: time, then arrival (spec 000, Record episodic event)."""
        return self.timestamp, self.arrival

    @property
    def archive_order(self) -> tuple[ScopeKey, datetime, int]:
        """Return what the lines of a segment are ordered by: the events of one scope together, by time and arrival."""
        return self.key, self.timestamp, self.arrival


def event_identity(key: ScopeKey, event_type: str, timestamp: datetime, content: str) -> UUID:
    """Return the first 128 bits of the SHA-256 of what two duplicates share (spec 000, Record episodic event).

    Two events are duplicates when they have the same user, household and persona, the same type, the same microsecond,
    and the same content after `normalise_content`. Importance, source, metadata and origin do not count. Each part
    is hashed behind its length, so that no two lists of parts look alike. timestamp: aware, of any offset.
    """
    micros = (timestamp - EPOCH) // MICROSECOND
    parts = [part.encode("utf-8", "replace") for part in (*key, event_type, str(micros), normalise_content(content))]
    encoded = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
    return UUID(bytes=hashlib.sha256(encoded).digest()[:16])


def require_recordable(draft: EventDraft, *, max_content_chars: int, now: datetime) -> None:
    """Check a draft. Raises InvalidInputError, which names the field at fault. now: aware."""
    if draft.timestamp.utcoffset() is None:
        raise InvalidInputError("A timestamp needs an offset.", attr="timestamp", code="naive")
    if draft.timestamp > now + MAX_AHEAD:
        detail = "This has not happened yet: a timestamp may be at most a day ahead of the hub's clock."
        raise InvalidInputError(detail, attr="timestamp", code="in_the_future")
    if len(draft.event_type) > MAX_EVENT_TYPE_CHARS or not EVENT_TYPE.fullmatch(draft.event_type):
        detail = f"An event type is up to {MAX_EVENT_TYPE_CHARS} characters: {EVENT_TYPE_HINT}."
        raise InvalidInputError(detail, attr="event_type")
    if not draft.content.strip():
        raise InvalidInputError("The content must not be blank.", attr="content", code="blank")
    if len(draft.content) > max_content_chars:
        detail = f"The content is too long: at most {max_content_chars} characters."
        raise InvalidInputError(detail, attr="content", code="max_length")
    if not (math.isfinite(draft.importance) and 0 <= draft.importance <= 1):
        raise InvalidInputError("The importance must be a number from 0 to 1.", attr="importance")
    if not 1 <= len(draft.source) <= MAX_SOURCE_CHARS:
        raise InvalidInputError(f"A source must have 1 to {MAX_SOURCE_CHARS} characters.", attr="source")


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
