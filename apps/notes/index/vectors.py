"""Vectors of the texts of an index, compared by sqlite-vec (spec 001, vector search).

Each text has its vector as 8-bit numbers, and the signs of its components. Zeros, which are compared with nothing, are
the vector of a text that the embedder cannot read. In a large index the signs find candidates, and the numbers give
their cosines; in a small one the numbers are compared at once.
"""

import json
import logging
import secrets
import time
from collections.abc import Iterable, Sequence

import apsw
import numpy as np
import numpy.typing as npt
from django.conf import settings

from apps.core.per_process import PerProcess
from apps.llm.domain.embedder import EmbeddingError, TextRole
from apps.llm.services import can_read, embed_texts, get_embedder
from apps.notes.index.database import Database, get_fact, set_fact, write
from apps.notes.metrics import INDEX_VECTORS

logger = logging.getLogger(__name__)
# After a failure the embedder is left alone for so long: a search need not wait for it.
PAUSE_SECONDS = 30.0
Vector = npt.NDArray[np.float32]


class Extension:
    """Whether this process can load sqlite-vec. problem: why not; empty where it can."""

    def __init__(self) -> None:
        self.path = ""
        self.problem = ""
        try:
            import sqlite_vec

            self.path = sqlite_vec.loadable_path()
            load_extension(apsw.Connection(":memory:"), self.path)
        except (ImportError, OSError, AttributeError, apsw.Error) as error:
            self.problem = f"the extension sqlite-vec cannot be loaded ({type(error).__name__})"
            logger.warning("notes are searched by words only: %s", self.problem)


class EmbedderPause:
    """Until when the embedder is left alone, and why."""

    until = 0.0
    reason = ""


_extension = PerProcess(Extension)
_pause = PerProcess(EmbedderPause)


def load_extension(connection: apsw.Connection, path: str) -> None:
    """Load sqlite-vec into a connection. Raises apsw.Error, AttributeError."""
    connection.enable_load_extension(True)
    connection.load_extension(path)
    connection.enable_load_extension(False)


def prepare_vectors(connection: apsw.Connection) -> None:
    """Load the extension into a new connection, where it can be loaded."""
    extension = _extension.get()
    if not extension.problem:
        load_extension(connection, extension.path)


def reset_extension() -> None:
    """Have the next use try to load the extension again (for tests)."""
    _extension.forget()
    _pause.forget()


def vectors_problem() -> str:
    """Return why vectors are not used; nothing where they are."""
    if settings.MEMORYHUB.notes_search == "keyword":
        return "MEMORYHUB_NOTES_SEARCH is keyword"
    if _extension.get().problem:
        return _extension.get().problem
    pause = _pause.get()
    return pause.reason if time.monotonic() < pause.until else ""


def embed(texts: Sequence[str], role: TextRole = TextRole.PASSAGE) -> npt.NDArray[np.float32]:
    """Return the vectors of texts. Raises EmbeddingError, after which the embedder has a pause.

    Also for vectors of another dimension than the embedder's space: they cannot be compared, and are no damage.
    """
    try:
        made, dimension = embed_texts(texts, role), get_embedder().space.dimension
        if made.shape != (len(texts), dimension):
            raise EmbeddingError(f"Vectors have the shape {made.shape} instead of {(len(texts), dimension)}.")
        return made
    except EmbeddingError as error:
        pause = _pause.get()
        pause.reason = f"the embedder is not available ({type(error).__name__})"
        pause.until = time.monotonic() + PAUSE_SECONDS
        logger.warning("notes are searched by words for %.0f s: %s", PAUSE_SECONDS, pause.reason)
        raise


