"""What an event must be like to be recorded: the one place of these limits, for every way in."""

import math
import re
from datetime import datetime, timedelta

from apps.core.domain.errors import InvalidInputError
from apps.episodic.domain.event import MAX_EVENT_TYPE_CHARS, MAX_SOURCE_CHARS, EventDraft

# A word for programs, such as `message`, `chat.message` or `order:paid`: policies and filters name it exactly.
EVENT_TYPE_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_.:/-]*$"
EVENT_TYPE_HINT = "letters, digits and _ . : / - without spaces, beginning with a letter or a digit"
# An event has happened. A day covers clocks that go wrong and local times that were taken for UTC; what is further
# ahead would stand before everything newer in every window, and retention would never reach it.
MAX_AHEAD = timedelta(days=1)
_EVENT_TYPE = re.compile(EVENT_TYPE_PATTERN[1:-1])


def require_recordable(draft: EventDraft, *, max_content_chars: int, now: datetime) -> None:
    """Raises InvalidInputError, which names the field, for a draft that must not be recorded. now: aware."""
    require_happened(draft.timestamp, now)
    if len(draft.event_type) > MAX_EVENT_TYPE_CHARS or not _EVENT_TYPE.fullmatch(draft.event_type):
        detail = f"An event type is up to {MAX_EVENT_TYPE_CHARS} characters: {EVENT_TYPE_HINT}."
        raise InvalidInputError(detail, attr="event_type")
    if not draft.content.strip():
        raise InvalidInputError("There is nothing in this content.", attr="content", code="blank")
    if len(draft.content) > max_content_chars:
        detail = f"The content is too long: at most {max_content_chars} characters."
        raise InvalidInputError(detail, attr="content", code="max_length")
    if not (math.isfinite(draft.importance) and 0 <= draft.importance <= 1):
        raise InvalidInputError("The importance is a number from 0 to 1.", attr="importance")
    if not 1 <= len(draft.source) <= MAX_SOURCE_CHARS:
        raise InvalidInputError(f"A source is 1 to {MAX_SOURCE_CHARS} characters.", attr="source")


def require_happened(timestamp: datetime, now: datetime) -> None:
    """Raises InvalidInputError for a naive timestamp and for one more than MAX_AHEAD in the future."""
    if timestamp.utcoffset() is None:
        raise InvalidInputError("A timestamp needs an offset.", attr="timestamp", code="naive")
    if timestamp > now + MAX_AHEAD:
        detail = "This has not happened yet: a timestamp may be at most a day ahead of the hub's clock."
        raise InvalidInputError(detail, attr="timestamp", code="in_the_future")
