"""What the hub answers, as types: plain dictionaries, as they came.

A hub that is newer than this package may answer with further members.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

Memory = TypedDict(
    "Memory",
    {
        "id": str,
        "version": str,
        "content": str,
        "user_id": str,
        "household_id": "str | None",
        "persona_id": "str | None",
        "agent": str,
        "personality": str,
        "project": str,
        "type": str,
        "global": bool,
        "decay_policy": str,
        "importance": float,
        "confidence": float,
        "base_confidence": float,
        "keywords": "list[str]",
        "source": str,
        "origin": str,
        "occurred_at": "str | None",
        "expires_at": "str | None",
        "session_id": str,
        "further_sessions": "list[str]",
        "context": str,
        "metadata": "dict[str, Any]",
        "managed": bool,
        "status": str,
        "deleted": bool,
        "superseded_by": "str | None",
        "created_at": str,
        "updated_at": str,
        "last_reinforced_at": "str | None",
    },
)


class Saved(TypedDict):
    """What a save did: `action` says it, `conflict` is the receipt where memories disagreed."""

    action: str
    reason: str
    memory: Memory
    conflict: str | None


class SavedItem(TypedDict):
    """What became of one item of a batch: as in `Saved`, or `errors`."""

    status: int
    action: NotRequired[str]
    reason: NotRequired[str]
    memory: NotRequired[Memory]
    conflict: NotRequired[str | None]
    errors: NotRequired[list[dict[str, Any]]]


class Found(TypedDict):
    """A result of a search."""

    memory: Memory
    score: float
    similarity: float | None
    confidence: float
    conflict: dict[str, Any] | None
    replaced: dict[str, Any] | None
    in_force: bool
    succeeds: str | None
    explain: NotRequired[dict[str, Any]]


class SearchAnswer(TypedDict):
    """The memories found, the best first."""

    results: list[Found]
    count: int
    diagnostics: dict[str, Any]


class ContextItem(TypedDict):
    """Something that an assistant should know. kind: wish, fact, memory, knowledge, note or event."""

    id: str
    kind: str
    text: str
    is_cut: bool
    date: str | None
    user_id: str
    why: str
    origin: str | None
    importance: float | None
    confidence: float | None
    note: dict[str, Any] | None
    conflict: dict[str, Any] | None
    replaced_by: str | None
    tokens: int


class Context(TypedDict):
    """What an assistant should know. sentence: that nothing is known of the message, otherwise empty."""

    id: str
    as_of: str
    text: str
    tokens: int
    items: list[ContextItem]
    count: int
    left_out: dict[str, int]
    sentence: str
    problems: list[str]


class Forgotten(TypedDict):
    """What deleting many did."""

    matched: int
    deleted: int
    managed: int
    protected: int
    dry_run: bool


class Event(TypedDict):
    """Something that happened."""

    id: str
    user_id: str
    household_id: str | None
    persona_id: str | None
    timestamp: str
    event_type: str
    content: str
    importance: float
    source: str
    origin: str
    metadata: dict[str, Any]
    recorded_at: str


class Recorded(TypedDict):
    """What recording did: `recorded`, or `duplicate` of an event that was there."""

    action: str
    event: Event


class RecordedItem(TypedDict):
    """What became of one event of a batch: as in `Recorded`, or `errors`."""

    status: int
    action: NotRequired[str]
    event: NotRequired[Event]
    errors: NotRequired[list[dict[str, Any]]]


class FoundEvent(Event):
    """An event that a query found; with a score where words were asked for."""

    score: NotRequired[float]
    similarity: NotRequired[float | None]


class EventAnswer(TypedDict):
    """The events found."""

    results: list[FoundEvent]
    count: int
    diagnostics: dict[str, Any]


class Note(TypedDict):
    """A note as it is on the disk. sha256: of the text that was read, for a later edit."""

    path: str
    text: str
    sha256: str
    exists: bool
    is_utf8: bool
    version: int | None


class Appended(TypedDict):
    """What adding an entry did: `added`, or `known` where it had been added before."""

    action: str
    version: dict[str, Any]


class NoteHit(TypedDict):
    """Lines of a note."""

    path: str
    first_line: int
    last_line: int
    heading: str
    text: str
    score: float
    vector_score: float | None
    bm25_score: float | None


class NoteAnswer(TypedDict):
    """Lines of notes, the best first."""

    results: list[NoteHit]
    count: int
    mode: str
    reason: str
    vectors_missing: int


class CommandAnswer(TypedDict):
    """What a file command of a model did."""

    text: str
    is_error: bool
    version: dict[str, Any] | None


class StoreResult(TypedDict):
    """What came of an operation of the store: nothing of one that writes."""

    item: NotRequired[dict[str, Any] | None]
    items: NotRequired[list[dict[str, Any]]]
    namespaces: NotRequired[list[list[str]]]
