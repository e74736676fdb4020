"""The indexes that this process works with, and how each is kept up to its files."""

import contextlib
import threading
import time
from collections import OrderedDict
from collections.abc import Collection, Iterator
from pathlib import Path

import apsw
import numpy as np
import numpy.typing as npt

from apps.core.domain.errors import UnavailableError
from apps.core.per_process import PerProcess
from apps.core.steps import Step, no_step
from apps.notes.index.database import Database, IndexDamagedError, get_fact, index_lock, remove
from apps.notes.index.disk import IndexPlace, list_stamps
from apps.notes.index.events import folder_events
from apps.notes.index.postings import Postings, last_number, numbers
from apps.notes.index.refresh import Progress, look, take_in
from apps.notes.index.vectors import Vector, cosines, prepare_vectors, quantised, signs_of, vectors_made

# Up to so many vectors are compared exactly.
EXACT_ROWS = 4_000
# So many candidates by their signs for each result that is wanted.
OVERSAMPLING = 4
# A process keeps the connections of so many users.
MAX_INDEXES = 64
# Of so many users it keeps in memory what searches have read.
MAX_IN_MEMORY = 8
# How often a damaged index is made again, and a file that changes during a search taken in.
TRIES = 4


class Signs:
    """The signs of the vectors of one index, as this process has read them. Safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._empty()

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._empty()

    def nearest(self, connection: apsw.Connection, vector: Vector, count: int) -> dict[int, float]:
        """Return the cosines of the nearest texts by their ids: exact to about 0.002."""
        query = vector.reshape(1, -1)
        if vectors_made(connection) <= EXACT_ROWS:
            rows = connection.execute(
                "SELECT text_id, vec_distance_cosine(vec_int8(vector), vec_int8(?)) AS distance FROM vectors "
                "ORDER BY distance NULLS LAST LIMIT ?",
                (quantised(query)[0], count),
            )
            return {text_id: 1.0 - distance for text_id, distance in rows if distance is not None}
        with self._lock:
            self._follow(connection)
            candidates = self._candidates(signs_of(query)[0], count * OVERSAMPLING)
        found = cosines(connection, vector, candidates)
        return dict(sorted(found.items(), key=lambda item: -item[1])[:count])

    def _empty(self) -> None:
        self._state: tuple[object, object] = (None, None)
        self._last = self._removed = 0
        self._texts: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        # A column for each text, of 64 signs in a row.
        self._bits: npt.NDArray[np.uint64] = np.zeros((0, 0), np.uint64)

    def _follow(self, connection: apsw.Connection) -> None:
        """Take in what has changed since the last question: vectors are added or removed, but never changed."""
        state = (get_fact(connection, "made"), get_fact(connection, "space_begun"))
        if state != self._state:
            self._empty()
            self._state = state
        last = last_number(connection, "signs")
        if last > self._last:
            rows = list(connection.execute("SELECT text_id, bits FROM signs WHERE id > ? ORDER BY id", (self._last,)))
            if rows:
                bits = columns([row[1] for row in rows])
                self._bits = np.concatenate((self._bits, bits), axis=1) if len(self._texts) else bits
                self._texts = np.concatenate((self._texts, numbers(row[:1] for row in rows)))
            self._last = last
        removed = last_number(connection, "removed")
        if removed > self._removed:
            rows_gone = connection.execute("SELECT text_id FROM removed WHERE id > ?", (self._removed,))
            is_kept = ~np.isin(self._texts, numbers(rows_gone))
            self._texts, self._bits, self._removed = self._texts[is_kept], self._bits[:, is_kept], removed

    def _candidates(self, query: bytes, count: int) -> list[int]:
        """Return the texts whose signs differ least."""
        distances = np.zeros(len(self._texts), np.uint16)
        for bits, asked in zip(self._bits, columns([query])[:, 0], strict=True):
            distances += np.bitwise_count(bits ^ asked)
        if len(distances) > count:
            return [int(text) for text in self._texts[np.argpartition(distances, count)[:count]]]
        return [int(text) for text in self._texts]


def columns(signs: list[bytes]) -> npt.NDArray[np.uint64]:
    """Return signs of the same number as an array with a column for each, 64 in a row, filled up with zeros."""
    rows = np.frombuffer(b"".join(signs), np.uint8).reshape(len(signs), -1)
    filled = np.pad(rows, ((0, 0), (0, -rows.shape[1] % 8)))
    return np.ascontiguousarray(filled.view(np.uint64).T)


class NoteIndex:
    """The index of one user, in this process."""

    def __init__(self, place: IndexPlace) -> None:
        self.place = place
        self.database = Database(place, prepare_vectors)
        # What searches have read of it.
        self.postings, self.signs = Postings(), Signs()
        # A search waits for the refresh of another thread: what that one takes in must be in its answer.
        self._lock = threading.Lock()
        # Which database was compared with every file, so that changes since are all that is to be taken in.
        self._looked = ""

    @contextlib.contextmanager
    def current(self) -> Iterator[apsw.Connection | None]:
        """Yield a connection to the index as the files are now; None for a user without notes.

        Raises IndexDamagedError, UnavailableError.
        """
        if not self.refresh():
            yield None
            return
        with self.database.connection() as connection:
            if get_fact(connection, "made") != self._looked:
                raise IndexDamagedError
            yield connection

    def refresh(self, *, everything: bool = False, step: Step = no_step, progress: Progress | None = None) -> bool:
        """Take in what has changed. Return False for a user without notes, for whom no index is made.

        everything: compare all files, also where the kernel has reported no change. Raises UnavailableError.
        """
        for _ in range(TRIES):
            with contextlib.suppress(IndexDamagedError), self._lock:
                return self._refresh(everything, step, progress)
        raise UnavailableError("The index of the notes keeps getting damaged.", retry_after=60)

    def take_in(self, paths: Collection[str]) -> None:
        """Take in some files, whatever is known of them. Raises IndexDamagedError, UnavailableError."""
        with self._lock, self.database.connection() as connection:
            take_in(connection, self.place.folder, paths)

    def delete(self) -> None:
        """Delete the index. A later use makes it again, if there are files."""
        with self._lock:
            self.close()
            self._looked = ""
            # A process that has it open keeps what it has open, and opens a new one at its next use.
            with index_lock(self.place, exclusive=True):
                remove(self.place)

    def close(self) -> None:
        """Close the connections that no thread uses, and forget what was read."""
        self.database.close()
        self.forget_read()

    def forget_read(self) -> None:
        """Free the memory of what searches have read."""
        self.postings.clear()
        self.signs.clear()

    def _refresh(self, everything: bool, step: Step, progress: Progress | None) -> bool:
        folder = self.place.folder
        try:
            paths = folder_events().take(folder)
            if not self.place.database.exists() and not list_stamps(folder):
                return False
            with self.database.connection() as connection:
                made = get_fact(connection, "made")
                if paths is None or everything or made != self._looked:
                    self._looked = "" if made != self._looked else made
                    look(connection, folder, time.time(), step, progress)
                    self._looked = made
                elif paths:
                    take_in(connection, folder, paths, step)
            return True
        except BaseException:
            # What was taken from the kernel is not in the index yet.
            folder_events().forget(folder)
            raise


class Indexes:
    """The indexes that were used last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._indexes: OrderedDict[Path, NoteIndex] = OrderedDict()

    def get(self, place: IndexPlace) -> NoteIndex:
        """Return the index of a place, the same object for all threads."""
        with self._lock:
            index = self._indexes.get(place.database)
            if index is None or index.place != place:
                index = self._indexes[place.database] = NoteIndex(place)
            self._indexes.move_to_end(place.database)
            while len(self._indexes) > MAX_INDEXES:
                self._indexes.popitem(last=False)[1].close()
            for other in list(self._indexes.values())[:-MAX_IN_MEMORY]:
                other.forget_read()
            return index

    def close(self) -> None:
        """Close all connections, as those of people who were forgotten."""
        with self._lock:
            for index in self._indexes.values():
                index.close()
            self._indexes.clear()


_indexes = PerProcess(Indexes)


def index_of(place: IndexPlace) -> NoteIndex:
    """Return the index of a place."""
    return _indexes.get().get(place)


def indexes_close() -> None:
    """Close the connections of this process to indexes; later uses open new ones."""
    _indexes.get().close()
