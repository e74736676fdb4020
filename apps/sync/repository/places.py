"""Where a repository on this machine keeps its files: examined before libgit2 opens any of them.

People who may write into a folder of MEMORYHUB_SYNC_ROOTS may put links, pipes and devices there, which would lead to
other files or never end.
"""

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from apps.sync.domain.errors import KnowledgeUnavailableError
from apps.sync.repository.locations import is_readable

MAX_ALTERNATES = 20
MAX_NOTE_BYTES = 1_000_000
# Files of objects and references; a clone that is packed has a few.
MAX_ENTRIES = 2_000_000
# Of the folder of a repository, what libgit2 reads besides objects and references.
_NOTES = (
    "HEAD",
    "FETCH_HEAD",
    "ORIG_HEAD",
    "commondir",
    "config",
    "config.worktree",
    "gitdir",
    "packed-refs",
    "shallow",
)
_SHALLOW = re.compile(rb"(?:[0-9a-f]{40}\r?\n?)*")
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def read_note(path: Path) -> bytes:
    """Return a small file of a repository, empty where there is none. Raises KnowledgeUnavailableError for others."""
    try:
        with os.fdopen(os.open(path, _READ), "rb") as file:
            data = file.read(MAX_NOTE_BYTES + 1) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise unreadable(path.name) from error
    if data is None or len(data) > MAX_NOTE_BYTES:
        raise unreadable(path.name)
    return data


def read_shallow(folder: Path) -> bytes:
    """Return where the history of a repository was cut off. Raises KnowledgeUnavailableError."""
    data = read_note(folder / "shallow")
    if not _SHALLOW.fullmatch(data):
        raise unreadable("shallow")
    return data


def find_folder(path: Path) -> Path:
    """Return the folder of a repository that git works with. Raises KnowledgeUnavailableError."""
    inner = path / ".git"
    try:
        if inner.is_dir():
            return inner.resolve(strict=True)
        if not os.path.lexists(inner):
            return path
        line = read_note(inner).decode().strip()
        return (path / line.removeprefix("gitdir:").strip()).resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise unreadable(".git") from error


def check_places(folder: Path) -> None:
    """Raise KnowledgeUnavailableError unless all files of a repository are files, and where the hub may read."""
    try:
        for place in _places_of(folder):
            if not is_readable(place):
                raise KnowledgeUnavailableError(
                    "The repository keeps some of its files outside of MEMORYHUB_SYNC_ROOTS (by a link, a worktree or "
                    "alternates): move them below a root, or clone the repository there."
                )
    except (OSError, RuntimeError, ValueError) as error:
        raise KnowledgeUnavailableError("The folder of the repository cannot be read.") from error


def object_folders(folder: Path) -> list[Path]:
    """Return where the objects of a repository are, which `check_places` has seen. Raises OSError, ValueError."""
    line = read_note(folder / "commondir").decode().strip()
    waiting, found = [(folder / line / "objects").resolve()], list[Path]()
    while waiting:
        place = waiting.pop()
        if place not in found and len(found) <= MAX_ALTERNATES:
            found.append(place)
            waiting += alternates_of(place)
    return found


def alternates_of(place: Path) -> list[Path]:
    """Return the other folders of objects that a folder of objects names. Raises OSError, ValueError."""
    lines = read_note(place / "info" / "alternates").decode().splitlines()
    return [(place / line).resolve() for line in lines if line and not line.startswith("#")]


def unreadable(name: str) -> KnowledgeUnavailableError:
    """Return the error for a file of a repository that is none, or not such a one."""
    return KnowledgeUnavailableError(
        f"The file {name} of the repository cannot be read: it must be a small file, no link, of the format of git."
    )


def _places_of(folder: Path) -> Iterator[Path]:
    """Yield where a repository keeps its files, resolved. Raises KnowledgeUnavailableError, OSError, ValueError."""
    yield folder.resolve(strict=True)
    common = folder
    if line := read_note(folder / "commondir").decode().strip():
        common = (folder / line).resolve(strict=True)
        yield common
    for place in {folder, common}:
        for name in _NOTES:
            path = place / name
            real = path.resolve()
            if real.exists() and not real.is_file():
                raise unreadable(path.name)
            yield real
        yield from _below(place / "refs")
    yield from _below(common / "objects")


def _below(start: Path) -> Iterator[Path]:
    """Yield a folder, what is linked anywhere in it, and its alternates. Raises KnowledgeUnavailableError, OSError."""
    waiting, seen = [start.resolve()], set[Path]()
    while waiting:
        place = waiting.pop()
        if place in seen or not place.exists():
            continue
        seen.add(place)
        if len(seen) > MAX_ALTERNATES:
            raise KnowledgeUnavailableError(f"The repository has more than {MAX_ALTERNATES} alternates or links.")
        yield place
        for row in _rows_below(place):
            if row.is_symlink():
                target = Path(row.path).resolve()
                yield target
                waiting += [target] if target.is_dir() else []
                if target.exists() and not (target.is_dir() or target.is_file()):
                    raise unreadable(row.name)
            elif not row.is_file():
                raise unreadable(row.name)
        waiting += alternates_of(place)


def _rows_below(place: Path) -> Iterator["os.DirEntry[str]"]:
    """Yield what is no folder, at any depth, and follow no link. Raises KnowledgeUnavailableError, OSError."""
    waiting, left = [str(place)], MAX_ENTRIES
    while waiting:
        with os.scandir(waiting.pop()) as rows:
            for row in rows:
                left -= 1
                if left < 0:
                    raise KnowledgeUnavailableError("The repository has too many loose objects: run git gc.")
                if row.is_dir(follow_symlinks=False):
                    waiting.append(row.path)
                else:
                    yield row
