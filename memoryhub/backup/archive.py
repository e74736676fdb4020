"""The archive of a backup: a ZIP file with a manifest, which appears under its name only when it is complete.

Its index is at its end, so a half one is no ZIP file at all. Members are stored by the names that they have in the data
directory; the database is `database.dump`, as `pg_restore` reads it.
"""

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import secrets
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any, BinaryIO

from django.core.management.base import CommandError

from apps.core.files import sync_directory, unwritable

FORMAT = 1
SUFFIX = ".zip"
MANIFEST, DATABASE = "manifest.json", "database.dump"
# What a data directory has besides the database, and so what may be in an archive.
FOLDERS, FILES = ("timeline", "prompts", "sync-secrets"), ("secret_key", "default_user")
CHUNK = 1 << 20
# Of file systems without hard links, such as those of memory sticks.
NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})
MANIFEST_BYTES = 256 * CHUNK


class BackupError(CommandError):
    """A backup cannot be made, read or restored; the text says why, and what would help."""


@dataclass
class Manifest:
    """What is in an archive.

    hub: the version that made it. made_at, moment: when it was begun, and the moment that the rows are of (ISO 8601).
    server: version of PostgreSQL; without a dump 0. migrations: app and name of those that the tables have. rows: of
    each table, by its name. files: size and SHA-256 by the name of the member. damaged: segments whose file was not
    what the catalogue says. left_out: links and files with names that cannot be stored.
    """

    hub: str
    made_at: str
    moment: str
    server: int
    has_database: bool
    has_secrets: bool
    migrations: list[list[str]]
    rows: dict[str, int] = field(default_factory=dict)
    files: dict[str, list[Any]] = field(default_factory=dict)
    damaged: list[str] = field(default_factory=list)
    left_out: int = 0
    format: int = FORMAT

    @property
    def size(self) -> int:
        """Return the bytes of all members."""
        return sum(size for size, _ in self.files.values())

    def count(self, folder: str) -> int:
        """Return how many members are below a folder, without the id of the hub."""
        return sum(name.startswith(f"{folder}/") and not name.endswith("/.store-id") for name in self.files)


class ArchiveWriter:
    """Adds members to an archive, and to its manifest."""

    def __init__(self, archive: zipfile.ZipFile, manifest: Manifest) -> None:
        self._archive, self.manifest = archive, manifest

    def add(self, name: str, content: IO[bytes], *, compress: bool = False) -> str:
        """Add a member, whatever its length; return its SHA-256. Raises OSError."""
        member = zipfile.ZipInfo(name)
        member.external_attr = 0o600 << 16
        member.compress_type = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
        with self._archive.open(member, "w", force_zip64=True) as target:
            size, digest = copy_measured(content, target)
        self.manifest.files[name] = [size, digest]
        return digest

    def finish(self) -> None:
        """Add the manifest."""
        member = zipfile.ZipInfo(MANIFEST)
        member.external_attr = 0o600 << 16
        member.compress_type = zipfile.ZIP_DEFLATED
        self._archive.writestr(member, json.dumps(asdict(self.manifest), ensure_ascii=False, indent=1))


@contextmanager
def whole_file(path: Path) -> Iterator[tuple[BinaryIO, Path]]:
    """Create a file for its owner only, which gets its name when the block has ended and it is on the disk.

    Yield it with the name that it has until then. Whatever ends the block or the process, there is no half file under
    the name; what killed processes left in the folder is removed. Raises BackupError, also where the name is taken.
    """
    aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        if path.exists():
            raise BackupError(f"{path} exists already. Choose another name, or name a folder.")
        remove_abandoned(path.parent)
        descriptor = os.open(aside, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield file, aside
            file.flush()
            os.fsync(file.fileno())
            publish(aside, path)
        sync_directory(path.parent)
    except FileExistsError as error:
        raise BackupError(f"{path} exists already. Choose another name, or name a folder.") from error
    except OSError as error:
        raise BackupError(str(unwritable(path, error))) from error
    finally:
        with contextlib.suppress(OSError):
            aside.unlink(missing_ok=True)


def publish(aside: Path, path: Path) -> None:
    """Give a file its name, which takes the place of nothing. Raises FileExistsError, OSError."""
    try:
        os.link(aside, path)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        if path.exists():
            raise FileExistsError from error
        aside.rename(path)


def remove_abandoned(folder: Path) -> None:
    """Remove half archives of processes that were killed: those that nobody holds."""
    for path in folder.glob(f".*{SUFFIX}.????????.part"):
        with contextlib.suppress(OSError), path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()


@contextmanager
def opened_archive(path: Path) -> Iterator[tuple[zipfile.ZipFile, Manifest]]:
    """Open an archive, and read its manifest. Raises BackupError for what is none, or of a newer format."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive, read_manifest(archive, path)
    except (zipfile.BadZipFile, EOFError) as error:
        raise BackupError(f"{path} is no backup, or not a whole one: {error}") from error
    except OSError as error:
        raise BackupError(f"{path} cannot be read: {error.strerror or error}.") from error


def read_manifest(archive: zipfile.ZipFile, path: Path) -> Manifest:
    """Return what an archive says that it has. Raises BackupError."""
    try:
        if archive.getinfo(MANIFEST).file_size > MANIFEST_BYTES:
            raise ValueError
        said = json.loads(archive.read(MANIFEST))
        found = said["format"]
        manifest = Manifest(**said) if found == FORMAT else None
    except (KeyError, ValueError, TypeError) as error:
        raise BackupError(f"{path} is no backup of MemoryHub: it has no manifest that can be read.") from error
    if manifest is None:
        raise BackupError(
            f"{path} has format {found}; this MemoryHub reads {FORMAT}. Install the version that made it."
        )
    if set(archive.namelist()) != {*manifest.files, MANIFEST} or not all(map(is_expected, manifest.files)):
        raise BackupError(f"{path} has other files than its manifest says.")
    return manifest


def is_expected(name: str) -> bool:
    """Return whether a member may be put into a data directory by its name."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or str(path) != name:
        return False
    return name in (*FILES, DATABASE) or (len(path.parts) > 1 and path.parts[0] in FOLDERS)


def copy_measured(source: IO[bytes], target: IO[bytes]) -> tuple[int, str]:
    """Copy a file to its end; return how many bytes it has, and their SHA-256. Raises OSError."""
    digest, size = hashlib.sha256(), 0
    while chunk := source.read(CHUNK):
        digest.update(chunk)
        size += len(chunk)
        target.write(chunk)
    return size, digest.hexdigest()


def copy_member(archive: zipfile.ZipFile, manifest: Manifest, name: str, target: IO[bytes]) -> None:
    """Write a member into a file. Raises BackupError when it is not what the manifest says, and OSError."""
    with archive.open(name) as source:
        measured = copy_measured(source, target)
    if [*measured] != manifest.files[name]:
        raise BackupError(f"{name} in the backup is damaged: its checksum differs.")


def extract(archive: zipfile.ZipFile, manifest: Manifest, names: Iterable[str], directory: Path) -> None:
    """Write members below a directory, for their owner only, and on the disk. Raises BackupError, OSError."""
    for name in names:
        path = directory / name
        for folder in reversed(path.relative_to(directory).parents):
            (directory / folder).mkdir(mode=0o700, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            copy_member(archive, manifest, name, file)
            file.flush()
            os.fsync(descriptor)
