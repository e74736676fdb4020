"""The store of notes: the files of users with their settings, and the versions of all of them."""

import base64
import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import Any

from django.conf import settings

from apps.core.domain.errors import InvalidInputError, MemoryHubError
from apps.core.domain.scope import MAX_IDENTIFIER_CHARS
from apps.core.personal.store import ExportRequest, Line, LineError, PersonalStore
from apps.core.steps import Step, no_step
from apps.notes.domain.places import CONFIG, NotePlace, has_versions, parse_place
from apps.notes.domain.text import digest
from apps.notes.files.folder import Folder
from apps.notes.files.lock import notes_lock
from apps.notes.files.owner import folder_of
from apps.notes.files.watch import find_users
from apps.notes.index.handles import indexes_close
from apps.notes.index.places import place_of
from apps.notes.index.upkeep import index_forget
from apps.notes.models import NoteVersion
from apps.notes.personal.compactions import CompactionStore
from apps.notes.personal.conversations import ConversationStore

_CHUNK = 1_000


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


STORES = (NoteStore(), ConversationStore(), CompactionStore())
