"""Cosines of unit vectors with one other, computed by the thread that asks.

A product of matrix and vector would be shared out among all processors: it is limited by memory, so that gains little
on a quiet machine, and on a busy one each product waits for a thread that does not get its turn
(docs/explain/vector-index.md).
"""

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]
# Rows picked out at a time: they stay in the processor's cache between being copied and being multiplied.
_CHUNK = 512


def cosines(vectors: Vectors, vector: Vectors) -> npt.NDArray[np.float32]:
    """Return those of all rows. vectors: of shape (rows, dimension); vector: of shape (dimension,)."""
    return np.asarray(np.vecdot(vectors, vector))


def cosines_of_each(vectors: Vectors, others: Vectors) -> npt.NDArray[np.float32]:
    """Return those of all rows with each of several vectors. Shape (len(others), len(vectors)).

    Several at once are a product that all processors are worth asking for: the rows are read once for all of them.
    """
    if len(others) == 1:
        return cosines(vectors, others[0])[np.newaxis]
    return np.asarray(others @ vectors.T)


def cosines_at(vectors: Vectors, rows: npt.NDArray[np.int64], vector: Vectors) -> npt.NDArray[np.float32]:
    """Return those of some rows, by their places. Shape (len(rows),)."""
    result = np.empty(len(rows), dtype=np.float32)
    picked = np.empty((min(_CHUNK, len(rows)), vectors.shape[1]), dtype=np.float32)
    for first in range(0, len(rows), _CHUNK):
        some = rows[first : first + _CHUNK]
        # "clip" writes straight into `out`; the places are known to be right.
        chunk = np.take(vectors, some, axis=0, out=picked[: len(some)], mode="clip")
        np.vecdot(chunk, vector, out=result[first : first + len(some)])
    return result
