"""The SQLite database of one user's index: its tables, its connections, and how it is made again.

It is a cache of the files. One of another version, or a damaged one, is deleted and made again.
"""

import contextlib
import fcntl
import logging
import secrets
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
from django.conf import settings

from apps.core.domain.errors import UnavailableError
from apps.notes.index.disk import IndexPlace
from apps.notes.metrics import INDEX_REMADE
from apps.retrieval.domain.text.terms import TEXT_PIPELINE_VERSION

logger = logging.getLogger(__name__)
SCHEMA_VERSION = 3
VERSION = SCHEMA_VERSION * 1_000 + TEXT_PIPELINE_VERSION
BUSY_MS = 10_000
# So many connections of an index are kept for later searches.
_KEPT = 4
_LOCKS = 64
DAMAGED = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError, apsw.SQLError, apsw.IOError, apsw.SchemaChangeError)
# Words are separated by spaces; the other characters that a word can have belong to it.
_TOKENIZER = "ascii tokenchars '!#$%&()*+,-./:;<=>?@[\\]^_`{|}~'"
# How much a word in the headings above a text counts, beside one in the text.
HEADING_WEIGHT = 0.5
RANK = f"bm25(1.0, {HEADING_WEIGHT})"
_TABLES = f"""
CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    sha256 BLOB,
    problem TEXT NOT NULL,
    is_settled INTEGER NOT NULL
);
CREATE TABLE texts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    digest BLOB NOT NULL UNIQUE,
    heading TEXT NOT NULL,
    text TEXT NOT NULL
);
CREATE TABLE chunks (
    file_id INTEGER NOT NULL REFERENCES files,
    position INTEGER NOT NULL,
    text_id INTEGER NOT NULL REFERENCES texts,
    first_line INTEGER NOT NULL,
    last_line INTEGER NOT NULL,
    PRIMARY KEY (file_id, position)
) WITHOUT ROWID;
CREATE INDEX chunks_by_text ON chunks (text_id);
CREATE TABLE vectors (text_id INTEGER PRIMARY KEY, vector BLOB NOT NULL);
CREATE TABLE signs (
    id INTEGER PRIMARY KEY AUTOINCREMENT, text_id INTEGER NOT NULL UNIQUE, bits BLOB NOT NULL
);
CREATE TABLE lengths (text_id INTEGER PRIMARY KEY, terms INTEGER NOT NULL);
CREATE TABLE removed (id INTEGER PRIMARY KEY AUTOINCREMENT, text_id INTEGER NOT NULL);
CREATE TABLE facts (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (
    text, heading, content = '', contentless_delete = 1, tokenize = "{_TOKENIZER}"
);
INSERT INTO words (words, rank) VALUES ('rank', '{RANK}');
CREATE VIRTUAL TABLE places USING fts5vocab ('words', 'instance');
PRAGMA user_version = {VERSION};
"""  # noqa: S608 - no values of others
Prepare = Callable[[apsw.Connection], None]


class OtherVersionError(Exception):
    """The database was made by another version of the hub, or is not made yet."""


class IndexDamagedError(Exception):
    """The database was damaged, and has been deleted: do the same again."""


class Database:
    """The connections of this process to one database. prepare: called with each new connection."""

    def __init__(self, place: IndexPlace, prepare: Prepare) -> None:
        self.place = place
        self._prepare = prepare
        # With the file that each was opened on.
        self._kept: list[tuple[apsw.Connection, int]] = []

    @contextlib.contextmanager
    def connection(self) -> Iterator[apsw.Connection]:
        """Yield a connection that no other thread uses.

        Raises IndexDamagedError when the database was found to be damaged, UnavailableError.
        """
        connection, inode = self._take()
        try:
            yield connection
        except apsw.BusyError as error:
            connection.close(True)
            raise UnavailableError("The index of the notes is being written to: try again.", retry_after=1) from error
        except DAMAGED as error:
            connection.close(True)
            self._discard(type(error).__name__, inode)
            raise IndexDamagedError from error
        except apsw.Error as error:
            connection.close(True)
            raise UnavailableError("The index of the notes cannot be written.", retry_after=60) from error
        except BaseException:
            connection.close(True)
            raise
        if len(self._kept) < _KEPT:
            self._kept.append((connection, inode))
        else:
            connection.close(True)

    def close(self) -> None:
        """Close the connections that no thread uses."""
        with contextlib.suppress(IndexError):
            while True:
                self._kept.pop()[0].close(True)

    def _discard(self, reason: str, inode: int) -> None:
        """Delete a damaged database, unless there is another one since."""
        self.close()
        with index_lock(self.place, exclusive=True):
            if inode == inode_of(self.place.database):
                report_remade("damaged", reason)
                remove(self.place)

    def _take(self) -> tuple[apsw.Connection, int]:
        inode = inode_of(self.place.database)
        with contextlib.suppress(IndexError):
            while True:
                connection, opened = self._kept.pop()
                if opened == inode:
                    return connection, inode
                connection.close(True)
        return open_database(self.place, self._prepare)


