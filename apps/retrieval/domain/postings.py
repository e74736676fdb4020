"""The slots of each term: sorted arrays with a small unsorted tail, so that adding stays cheap."""

import numpy as np
import numpy.typing as npt

# Arrays by slot: a position of a row in a RowStore.
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Terms = npt.NDArray[np.uint64]
Slots = npt.NDArray[np.int64]
Counts = npt.NDArray[np.float32]

_TAIL_LIMIT = 4_096
# A tail longer than one in so many of all pairs is sorted in; a longer one makes every search slower.
_TAIL_SHARE = 8


class Postings:
    """Term hash -> slots, and for each how often it has the term and how often it lends it: counts of shape (n, 2)."""

    def __init__(self) -> None:
        self._terms: Terms = np.zeros(0, dtype=np.uint64)
        self._slots: Slots = np.zeros(0, dtype=np.int64)
        self._counts: Counts = np.zeros((0, 2), dtype=np.float32)
        self._tail: list[tuple[Terms, Slots, Counts]] = []
        self._tail_size = 0
        self._is_growing = False

    @property
    def nbytes(self) -> int:
        """Return roughly how much memory the arrays take."""
        return self._terms.nbytes + self._slots.nbytes + self._counts.nbytes + 24 * self._tail_size

    def add(self, terms: Terms, slots: Slots, counts: Counts) -> None:
        """Add pairs of new slots."""
        self._tail.append((terms.astype(np.uint64), slots, counts))
        self._tail_size += len(terms)
        if self._tail_size > max(_TAIL_LIMIT, len(self._terms) // (1 if self._is_growing else _TAIL_SHARE)):
            self._merge()
        elif len(self._tail) > 64:
            self._tail = [concatenate_parts(self._tail)]

    def grow(self) -> None:
        """Sort less often until `settle`: many pairs are about to be added, and none read."""
        self._is_growing = True

    def settle(self) -> None:
        """Sort what is left, after `grow` and the additions that it announced."""
        self._is_growing = False
        if self._tail:
            self._merge()

    def of(self, term: int) -> tuple[Slots, Counts]:
        """Return the slots that have the term, and their counts."""
        wanted = np.uint64(term)
        first = np.searchsorted(self._terms, wanted, side="left")
        last = np.searchsorted(self._terms, wanted, side="right")
        slots, counts = [self._slots[first:last]], [self._counts[first:last]]
        for tail_terms, tail_slots, tail_counts in self._tail:
            hit = tail_terms == wanted
            slots.append(tail_slots[hit])
            counts.append(tail_counts[hit])
        return np.concatenate(slots), np.concatenate(counts)

    def renumber(self, new_slot: Slots) -> None:
        """Move every pair to its new slot; those whose new slot is -1 leave."""
        self._merge()
        moved = new_slot[self._slots]
        keep = moved >= 0
        self._terms, self._slots, self._counts = self._terms[keep], moved[keep], self._counts[keep]

    def _merge(self) -> None:
        """Sort the tail in."""
        terms, slots, counts = concatenate_parts([(self._terms, self._slots, self._counts), *self._tail])
        order = np.argsort(terms, kind="stable")
        self._terms, self._slots, self._counts = terms[order], slots[order], counts[order]
        self._tail, self._tail_size = [], 0


def concatenate_parts(parts: list[tuple[Terms, Slots, Counts]]) -> tuple[Terms, Slots, Counts]:
    """Concatenate postings."""
    terms, slots, counts = zip(*parts, strict=True)
    return np.concatenate(terms), np.concatenate(slots), np.concatenate(counts)
