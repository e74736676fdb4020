"""Neighbours of rows in their sessions, and the words that they lend each other (DESIGN D10)."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from apps.retrieval.domain.postings import Bools, Counts, Floats, Slots

if TYPE_CHECKING:
    from apps.retrieval.domain.rows import RowStore

# The columns that identify a session; every store has them.
SESSION_KEY = ("household_id", "persona_id", "session_id")
NEIGHBOUR_WEIGHTS = (0.7, 0.4)
# Lengths are whole multiples of a millionth or so, so that their sum is the same in whatever order rows lie.
_STEPS = 2.0**20


class Sessions:
    """The order of rows within their sessions: by the time when they happened, then as they arrived.

    Rows of one session, in the same household and persona, are each other's context: the words of a neighbour
    at distance 1 and 2 count with NEIGHBOUR_WEIGHTS in a row's keyword document (DESIGN D10).
    """

    def __init__(self, order: Slots, keys: Slots, size: int) -> None:
        self._order = order
        self._position = np.full(size, -1, dtype=np.int64)
        self._position[order] = np.arange(len(order))
        self._keys = keys
        self._counts = np.bincount(keys)
        self._size = size
        self.lengths = np.zeros(size)

    @classmethod
    def of(cls, store: "RowStore") -> "Sessions":
        """Return the sessions of a store's living rows."""
        in_session = store.codes("session_id") != store.code("session_id", "")
        slots = np.flatnonzero(store.alive & in_session)
        columns = [store.codes(name)[slots] for name in SESSION_KEY]
        last_key_first: list[npt.NDArray[Any]] = [store.ids[slots], store.happened[slots], *columns]
        sorting = np.lexsort(last_key_first)
        grouped = np.stack([column[sorting] for column in columns])
        changes = np.any(grouped[:, 1:] != grouped[:, :-1], axis=0)
        keys = np.concatenate(([0], np.cumsum(changes))) if len(slots) else np.zeros(0, dtype=np.int64)
        sessions = cls(slots[sorting], keys, store.size)
        living = np.flatnonzero(store.alive)
        lengths = sessions.spread(living, store.word_counts[living])
        sessions.lengths = np.asarray(np.rint(lengths * _STEPS) / _STEPS)
        return sessions

    def spread(self, slots: Slots, counts: Counts | Floats) -> Floats:
        """Sum by slot its own counts and its share of what its neighbours lend. Shape (size,).

        counts: own and lent, of shape (len(slots), 2).
        """
        targets, shares = [slots], [np.asarray(counts[:, 0], dtype=np.float64)]
        position = self._position[slots]
        inside = position >= 0
        position, lent = position[inside], np.asarray(counts[inside, 1], dtype=np.float64)
        for distance, weight in enumerate(NEIGHBOUR_WEIGHTS, start=1):
            for step in (distance, -distance):
                valid = self.has_neighbour(position, step)
                targets.append(self._order[position[valid] + step])
                shares.append(lent[valid] * weight)
        spread = np.bincount(np.concatenate(targets), weights=np.concatenate(shares), minlength=self._size)
        return np.asarray(spread, dtype=np.float64)

    def sizes(self, slots: Slots) -> npt.NDArray[np.int64]:
        """Return how many rows the sessions of some slots have; 1 for a row without a session."""
        position = self._position[slots]
        result = np.ones(len(slots), dtype=np.int64)
        result[position >= 0] = self._counts[self._keys[position[position >= 0]]]
        return result

    def have_neighbours(self) -> Bools:
        """Return which slots have a neighbour. Shape (size,)."""
        result = np.zeros(self._size, dtype=np.bool_)
        places = np.arange(len(self._order))
        for step in (1, -1):
            result[self._order[self.has_neighbour(places, step)]] = True
        return result

    def has_neighbour(self, position: Slots, step: int) -> Bools:
        """Return for which places in the order the place `step` further belongs to the same session."""
        neighbour = position + step
        valid = (neighbour >= 0) & (neighbour < len(self._order))
        valid[valid] = self._keys[neighbour[valid]] == self._keys[position[valid]]
        return valid
