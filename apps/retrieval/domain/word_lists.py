"""The words of each slot, so that rows can be compared by them."""

from functools import cache
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from apps.retrieval.domain.postings import Slots, Terms
from apps.retrieval.domain.text.languages import ENGLISH_TOO, FUNCTION_WORDS, STOPWORDS
from apps.retrieval.domain.text.terms import term_hash, tokenize

# The low half of a term's hash is enough to tell the few hundred terms of some rows apart.
Words = npt.NDArray[np.uint32]
_FIRST_CAPACITY = 16
Number = TypeVar("Number", bound=np.generic)


class WordLists:
    """Slot -> its distinct terms but for function words, all in one array, in the order in which slots were added."""

    def __init__(self) -> None:
        self._words: Words = np.zeros(_FIRST_CAPACITY, dtype=np.uint32)
        self._starts: Slots = np.zeros(_FIRST_CAPACITY + 1, dtype=np.int64)
        self._size = 0

    @property
    def nbytes(self) -> int:
        """Return roughly how much memory the arrays take."""
        return self._words.nbytes + self._starts.nbytes

    def add(self, terms: Terms, owners: Slots, count: int) -> None:
        """Add so many new slots. owners: of each term, which of them has it, ascending from 0."""
        known = function_words()
        says_something = known[np.minimum(np.searchsorted(known, terms), len(known) - 1)] != terms
        words = terms[says_something].astype(np.uint32)
        used, slots = int(self._starts[self._size]), self._size + count
        self._words = with_room(self._words, used + len(words))
        self._starts = with_room(self._starts, slots + 1)
        self._words[used : used + len(words)] = words
        sizes = np.bincount(owners[says_something], minlength=count)
        self._starts[self._size + 1 : slots + 1] = used + np.cumsum(sizes)
        self._size = slots

    def of(self, slots: Slots) -> tuple[Words, Slots]:
        """Return the terms of some slots, one after the other, and for each the place of its slot in `slots`."""
        starts = self._starts[slots]
        sizes = self._starts[slots + 1] - starts
        owners = np.repeat(np.arange(len(slots)), sizes)
        ends = np.cumsum(sizes)
        places = np.arange(len(owners)) + (starts - ends + sizes)[owners]
        return self._words[places], owners

    def keep(self, slots: Slots) -> None:
        """Forget all but some slots, which are renumbered in this order."""
        words, owners = self.of(slots)
        self._words = words
        self._starts = np.concatenate(([0], np.cumsum(np.bincount(owners, minlength=len(slots)))))
        self._size = len(slots)


def with_room(array: npt.NDArray[Number], wanted: int) -> npt.NDArray[Number]:
    """Return an array of at least so many items, which begins with those of `array`."""
    if wanted <= len(array):
        return array
    larger = np.zeros(max(wanted, len(array) + len(array) // 2), dtype=array.dtype)
    larger[: len(array)] = array
    return larger


@cache
def function_words() -> Terms:
    """Return the hashed terms of the function words of every language, sorted."""
    listed = STOPWORDS | (frozenset().union(*(text.split() for text in FUNCTION_WORDS.values())) - ENGLISH_TOO)
    found = {word.term for token in tokenize(" ".join(sorted(listed))) for word in token.words}
    return np.array(sorted(map(term_hash, found)), dtype=np.uint64)
