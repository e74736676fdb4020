"""What a backup and its restore ask of the database: the tools for a dump and for loading one, and counts of rows."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import psycopg
from psycopg import sql

from memoryhub.backup.archive import BackupError
from memoryhub.postgres.config import DATABASE
from memoryhub.postgres.server import PORT, EmbeddedDatabaseError, binaries, database_settings

# Vectors are long texts in a dump: the fastest level makes them half as large.
DUMP = ("pg_dump", "--format=custom", "--compress=gzip:1", "--no-unlogged-table-data", f"--dbname={DATABASE}")
RESTORE = ("pg_restore", "--exit-on-error", "--single-transaction", "--no-comments", f"--dbname={DATABASE}")


@contextmanager
def running_tool(
    data_dir: Path, user: str, command: tuple[str, ...], **streams: Any
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program of PostgreSQL with the embedded server, and wait for its end.

    Raises BackupError with what it said when it fails, unless the block raises itself: then it is ended.
    """
    settings = database_settings(data_dir)
    environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
    if account := settings["OPTIONS"].get("requirepeer"):
        environment["PGREQUIREPEER"] = account
    reach = (f"--host={settings['HOST']}", f"--port={PORT}", f"--username={user}", "--no-password")
    program, *options = command
    with tempfile.TemporaryFile() as said:
        try:
            path = binaries() / program
            process = subprocess.Popen(
                [path, *options, *reach], stderr=said, env=environment, cwd="/", start_new_session=True, **streams
            )
        except (OSError, EmbeddedDatabaseError) as error:
            raise BackupError(f"{program} cannot be run: {error}") from error
        try:
            yield process
        except BrokenPipeError:
            pass  # what it said is told below
        except BaseException:
            process.kill()
            process.wait()
            raise
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        if process.wait():
            said.seek(0)
            raise BackupError(f"{program} failed: {first_error(said)}")


def count_rows(connection: psycopg.Connection, table: str) -> int:
    """Return how many rows a table has."""
    row = connection.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))).fetchone()
    assert row is not None
    return int(row[0])


def first_error(said: IO[bytes]) -> str:
    """Return what a program said first of its failure. The context, which may quote rows, is left out."""
    lines = [line for line in said.read(1 << 16).decode(errors="replace").splitlines() if "error:" in line]
    return lines[0].partition("error: ")[2] if lines else "it said nothing"
