"""libgit2 as the hub uses it: no configuration of the machine, no check of owners (docs/decisions, git by libgit2)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pygit2
from pygit2.enums import ConfigLevel, ObjectType, RepositoryOpenFlag

from apps.sync.domain.errors import KnowledgeUnavailableError
from apps.sync.repository.locations import is_below_roots

MAX_ALTERNATES = 20
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
    try:
        repository = pygit2.Repository(str(path), RepositoryOpenFlag.NO_SEARCH)
    except GIT_ERRORS as error:
        raise KnowledgeUnavailableError(
            "There is no git repository at the path of the source that can be read: check the path, and that the hub's "
            "user may read all of it."
        ) from error
    for place in _places_of(Path(repository.path)):
        if not is_below_roots(place):
            raise KnowledgeUnavailableError(
                "The repository keeps some of its files outside of MEMORYHUB_SYNC_ROOTS (by a link, a worktree or "
                "alternates): move them below a root, or clone the repository there."
            )
    return repository


def _places_of(folder: Path) -> Iterator[Path]:
    """Yield where a repository keeps its files, resolved. Raises KnowledgeUnavailableError."""
    try:
        yield folder.resolve(strict=True)
        common = folder
        if (folder / "commondir").exists():
            common = (folder / (folder / "commondir").read_text().strip()).resolve(strict=True)
            yield common
        for name in ("refs", "packed-refs", "HEAD"):
            yield (common / name).resolve()
        yield from _object_folders(common / "objects")
    except (OSError, RuntimeError, UnicodeError) as error:
        raise KnowledgeUnavailableError("The folder of the repository cannot be read.") from error


def _object_folders(objects: Path) -> Iterator[Path]:
    """Yield where objects are kept: the folder, those that are linked in it, and alternates of alternates."""
    waiting, seen = [objects.resolve()], set[Path]()
    while waiting:
        place = waiting.pop()
        if place in seen:
            continue
        seen.add(place)
        if len(seen) > MAX_ALTERNATES:
            raise KnowledgeUnavailableError(f"The repository has more than {MAX_ALTERNATES} alternates.")
        yield place
        for inner in (place, place / "pack", place / "info"):
            with contextlib.suppress(FileNotFoundError):
                yield from (one.resolve() for one in inner.iterdir() if one.is_symlink())
        with contextlib.suppress(FileNotFoundError):
            lines = (place / "info" / "alternates").read_text().splitlines()
            waiting += [(place / line).resolve() for line in lines if line and not line.startswith("#")]


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
