"""Restoring a backup into an empty data directory, or into a scratch place to see that it can be."""

import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from django.conf import settings
from django.db.migrations.loader import MigrationLoader

from apps.core.files import sync_directory
from memoryhub.backup.archive import DATABASE, BackupError, Manifest, copy_member, extract, opened_archive
from memoryhub.backup.server import RESTORE, count_rows, running_tool
from memoryhub.postgres.config import SUPERUSER
from memoryhub.postgres.django_checks import known_migrations
from memoryhub.postgres.server import MAJOR_VERSION, EmbeddedDatabase, EmbeddedDatabaseError
from memoryhub.process.startup import RESTORING

# What a file system of its own has at its top, readable by root alone.
LOST_AND_FOUND = "lost+found"
# In this order: with a database and without its files a hub does not start, the other way round it would begin anew.
PARTS = ("postgres", "timeline", "prompts", "sync-secrets", "secret_key", "default_user")


def backup_restore(path: Path) -> Manifest:
    """Restore a backup into the data directory, which must be empty or missing; return what it had.

    Raises BackupError; the data directory is empty then as before, unless the process was killed.
    """
    target = settings.MEMORYHUB.data_dir
    require_empty(target)
    with opened_archive(path) as (archive, manifest), reasons(target):
        require_known(manifest)
        if manifest.has_database and settings.MEMORYHUB.database_url:
            raise BackupError(
                "The backup has a database, and DATABASE_URL names a server of your own. Unset it to restore into the "
                f"embedded server, or load {DATABASE} of the archive with pg_restore there."
            )
        target.mkdir(mode=0o700, parents=True, exist_ok=True)
        aside = target / RESTORING
        aside.mkdir(mode=0o700)
        try:
            fill(aside, archive, manifest)
            for name in PARTS:
                if (aside / name).exists():
                    put_in_place(aside / name, target / name)
        finally:
            shutil.rmtree(aside)
        target.chmod(0o700)
        sync_directory(target)
    return manifest


def backup_check(path: Path) -> Manifest:
    """Restore a backup into a scratch place, compare it with its manifest, and remove it. Raises BackupError."""
    with opened_archive(path) as (archive, manifest):
        require_known(manifest)
        with reasons(Path(tempfile.gettempdir())), tempfile.TemporaryDirectory(prefix="memoryhub-check-") as scratch:
            fill(Path(scratch), archive, manifest, durable=False)
    return manifest


def put_in_place(source: Path, place: Path) -> None:
    """Move a restored file or folder to its place, which may be an empty folder, and one that is mounted."""
    try:
        source.rename(place)
    except OSError:
        if not place.is_dir():
            raise
        try:
            for entry in source.iterdir():
                shutil.move(entry, place / entry.name)
        except OSError:
            for entry in place.iterdir():
                if entry.name != LOST_AND_FOUND:
                    shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
            raise
        sync_directory(place)


def require_empty(target: Path) -> None:
    """Raise BackupError for a data directory that has anything but empty folders, such as those that are mounted."""
    if not target.exists():
        return
    if not target.is_dir():
        raise BackupError(f"{target} is no folder.")
    if names := sorted(entry.name for entry in target.iterdir() if not is_empty_folder(entry)):
        shown = ", ".join(names[:5]) + (" ..." if len(names) > 5 else "")
        raise BackupError(
            f"{target} is not empty: it has {shown}. A backup is restored into an empty data directory only. Move this "
            "one away, or set MEMORYHUB_DATA_DIR to another one."
        )


def is_empty_folder(path: Path) -> bool:
    """Return whether a path is a folder with nothing in it, but for what a file system makes of its own."""
    if path.name == LOST_AND_FOUND:
        return True
    return path.is_dir() and not path.is_symlink() and not {entry.name for entry in path.iterdir()} - {LOST_AND_FOUND}


def require_known(manifest: Manifest) -> None:
    """Raise BackupError for a backup of a newer version than this one."""
    if {(app, name) for app, name in manifest.migrations} - known_migrations(MigrationLoader(None)):
        raise BackupError(
            f"The backup was made by a newer MemoryHub ({manifest.hub}) than this one. Install that version, and "
            "restore with it."
        )
    if manifest.has_database and manifest.server // 10_000 > MAJOR_VERSION:
        raise BackupError(f"The backup is of PostgreSQL {manifest.server // 10_000}; this one is {MAJOR_VERSION}.")


@contextmanager
def reasons(place: Path) -> Iterator[None]:
    """Turn what the system refuses into a sentence."""
    try:
        yield
    except OSError as error:
        where = error.filename or place
        raise BackupError(f"{where} cannot be written: {error.strerror or type(error).__name__}.") from error
    except EmbeddedDatabaseError as error:
        raise BackupError(f"The database cannot be restored: {error}") from error
    except psycopg.Error as error:
        raise BackupError(f"The database cannot be restored ({type(error).__name__}).") from error


def fill(directory: Path, archive: zipfile.ZipFile, manifest: Manifest, *, durable: bool = True) -> None:
    """Put everything of an archive into a directory, and compare it with the manifest. Raises BackupError."""
    with reasons(directory):
        extract(archive, manifest, [name for name in manifest.files if name != DATABASE], directory)
        if manifest.has_database:
            database = EmbeddedDatabase(directory, durable=durable)
            try:
                database.start()
                load(archive, manifest, directory)
                compare_rows(database, manifest)
            finally:
                database.stop()


def load(archive: zipfile.ZipFile, manifest: Manifest, directory: Path) -> None:
    """Load the dump into the running server of a directory. Raises BackupError."""
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL}
    with running_tool(directory, SUPERUSER, RESTORE, **streams) as tool:
        assert tool.stdin is not None
        copy_member(archive, manifest, DATABASE, tool.stdin)


def compare_rows(database: EmbeddedDatabase, manifest: Manifest) -> None:
    """Raise BackupError when a table has other rows than it had in the backup; have the planner know all of them."""
    with database.connect() as connection:
        for name, count in manifest.rows.items():
            counted = count_rows(connection, name)
            if counted != count:
                raise BackupError(f"The table {name} has {counted} rows, and had {count} in the backup.")
        connection.execute("ANALYZE")
