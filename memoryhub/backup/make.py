"""Making a backup while the hub runs: rows of one moment, and every file that they refer to.

The rows are those of one snapshot of the database, taken under the lock of maintenance. Under the same lock the segment
files are copied, none of which changes or vanishes meanwhile. Notes are copied after that moment: a note that changed
since is newer than its last version, and the hub records the difference when it is started.
"""

import io
import os
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

import psycopg
from django.conf import settings

from apps.core.db.watch import connect_plainly
from apps.core.domain.errors import UnavailableError
from apps.episodic.selectors import segment_checksums
from apps.episodic.services import kept_files, maintenance_lock
from apps.notes.selectors import MAX_NOTE_BYTES, notes_kept
from memoryhub.backup.archive import DATABASE, FILES, SUFFIX, ArchiveWriter, BackupError, Manifest, whole_file
from memoryhub.backup.server import DUMP, count_rows, running_tool
from memoryhub.postgres.config import ROLE

# For how long a maintenance of the timeline is waited for.
WAIT_SECONDS = 120.0
# How often a note is read again that is written to at the same time.
TRIES = 5
_TABLES = """
SELECT relname FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relpersistence = 'p' ORDER BY relname
"""


@dataclass(frozen=True)
class Made:
    """A backup that was made. own_key: the hub signs with a key of the environment, which is not in it."""

    path: Path
    size: int
    manifest: Manifest
    own_key: bool


def backup_make(path: Path, *, secrets: bool = True, check: Callable[[Path], object] | None = None) -> Made:
    """Write a backup of the hub into a new file; a folder gets one with the time in its name.

    secrets: whether the signing key and the secrets of sources are in it. check: called with the whole archive before
    it gets its name. Raises BackupError, after which nothing is left under the name.
    """
    began = datetime.now(UTC)
    path = path_for(path, began)
    with whole_file(path) as (file, aside):
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            writer = ArchiveWriter(archive, new_manifest(began, secrets=secrets))
            write_all(writer, secrets=secrets)
            writer.finish()
        file.flush()
        size = file.tell()
        if check is not None:
            check(aside)
    return Made(path, size, writer.manifest, own_key=bool(settings.MEMORYHUB.secret_key))


def path_for(path: Path, now: datetime) -> Path:
    """Return the file to write. Raises BackupError for one in the data directory, or in a folder that is not there."""
    path = path.expanduser().absolute()
    path = path / f"memoryhub-{now:%Y%m%dT%H%M%SZ}{SUFFIX}" if path.is_dir() else path
    if not path.parent.is_dir():
        raise BackupError(f"{path.parent} is no folder.")
    if path.suffix != SUFFIX:
        raise BackupError(f"A backup is a ZIP file: name one that ends with {SUFFIX}, or a folder that is there.")
    if path.resolve().is_relative_to(settings.MEMORYHUB.data_dir.resolve()):
        raise BackupError("Choose a place outside the data directory: a backup must outlive it.")
    return path


def new_manifest(began: datetime, *, secrets: bool) -> Manifest:
    """Return the manifest of a backup that begins."""
    return Manifest(
        hub=settings.SPECTACULAR_SETTINGS["VERSION"],
        made_at=began.isoformat(),
        moment="",
        server=0,
        has_database=settings.MEMORYHUB.database_url is None,
        has_secrets=secrets,
        migrations=[],
    )


def write_all(writer: ArchiveWriter, *, secrets: bool) -> None:
    """Add everything. Raises BackupError."""
    with closing(connect_plainly({})) as connection, connection.transaction():
        try:
            # One run of maintenance at a time: while this one lasts, no segment is written, replaced or removed.
            with maintenance_lock(WAIT_SECONDS):
                snapshot = begin_snapshot(connection, writer.manifest)
                add_segments(writer)
        except UnavailableError as error:
            raise BackupError(error.detail) from error
        if writer.manifest.has_database:
            add_database(writer, snapshot)
            tables = [name for (name,) in connection.execute(_TABLES).fetchall()]
            writer.manifest.rows = {name: count_rows(connection, name) for name in tables}
    add_notes(writer)
    add_settings(writer, secrets=secrets)


def begin_snapshot(connection: psycopg.Connection, manifest: Manifest) -> str:
    """Begin to read the database as it is at this moment, and note what it is. Return the snapshot's name."""
    connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
    row = connection.execute("SELECT pg_export_snapshot(), now()").fetchone()
    assert row is not None
    manifest.server, manifest.moment = connection.info.server_version, row[1].astimezone(UTC).isoformat()
    manifest.migrations = [
        list(key) for key in connection.execute("SELECT app, name FROM django_migrations ORDER BY id")
    ]
    return str(row[0])


def add_segments(writer: ArchiveWriter) -> None:
    """Add the files of the timeline, and note those that are not what the catalogue says."""
    wanted = segment_checksums()
    for name, opening in kept_files():
        with opening as file:
            digest = writer.add(f"timeline/{name}", file)
        if wanted.get(name, digest) == digest:
            wanted.pop(name, None)
    writer.manifest.damaged = sorted(wanted)


def add_database(writer: ArchiveWriter, snapshot: str) -> None:
    """Add a dump of the snapshot."""
    data_dir = settings.MEMORYHUB.data_dir
    with running_tool(
        data_dir, ROLE, (*DUMP, f"--snapshot={snapshot}"), stdout=subprocess.PIPE, stdin=subprocess.DEVNULL
    ) as tool:
        assert tool.stdout is not None
        writer.add(DATABASE, tool.stdout)


def add_notes(writer: ArchiveWriter) -> None:
    """Add the notes. One that was deleted since it was listed is left out."""
    try:
        kept = notes_kept()
    except UnavailableError as error:
        raise BackupError(error.detail) from error
    writer.manifest.left_out = kept.left_out
    for name, path in kept.files:
        with suppress(FileNotFoundError), open_quiet(path) as file:
            writer.add(f"prompts/memory/{name}", file, compress=True)


@contextmanager
def open_quiet(path: Path) -> Iterator[BinaryIO]:
    """Open a file that others may be writing: the text of a note as it was between two changes. Raises OSError.

    The hub puts a new file in the place of the former one, so that one that is open never changes; an editor may write
    in place.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if os.fstat(descriptor).st_size > MAX_NOTE_BYTES:  # no note
            yield file
            return
        for _ in range(TRIES):
            before = os.fstat(descriptor)
            file.seek(0)
            text = file.read()
            after = os.fstat(descriptor)
            if (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns):
                break
        yield io.BytesIO(text)


def add_settings(writer: ArchiveWriter, *, secrets: bool) -> None:
    """Add the files of the data directory that say who signs and who is the default user."""
    config = settings.MEMORYHUB
    names = [name for name in FILES if secrets or name != "secret_key"]
    paths = [(name, config.data_dir / name) for name in names if name != "secret_key" or not config.secret_key]
    if secrets and (folder := Path(settings.SYNC_SECRETS_DIR)).is_dir():
        paths += [(f"sync-secrets/{path.name}", path) for path in sorted(folder.iterdir())]
    for name, path in paths:
        if path.is_file() and not path.is_symlink():
            writer.add(name, io.BytesIO(path.read_bytes()))
