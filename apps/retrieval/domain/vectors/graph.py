"""A graph of near vectors (HNSW), so that a search in a large store need not read every row.

hnswlib does the work. This module adds the capacity, the removed rows, how many to ask for, and the
answer where hnswlib raises because it found fewer than asked for.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import hnswlib
import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int64]
Vectors = npt.NDArray[np.float32]

# Neighbours of a node, and the breadth of the search while building: measured in docs/explain/vector-index.md.
M = 16
EF_CONSTRUCTION = 200
# The least breadth of a search, and how much broader than what is asked for it must be, so that hardly any of that is
# missed: measured in docs/explain/vector-index.md.
MIN_BREADTH = 120
BREADTH = 3
_SEED = 100
_BUILD_CHUNK = 2_000
_ROOM = 1.2

Progress = Callable[[int, int], None]


class VectorGraph:
    """Rows by id with unit vectors of one dimension. Not thread-safe: its owner holds a lock while it changes it."""

    def __init__(self, dimension: int, capacity: int) -> None:
        self.dimension = dimension
        self._index = hnswlib.Index(space="ip", dim=dimension)
        self._index.init_index(max_elements=capacity, ef_construction=EF_CONSTRUCTION, M=M, random_seed=_SEED)
        self._removed: set[int] = set()
        self._leaving: set[int] | None = None

    @classmethod
    def of(cls, ids: Ids, vectors: Vectors, *, threads: int, progress: Progress | None = None) -> "VectorGraph":
        """Return a graph of these rows, with room to grow. progress: called with rows done and rows in all."""
        graph = cls(vectors.shape[1], capacity_for(len(ids)))
        for first in range(0, len(ids), _BUILD_CHUNK):
            chunk = slice(first, first + _BUILD_CHUNK)
            graph.add(ids[chunk], vectors[chunk], threads=threads)
            if progress is not None:
                progress(min(first + _BUILD_CHUNK, len(ids)), len(ids))
        return graph

    def __len__(self) -> int:
        """Return how many rows can be found."""
        return int(self._index.get_current_count()) - len(self._removed)

    @property
    def removed(self) -> int:
        """Return how many rows were removed, and still take memory and time."""
        return len(self._removed)

    @property
    def room(self) -> int:
        """Return how many rows can be added."""
        return int(self._index.get_max_elements()) - int(self._index.get_current_count())

    @property
    def nbytes(self) -> int:
        """Return roughly how much memory it takes: vectors, and links on the ground level."""
        return int(self._index.get_max_elements()) * (4 * self.dimension + 8 * M + 24)

    def add(self, ids: Ids, vectors: Vectors, *, threads: int = 1) -> None:
        """Add rows, or replace the vectors of known ones. Raises RuntimeError without room for them."""
        if len(ids) == 0:  # hnswlib stumbles over it
            return
        known = [int(row) for row in ids if int(row) in self._removed]
        for row in known:
            self._index.unmark_deleted(row)
            self._removed.discard(row)
        self._index.add_items(vectors, ids, num_threads=threads)

    def remove(self, ids: Iterable[int]) -> None:
        """Hide rows from searches; while removals are held, later."""
        for row in ids:
            if self._leaving is not None:
                self._leaving.add(row)
            elif row not in self._removed:
                self._index.mark_deleted(row)
                self._removed.add(row)

    def search(self, vector: Vectors, count: int) -> Ids:
        """Return the ids of the `count` nearest rows, the nearest first; fewer where the graph cannot reach as many."""
        wanted = min(count, len(self))
        self._index.set_ef(breadth_for(wanted))
        while wanted > 0:
            try:
                labels, _ = self._index.knn_query(vector, k=wanted, num_threads=1)
            except RuntimeError:  # It reached fewer: the others are cut off from where the search began.
                wanted //= 2
                continue
            return np.asarray(labels[0], dtype=np.int64)
        return np.zeros(0, dtype=np.int64)

    def hold_removals(self) -> None:
        """Keep rows that leave until `release_removals`, so that file and list of removed rows agree."""
        self._leaving = set()

    def release_removals(self) -> None:
        """Remove the rows whose removal was held."""
        leaving, self._leaving = self._leaving or set(), None
        self.remove(leaving)

    def save(self, path: Path) -> None:
        """Write the graph to a file, removed rows included. Searches may go on; see `hold_removals`."""
        self._index.save_index(str(path))

    @classmethod
    def load(cls, path: Path, dimension: int, removed: Sequence[int]) -> "VectorGraph":
        """Return what `save` wrote. The file must be known to be whole: reading a damaged one can end the process."""
        graph = cls.__new__(cls)
        graph.dimension, graph._removed, graph._leaving = dimension, set(removed), None
        graph._index = hnswlib.Index(space="ip", dim=dimension)
        graph._index.load_index(str(path))
        count = int(graph._index.get_current_count())
        graph._index.resize_index(max(capacity_for(count), count))
        return graph

    def removed_ids(self) -> list[int]:
        """Return the removed rows, in order, for `load`."""
        return sorted(self._removed)


def breadth_for(asked: int) -> int:
    """Return how many rows a search keeps in sight (`ef`) to find the nearest `asked` of them."""
    return max(MIN_BREADTH, BREADTH * asked)


def capacity_for(count: int) -> int:
    """Return the capacity of a graph for so many rows, with room to grow."""
    return max(1_000, int(count * _ROOM))
