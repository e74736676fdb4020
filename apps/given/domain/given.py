"""What an answer gave to an application, by ids and never by content."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID


class AnswerKind(StrEnum):
    """What was asked for: a context, or a search of memories, events or notes."""

    CONTEXT = "context"
    SEARCH = "search"
    EVENTS = "events"
    NOTES = "notes"


class ItemKind(StrEnum):
    """What an item of an answer is."""

    MEMORY = "memory"
    EVENT = "event"
    NOTE = "note"


class Place(NamedTuple):
    """The scope of what was given; empty where it has no household or persona."""

    user_id: str
    household_id: str = ""
    persona_id: str = ""


class Item(NamedTuple):
    """Something that was given, and where it is. id: of a note `path#Lfirst-Llast`."""

    place: Place
    kind: ItemKind
    id: UUID | str


@dataclass(frozen=True)
class Use:
    """How often an application got something. runs: the last ones that it named, the newest first."""

    app: str
    count: int
    last_at: datetime
    runs: tuple[str, ...] = ()
