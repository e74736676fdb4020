"""Deleting and renaming notes: what was in them stays as versions, and a change that is cut off is sorted out later.

As with other changes, a version is recorded before the disk is touched and confirmed afterwards (`Desk.look`).
"""

import contextlib
import os
import stat

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ConflictError, InvalidInputError, MemoryHubError, NotFoundError, UnavailableError
from apps.core.steps import Step, no_step
from apps.notes.domain.places import MAX_SEGMENTS, NotePlace
from apps.notes.domain.text import digest
from apps.notes.files.desk import Desk, Note
from apps.notes.files.exchange import rename_new
from apps.notes.files.folder import Folder, read_whole, rename_within
from apps.notes.files.hidden import displaced_name
from apps.notes.files.lock import notes_lock
from apps.notes.files.owner import folder_of
from apps.notes.files.versions import add_version
from apps.notes.models import ChangeKind, NoteVersion

_TRIES = 20
# Each is read and recorded under the lock of the user.
MAX_NOTES = 500
DELETE_STEPS = ("record", "take away", "sync directory", "confirm", "confirmed")
RENAME_STEPS = ("record", "rename", "sync directory", "confirm", "confirmed")


def note_delete(
    user_id: str, place: NotePlace, *, author: str, clock: Clock = SYSTEM_CLOCK, step: Step = no_step
) -> NoteVersion:
    """Delete a note; every version of it stays and can be restored. Raises NotFoundError, ConflictError."""
    with notes_lock(user_id):
        return delete_at(Desk(user_id, place, author, utcnow(clock), step))


def folder_delete(user_id: str, place: NotePlace, *, author: str, clock: Clock = SYSTEM_CLOCK) -> list[NoteVersion]:
    """Delete all notes in a folder, and the folders that are empty then; other files of the person stay.

    Raises NotFoundError for a folder without notes, InvalidInputError, ConflictError.
    """
    with notes_lock(user_id):
        now = utcnow(clock)
        notes = notes_in(folder_of(user_id), place)
        for each in notes:  # one that cannot be read is an error before any of them is deleted
            Desk(user_id, each, author, now).look()
        deleted = [delete_at(Desk(user_id, each, author, now)) for each in notes]
        # Folders that had these notes and have nothing else, the deepest ones first.
        folder = folder_of(user_id)
        depth = len(place.segments)
        parents = {each.segments[:length] for each in notes for length in range(depth, len(each.segments))}
        for segments in sorted(parents, key=len, reverse=True):
            remove_if_empty(folder, NotePlace(segments))  # hidden files of the hub may be in it for some seconds
        return deleted


def delete_at(desk: Desk) -> NoteVersion:
    """Delete the note of a desk. What an editor saves in that moment is recorded before it is deleted as well."""
    for _ in range(_TRIES):
        note = desk.look()
        if note.text is None:
            raise NotFoundError(f"There is no note {desk.place}.")
        desk.step("record")
        version = record(desk, ChangeKind.DELETE, b"")
        desk.step("take away")
        try:
            is_taken = take_away(desk.folder, desk.place, note.sha256, desk.step)
        except MemoryHubError:
            version.delete()
            raise
        if is_taken:
            desk.step("confirm")
            confirm(version)
            desk.step("confirmed")
            return version
        version.delete()
    raise UnavailableError("The note keeps changing while it is being saved: try again.", retry_after=1)


def take_away(folder: Folder, place: NotePlace, expected: str, step: Step) -> bool:
    """Give a file a hidden name, under which an editor that has it open may write still; it vanishes after a while.

    Returns whether it had the expected text; any other text is put back, and so is one that cannot be read.
    """
    with folder.directory(place) as directory:
        if not stat.S_ISREG(os.stat(place.name, dir_fd=directory, follow_symlinks=False).st_mode):
            raise ConflictError(f"{place.name} is not a file.", code="not_a_file")
        aside = displaced_name(place.name, expected)
        rename_within(directory, place.name, aside)
        step("sync directory")
        is_expected = False
        try:
            os.fsync(directory)
            is_expected = digest(read_whole(directory, aside)) == expected
        finally:
            if not is_expected:
                # Where an editor saved once more, the hidden one is brought in by the next look.
                with contextlib.suppress(FileExistsError):
                    rename_new(directory, aside, place.name)
        return is_expected


