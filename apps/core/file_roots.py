"""Whose files a folder holds: a random id of the hub, in its database and in each folder of files (decision 0086).

A machine that shares the database of a hub and not its folders, or whose folder is not mounted, would take every file
that it does not see for lost. So the folder of another hub, or none, is told from a damaged one before anything in it
counts.
"""

import contextlib
import os
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.utils.module_loading import import_string

from apps.core.db.identity import on_database_change
from apps.core.domain.errors import UnavailableError
from apps.core.files import exchange_file, sync_directory

ID_FILE = ".store-id"
# What the database says, once it was asked; empty for a database that was never prepared, of which nothing is asked.
_known: list[str] = []


class HostUnfitError(Exception):
    """This machine cannot be a host of the hub whose database it names. The text is for the operator."""


@dataclass(frozen=True)
class Root:
    """A folder of files that nothing else holds. what: such as "the timeline". is_needed: whether any file counts."""

    what: str
    path: Path
    is_needed: Callable[[], bool]


def roots() -> list[Root]:
    """Return the folders of settings.FILE_ROOTS: dotted paths of functions."""
    return [import_string(path)() for path in settings.FILE_ROOTS]


def store_id() -> str:
    """Return the id that the database has; empty where it was never prepared."""
    if not _known:
        with connection.cursor() as cursor:
            cursor.execute("SELECT store_id FROM core_storeidentity")
            row = cursor.fetchone()
        expect(row[0] if row else "")
    return _known[0]


def expect(known: str) -> None:
    """Say what the database has, instead of asking it."""
    _known[:] = [known]


def forget_id() -> None:
    """Have the database asked again: this process is connected to another one."""
    _known.clear()


def read_id(path: Path) -> str:
    """Return the id that a folder has; empty where it has none. Raises OSError."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        return (path / ID_FILE).read_text(encoding="ascii", errors="replace").strip()
    return ""


def write_id(path: Path, value: str) -> None:
    """Give a folder an id, which outlasts a loss of power. Raises OSError."""
    exchange_file(path / ID_FILE, f"{value}\n")
    with (path / ID_FILE).open("rb") as file:
        os.fsync(file.fileno())
    sync_directory(path)


def own_folder(path: Path, what: str) -> Path:
    """Return a folder, which is this hub's. Raises UnavailableError for any other, and for one that is not there."""
    known = store_id()
    if not known:
        return path
    try:
        found = read_id(path)
    except OSError as error:
        detail = f"The folder of {what} cannot be read: {error.strerror or type(error).__name__}."
        raise UnavailableError(detail, code="files_elsewhere") from error
    if found != known:
        reason = "has the files of another hub" if found else "is not there, or not that of this hub"
        raise UnavailableError(f"The folder of {what} {reason}.", code="files_elsewhere")
    return path


def claim(folders: Iterable[Root], *, adopt: bool = False) -> None:
    """Give database and folders one id, or find that they have it. Raises HostUnfitError, OSError.

    A folder without an id is claimed with a new database, and where this machine holds the database too and no file is
    missed. adopt: claim folders whatever they have.
    """
    found = [(root, read_id(root.path)) for root in folders]
    known, is_new = _database_id({value for _, value in found if value}, adopt=adopt)
    for root, value in found:
        if value == known:
            continue
        is_harmless = not value and (is_new or not (settings.MEMORYHUB.database_url or root.is_needed()))
        if not (is_harmless or adopt):
            raise HostUnfitError(_describe(root, value))
        write_id(root.path, known)
    expect(known)


def _database_id(in_folders: set[str], *, adopt: bool) -> tuple[str, bool]:
    """Return the id of the database, and whether it got it just now: the one that all folders have, or a new one."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT store_id FROM core_storeidentity")
        if row := cursor.fetchone():
            return row[0], False
        if len(in_folders) > 1 and not adopt:
            raise HostUnfitError(
                "The folders of this data directory are those of different hubs. Put back the right ones, or, if they "
                "are, run `manage.py prepare --adopt-files`."
            )
        value = in_folders.pop() if len(in_folders) == 1 else secrets.token_hex(16)
        cursor.execute("INSERT INTO core_storeidentity (id, store_id) VALUES (1, %s)", [value])
        return value, True


def _describe(root: Root, found: str) -> str:
    """Return why a folder is refused, and what to do."""
    what = "belongs to another hub" if found else "is missing, empty, or that of another machine"
    needed = ", and the database counts on its files" if root.is_needed() else ""
    return (
        f"{root.path}, the folder of {root.what}, {what}{needed}. Mount or copy the folder that this database was used "
        "with (docs/operate/several-hosts.md). If its files are lost, or this is the right folder: "
        "`manage.py prepare --adopt-files`."
    )


on_database_change(forget_id)
