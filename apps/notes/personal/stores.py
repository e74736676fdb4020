"""The stores of notes with their versions, of conversations, and of compactions."""

import base64
import contextlib
import os
import zlib
from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Model

from apps.core.db.scoped import scope_filter
from apps.core.db.user_locks import hold_users
from apps.core.domain.errors import InvalidInputError, MemoryHubError
from apps.core.domain.scope import MAX_IDENTIFIER_CHARS
from apps.core.personal.columns import Columns
from apps.core.personal.registry import register_stores
from apps.core.personal.store import ExportRequest, Line, LineError, PersonalStore, UserTable
from apps.core.steps import Step, no_step
from apps.notes.compaction.decide import draft_of
from apps.notes.compaction.run import INTERRUPTED
from apps.notes.domain.places import CONFIG, NotePlace, has_versions, parse_place
from apps.notes.domain.text import digest
from apps.notes.files.folder import Folder
from apps.notes.files.lock import notes_lock
from apps.notes.files.owner import folder_of
from apps.notes.files.watch import find_users
from apps.notes.index.disk import place_of
from apps.notes.index.handles import indexes_close
from apps.notes.index.upkeep import index_forget
from apps.notes.models import (
    Compaction,
    CompactionState,
    Conversation,
    ConversationMessage,
    ExtractedFact,
    ExtractionRun,
    NoteVersion,
)

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
OPERATORS_SEE = {RUN: {"actor": ""}, FACT: {"undone_by": ""}}
# Who asked and who decided is for operators.
OF_OPERATORS = {"actor": "", "decided_by": ""}
_CHUNK = 1_000


class ConversationStore(UserTable):
    """Conversations of users with their messages, runs of extraction and the facts that these found."""

    name = "conversations"
    order = 86
    models = (Conversation, ExtractionRun, ConversationMessage, ExtractedFact)
    kinds = (CONVERSATION, RUN, MESSAGE, FACT)

    def export(self, asked: ExportRequest) -> Iterator[Line]:
        """Yield the rows of the users in scope. None where a part of a person is asked for, or a filter is given."""
        if not asked.is_of_whole_people:
            return
        for kind, model in TABLES.items():
            columns = Columns(model)
            related = (*REFERENCES[kind], *(("conversation",) if kind == MESSAGE else ()))
            rows = model._default_manager.filter(scope_filter(asked.scope)).order_by("pk")
            for row in (rows.select_related(*related) if related else rows).iterator(_CHUNK):
                hidden = {} if asked.is_operator else OPERATORS_SEE.get(kind, {})
                others = {name: getattr(row, name) for name in REFERENCES[kind]}
                references = {name: None if other is None else str(other.uuid) for name, other in others.items()}
                line = {"kind": kind, **columns.values(row), **hidden, **references}
                yield {**line, SESSION: row.conversation.session_id} if isinstance(row, ConversationMessage) else line

    def load(self, lines: Sequence[Line]) -> int:
        """Write the rows that the hub does not have."""
        kind = lines[0]["kind"]
        model, names = TABLES[kind], REFERENCES[kind]
        columns = Columns(model)
        further = (*names, SESSION) if kind == MESSAGE else names
        values: list[dict[str, Any]] = []
        for place, line in enumerate(lines):
            values.append(columns.read_at(place, line, further))
            if not values[-1]["user_id"]:
                raise LineError(place, "user_id is blank")
        known = {name: keys_of(TABLES[RUN if name == "run" else MESSAGE], lines, name) for name in names}
        sessions = session_keys(lines) if kind in {RUN, MESSAGE} else {}
        rows = []
        for place, (line, found) in enumerate(zip(lines, values, strict=True)):
            row: Any = model(**found)
            for name in names:
                setattr(row, f"{name}_id", known[name].get(str(line.get(name))))
            if kind in {RUN, MESSAGE}:
                row.conversation_id = sessions.get((line.get("user_id"), line.get(SESSION)))
            if kind == MESSAGE and row.conversation_id is None:
                raise LineError(place, "its conversation is neither in the hub nor in the lines before")
            if kind == FACT and row.run_id is None:
                raise LineError(place, "its run is neither in the hub nor in the lines before")
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


class CompactionStore(UserTable):
    """Compactions with their drafts and what became of each fact."""

    name = "note_compactions"
    order = 87
    models = (Compaction,)
    kinds = ("compaction",)

    def export(self, asked: ExportRequest) -> Iterator[Line]:
        """Yield the compactions in scope; none where a part of a person is asked for, or a filter is given."""
        if not asked.is_of_whole_people:
            return
        columns = Columns(Compaction, without=("draft",))
        hidden = {} if asked.is_operator else OF_OPERATORS
        for row in Compaction.objects.filter(scope_filter(asked.scope)).order_by("pk").iterator(200):
            yield {"kind": "compaction", **columns.values(row), **hidden, "draft": draft_of(row).decode()}

    def load(self, lines: Sequence[Line]) -> int:
        """Write those that the hub does not have. One that waited for a model there has failed. Raises LineError."""
        columns, rows = Columns(Compaction, without=("draft",)), dict[UUID, Compaction]()
        for number, line in enumerate(lines):
            try:
                row = Compaction(**columns.read(line, ("draft",)))
                row.draft = zlib.compress(line["draft"].encode()) if line["draft"] else b""
            except (AttributeError, KeyError, ValueError) as error:
                raise LineError(number, str(error) or "a compaction needs its draft") from error
            if row.state == CompactionState.ASKED:
                row.state, row.code = CompactionState.FAILED, INTERRUPTED
            rows[row.uuid] = row
        for known in Compaction.objects.filter(uuid__in=rows).values_list("uuid", flat=True):
            del rows[known]
        hold_users(row.user_id for row in rows.values())
        return len(Compaction.objects.bulk_create(rows.values()))

    def forget(self, user_id: str, step: Step = no_step) -> Iterator[int]:
        """Delete them in parts. A call of a model that is under way finds no row to record its answer in."""
        return super().forget(user_id, step)

    def find(self, user_id: str) -> Iterator[str]:
        """Yield where compactions are left."""
        if self.count(user_id):
            yield "compactions of notes"


