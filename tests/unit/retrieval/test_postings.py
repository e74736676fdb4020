"""Which slots have which term, however they came in."""

from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from apps.retrieval.domain.postings import Postings

batches = st.lists(st.lists(st.integers(0, 6), min_size=1, max_size=30), max_size=12)


def added(batches: list[list[int]], growing: range) -> Postings:
    """Terms of one slot each, slots rising. growing: the batches that belong to one large addition."""
    postings, slot = Postings(), 0
    for number, terms in enumerate(batches):
        if number == growing.start:
            postings.grow()
        slots = np.arange(slot, slot + len(terms))
        counts = np.stack((slots, slots), axis=1).astype(np.uint16)
        postings.add(np.array(terms, dtype=np.uint64), slots, counts)
        slot += len(terms)
        if number == growing.stop - 1:
            postings.settle()
    return postings


@given(batches=batches, first=st.integers(0, 6), count=st.integers(1, 6), limit=st.sampled_from([0, 5, 4_096]))
def test_term_has_its_slots_whether_they_were_added_at_once_or_little_by_little(
    batches: list[list[int]], first: int, count: int, limit: int
) -> None:
    with patch("apps.retrieval.domain.postings._TAIL_LIMIT", limit):
        postings = added(batches, range(first, first + count))
        terms = [term for batch in batches for term in batch]
        for term in range(8):
            slots, counts = postings.of(term)
            assert sorted(slots.tolist()) == [slot for slot, each in enumerate(terms) if each == term]
            assert counts[:, 0].tolist() == slots.tolist()


def test_what_was_added_at_once_leaves_no_tail() -> None:
    postings = added([[1, 2, 3]] * 10, range(10))
    assert postings._tail == []
    postings.add(np.array([1], dtype=np.uint64), np.array([99]), np.zeros((1, 2), dtype=np.uint16))
    assert len(postings._tail) == 1


def test_pair_takes_eight_bytes() -> None:
    postings, terms = Postings(), np.arange(100, dtype=np.uint64)
    postings.grow()
    for slot in range(500):
        postings.add(terms, np.full(100, slot), np.ones((100, 2), dtype=np.uint16))
    postings.settle()
    assert postings.nbytes < 50_000 * 8 + 100 * 16 + 100
    slots, counts = postings.of(7)
    assert (slots.dtype, counts.dtype) == (np.int64, np.float32)
    postings.renumber(np.where(np.arange(500) % 2, -1, np.arange(500) // 2))
    assert postings.of(7)[0].tolist() == list(range(250))
