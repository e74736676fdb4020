"""The rows of one user in arrays, for searching: a cache that grows by what changed (DESIGN D2, D9).

A row is whatever has a text, a moment and a place in a scope: a memory or an event. It lives in a slot. Changing it
leaves its old slot dead and takes a new one; when many are dead the arrays are packed. Nothing here knows of a
database.
"""

from collections.abc import Iterable, Sequence
from itertools import count
from math import inf
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from apps.retrieval.domain.lexemes import unpack
from apps.retrieval.domain.postings import Bools, Floats, Postings, Slots
from apps.retrieval.domain.sessions import SESSION_KEY, Sessions
from apps.retrieval.domain.vectors.graph import VectorGraph
from apps.retrieval.domain.vectors.graph_file import StoredRows
from apps.retrieval.domain.vectors.scale import PLAIN_SCALE, Scale
from apps.retrieval.domain.word_lists import WordLists

_PACK_AT_DEAD = 1_000
_FIRST_CAPACITY = 4
# One in so many slots more than are asked for, so that what is saved next needs no copy of everything.
_SPARE = 16
_COMPARED_AT_ONCE = 2_000
_generations = count()


class IndexRow(NamedTuple):
    """A changed row.

    coded: a value for each of the store's columns, in their order. Times in seconds since the epoch; vector: float32
    bytes in the machine's order, or empty. question_share and fullness: see `domain.substance`. further_sessions: in
    which it is found, and has no place. expires: from when on nothing finds it. text: a number that rows with the same
    text have in common, as `text_code` makes it; 0 where none is compared.
    """

    id: int
    active: bool
    coded: tuple[str, ...]
    happened: float
    anchor: float
    base_confidence: float
    question_share: float
    fullness: float
    lexemes: bytes
    vector: bytes
    further_sessions: tuple[str, ...] = ()
    expires: float = inf
    text: int = 0


class GraphSource(NamedTuple):
    """The rows of a graph to be made: slots and ids of the rows, the array in which their vectors lie, by slot.

    generation: changes when the store is packed, which moves every row to another slot; unique among stores.
    """

    slots: Slots
    ids: npt.NDArray[np.int64]
    vectors: npt.NDArray[np.float32]
    generation: int