class NoteStore(PersonalStore):
    """Notes of users. Their files are exported as they are, without former versions."""

    name = "notes"
    order = 85
    models = (NoteVersion,)
    kinds = ("note",)

    def export(self, asked: ExportRequest) -> Iterator[Line]:
        """Yield every note of the users in scope that can be read."""
        for _, line in self.notes_of(asked):
            if line is not None:
                yield line

    def count_damaged(self, asked: ExportRequest) -> int:
        """Return how many notes cannot be read, such as one that is too large."""
        return sum(line is None for _, line in self.notes_of(asked))

    def notes_of(self, asked: ExportRequest) -> Iterator[tuple[NotePlace, Line | None]]:
        """Yield every note in scope with its line, None for one that cannot be read.

        None of them where a part of a person is asked for, or a filter is given.
        """
        scope = asked.scope
        if not asked.is_of_whole_people:
            return
        for user in [scope.user_id] if scope.user_id is not None else find_users():
            if user in scope.without:
                continue
            folder = folder_of(user)
            for place in files_of(folder):
                try:
                    text = folder.read(place)
                except MemoryHubError:
                    yield place, None
                    continue
                if text is not None:
                    yield place, {"kind": "note", "user_id": user, "path": str(place), **text_fields(text)}

    def load(self, lines: Sequence[Line]) -> int:
        """Write the files of notes that are not there yet. One with another text stays as it is.

        No version is written: the caller's transaction may last long, or be rolled back. The next look records them.
        """
        new = 0
        for number, line in enumerate(lines):
            try:
                new += load_note(line)
            except (MemoryHubError, KeyError, TypeError, ValueError) as error:
                detail = error.detail if isinstance(error, MemoryHubError) else "a note needs user_id, path and text"
                raise LineError(number, detail) from error
        return new

    def count(self, user_id: str) -> int:
        """Return how many files and versions there are."""
        return len(files_of(folder_of(user_id))) + NoteVersion.objects.filter(user_id=user_id).count()

    def is_empty(self) -> bool:
        """Return whether there are no versions and no files."""
        return super().is_empty() and not any(files_of(folder_of(user)) for user in find_users())

    def forget(self, user_id: str, step: Step = no_step) -> Iterator[int]:
        """Delete the files first, then the versions in chunks."""
        with notes_lock(user_id, of_forgotten=True):
            step("notes files")
            folder = folder_of(user_id)
            files = len(files_of(folder))
            folder.clear()
            if folder.path != settings.NOTES_DIR:
                folder.remove()
            yield files
            # After the files, so that no search makes it again of them.
            step("notes index")
            index_forget(user_id)
        while True:
            keys = list(NoteVersion.objects.filter(user_id=user_id).values_list("pk", flat=True)[:_CHUNK])
            if not keys:
                return
            step("notes versions")
            NoteVersion.objects.filter(pk__in=keys).delete()
            yield len(keys)

    def drop_caches(self) -> None:
        """Close the databases of indexes: an open one keeps its content on the disk after it was deleted."""
        indexes_close()

    def find(self, user_id: str) -> Iterator[str]:
        """Yield where files or versions are left."""
        folder = folder_of(user_id)
        if folder.has_anything():
            yield "files of notes"
        elif folder.path != settings.NOTES_DIR and os.path.lexists(folder.path):
            yield "folder of notes"  # its name has the id
        if any(path.exists() for path in place_of(user_id).files):
            yield "index of notes"
        if NoteVersion.objects.filter(user_id=user_id).exists():
            yield "versions of notes"


def files_of(folder: Folder) -> list[NotePlace]:
    """List the notes of a folder, and the settings where they are in a file."""
    has_config = False
    with contextlib.suppress(MemoryHubError):  # a folder that cannot be entered has no notes either
        has_config = folder.changed_at(CONFIG) is not None
    return [*folder.places(), *([CONFIG] if has_config else [])]


def text_fields(text: bytes) -> dict[str, Any]:
    """Return a text for a line of JSON, in base64 where it is not valid UTF-8."""
    try:
        return {"text": text.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(text).decode()}


def load_note(line: Line) -> int:
    """Write one note of an export; return 1 for a new one. Raises MemoryHubError, KeyError, TypeError, ValueError."""
    user, place = line["user_id"], parse_place(str(line["path"]))
    if not isinstance(user, str) or not 0 < len(user) <= MAX_IDENTIFIER_CHARS:
        raise ValueError("a user id has 1 to 200 characters")
    if not has_versions(place):
        raise InvalidInputError("a file with this name is not a note", attr="path", code="path")
    text = base64.b64decode(line["base64"]) if "base64" in line else str(line["text"]).encode()
    with notes_lock(user):
        if folder_of(user).read(place) is not None:
            return 0
        folder_of(user).replace(place, text, digest(b""))
        return 1


register_stores((NoteStore(), ConversationStore(), CompactionStore()))
