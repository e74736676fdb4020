"""The limits of an event: the one place of these rules, for the API, tools and imports alike."""

import math
import re
from datetime import datetime, timedelta

from apps.core.domain.errors import InvalidInputError
from apps.episodic.domain.event import MAX_EVENT_TYPE_CHARS, MAX_SOURCE_CHARS, EventDraft

# A word for programs, such as `message`, `chat.message` or `order:paid`: policies and filters name it exactly.
EVENT_TYPE_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_.:/-]*$"
EVENT_TYPE_HINT = "letters, digits and _ . : / - without spaces, beginning with a letter or a digit"
EVENT_TYPE = re.compile(EVENT_TYPE_PATTERN[1:-1])
# An event is in the past. A day allows for wrong clocks and for local times that were taken for UTC; an event further
# ahead would come before everything newer in every window, and retention would never reach it.
MAX_AHEAD = timedelta(days=1)


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
