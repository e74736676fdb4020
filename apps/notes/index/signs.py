"""The nearest texts to a vector: by the signs of all, which this process keeps in memory, then by their cosines."""

import threading

import apsw
import numpy as np
import numpy.typing as npt

from apps.notes.index.database import get_fact
from apps.notes.index.postings import last_number, numbers
from apps.notes.index.vectors import Vector, cosines, quantised, signs_of, vectors_made

# Up to so many vectors are compared exactly.
EXACT_ROWS = 4_000
# So many candidates by their signs for each result that is wanted.
OVERSAMPLING = 4


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