def embed_readable(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """Return the vectors of texts, of zeros for those that the embedder cannot read. Raises EmbeddingError."""
    readable = [place for place, text in enumerate(texts) if can_read(text)]
    made = np.zeros((len(texts), get_embedder().space.dimension), np.float32)
    if readable:
        made[readable] = embed([texts[place] for place in readable])
    return made


def vectors_missing(connection: apsw.Connection) -> int:
    """Return how many texts have no vector of the configured embedder."""
    texts = get_fact(connection, "texts") or 0
    return int(texts - vectors_made(connection))


def vectors_made(connection: apsw.Connection) -> int:
    """Return how many texts have a vector of the configured embedder."""
    if get_fact(connection, "space") != str(get_embedder().space):
        return 0
    return int(get_fact(connection, "vectors") or 0)


def fill_vectors(database: Database, most: int) -> int:
    """Make the vectors of at most so many texts that have none, the newest first. Return how many are made.

    Raises EmbeddingError, IndexDamagedError, UnavailableError.
    """
    space = str(get_embedder().space)
    with database.connection() as connection:
        if not vectors_missing(connection):
            return 0
        if get_fact(connection, "space") != space:
            begin_space(connection, space)
        rows = list(
            connection.execute(
                "SELECT id, heading, text FROM texts WHERE NOT EXISTS (SELECT 1 FROM vectors WHERE text_id = id) "
                "ORDER BY id DESC LIMIT ?",
                (most,),
            )
        )
    if not rows:
        return 0
    made = embed_readable([f"{heading}\n{text}" if heading else text for _, heading, text in rows])
    with database.connection() as connection:
        add_vectors(connection, space, [text_id for text_id, _, _ in rows], made)
    INDEX_VECTORS.inc(len(rows))
    return len(rows)


def begin_space(connection: apsw.Connection, space: str) -> None:
    """Delete the vectors of another embedding space: they cannot be compared with those of this one."""
    with write(connection):
        if get_fact(connection, "space") != space:
            connection.execute("DELETE FROM vectors; DELETE FROM signs")
            set_fact(connection, "vectors", 0)
            set_fact(connection, "space", space)
            set_fact(connection, "space_begun", secrets.token_hex(8))


def add_vectors(connection: apsw.Connection, space: str, texts: Sequence[int], made: Vector) -> None:
    """Add the vectors of those texts that are still there, unless the space is another one since."""
    with write(connection):
        if get_fact(connection, "space") != space:
            return
        rows = zip(texts, quantised(made), signs_of(made), strict=True)
        before = connection.total_changes()
        present = [
            row for row in rows if connection.execute("SELECT EXISTS (SELECT 1 FROM texts WHERE id = ?)", row[:1]).get
        ]
        connection.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", [row[:2] for row in present])
        added = connection.total_changes() - before
        connection.executemany(
            "INSERT OR IGNORE INTO signs (text_id, bits) VALUES (?, ?)", [(row[0], row[2]) for row in present]
        )
        set_fact(connection, "vectors", (get_fact(connection, "vectors") or 0) + added)


def quantised(vectors: Vector) -> list[bytes]:
    """Return vectors as 8-bit numbers, each scaled to its largest component, which changes no cosine."""
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    scaled = vectors / np.where(largest > 0, largest, 1)  # one of zeros stays as it is
    return [row.tobytes() for row in np.rint(scaled * 127).astype(np.int8)]


def signs_of(vectors: Vector) -> list[bytes]:
    """Return the signs of the components of vectors, a bit each."""
    return [row.tobytes() for row in np.packbits(vectors > 0, axis=1, bitorder="little")]


def cosines(connection: apsw.Connection, vector: Vector, texts: Iterable[int]) -> dict[int, float]:
    """Return the cosines of some texts, without those that have no vector, or one of zeros, which has no cosine."""
    rows = connection.execute(
        "SELECT text_id, vec_distance_cosine(vec_int8(vector), vec_int8(?)) FROM vectors "
        "WHERE text_id IN (SELECT value FROM json_each(?))",
        (quantised(vector.reshape(1, -1))[0], json.dumps(list(texts))),
    )
    return {text_id: 1.0 - distance for text_id, distance in rows if distance is not None}
