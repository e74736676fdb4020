"""What is found in the files of other programs, before any of it is kept."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, TypeAlias

from apps.core.domain.origin import WriteOrigin
from apps.core.domain.unseen import storable

# Of the moments that files name: what is earlier is none.
FIRST_MOMENT = datetime(1990, 1, 1, tzinfo=UTC)
MAX_TITLE_CHARS = 200


class Kind(StrEnum):
    """What wrote the files."""

    CHATGPT = "chatgpt"
    CLAUDE = "claude"
    MEM0 = "mem0"
    BASIC_MEMORY = "basic-memory"
    MARKDOWN = "markdown"
    CLAUDE_CODE = "claude-code"


class Target(StrEnum):
    """Where something is kept."""

    MEMORIES = "memories"
    EVENTS = "events"
    NOTES = "notes"


class Reason(StrEnum):
    """Why something is not kept."""

    NO_WORDS = "no_words"
    NO_DATE = "no_date"
    IN_THE_FUTURE = "in_the_future"
    TOO_LONG = "too_long"
    TOO_LARGE = "too_large"
    TOOL = "tool"
    HIDDEN = "hidden"
    OTHER_BRANCH = "other_branch"
    ATTACHMENT = "attachment"
    OTHER_USER = "other_user"
    DELETED = "deleted"
    ONLY_A_LINK = "only_a_link"
    NOT_UNDERSTOOD = "not_understood"
    NOT_UTF8 = "not_utf8"
    PATH = "path"
    NOTE_EXISTS = "note_exists"
    RULES = "rules"
    PAUSED = "paused"
    OTHER = "other"


@dataclass(frozen=True, kw_only=True)
class FoundMemory:
    """A fact. place: where it was found, such as `memories.json, 3`. occurred_at: only a date that is its own."""

    place: str
    content: str
    origin: WriteOrigin
    source: str = "conversation"
    occurred_at: datetime | None = None
    type: str = ""
    project: str = ""
    keywords: tuple[str, ...] = ()
    context: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class FoundEvent:
    """A message of a conversation. timestamp: aware."""

    place: str
    content: str
    origin: WriteOrigin
    timestamp: datetime
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class FoundNote:
    """A Markdown file. path: below the folder of the import. written_at: of the file, where that is known."""

    place: str
    path: str
    text: bytes
    written_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Refused:
    """Something that is not kept. target: what it would have been."""

    place: str
    reason: Reason
    target: Target


Found: TypeAlias = FoundMemory | FoundEvent | FoundNote | Refused


def clean_text(value: Any) -> str:
    """Return a text that the database can hold; an empty one for what is no text."""
    return storable(value) if isinstance(value, str) else ""


def clean_title(value: Any) -> str:
    """Return a title on one line."""
    return " ".join(clean_text(value).split())[:MAX_TITLE_CHARS]


def read_moment(value: Any) -> datetime | None:
    """Return a moment that is written as seconds since 1970 or in ISO 8601, UTC where it has no offset; None for none.

    Microseconds are those of the file: reading it again gives the same moment.
    """
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=round(value * 1_000_000))
        elif isinstance(value, str):
            moment = datetime.fromisoformat(value.strip())
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        else:
            return None
        # A moment at the edge of what a datetime can hold has no UTC.
        return moment if moment.astimezone(UTC) >= FIRST_MOMENT else None
    except (ValueError, OverflowError):
        return None
