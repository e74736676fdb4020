"""What is in a folder of notes, as a list of files and folders with their sizes."""

import contextlib
import os
import stat
from dataclasses import dataclass
from enum import Enum, auto

from apps.core.domain.errors import MemoryHubError, NotFoundError
from apps.notes.domain.places import NotePlace
from apps.notes.files.folder import Folder


class Kind(Enum):
    """What is at a place."""

    NOTHING = auto()
    FILE = auto()
    FOLDER = auto()
    OTHER = auto()


@dataclass(frozen=True, order=True)
class Entry:
    """A note, or a folder with notes. size: in bytes, of a folder that of the notes in it."""

    segments: tuple[str, ...]
    is_folder: bool
    size: int


def entries_below(folder: Folder, above: tuple[str, ...]) -> list[Entry]:
    """List the notes and folders below a folder, sorted by name; of a folder without notes, nothing."""
    sizes: dict[tuple[str, ...], int] = {}
    files: list[Entry] = []
    for place in folder.places():
        if len(place.segments) <= len(above) or place.segments[: len(above)] != above:
            continue
        size = size_of(folder, place)
        files.append(Entry(place.segments, is_folder=False, size=size))
        for length in range(len(above) + 1, len(place.segments)):
            sizes[place.segments[:length]] = sizes.get(place.segments[:length], 0) + size
    return sorted([*files, *(Entry(segments, is_folder=True, size=size) for segments, size in sizes.items())])


def size_of(folder: Folder, place: NotePlace) -> int:
    """Return the size of a file in bytes, 0 where it cannot be reached."""
    with contextlib.suppress(MemoryHubError), folder.directory(place) as directory:
        return os.stat(place.name, dir_fd=directory, follow_symlinks=False).st_size
    return 0


def kind_at(folder: Folder, place: NotePlace) -> Kind:
    """Return what is at a place, without following a link. Raises ConflictError where it cannot be reached."""
    try:
        with folder.directory(place) as directory:
            mode = os.stat(place.name, dir_fd=directory, follow_symlinks=False).st_mode
    except NotFoundError:
        return Kind.NOTHING
    return Kind.FILE if stat.S_ISREG(mode) else Kind.FOLDER if stat.S_ISDIR(mode) else Kind.OTHER
