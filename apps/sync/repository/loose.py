"""Objects that are files of their own: libgit2 never ends reading one that was cut off, as by a loss of power."""

import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import pygit2

from apps.sync.repository.trees import MAX_TREE_BYTES

_PART_BYTES = 65_536
# No larger object is read.
_MAX_BYTES = MAX_TREE_BYTES + _PART_BYTES


class LooseObjects:
    """The loose objects of a repository. folders: of objects, with those of alternates."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self._folders = [str(folder) for folder in folders]
        self._checked = set[pygit2.Oid]()

    def check(self, oid: pygit2.Oid) -> None:
        """Raise ValueError for an object whose file was cut off; OSError for one that cannot be read."""
        if oid in self._checked:
            return
        name = str(oid)
        for folder in self._folders:
            try:
                with open(f"{folder}/{name[:2]}/{name[2:]}", "rb") as file:  # noqa: PTH123 (quick, for each object)
                    is_sound = is_whole(file)
            except (FileNotFoundError, NotADirectoryError):
                continue
            if not is_sound:
                raise ValueError("the file of the object was cut off")
        self._checked.add(oid)


def is_whole(file: BinaryIO) -> bool:
    """Return whether a compressed file comes to its end, within the size of what is read."""
    stream, size = zlib.decompressobj(), 0
    try:
        while not stream.eof and size <= _MAX_BYTES:
            part = stream.unconsumed_tail or file.read(_PART_BYTES)
            if not part:
                return False
            size += len(stream.decompress(part, _PART_BYTES))
    except zlib.error:
        return False
    return stream.eof
