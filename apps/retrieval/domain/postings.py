"""The slots of each term: sorted arrays with a small unsorted tail, so that adding stays cheap."""

import numpy as np
import numpy.typing as npt

# Arrays by slot: a position of a row in a RowStore.
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Terms = npt.NDArray[np.uint64]
Slots = npt.NDArray[np.int64]
Counts = npt.NDArray[np.float32]
# As they are kept.
SmallSlots = npt.NDArray[np.int32]
SmallCounts = npt.NDArray[np.uint16]
Pairs = tuple[Terms, Slots | SmallSlots, SmallCounts]

_TAIL_LIMIT = 4_096
# A tail longer than one in so many of all pairs is sorted in; a longer one makes every search slower.
_TAIL_SHARE = 8


class Postings:
    """Term hash -> slots, and for each how often it has the term and how often it lends it: counts of shape (n, 2).

    Each term is kept once, with the place where its pairs begin, and slots in four bytes: of a hundred thousand rows
    the pairs would else take as much memory as their vectors.
    """

    def __init__(self) -> None:
        self._terms: Terms = np.zeros(0, dtype=np.uint64)
        self._starts: Slots = np.zeros(1, dtype=np.int64)
        self._slots: SmallSlots = np.zeros(0, dtype=np.int32)
        self._counts: SmallCounts = np.zeros((0, 2), dtype=np.uint16)
        self._tail: list[Pairs] = []
        self._tail_size = 0
        self._is_growing = False

    @property
    def nbytes(self) -> int:
        """Return roughly how much memory the arrays take."""
        arrays = (self._terms, self._starts, self._slots, self._counts)
        return sum(array.nbytes for array in arrays) + 20 * self._tail_size

    def add(self, terms: Terms, slots: Slots, counts: SmallCounts) -> None:
        """Add pairs of new slots."""
        self._tail.append((terms.astype(np.uint64), slots, counts))
        self._tail_size += len(terms)
        if self._tail_size > max(_TAIL_LIMIT, len(self._slots) // (1 if self._is_growing else _TAIL_SHARE)):
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
        place = int(np.searchsorted(self._terms, wanted))
        is_known = place < len(self._terms) and self._terms[place] == wanted
        found = slice(self._starts[place], self._starts[place + 1]) if is_known else slice(0)
        slots: list[Slots | SmallSlots] = [self._slots[found]]
        counts = [self._counts[found]]
        for tail_terms, tail_slots, tail_counts in self._tail:
            hit = tail_terms == wanted
            slots.append(tail_slots[hit])
            counts.append(tail_counts[hit])
        return np.concatenate(slots, dtype=np.int64), np.concatenate(counts, dtype=np.float32)

    def renumber(self, new_slot: Slots) -> None:
        """Move every pair to its new slot; those whose new slot is -1 leave."""
        self._merge()
        moved = new_slot[self._slots]
        keep = moved >= 0
        self._keep_sorted(self._each_term()[keep], moved[keep], self._counts[keep])

    def _merge(self) -> None:
        """Sort the tail in."""
        terms, slots, counts = concatenate_parts([(self._each_term(), self._slots, self._counts), *self._tail])
        order = np.argsort(terms, kind="stable")
        self._keep_sorted(terms[order], slots[order], counts[order])
        self._tail, self._tail_size = [], 0

    def _each_term(self) -> Terms:
        """Return the term of each pair but those of the tail."""
        return np.repeat(self._terms, np.diff(self._starts))

    def _keep_sorted(self, terms: Terms, slots: Slots | SmallSlots, counts: SmallCounts) -> None:
        """Replace all pairs but those of the tail. terms: of each pair, ascending."""
        self._terms, firsts = np.unique(terms, return_index=True)
        self._starts = np.append(firsts, len(terms)).astype(np.int64)
        self._slots, self._counts = slots.astype(np.int32), counts


def concatenate_parts(parts: list[Pairs]) -> Pairs:
    """Concatenate postings."""
    terms, slots, counts = zip(*parts, strict=True)
    return np.concatenate(terms), np.concatenate(slots, dtype=np.int64), np.concatenate(counts)
