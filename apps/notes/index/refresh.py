"""Bringing an index up to the files: only what has changed is read, and only chunks that are new are written.

Files are read while the write lock of the database is held. So of two processes that take in the same file, the later
one has read it later.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain

import apsw

from apps.core.steps import Step, no_step
from apps.notes.domain.chunks import Chunk, chunk_note
from apps.notes.files.folder import Folder
from apps.notes.index.database import get_fact, set_fact, write
from apps.notes.index.disk import NO_STAMP, Stamp, list_stamps, read_file
from apps.notes.metrics import INDEX_FILES
from apps.retrieval.domain.text.terms import terms

# Files are taken in by so many at a time; others can write in between.
BATCH_FILES, BATCH_BYTES = 200, 4_000_000
# Where a kill may interrupt `take_in`.
REFRESH_STEPS = ("begin", "read", "files", "texts", "words", "chunks", "removed", "commit", "committed")
Progress = Callable[[int, int], None]
# A chunk with its digest.
Digested = tuple[bytes, Chunk]


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file as the index has it."""

    id: int
    stamp: Stamp
    sha256: bytes | None
    problem: str
    is_settled: bool


@dataclass
class Change:
    """What a batch of files changes. files: rows of those that are new or changed. removed: ids of files that are gone.

    chunks: of files whose text is new, by the id of the file.
    """

    files: list[tuple[int, str, *tuple[int, ...], bytes | None, str, bool]] = field(default_factory=list)
    chunks: dict[int, list[Digested]] = field(default_factory=dict)
    removed: list[int] = field(default_factory=list)

    @property
    def rewritten(self) -> list[int]:
        """Return the files whose former chunks go."""
        return [*self.chunks, *self.removed]


def look(
    connection: apsw.Connection,
    folder: Folder,
    now: float,
    step: Step = no_step,
    progress: Progress | None = None,
) -> int:
    """Compare every file of a folder with the index, by size, times and inode, and take in what differs.

    Return how many files were read. now: in seconds since 1970. What was moved keeps its chunks, as new files come
    before those that are gone.
    """
    found, known = list_stamps(folder), known_files(connection)
    # The index has a file as it is, as far as its stamp says.
    current = {path for path, one in known.items() if one.is_settled and one.stamp == found.get(path)}
    changed = [path for path in found if path not in current]
    gone = [path for path in known if path not in found]
    paths, done = [*changed, *gone], 0
    for batch in batches(paths, found):
        take_in(connection, folder, batch, step)
        done += len(batch)
        if progress is not None:
            progress(done, len(paths))
    with write(connection):
        set_fact(connection, "looked_at", now)
    return len(changed)


def batches(paths: Iterable[str], stamps: Mapping[str, Stamp]) -> Iterator[list[str]]:
    """Yield paths in batches of at most BATCH_FILES, and of not much more than BATCH_BYTES."""
    batch: list[str] = []
    size = 0
    for path in paths:
        batch.append(path)
        size += stamps.get(path, NO_STAMP).size
        if len(batch) == BATCH_FILES or size > BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def known_files(connection: apsw.Connection, paths: Collection[str] | None = None) -> dict[str, KnownFile]:
    """Return the files that the index has, by path: all, or those of some paths."""
    columns = "SELECT path, id, size, mtime_ns, ctime_ns, inode, sha256, problem, is_settled FROM files"
    if paths is None:
        rows: Iterable[tuple[object, ...]] = connection.execute(columns)
    else:
        rows = connection.executemany(f"{columns} WHERE path = ?", [(path,) for path in paths])
    return {
        str(path): KnownFile(number, Stamp(*stamp), sha256, problem, bool(is_settled))  # type: ignore[arg-type]
        for path, number, *stamp, sha256, problem, is_settled in rows
    }


