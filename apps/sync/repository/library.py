"""libgit2 as the hub uses it: no configuration of the machine, no check of owners (docs/decisions, git by libgit2)."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import pygit2
from pygit2.enums import ConfigLevel, ObjectType, RepositoryOpenFlag

from apps.sync.domain.errors import KnowledgeUnavailableError
from apps.sync.repository.places import check_places, find_folder, read_shallow
from apps.sync.repository.trees import MAX_TREE_BYTES

# All that libgit2 raises: GitError for most, others for objects and references that are missing or cannot be read.
GIT_ERRORS = (pygit2.GitError, KeyError, ValueError, OSError, UnicodeError)

# What a user of this machine configured for git must not change what is read, and no configuration is ever executed:
# libgit2 has no hooks, and nothing here checks out files, which is what filters are for.
for level in (ConfigLevel.SYSTEM, ConfigLevel.XDG, ConfigLevel.GLOBAL, ConfigLevel.PROGRAMDATA):
    pygit2.settings.search_path[level] = ""
# The check keeps the configuration of another user from running programs. None runs here, and a mounted repository
# mostly belongs to another user.
pygit2.settings.owner_validation = False


def open_local(path: Path) -> pygit2.Repository:
    """Open a repository below the roots. Raises KnowledgeUnavailableError, also when its objects are elsewhere."""
    folder = find_folder(path)
    check_places(folder)
    read_shallow(folder)
    try:
        return pygit2.Repository(str(folder), RepositoryOpenFlag.NO_SEARCH | RepositoryOpenFlag.NO_DOTGIT)
    except GIT_ERRORS as error:
        raise KnowledgeUnavailableError(
            "There is no git repository at the path of the source that can be read: check the path, and that the hub's "
            "user may read all of it."
        ) from error


def make_bare(path: Path) -> pygit2.Repository:
    """Create an empty repository without templates."""
    return pygit2.init_repository(str(path), bare=True)


def read_object(repository: pygit2.Repository, oid: pygit2.Oid, *, max_bytes: int) -> tuple[ObjectType, bytes]:
    """Return an object with its kind; its bytes are checked against its id. Raises GIT_ERRORS, ValueError by size."""
    _, size = repository.odb.read_header(oid)
    if size > max_bytes:
        raise ValueError("too large")
    kind, data = repository.odb.read(oid)
    return ObjectType(kind), data


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
