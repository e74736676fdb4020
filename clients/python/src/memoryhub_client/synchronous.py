"""The client for synchronous code."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import date
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx2

from memoryhub_client import answers, calls
from memoryhub_client.calls import Call, Scope
from memoryhub_client.errors import MemoryHubError
from memoryhub_client.sending import Settings, failure, pause_before, read_answer, request_of

T = TypeVar("T")


class Client:
    """Calls a hub with a key. Threads may share one.

    user_id, household_id, persona_id, project: what calls mean that do not say. url, key, timeout, retries: see
    `Settings`. http: a client of your own, with its own address and headers.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        user_id: str | None = None,
        household_id: str | None = None,
        persona_id: str | None = None,
        project: str | None = None,
        timeout: float = 10.0,
        retries: int = 2,
        http: httpx2.Client | None = None,
    ) -> None:
        self.scope = Scope(user_id, household_id, persona_id, project)
        self.settings = Settings(url, key, timeout, retries)
        self._http = http or httpx2.Client(**self.settings.for_httpx())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def send(self, call: Call[T]) -> T:
        """Carry out a call, again where that is safe. Raises MemoryHubError."""
        done = 0
        while True:
            try:
                answer = self._http.request(**request_of(call))
            except httpx2.TransportError as lost:
                pause = pause_before(call, lost, self.settings.retries - done, done)
                if pause is None:
                    raise failure(lost) from lost
            else:
                try:
                    return read_answer(call, answer, is_repetition=done > 0)
                except MemoryHubError as error:
                    pause = pause_before(call, error, self.settings.retries - done, done)
                    if pause is None:
                        raise
            time.sleep(pause)
            done += 1

    def save(self, content: str, **fields: Any) -> answers.Saved:
        """Save a memory. A text that is stored already is no second memory: `action` says what happened.

        fields: type, importance, confidence, keywords, occurred_at, expires_at, metadata, session_id, project, ...
        """
        return self.send(calls.save(self.scope, {"content": content, **fields}))

    def save_many(self, memories: Sequence[Mapping[str, Any]]) -> list[answers.SavedItem]:
        """Save up to 1,000 memories together; of each, the result in order. A bad one fails alone."""
        return self.send(calls.save_many(self.scope, memories))

    def search(self, query: str, *, limit: int = 10, **fields: Any) -> answers.SearchAnswer:
        """Search memories, the best first. fields: type, filter, min_confidence, last_days, timezone, explain, ..."""
        return self.send(calls.search(self.scope, {"query": query, "limit": limit, **fields}))

    def context(self, message: str | None = None, *, max_tokens: int = 1_500, **fields: Any) -> answers.Context:
        """Return what an assistant should know for a message, in one answer; its `text` is for a model.

        Without a message: what matters whatever is asked. fields: as_of, agent, personality, include, project, ...
        """
        return self.send(calls.context(self.scope, {"message": message, "max_tokens": max_tokens, **fields}))

    def get(self, memory_id: str) -> answers.Memory:
        """Return a memory by its id. Raises NotFound."""
        return self.send(calls.get(memory_id))

    def update(self, memory_id: str, *, version: str | None = None, **changes: Any) -> answers.Saved:
        """Change the fields of a memory that are named. Raises Conflict where `version` is not its present one."""
        return self.send(calls.update(memory_id, version, changes))

    def forget(self, memory_id: str) -> None:
        """Delete a memory; people and operators can restore it."""
        self.send(calls.forget(memory_id))

    def forget_many(
        self,
        *,
        ids: Sequence[str] | None = None,
        filter: Mapping[str, Any] | None = None,  # noqa: A002 - the name of the API
        dry_run: bool = False,
        **fields: Any,
    ) -> answers.Forgotten:
        """Delete the memories of some ids, or that a filter matches; `dry_run` only counts them."""
        chosen = {"ids": None if ids is None else list(ids), "filter": filter, "dry_run": dry_run, **fields}
        return self.send(calls.forget_many(self.scope, chosen))

    def record(
        self, event_type: str, content: str, *, timestamp: calls.Moment | None = None, **fields: Any
    ) -> answers.Recorded:
        """Record something that happened, now unless `timestamp` says when. The same event again is a duplicate."""
        moment = {} if timestamp is None else {"timestamp": timestamp}
        named = {"event_type": event_type, "content": content, **moment, **fields}
        return self.send(calls.record(self.scope, named))

    def record_many(self, events: Sequence[Mapping[str, Any]]) -> list[answers.RecordedItem]:
        """Record up to 1,000 events together; of each, the result in order. A bad one fails alone."""
        return self.send(calls.record_many(self.scope, events))

    def query_events(self, query: str | None = None, *, limit: int = 10, **fields: Any) -> answers.EventAnswer:
        """Find events by words, time, type or filter. fields: event_types, last_days, time_window, timezone, filter."""
        return self.send(calls.query_events(self.scope, {"query": query, "limit": limit, **fields}))

    def forget_event(self, event_id: str) -> None:
        """Remove an event for good."""
        self.send(calls.forget_event(event_id))

    def read_note(self, day: date | str | None = None) -> answers.Note:
        """Return MEMORY.md, or the log of a day, as it is on the disk now."""
        return self.send(calls.read_note(self.scope, day))

    def append_note(
        self, entry: str, *, category: str | None = None, operation_id: str | None = None
    ) -> answers.Appended:
        """Add a fact to MEMORY.md, once however often `operation_id` is sent. category: the heading to put it under."""
        fields = {"entry": entry, "category": category, "operation_id": operation_id}
        return self.send(calls.append_note(self.scope, "main", fields))

    def append_daily(
        self, entry: str, *, timezone: str | None = None, operation_id: str | None = None
    ) -> answers.Appended:
        """Add an entry with its time to the log of today. timezone: whose today, an IANA name."""
        fields = {"entry": entry, "timezone": timezone, "operation_id": operation_id}
        return self.send(calls.append_note(self.scope, "daily", fields))

    def search_notes(self, query: str, *, limit: int = 10) -> answers.NoteAnswer:
        """Search the notes of a user: paths, lines and their text."""
        return self.send(calls.search_notes(self.scope, query, limit))

    def note_command(self, command: str, **fields: Any) -> answers.CommandAnswer:
        """Carry out a file command of Anthropic's memory tool: view, create, str_replace, insert, delete, rename."""
        return self.send(calls.note_command(self.scope, {"command": command, **fields}))

    def health(self) -> dict[str, Any]:
        """Return what the hub says of its readiness. Raises TryLater where it is not ready."""
        return self.send(calls.health())