def take_in(connection: apsw.Connection, folder: Folder, paths: Collection[str], step: Step = no_step) -> None:
    """Read files and bring the index up to them, in one transaction. step: called before each of REFRESH_STEPS."""
    step("begin")
    with write(connection):
        step("read")
        change = read_changes(connection, folder, paths)
        step("files")
        wanted = [(file_id,) for file_id in change.rewritten]
        former = {text for (text,) in connection.executemany("SELECT text_id FROM chunks WHERE file_id = ?", wanted)}
        connection.executemany(
            "INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET size = excluded.size, "
            "mtime_ns = excluded.mtime_ns, ctime_ns = excluded.ctime_ns, inode = excluded.inode, "
            "sha256 = excluded.sha256, problem = excluded.problem, is_settled = excluded.is_settled",
            change.files,
        )
        texts = add_texts(connection, change.chunks.values(), step)
        step("chunks")
        connection.executemany("DELETE FROM chunks WHERE file_id = ?", [(file_id,) for file_id in change.rewritten])
        connection.executemany(
            "INSERT INTO chunks VALUES (?, ?, ?, ?, ?)",
            [
                (file_id, position, texts[digest], chunk.first_line, chunk.last_line)
                for file_id, chunks in change.chunks.items()
                for position, (digest, chunk) in enumerate(chunks)
            ],
        )
        step("removed")
        connection.executemany("DELETE FROM files WHERE id = ?", [(file_id,) for file_id in change.removed])
        unused = [
            (text_id,)
            for text_id in former
            if not connection.execute("SELECT EXISTS (SELECT 1 FROM chunks WHERE text_id = ?)", (text_id,)).get
        ]
        before = connection.total_changes()
        connection.executemany("DELETE FROM vectors WHERE text_id = ?", unused)
        count(connection, "vectors", before - connection.total_changes())
        for table, key in (("words", "rowid"), ("signs", "text_id"), ("lengths", "text_id"), ("texts", "id")):
            connection.executemany(f"DELETE FROM {table} WHERE {key} = ?", unused)  # noqa: S608
        connection.executemany("INSERT INTO removed (text_id) VALUES (?)", unused)
        count(connection, "texts", -len(unused))
        step("commit")
    step("committed")
    INDEX_FILES.labels("read").inc(len(change.chunks))
    INDEX_FILES.labels("removed").inc(len(change.removed))


def read_changes(connection: apsw.Connection, folder: Folder, paths: Collection[str]) -> Change:
    """Read files, and return what differs from the index."""
    known, change = known_files(connection, paths), Change()
    next_id = 1 + (connection.execute("SELECT max(id) FROM files").get or 0)
    for path in paths:
        before, found = known.get(path), read_file(folder, path)
        if found is None:
            if before is not None:
                change.removed.append(before.id)
            continue
        sha256 = None if found.text is None else hashlib.sha256(found.text).digest()
        file_id = next_id if before is None else before.id
        next_id += before is None
        # Whether the stamp of the file is enough to see that it has not changed.
        is_settled = found.is_settled if found.text is not None else found.problem not in ("", "disk_error")
        row = (file_id, path, *(found.stamp or NO_STAMP), sha256, found.problem, is_settled)
        change.files.append(row)
        if before is None or before.sha256 != sha256:
            change.chunks[file_id] = [(chunk.digest, chunk) for chunk in chunk_note(found.text or b"")]
    return change


def add_texts(connection: apsw.Connection, notes: Iterable[list[Digested]], step: Step) -> dict[bytes, int]:
    """Add the texts of chunks that the index does not have; return the ids of all by their digests."""
    chunks = dict(chain.from_iterable(notes))
    wanted = [(digest,) for digest in chunks]
    ids = dict(connection.executemany("SELECT digest, id FROM texts WHERE digest = ?", wanted))
    new = [(digest, chunk) for digest, chunk in chunks.items() if digest not in ids]
    last = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'texts'").get or 0
    numbered = list(enumerate(new, last + 1))
    step("texts")
    connection.executemany(
        "INSERT INTO texts VALUES (?, ?, ?, ?)",
        [(text_id, digest, chunk.heading, chunk.text) for text_id, (digest, chunk) in numbered],
    )
    step("words")
    add_words(connection, [(text_id, chunk) for text_id, (_, chunk) in numbered])
    count(connection, "texts", len(numbered))
    return ids | {digest: text_id for text_id, (digest, _) in numbered}


def add_words(connection: apsw.Connection, numbered: Iterable[tuple[int, Chunk]]) -> None:
    """Index the words of texts, separated by spaces. Those of headings, which recur, are made once."""
    words: list[tuple[int, str, str]] = []
    lengths: list[tuple[int, int]] = []
    above: dict[str, list[str]] = {}
    for text_id, chunk in numbered:
        inside = terms(chunk.text)
        if chunk.heading not in above:
            above[chunk.heading] = terms(chunk.heading)
        headings = above[chunk.heading]
        words.append((text_id, " ".join(inside), " ".join(headings)))
        lengths.append((text_id, len(inside) + len(headings)))
    connection.executemany("INSERT INTO words (rowid, text, heading) VALUES (?, ?, ?)", words)
    connection.executemany("INSERT INTO lengths VALUES (?, ?)", lengths)


def count(connection: apsw.Connection, table: str, more: int) -> None:
    """Note that a table has more rows than before, or less; counting them would read them all."""
    if more:
        set_fact(connection, table, (get_fact(connection, table) or 0) + more)
