"""libgit2 as the hub uses it: no configuration of the machine, no check of owners (docs/decisions, git by libgit2)."""

from __future__ import annotations

from pathlib import Path

import pygit2
from pygit2.enums import ConfigLevel, ObjectType, RepositoryOpenFlag

from apps.sync.domain.errors import KnowledgeUnavailableError
from apps.sync.repository.places import check_places, find_folder, read_shallow

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


def read_object(repository: pygit2.Repository, oid: pygit2.Oid, *, max_bytes: int) -> tuple[ObjectType, bytes]:
    """Return an object with its kind; its bytes are checked against its id. Raises GIT_ERRORS, ValueError by size."""
    _, size = repository.odb.read_header(oid)
    if size > max_bytes:
        raise ValueError("too large")
    kind, data = repository.odb.read(oid)
    return ObjectType(kind), data
