"""Where the index of a user is, which files it is made of, and what is in them. Links that lead out are left alone."""

import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from django.conf import settings

from apps.core.domain.errors import MemoryHubError
from apps.notes.domain.places import MAX_SEGMENTS, USERS_FOLDER, NotePlace, folder_name, is_note_name, problem_of
from apps.notes.files.folder import MAX_BYTES, Folder, has_name_elsewhere
from apps.notes.files.owner import folder_of

# A file that was changed so lately may change again without another time: its text is compared until it is older.
SETTLED_NS = 2_000_000_000
# How often a file is read again that is written to at the same time.
_TRIES = 3
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
SUFFIX = ".sqlite3"


class Stamp(NamedTuple):
    """What a change of a file changes, too."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


NO_STAMP = Stamp(0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file as it is. text: None where it is left out, for the reason of `problem`. is_settled: see SETTLED_NS."""

    path: str
    stamp: Stamp
    problem: str = ""
    text: bytes | None = None
    is_settled: bool = False


def stamp_of(status: os.stat_result) -> Stamp:
    """Return the stamp of a file."""
    return Stamp(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def has_note_name(name: str) -> bool:
    """Return whether a file of this name is a note, or would be one if its name were allowed."""
    return is_note_name(name) and not name.startswith(".")


def list_stamps(folder: Folder) -> dict[str, Stamp]:
    """Return the stamps of all notes of a folder by their paths, also of those that cannot be read."""
    return dict(_walk(str(folder.path), "", 1))


def list_directories(folder: Folder) -> Iterator[str]:
    """Yield the paths of the directories with notes below a folder, itself first as an empty path."""
    yield ""
    waiting = [""]
    while waiting:
        above = waiting.pop()
        try:
            with os.scandir(folder.path / above) as entries:
                names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue
        for name in names:
            path = f"{above}/{name}" if above else name
            if is_entered(path, name):
                yield path
                waiting.append(path)


def is_entered(path: str, name: str) -> bool:
    """Return whether a directory may hold notes of the folder that it is below."""
    is_others = path.casefold() == USERS_FOLDER
    return not is_others and problem_of(name) is None and path.count("/") < MAX_SEGMENTS - 1


def _walk(directory: str, above: str, depth: int) -> Iterator[tuple[str, Stamp]]:
    try:
        with os.scandir(directory) as found:
            entries = list(found)
    except OSError:
        return
    for entry in entries:
        path = above + entry.name
        if has_note_name(entry.name):
            try:
                # A database cannot hold bytes that are not UTF-8: they become `\xe9`, which no name may have.
                name = path.encode("utf-8", errors="surrogateescape").decode("utf-8", errors="backslashreplace")
                yield name, stamp_of(entry.stat(follow_symlinks=False))
            except OSError:
                continue
        elif entry.is_dir(follow_symlinks=False) and is_entered(path, entry.name):
            yield from _walk(entry.path, f"{path}/", depth + 1)


def stamp_now(folder: Folder, path: str) -> Stamp | None:
    """Return the stamp of a file; None where it cannot be reached."""
    try:
        return stamp_of((folder.path / path).lstat())
    except (OSError, ValueError):
        return None


def read_file(folder: Folder, path: str) -> FoundFile | None:
    """Return a file with its text; None where there is none."""
    segments = tuple(path.split("/"))
    name_problem = next((each for each in segments if problem_of(each) is not None), None)
    if name_problem is not None:
        stamp = list_stamps(folder).get(path)
        return None if stamp is None else FoundFile(path, stamp, "name")
    place = NotePlace(segments)
    try:
        with folder.directory(place) as directory:
            return read_in(directory, place.name, path)
    except MemoryHubError as error:
        if error.code == "not_found":
            return None
        stamp = stamp_now(folder, path)
        return None if stamp is None else FoundFile(path, stamp, error.code)


def read_in(directory: int, name: str, path: str) -> FoundFile:
    """Return a file of an open directory. Raises OSError."""
    status = os.stat(name, dir_fd=directory, follow_symlinks=False)
    if stat.S_ISLNK(status.st_mode):
        return FoundFile(path, stamp_of(status), "symbolic_link")
    if not stat.S_ISREG(status.st_mode):
        return FoundFile(path, stamp_of(status), "not_a_file")
    if has_name_elsewhere(directory, status):
        return FoundFile(path, stamp_of(status), "hard_link")
    descriptor = os.open(name, _FILE, dir_fd=directory)
    with os.fdopen(descriptor, "rb") as file:
        for _ in range(_TRIES):
            status = os.fstat(descriptor)
            if status.st_size > MAX_BYTES:
                return FoundFile(path, stamp_of(status), "too_large", is_settled=has_settled(status))
            file.seek(0)
            text = file.read(MAX_BYTES + 1)
            after = os.fstat(descriptor)
            if stamp_of(after) == stamp_of(status) and len(text) == after.st_size:
                return FoundFile(path, stamp_of(after), "", text, has_settled(after))
        return FoundFile(path, stamp_of(after), "", text)


def has_settled(status: os.stat_result) -> bool:
    """Return whether a further change would change the times of a file."""
    return time.time_ns() - status.st_ctime_ns > SETTLED_NS


@dataclass(frozen=True)
class IndexPlace:
    """The folder of a user's notes, and the database that is made of it."""

    folder: Folder
    database: Path

    @property
    def files(self) -> tuple[Path, ...]:
        """Return every file that SQLite may keep of the database, itself first."""
        return (self.database, *(self.database.with_name(self.database.name + end) for end in ("-wal", "-shm")))


def place_of(user_id: str) -> IndexPlace:
    """Return the place of a user's index."""
    return IndexPlace(folder_of(user_id), database_named(folder_name(user_id)))


def place_of_path(path: Path) -> IndexPlace | None:
    """Return the index that a file of notes belongs to; None for one that belongs to none."""
    try:
        segments = path.relative_to(settings.NOTES_DIR).parts
    except ValueError:
        return None
    default = settings.MEMORYHUB.default_user
    if segments and segments[0] == USERS_FOLDER:
        if len(segments) < 2:
            return None
        # Left from before its user became the default one: the database is the other folder's now.
        if default and segments[1] == folder_name(default):
            return None
        return IndexPlace(Folder(settings.NOTES_DIR / USERS_FOLDER / segments[1]), database_named(segments[1]))
    return place_of(default) if default else None


def database_named(folder: str) -> Path:
    """Return the database of the user whose folder has a name."""
    return Path(settings.NOTES_INDEX_DIR) / f"{folder}{SUFFIX}"