def note_rename(
    user_id: str,
    old: NotePlace,
    new: NotePlace,
    *,
    author: str,
    clock: Clock = SYSTEM_CLOCK,
    step: Step = no_step,
) -> NoteVersion:
    """Rename a note; return its version at the new place. Its former versions stay with the old one.

    Raises NotFoundError, ConflictError with the code `exists` where there is something at the new place.
    """
    with notes_lock(user_id):
        now = utcnow(clock)
        source, target = Desk(user_id, old, author, now, step), Desk(user_id, new, author, now, step)
        note = source.look()
        if note.text is None:
            raise NotFoundError(f"There is no note {old}.")
        require_absent(target)
        step("record")
        pending = record_move(source, target, note)
        move(source.folder, old, new, step)
        step("confirm")
        for version in pending:
            confirm(version)
        step("confirmed")
        return pending[1]


def folder_rename(
    user_id: str,
    old: NotePlace,
    new: NotePlace,
    *,
    author: str,
    clock: Clock = SYSTEM_CLOCK,
    step: Step = no_step,
) -> list[NoteVersion]:
    """Rename a folder with everything in it; return the versions of its notes at their new places.

    Raises NotFoundError, InvalidInputError, ConflictError with the code `exists`.
    """
    if new.segments[: len(old.segments)] == old.segments:
        raise InvalidInputError("A folder cannot be moved into itself.", attr="new_path", code="path")
    with notes_lock(user_id):
        now, folder = utcnow(clock), folder_of(user_id)
        places = {
            each: NotePlace((*new.segments, *each.segments[len(old.segments) :])) for each in notes_in(folder, old)
        }
        if any(len(each.segments) > MAX_SEGMENTS for each in places.values()):
            raise InvalidInputError(f"A path can have at most {MAX_SEGMENTS} parts.", attr="new_path", code="too_deep")
        pending: list[tuple[NoteVersion, NoteVersion]] = []
        for before, after in places.items():
            source, target = Desk(user_id, before, author, now, step), Desk(user_id, after, author, now, step)
            note = source.look()
            require_absent(target)
            step("record")
            pending.append(record_move(source, target, note))
        remove_if_empty(folder, new)  # what is left of a folder whose notes were deleted
        move(folder, old, new, step)
        step("confirm")
        for versions in pending:
            for version in versions:
                confirm(version)
        step("confirmed")
        return [version for _, version in pending]


def notes_in(folder: Folder, place: NotePlace) -> list[NotePlace]:
    """List the notes below a folder. Raises NotFoundError where there are none, InvalidInputError for too many."""
    depth = len(place.segments)
    found = [each for each in folder.places() if len(each.segments) > depth and each.segments[:depth] == place.segments]
    if not found:
        raise NotFoundError(f"There is no folder {place} with notes.")
    if len(found) > MAX_NOTES:
        raise InvalidInputError(f"{place} has more than {MAX_NOTES} notes.", attr="path", code="too_large")
    return found


def require_absent(desk: Desk) -> None:
    """Raise ConflictError where there is a note."""
    if desk.look().text is not None:
        raise taken(desk.place)


def taken(place: NotePlace) -> ConflictError:
    """Return the error for a place where there is something."""
    return ConflictError(f"There is already something at {place}.", attr="new_path", code="exists")


def record(desk: Desk, kind: ChangeKind, text: bytes, other: NotePlace | None = None) -> NoteVersion:
    """Record a version that is about to come to pass."""
    return add_version(
        desk.user_id, desk.place, kind, text, author=desk.author, at=desk.now, is_written=False, other=other
    )


def record_move(source: Desk, target: Desk, note: Note) -> tuple[NoteVersion, NoteVersion]:
    """Record that a note is about to leave one place for another."""
    gone = record(source, ChangeKind.RENAME, b"", target.place)
    return gone, record(target, ChangeKind.RENAME, note.text or b"", source.place)


def confirm(version: NoteVersion) -> None:
    """Record that a version came to pass."""
    version.is_written = True
    version.save(update_fields=["is_written"])


def move(folder: Folder, old: NotePlace, new: NotePlace, step: Step) -> None:
    """Rename a file or a folder to a name that nothing has. Raises NotFoundError, ConflictError."""
    step("rename")
    with folder.directory(old) as source, folder.directory(new, create=True) as target:
        mode = os.stat(old.name, dir_fd=source, follow_symlinks=False).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise ConflictError(f"{old.name} is not a file.", code="not_a_file")
        try:
            rename_new(source, old.name, new.name, target)
        except FileExistsError as error:
            raise taken(new) from error
        step("sync directory")
        os.fsync(target)
        os.fsync(source)


def remove_if_empty(folder: Folder, place: NotePlace) -> None:
    """Remove a folder that has nothing in it; leave anything else alone."""
    with (
        contextlib.suppress(MemoryHubError),
        folder.directory(place) as above,
        contextlib.suppress(OSError),
    ):
        os.rmdir(place.name, dir_fd=above)
