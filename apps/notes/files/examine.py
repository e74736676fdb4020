"""Comparing notes on the disk with their versions, without recording or writing anything."""

import contextlib
import time
from dataclasses import dataclass

from django.conf import settings

from apps.core.domain.errors import MemoryHubError
from apps.core.file_roots import own_folder
from apps.notes.domain.places import CONFIG, USERS_FOLDER, NotePlace, folder_name
from apps.notes.domain.text import digest
from apps.notes.files.folder import Folder
from apps.notes.files.watch import find_users
from apps.notes.models import ChangeKind, NoteVersion

# What was written later may still be on its way into a version: the worker looks each minute.
SETTLED_SECONDS = 300.0


@dataclass
class NotesExamination:
    """How many notes there are, and of how many each is so.

    missing: the last version is no deletion, and there is no file. unrecorded: the file is not the last version, and
    was written more than SETTLED_SECONDS ago. unfinished: a change was begun so long ago and has not ended. unreadable:
    the file cannot be read as a note.
    """

    notes: int = 0
    missing: int = 0
    unrecorded: int = 0
    unfinished: int = 0
    unreadable: int = 0


def notes_examine(*, thorough: bool) -> NotesExamination:
    """Compare the notes of all users with their last versions: by size, or thoroughly by their text.

    Raises UnavailableError for the folder of another hub.
    """
    own_folder(settings.NOTES_DIR / USERS_FOLDER, "notes")
    examination, settled = NotesExamination(), time.time() - SETTLED_SECONDS
    for user in find_users():
        examine_user(user, examination, settled, thorough=thorough)
    return examination


def examine_user(user: str, examination: NotesExamination, settled: float, *, thorough: bool) -> None:
    """Add the notes of a user to an examination. settled: the time before which changes count, since 1970."""
    is_default = user == settings.MEMORYHUB.default_user
    # Not by `folder_of`, which remembers whose the root is.
    folder = Folder(settings.NOTES_DIR if is_default else settings.NOTES_DIR / USERS_FOLDER / folder_name(user))
    versions = NoteVersion.objects.filter(user_id=user).current()
    newest = versions.order_by("place", "-number").distinct("place").without_texts()
    last = {version.place: version for version in newest}
    places = {str(place): place for place in folder.places()}
    if str(CONFIG) in last:
        places[str(CONFIG)] = CONFIG
    for path in sorted({*places, *last}):
        version = last.get(path)
        if version is not None and not version.is_written and version.at.timestamp() < settled:
            examination.unfinished += 1
        examine_note(folder, places.get(path), version, examination, settled, thorough=thorough)


def examine_note(
    folder: Folder,
    place: NotePlace | None,
    version: NoteVersion | None,
    examination: NotesExamination,
    settled: float,
    *,
    thorough: bool,
) -> None:
    """Compare a note with its last version. place: None where there is no file of that name."""
    is_kept = version is not None and version.kind != ChangeKind.DELETE and not is_renamed_away(version)
    changed_at = None
    try:
        changed_at = None if place is None else folder.changed_at(place)
        if place is None or changed_at is None:
            if is_kept and version is not None and version.at.timestamp() < settled:
                examination.missing += 1
            return
        examination.notes += 1
        if changed_at >= settled:
            return
        if version is None or not is_kept or differs(folder, place, version, thorough=thorough):
            examination.unrecorded += 1
    except MemoryHubError:
        examination.unreadable += 1


def is_renamed_away(version: NoteVersion) -> bool:
    """Return whether a version says that the text went to another place."""
    return version.kind == ChangeKind.RENAME and version.size == 0 and bool(version.other_place)


def differs(folder: Folder, place: NotePlace, version: NoteVersion, *, thorough: bool) -> bool:
    """Return whether a file has another size than its version, or thoroughly another text."""
    if not thorough:
        with contextlib.suppress(OSError):
            return folder.path.joinpath(*place.segments).lstat().st_size != version.size
    return digest(folder.read(place, version.sha256) or b"") != version.sha256