def open_database(place: IndexPlace, prepare: Prepare) -> tuple[apsw.Connection, int]:
    """Open the database, which is made again where it is missing, damaged or of another version; return its inode, too.

    It is made while no other process opens it: SQLite refuses a change of the journal at once where another connection
    changes it as well, whatever the time that it may wait. Raises UnavailableError.
    """
    try:
        place.database.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            with index_lock(place, exclusive=False):
                return connect(place.database, prepare), inode_of(place.database)
        except (*DAMAGED, OtherVersionError):
            with index_lock(place, exclusive=True):
                return open_again(place, prepare), inode_of(place.database)
    except (apsw.Error, OSError) as error:
        raise UnavailableError("The index of the notes cannot be opened.", retry_after=60) from error


def open_again(place: IndexPlace, prepare: Prepare) -> apsw.Connection:
    """Open a database that another process may have made again; else delete it and make it. The caller locks it."""
    try:
        return connect(place.database, prepare, create=True)
    except OtherVersionError:
        report_remade("version", "it was made by another version of the hub")
    except DAMAGED as error:
        report_remade("damaged", type(error).__name__)
    remove(place)
    return connect(place.database, prepare, create=True)


def report_remade(kind: str, reason: str) -> None:
    """Write to log and metrics that an index is made again."""
    logger.warning("the index of a user's notes is made again from the files: %s", reason)
    INDEX_REMADE.labels(kind).inc()


def inode_of(path: Path) -> int:
    """Return which file a path leads to; -1 for none."""
    try:
        return path.stat().st_ino
    except OSError:
        return -1


def connect(path: Path, prepare: Prepare, *, create: bool = False) -> apsw.Connection:
    """Return a connection. Raises OtherVersionError, or what SQLite says of a damaged file.

    create: make the tables of an empty database; the caller holds its lock exclusively.
    """
    if not path.exists():
        if not create:
            raise OtherVersionError
        path.touch(mode=0o600)
    connection = apsw.Connection(str(path))
    try:
        connection.set_busy_timeout(BUSY_MS)
        if connection.pragma("user_version") != VERSION:
            if not create:
                raise OtherVersionError
            connection.execute("PRAGMA journal_mode = WAL")
            create_tables(connection)
        connection.execute("PRAGMA synchronous = NORMAL; PRAGMA cache_size = -16000; PRAGMA temp_store = MEMORY")
        connection.execute("SELECT count(*) FROM facts")
        prepare(connection)
    except BaseException:
        connection.close(True)
        raise
    return connection


def create_tables(connection: apsw.Connection) -> None:
    """Create the tables in an empty database. Raises OtherVersionError for any other."""
    with write(connection):
        version = connection.pragma("user_version")
        if version == VERSION:
            return
        if version or connection.execute("SELECT count(*) FROM sqlite_schema").get:
            raise OtherVersionError
        connection.execute(_TABLES)
        # By which a process recognises that it is another database than the one that it knows.
        set_fact(connection, "made", secrets.token_hex(8))


@contextlib.contextmanager
def write(connection: apsw.Connection) -> Iterator[None]:
    """Hold the write lock of the database while the block runs, and commit."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with contextlib.suppress(apsw.Error):
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@contextlib.contextmanager
def index_lock(place: IndexPlace, *, exclusive: bool) -> Iterator[None]:
    """Keep the files of an index from being deleted, or from being opened (`exclusive`), while the block runs."""
    settings.NOTES_LOCKS_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = f"index-{zlib.crc32(place.database.name.encode()) % _LOCKS}"
    with (settings.NOTES_LOCKS_DIR / name).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
        yield


def remove(place: IndexPlace) -> None:
    """Delete the files of a database. The caller holds its lock."""
    for path in place.files:
        path.unlink(missing_ok=True)


def get_fact(connection: apsw.Connection, name: str) -> Any:
    """Return what is noted under a name; None for nothing."""
    return connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).get


def set_fact(connection: apsw.Connection, name: str, value: str | float) -> None:
    """Note something about the database."""
    connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))
