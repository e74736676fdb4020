"""Which rows stand beside each other, and what they lend to each other (DESIGN D10)."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from apps.retrieval.domain.postings import Bools, Counts, Floats, Slots

if TYPE_CHECKING:
    from apps.retrieval.domain.rows import RowStore

# By what the rows of one session are known; every shard has these columns.
SESSION_KEY = ("household_id", "persona_id", "session_id")
NEIGHBOUR_WEIGHTS = (0.7, 0.4)


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
        self._size = size
        self.lengths = np.zeros(size)

    @classmethod
    def of(cls, shard: "RowStore") -> "Sessions":
        """Return the sessions of a shard's living rows."""
        in_session = shard.codes("session_id") != shard.code("session_id", "")
        slots = np.flatnonzero(shard.alive & in_session)
        columns = [shard.codes(name)[slots] for name in SESSION_KEY]
        last_key_first: list[npt.NDArray[Any]] = [shard.ids[slots], shard.happened[slots], *columns]
        sorting = np.lexsort(last_key_first)
        grouped = np.stack([column[sorting] for column in columns])
        changes = np.any(grouped[:, 1:] != grouped[:, :-1], axis=0)
        keys = np.concatenate(([0], np.cumsum(changes))) if len(slots) else np.zeros(0, dtype=np.int64)
        sessions = cls(slots[sorting], keys, shard.size)
        living = np.flatnonzero(shard.alive)
        sessions.lengths = sessions.spread(living, shard.word_counts[living])
        return sessions

    def spread(self, slots: Slots, counts: Counts | Floats) -> Floats:
        """Give each slot what it has, and its neighbours their share of what it lends. Shape (size,).

        counts: own and lent, of shape (len(slots), 2).
        """
        targets, shares = [slots], [np.asarray(counts[:, 0], dtype=np.float64)]
        position = self._position[slots]
        inside = position >= 0
        position, lent = position[inside], np.asarray(counts[inside, 1], dtype=np.float64)
        for distance, weight in enumerate(NEIGHBOUR_WEIGHTS, start=1):
            for step in (distance, -distance):
                valid = self._is_beside(position, step)
                targets.append(self._order[position[valid] + step])
                shares.append(lent[valid] * weight)
        spread = np.bincount(np.concatenate(targets), weights=np.concatenate(shares), minlength=self._size)
        return np.asarray(spread, dtype=np.float64)

    def have_neighbours(self) -> Bools:
        """Return which slots stand beside another one. Shape (size,)."""
        result = np.zeros(self._size, dtype=np.bool_)
        places = np.arange(len(self._order))
        for step in (1, -1):
            result[self._order[self._is_beside(places, step)]] = True
        return result

    def _is_beside(self, position: Slots, step: int) -> Bools:
        """Return for which places in the order the place `step` further belongs to the same session."""
        neighbour = position + step
        valid = (neighbour >= 0) & (neighbour < len(self._order))
        valid[valid] = self._keys[neighbour[valid]] == self._keys[position[valid]]
        return valid
