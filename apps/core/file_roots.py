"""Whose files a folder holds: a random id of the hub, in its database and in each folder of files (decision 0086).

A machine that shares the database of a hub and not its folders, or whose folder is not mounted, would take every file
that it does not see for lost. So the folder of another hub, or none, is told from a damaged one before anything in it
counts.
"""

import contextlib
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from django.conf import settings
from django.db import connection, transaction
from django.utils.module_loading import import_string

from apps.core.db.identity import on_database_change
from apps.core.domain.errors import UnavailableError
from apps.core.files import exchange_file, sync_directory
from apps.core.object_storage.bucket import BucketFolder, StoreError

ID_FILE = ".store-id"
# For how long a folder of a bucket that was this hub's counts as such; one that is gone answers nothing anyway.
BELIEVED_SECONDS = 10.0
# What the database says, once it was asked; empty for a database that was never prepared, of which nothing is asked.
_known: list[str] = []
# Until when folders of buckets are believed, by the clock of the process.
_believed: dict[BucketFolder, float] = {}
Place = TypeVar("Place", Path, BucketFolder, Path | BucketFolder)


class HostUnfitError(Exception):
    """This machine cannot be a host of the hub whose database it names. The text is for the operator."""


@dataclass(frozen=True)
class Root:
    """A folder of files that nothing else holds. what: such as "the timeline". is_needed: whether any file counts."""

    what: str
    place: Path | BucketFolder
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
    _believed.clear()


def forget_id() -> None:
    """Have the database asked again: this process is connected to another one."""
    _known.clear()
    _believed.clear()


def read_id(place: Path | BucketFolder) -> str:
    """Return the id that a folder has; empty where it has none. Raises OSError."""
    if isinstance(place, BucketFolder):
        return (place.read_text(ID_FILE) or "").strip()
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        return (place / ID_FILE).read_text(encoding="ascii", errors="replace").strip()
    return ""


def write_id(place: Path | BucketFolder, value: str) -> None:
    """Give a folder an id, which outlasts a loss of power. Raises OSError."""
    if isinstance(place, BucketFolder):
        place.write_text(ID_FILE, f"{value}\n")
        return
    exchange_file(place / ID_FILE, f"{value}\n")
    with (place / ID_FILE).open("rb") as file:
        os.fsync(file.fileno())
    sync_directory(place)


def own_folder(place: Place, what: str, *, afresh: bool = False) -> Place:
    """Return a folder, which is this hub's. Raises UnavailableError for any other, and for one that is not there.

    afresh: ask a bucket also when it was asked a moment ago.
    """
    known = store_id()
    if not known or (not afresh and isinstance(place, BucketFolder) and time.monotonic() < _believed.get(place, 0)):
        return place
    try:
        found = read_id(place)
    except OSError as error:
        detail = f"The folder of {what} cannot be read: {error.strerror or type(error).__name__}."
        raise UnavailableError(detail, code="files_elsewhere") from error
    if isinstance(place, BucketFolder):
        _believed[place] = time.monotonic() + BELIEVED_SECONDS if found == known else 0
    if found != known:
        reason = "has the files of another hub" if found else "is not there, or not that of this hub"
        raise UnavailableError(f"The folder of {what} {reason}.", code="files_elsewhere")
    return place


def claim(folders: Iterable[Root], *, adopt: bool = False) -> None:
    """Give database and folders one id, or find that they have it. Raises HostUnfitError, OSError.

    A folder without an id is claimed with a new database, and where this machine holds the database too and no file is
    missed. adopt: claim folders whatever they have.
    """
    found = [(root, _read_at_start(root)) for root in folders]
    # A database that got an id which a folder did not would take that folder for another hub's at the next start.
    with transaction.atomic():
        known, is_new = _database_id({value for _, value in found if value}, adopt=adopt)
        for root, value in found:
            if value == known:
                continue
            is_harmless = not value and (is_new or not (settings.MEMORYHUB.database_url or root.is_needed()))
            if not (is_harmless or adopt):
                raise HostUnfitError(_describe(root, value))
            with _asked(root, "written to"):
                write_id(root.place, known)
    expect(known)


@contextlib.contextmanager
def _asked(root: Root, done: str) -> Iterator[None]:
    """Say it where a store does not do something at the start: it cannot be `done`. Raises HostUnfitError."""
    try:
        yield
    except StoreError as error:
        raise HostUnfitError(
            f"{root.place}, the folder of {root.what}, cannot be {done}: {error.strerror}. Check MEMORYHUB_FILES_URL, "
            "AWS_ENDPOINT_URL_S3 and the credentials; a host does not start while its store does not answer."
        ) from error


def _read_at_start(root: Root) -> str:
    """Return the id that a folder has. Raises HostUnfitError for a store that does not answer, OSError for a folder."""
    with _asked(root, "read"):
        return read_id(root.place)


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
    remedy = "Set MEMORYHUB_FILES_URL to" if isinstance(root.place, BucketFolder) else "Mount or copy"
    return (
        f"{root.place}, the folder of {root.what}, {what}{needed}. {remedy} the folder that this database was "
        "used with (docs/operate/several-hosts.md). If its files are lost, or this is the right folder: "
        "`manage.py prepare --adopt-files`."
    )


on_database_change(forget_id)
