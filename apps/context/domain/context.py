"""What a context is asked for, and what it holds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import Scope

DEFAULT_TOKENS, MIN_TOKENS, MAX_TOKENS = 1_500, 100, 32_000
NOTHING_KNOWN = "Nothing is known of this; no need to search again."


class ItemKind(StrEnum):
    """What an item of a context is.

    wish: what the person has asked of assistants once and for all. fact: what matters most about them. memory: one that
    answers the message. knowledge: an item of a repository that is in force. note: lines of a note. event: what
    happened lately.
    """

    WISH = "wish"
    FACT = "fact"
    MEMORY = "memory"
    KNOWLEDGE = "knowledge"
    NOTE = "note"
    EVENT = "event"


class Reason(StrEnum):
    """Why something was left out.

    budget: there was no room. duplicate: another item says it. irrelevant: it was found, and says nothing of the
    message. ended: an item of knowledge that is not in force.
    """

    BUDGET = "budget"
    DUPLICATE = "duplicate"
    IRRELEVANT = "irrelevant"
    ENDED = "ended"


@dataclass(frozen=True)
class ContextQuery:
    """What a context is asked for.

    message: what the person says or wants done; empty at the start of a session. project, agent, personality: memories
    that belong to another one are left out, those that belong to none are not. as_of: the moment as which everything is
    judged, None for now: what came later is left out.
    """

    scope: Scope = field(default_factory=Scope)
    message: str = ""
    max_tokens: int = DEFAULT_TOKENS
    as_of: datetime | None = None
    project: str = ""
    agent: str = ""
    personality: str = ""
    include: tuple[str, ...] = ()


@dataclass(frozen=True)
class Candidate:
    """Something that a context may hold.

    id: of a memory or an event; of a note `path#Lfirst-Llast`. user_id: whose it is. text: as it is kept. why: a
    sentence. date: when it happened, or was saved; None for lines of a note. household_id, persona_id: empty for none.
    conflict: an open receipt that concerns it, and the other memory of that. replaced_by: the memory that the rules
    replaced it by.
    """

    kind: ItemKind
    id: str
    user_id: str
    text: str
    why: str
    date: datetime | None = None
    origin: WriteOrigin | None = None
    importance: float | None = None
    confidence: float | None = None
    path: str = ""
    first_line: int = 0
    last_line: int = 0
    conflict: UUID | None = None
    conflict_with: UUID | None = None
    replaced_by: UUID | None = None
    household_id: str = ""
    persona_id: str = ""


@dataclass(frozen=True)
class ContextItem:
    """An item of a context. line: what the text has of it. tokens: of the line. is_cut: its text was too long."""

    source: Candidate
    text: str
    line: str
    tokens: int
    is_cut: bool = False


@dataclass(frozen=True)
class Context:
    """What an assistant is told.

    items: in the order of the text. text: all of them for a model, of at most `max_tokens` likely tokens. left_out: how
    many for each reason. sentence: that nothing is known of the message; empty where something is. problems: what could
    not be read, in sentences.
    """

    id: UUID
    as_of: datetime
    items: tuple[ContextItem, ...]
    text: str
    tokens: int
    left_out: Mapping[Reason, int]
    sentence: str = ""
    problems: tuple[str, ...] = ()
