"""The store of conversations: what chat applications sent, and what was learnt from it."""

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Model

from apps.core.db.scoped import scope_filter
from apps.core.db.user_locks import hold_users
from apps.core.personal.columns import Columns
from apps.core.personal.store import ExportRequest, Line, LineError, UserTable
from apps.core.steps import Step, no_step
from apps.notes.models import Conversation, ConversationMessage, ExtractedFact, ExtractionRun

CONVERSATION, RUN, MESSAGE, FACT = "conversation", "extraction_run", "conversation_message", "extracted_fact"
TABLES: dict[str, type[Model]] = {
    CONVERSATION: Conversation,
    RUN: ExtractionRun,
    MESSAGE: ConversationMessage,
    FACT: ExtractedFact,
}
# What a row refers to, by its id; None where there is nothing, or where it is not in the hub any more.
REFERENCES = {CONVERSATION: (), RUN: (), MESSAGE: ("run",), FACT: ("run", "message")}
# A message has that of its conversation.
SESSION = "session_id"
# Who sent an event and who undid a fact is for operators.
OF_OPERATORS = {RUN: {"actor": ""}, FACT: {"undone_by": ""}}
_CHUNK = 1_000


class ConversationStore(UserTable):
    """Conversations of users with their messages, runs of extraction and the facts that these found."""

    name = "conversations"
    order = 86
    models = (Conversation, ExtractionRun, ConversationMessage, ExtractedFact)
    kinds = (CONVERSATION, RUN, MESSAGE, FACT)

    def export(self, asked: ExportRequest) -> Iterator[Line]:
        """Yield the rows of the users in scope. None where a part of a person is asked for, or a filter is given."""
        scope = asked.scope
        if not asked.is_of_whole_people:
            return
        for kind, model in TABLES.items():
            columns = Columns(model)
            related = (*REFERENCES[kind], *(("conversation",) if kind == MESSAGE else ()))
            rows = model._default_manager.filter(scope_filter(scope)).order_by("pk")
            for row in (rows.select_related(*related) if related else rows).iterator(_CHUNK):
                hidden = {} if asked.is_operator else OF_OPERATORS.get(kind, {})
                line = {"kind": kind, **columns.values(row), **hidden, **references(row, REFERENCES[kind])}
                yield {**line, SESSION: row.conversation.session_id} if isinstance(row, ConversationMessage) else line

    def load(self, lines: Sequence[Line]) -> int:
        """Write the rows that the hub does not have."""
        kind = lines[0]["kind"]
        model, names = TABLES[kind], REFERENCES[kind]
        columns = Columns(model)
        further = (*names, SESSION) if kind == MESSAGE else names
        values = [columns.read_at(place, line, further) for place, line in enumerate(lines)]
        for place, found in enumerate(values):
            if not found["user_id"]:
                raise LineError(place, "user_id is blank")
        known = {name: keys_of(TABLES[RUN if name == "run" else MESSAGE], lines, name) for name in names}
        sessions = session_keys(lines) if kind in {RUN, MESSAGE} else {}
        rows = []
        for place, (line, found) in enumerate(zip(lines, values, strict=True)):
            row = model(**found)
            for name in names:
                setattr(row, f"{name}_id", known[name].get(str(line.get(name))))
            if kind in {RUN, MESSAGE}:
                row.conversation_id = sessions.get((line.get("user_id"), line.get(SESSION)))  # type: ignore[attr-defined]
            check_references(place, kind, row)
            rows.append(row)
        hold_users({found["user_id"] for found in values})
        before = model._default_manager.count()
        model._default_manager.bulk_create(rows, ignore_conflicts=True)
        return model._default_manager.count() - before

    def forget(self, user_id: str, step: Step = no_step) -> Iterator[int]:
        """Delete the facts first, then messages, runs and conversations, in chunks."""
        for kind in (FACT, MESSAGE, RUN, CONVERSATION):
            rows = TABLES[kind]._default_manager.filter(user_id=user_id)
            while keys := list(rows.values_list("pk", flat=True)[:_CHUNK]):
                step(f"conversations {kind}")
                TABLES[kind]._default_manager.filter(pk__in=keys).delete()
                yield len(keys)

    def find(self, user_id: str) -> Iterator[str]:
        """Yield which tables have rows left."""
        for kind, model in TABLES.items():
            if model._default_manager.filter(user_id=user_id).exists():
                yield f"{kind} rows"


def references(row: Model, names: Sequence[str]) -> dict[str, str | None]:
    """Return the ids of what a row refers to."""
    others = {name: getattr(row, name) for name in names}
    return {name: None if other is None else str(other.uuid) for name, other in others.items()}


def keys_of(model: type[Model], lines: Sequence[Line], name: str) -> dict[str, int]:
    """Return the keys of the rows that lines refer to, by their ids. Raises LineError."""
    named: list[UUID] = []
    for place, line in enumerate(lines):
        if line.get(name) is not None:
            try:
                named.append(UUID(str(line[name])))
            except ValueError as error:
                raise LineError(place, f"{name} is not an id") from error
    found = model._default_manager.filter(uuid__in=named).values_list("uuid", "pk")
    return {str(uuid): key for uuid, key in found}


def session_keys(lines: Sequence[Line]) -> dict[tuple[Any, Any], int]:
    """Return the keys of conversations by user and session."""
    users = {line["user_id"] for line in lines if isinstance(line.get("user_id"), str)}
    sessions = {line[SESSION] for line in lines if isinstance(line.get(SESSION), str)}
    rows = Conversation.objects.filter(user_id__in=users, session_id__in=sessions)
    return {(user, session): key for user, session, key in rows.values_list("user_id", "session_id", "pk")}


def check_references(place: int, kind: str, row: Any) -> None:
    """Raise LineError for a row without what it belongs to."""
    if kind == MESSAGE and row.conversation_id is None:
        raise LineError(place, "its conversation is neither in the hub nor in the lines before")
    if kind == FACT and row.run_id is None:
        raise LineError(place, "its run is neither in the hub nor in the lines before")