class RowStore:
    """One user's active rows in one embedding space of `dimension`.

    columns: what rows can be filtered by, those of SESSION_KEY among them. version: of the user's rows that it
    holds, -1 for none. scale: what cosines of the space mean. graph: finds near rows among those that it covers; the
    others are compared one by one, so that what was saved a moment ago is found. Not thread-safe: its owner holds a
    lock while it changes or reads it.
    """

    def __init__(self, dimension: int, columns: Sequence[str] = SESSION_KEY, scale: Scale = PLAIN_SCALE) -> None:
        self.dimension = dimension
        self.scale = scale
        self.columns = tuple(columns)
        self.version = -1
        self.postings = Postings()
        self.word_lists = WordLists()
        self.graph: VectorGraph | None = None
        self.use_graph = True
        self._generation = next(_generations)
        self._slot_of: dict[int, int] = {}
        self._further_sessions: dict[int, tuple[str, ...]] = {}
        self._codes_of: list[dict[str, int]] = [{} for _ in self.columns]
        self._size = 0
        self._allocate(_FIRST_CAPACITY)
        # A moment before which no row of those it has had expires.
        self.next_expiry = inf
        self._sessions: Sessions | None = None
        self._outside: Slots | None = None

    def _allocate(self, capacity: int) -> None:
        """Create the arrays."""
        self._ids = np.zeros(capacity, dtype=np.int64)
        self._alive = np.zeros(capacity, dtype=np.bool_)
        self._covered = np.zeros(capacity, dtype=np.bool_)
        # Each column lies in one piece: a filter reads one of them, for all rows.
        self._codes = np.zeros((capacity, len(self.columns)), dtype=np.int32, order="F")
        self._happened = np.zeros(capacity)
        self._expires = np.zeros(capacity)
        self._texts = np.zeros(capacity, dtype=np.int64)
        self._anchor = np.zeros(capacity)
        self._base = np.zeros(capacity)
        self._question_share = np.zeros(capacity)
        self._fullness = np.zeros(capacity)
        self._lengths = np.zeros((capacity, 2))
        self._vectors = np.zeros((capacity, self.dimension), dtype=np.float32)

    _ARRAYS = (
        "_ids", "_alive", "_covered", "_codes", "_happened", "_expires", "_texts", "_anchor", "_base",
        "_question_share", "_fullness", "_lengths", "_vectors",
    )  # fmt: skip

    def __len__(self) -> int:
        """Return how many rows can be found."""
        return len(self._slot_of)

    @property
    def size(self) -> int:
        """Return how many slots are in use, dead ones included: the length of every array below."""
        return self._size

    @property
    def ids(self) -> npt.NDArray[np.int64]:
        return self._ids[: self._size]

    @property
    def alive(self) -> Bools:
        """Return which slots hold a row; to be read only."""
        alive = self._alive[: self._size]
        alive.flags.writeable = False
        return alive

    @property
    def happened(self) -> Floats:
        return self._happened[: self._size]

    @property
    def expires(self) -> Floats:
        return self._expires[: self._size]

    @property
    def texts(self) -> npt.NDArray[np.int64]:
        return self._texts[: self._size]

    @property
    def anchor(self) -> Floats:
        return self._anchor[: self._size]

    @property
    def base_confidence(self) -> Floats:
        return self._base[: self._size]

    @property
    def question_share(self) -> Floats:
        return self._question_share[: self._size]

    @property
    def fullness(self) -> Floats:
        return self._fullness[: self._size]

    @property
    def vectors(self) -> npt.NDArray[np.float32]:
        """Return the vectors, of shape (size, dimension); a row of zeros where there is none."""
        return self._vectors[: self._size]

    @property
    def nbytes(self) -> int:
        """Return roughly how much memory the store takes."""
        arrays = sum(getattr(self, name).nbytes for name in self._ARRAYS)
        graph = 0 if self.graph is None else self.graph.nbytes
        return int(arrays + graph + self.postings.nbytes + self.word_lists.nbytes + 120 * len(self._slot_of))

    @property
    def word_counts(self) -> npt.NDArray[np.float64]:
        """Return how many words each slot has, and how many it lends to its neighbours. Shape (size, 2)."""
        return self._lengths[: self._size]

    def codes(self, name: str) -> npt.NDArray[np.int32]:
        """Return the coded values of one column, by slot."""
        return self._codes[: self._size, self.columns.index(name)]

    def code(self, name: str, value: str) -> int:
        """Return the code of a value in a column; -1 when no row ever had it."""
        return self._codes_of[self.columns.index(name)].get(value, -1)

    def values(self, name: str) -> list[str]:
        """Return what rows had in a column, each in the place of its code."""
        return list(self._codes_of[self.columns.index(name)])

    def having(self, name: str, value: str) -> Bools:
        """Return which slots have a value in a column; in that of the session also those said in it as well."""
        has = np.asarray(self.codes(name) == self.code(name, value))
        if name == "session_id" and self._further_sessions:
            said = [row for row, sessions in self._further_sessions.items() if value in sessions]
            has[self.slots_of(np.array(said, dtype=np.int64))] = True
        return has

    def apply(self, rows: Iterable[IndexRow]) -> None:
        """Apply changed rows; those that are not active any more are removed."""
        rows = list({row.id: row for row in rows}.values())
        for row in rows:
            self._further_sessions.pop(row.id, None)
            if row.active and row.further_sessions:
                self._further_sessions[row.id] = row.further_sessions
            old = self._slot_of.pop(row.id, None)
            if old is not None:
                self._alive[old] = False
                if self._covered[old]:
                    self._covered[old] = False
                    assert self.graph is not None
                    self.graph.remove([row.id])
        self._append([row for row in rows if row.active])
        self._sessions = self._outside = None
        dead = self._size - len(self._slot_of)
        if dead > _PACK_AT_DEAD and dead > len(self._slot_of):
            self._pack()

    def _append(self, rows: Sequence[IndexRow]) -> None:
        """Put active rows into new slots."""
        if not rows:
            return
        wanted, capacity = self._size + len(rows), len(self._ids)
        if wanted > capacity:
            self._make_room(max(wanted, capacity + capacity // 2))
        slots = np.arange(self._size, self._size + len(rows))
        self._ids[slots] = [row.id for row in rows]
        self._alive[slots] = True
        self._happened[slots] = [row.happened for row in rows]
        self._expires[slots] = [row.expires for row in rows]
        self._texts[slots] = [row.text for row in rows]
        self.next_expiry = min(self.next_expiry, *(row.expires for row in rows))
        self._anchor[slots] = [row.anchor for row in rows]
        self._base[slots] = [row.base_confidence for row in rows]
        self._question_share[slots] = [row.question_share for row in rows]
        self._fullness[slots] = [row.fullness for row in rows]
        for column, known in enumerate(self._codes_of):
            self._codes[slots, column] = [known.setdefault(row.coded[column], len(known)) for row in rows]
        blank = bytes(4 * self.dimension)  # where there is none
        joined = b"".join(row.vector if len(row.vector) == len(blank) else blank for row in rows)
        self._vectors[slots] = np.frombuffer(joined, dtype=np.float32).reshape(len(rows), self.dimension)
        self._slot_of.update({row.id: int(slot) for row, slot in zip(rows, slots, strict=True)})
        records, sizes = unpack([row.lexemes for row in rows])
        owners = np.repeat(slots, sizes)
        counts = np.stack((records["own"], records["lent"]), axis=1)
        for column in (0, 1):
            self._lengths[slots, column] = np.bincount(owners - slots[0], counts[:, column], minlength=len(rows))
        self.postings.add(records["term"], owners, counts)
        is_lent = records["lent"] > 0
        self.word_lists.add(records["term"][is_lent], (owners - slots[0])[is_lent], len(rows))
        self._size += len(rows)

    def begin_loading(self, rows: int) -> None:
        """Allocate for so many rows: growing step by step would copy them, and leave a third of the memory unused."""
        self._make_room(rows + rows // _SPARE)
        self.postings.grow()

    def end_loading(self) -> None:
        """Sort the postings; from now on there may be searches."""
        self.postings.settle()

    def _make_room(self, capacity: int) -> None:
        """Grow the arrays to a capacity."""
        if capacity <= len(self._ids):
            return
        old = {name: getattr(self, name) for name in self._ARRAYS}
        self._allocate(capacity)
        for name, array in old.items():
            getattr(self, name)[: self._size] = array[: self._size]

    def _pack(self) -> None:
        """Remove dead slots."""
        keep = np.flatnonzero(self.alive)
        new_slot = np.full(self._size, -1, dtype=np.int64)
        new_slot[keep] = np.arange(len(keep))
        for name in self._ARRAYS:
            setattr(self, name, getattr(self, name)[: self._size][keep])
        self._codes = np.asfortranarray(self._codes)
        self.postings.renumber(new_slot)
        self.word_lists.keep(keep)
        self._slot_of = {int(row): slot for slot, row in enumerate(self._ids)}
        self._size = len(keep)
        self._generation = next(_generations)

    def graph_source(self) -> "GraphSource":
        """Return the rows for a graph, which does not change with the store."""
        slots = np.flatnonzero(self.alive & self.vectors.any(axis=1))
        return GraphSource(slots, self._ids[slots], self._vectors, self._generation)

    def attach_known(self, graph: VectorGraph, rows: StoredRows) -> None:
        """Search by a stored graph: its rows count where their vectors are those of the store."""
        there = np.flatnonzero(~rows.removed)
        self.attach(graph, GraphSource(there, rows.ids[there], rows.vectors, generation=-1))

    def attach(self, graph: VectorGraph, source: "GraphSource") -> None:
        """Search by a graph of `source`. Rows that changed since then leave it, and are compared one by one."""
        if self._size == 0:  # all were removed since, and their slots with them
            return
        slots = source.slots if source.generation == self._generation else self.slots_of(source.ids)
        unchanged = (slots >= 0) & (self._ids[slots] == source.ids) & self._alive[slots]
        if source.generation != self._generation:
            # In parts: copies of all vectors would take twice the memory.
            for first in range(0, len(slots), _COMPARED_AT_ONCE):
                part = slice(first, first + _COMPARED_AT_ONCE)
                same = self._vectors[slots[part]] == source.vectors[source.slots[part]]
                unchanged[part] &= same.all(axis=1)
        self._covered[:] = False
        self._covered[slots[unchanged]] = True
        self._outside = None
        graph.remove(source.ids[~unchanged].tolist())
        self.graph = graph

    def detach(self) -> None:
        """Search without a graph."""
        self.graph = self._outside = None
        self._covered[:] = False

    def cover(self, slots: Slots) -> None:
        """Put living slots that the graph does not know into it. Raises RuntimeError when it has no room for them."""
        assert self.graph is not None
        self.graph.add(self._ids[slots], self._vectors[slots])
        self._covered[slots] = True
        self._outside = None

    def outside_graph(self) -> Slots:
        """Return the living slots that the graph does not know."""
        if self._outside is None:
            self._outside = np.flatnonzero(self.alive & ~self._covered[: self._size])
        return self._outside

    def slots_in_graph(self, ids: npt.NDArray[np.int64]) -> Slots:
        """Return the slots of those of the rows that the graph rightly knows."""
        slots = self.slots_of(ids)
        slots = slots[slots >= 0]
        return slots[self._covered[slots]]

    def slots_of(self, ids: npt.NDArray[np.int64]) -> Slots:
        """Return the slots of rows by id; -1 for one that is not there."""
        return np.fromiter((self._slot_of.get(int(row), -1) for row in ids), dtype=np.int64, count=len(ids))

    @property
    def sessions(self) -> Sessions:
        """Return which rows are beside each other in a session; computed again after a change."""
        if self._sessions is None:
            self._sessions = Sessions.of(self)
        return self._sessions

    def term_weights(self, term: int) -> Floats:
        """Return how often the keyword document of each slot has the term, lent words weighted down. Shape (size,)."""
        slots, counts = self.postings.of(term)
        living = self.alive[slots]
        return self.sessions.spread(slots[living], counts[living])

    def document_lengths(self) -> Floats:
        """Return the length of each slot's keyword document, neighbours included. Shape (size,)."""
        return self.sessions.lengths
