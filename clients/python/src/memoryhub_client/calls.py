"""Every call as data: what is sent, and whether it may be sent again. The clients send them."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from memoryhub_client import answers

T = TypeVar("T")
JSON = dict[str, Any]
Moment = datetime | str


@dataclass(frozen=True)
class Call(Generic[T]):
    """A request whose answer is a T.

    repeatable: whether it may be sent again after an answer that was lost. So may all that reads, and all whose
    repetition the hub recognises: a memory by its content, an event by its moment and content, an entry of a note by
    its operation. gone_is_done: a 404 of a repetition means that the first one did it.
    """

    method: str
    path: str
    body: JSON | None = None
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    repeatable: bool = True
    gone_is_done: bool = False
    # Of the answer, what the caller gets; None for all of it.
    member: str | None = None


@dataclass(frozen=True)
class Scope:
    """Whose memories a client means where a call does not say. What is None, the key or the hub decides."""

    user_id: str | None = None
    household_id: str | None = None
    persona_id: str | None = None
    project: str | None = None

    def fill(self, fields: Mapping[str, Any], *names: str) -> JSON:
        """Return the fields of a call with those of the scope that it does not name, of which it takes `names`."""
        own = {name: getattr(self, name) for name in names}
        return {name: sendable(value) for name, value in {**own, **fields}.items() if value is not None}


OWNER, SCOPE = ("user_id",), ("user_id", "household_id", "persona_id")
TAGGED = (*SCOPE, "project")


def sendable(value: Any) -> Any:
    """Return a value as JSON has it. Raises ValueError for a datetime without an offset."""
    if isinstance(value, datetime):
        if value.utcoffset() is None:
            raise ValueError("A datetime needs an offset, for example datetime.now(timezone.utc).")
        return value.isoformat()
    return list(value) if isinstance(value, tuple) else value


def save(scope: Scope, fields: Mapping[str, Any]) -> Call[answers.Saved]:
    """Return the call that saves a memory."""
    return Call("POST", "/api/semantic/memories", scope.fill(fields, *TAGGED))


def save_many(scope: Scope, memories: Sequence[Mapping[str, Any]]) -> Call[list[answers.SavedItem]]:
    """Return the call that saves memories together."""
    items = [scope.fill(one, *TAGGED) for one in memories]
    return Call("POST", "/api/semantic/memories/batch", {"memories": items}, member="results")


def search(scope: Scope, fields: Mapping[str, Any]) -> Call[answers.SearchAnswer]:
    """Return the call that searches memories."""
    return Call("POST", "/api/semantic/search", scope.fill(fields, *TAGGED))


def context(scope: Scope, fields: Mapping[str, Any]) -> Call[answers.Context]:
    """Return the call that asks what an assistant should know."""
    return Call("POST", "/api/context", scope.fill(fields, *TAGGED))


def get(memory_id: str) -> Call[answers.Memory]:
    """Return the call that reads a memory."""
    return Call("GET", memory_path(memory_id))


def update(memory_id: str, version: str | None, changes: Mapping[str, Any]) -> Call[answers.Saved]:
    """Return the call that changes a memory. After a lost answer, a version would no longer be the present one."""
    headers = {"If-Match": f'"{version}"'} if version else {}
    body = {name: sendable(value) for name, value in changes.items()}
    return Call("PATCH", memory_path(memory_id), body, headers=headers, repeatable=version is None)


def forget(memory_id: str) -> Call[None]:
    """Return the call that deletes a memory; it can be restored."""
    return Call("DELETE", memory_path(memory_id), gone_is_done=True)


def forget_many(scope: Scope, fields: Mapping[str, Any]) -> Call[answers.Forgotten]:
    """Return the call that deletes memories by their ids or a filter. Its figures would be others at a repetition."""
    return Call("POST", "/api/semantic/memories/delete", scope.fill(fields, *SCOPE), repeatable=False)


def memory_path(memory_id: str) -> str:
    """Return the address of a memory."""
    return f"/api/semantic/memories/{quote(memory_id, safe='')}"


def event_item(scope: Scope, fields: Mapping[str, Any]) -> JSON:
    """Return an event to be recorded. One without a time happens now: decided once, so that a repetition is known."""
    return scope.fill({"timestamp": datetime.now(UTC), **fields}, *SCOPE)


def record(scope: Scope, fields: Mapping[str, Any]) -> Call[answers.Recorded]:
    """Return the call that records an event."""
    return Call("POST", "/api/episodic/events", event_item(scope, fields))


def record_many(scope: Scope, events: Sequence[Mapping[str, Any]]) -> Call[list[answers.RecordedItem]]:
    """Return the call that records events together."""
    items = [event_item(scope, one) for one in events]
    return Call("POST", "/api/episodic/events/batch", {"events": items}, member="results")


def query_events(scope: Scope, fields: Mapping[str, Any]) -> Call[answers.EventAnswer]:
    """Return the call that finds events."""
    return Call("POST", "/api/episodic/query", scope.fill(fields, *SCOPE))


def forget_event(event_id: str) -> Call[None]:
    """Return the call that removes an event for good."""
    return Call("DELETE", f"/api/episodic/events/{quote(event_id, safe='')}", gone_is_done=True)


def read_note(scope: Scope, day: date | str | None) -> Call[answers.Note]:
    """Return the call that reads MEMORY.md, or the log of a day."""
    place = "main" if day is None else f"daily/{quote(str(day), safe='')}"
    return Call("GET", f"/api/memory/{place}", query=scope.fill({}, *OWNER))


def append_note(scope: Scope, place: str, fields: Mapping[str, Any]) -> Call[answers.Appended]:
    """Return the call that adds an entry; its operation makes sure that it is added once. place: main or daily."""
    named = {**fields, "operation_id": fields.get("operation_id") or str(uuid.uuid4())}
    return Call("POST", f"/api/memory/{place}/entries", scope.fill(named, *OWNER))


def search_notes(scope: Scope, query: str, limit: int) -> Call[answers.NoteAnswer]:
    """Return the call that searches notes."""
    return Call("GET", "/api/memory/search", query=scope.fill({"q": query, "limit": str(limit)}, *OWNER))


def note_command(scope: Scope, fields: Mapping[str, Any]) -> Call[answers.CommandAnswer]:
    """Return the call that carries out a file command of a model. What writes would fail, or write, a second time."""
    is_read = fields.get("command") == "view"
    return Call("POST", "/api/memory/commands", scope.fill(fields, *OWNER), repeatable=is_read)


def store(scope: Scope, operations: Sequence[JSON]) -> Call[list[answers.StoreResult]]:
    """Return the call that carries out operations of the store. A put that is repeated replaces itself."""
    return Call("POST", "/api/store", scope.fill({"operations": list(operations)}, *SCOPE), member="results")


def health() -> Call[JSON]:
    """Return the call that asks whether the hub can work."""
    return Call("GET", "/readyz")
