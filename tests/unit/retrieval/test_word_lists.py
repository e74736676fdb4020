"""The words of slots against a plain dictionary of sets."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.retrieval.domain.text.terms import term_hash
from apps.retrieval.domain.word_lists import WordLists
from tests.effort import examples

CONTENT = ("fork", "river", "door", "son")
FUNCTION = ("the", "und", "qui")

rows = st.lists(st.sets(st.sampled_from(CONTENT + FUNCTION)), max_size=6)


def short(word: str) -> int:
    return term_hash(word) & 0xFFFFFFFF


def add(lists: WordLists, batch: list[set[str]]) -> None:
    terms = [term_hash(word) for words in batch for word in sorted(words)]
    owners = [place for place, words in enumerate(batch) for _ in words]
    lists.add(np.array(terms, dtype=np.uint64), np.array(owners, dtype=np.int64), len(batch))


def words_of(lists: WordLists, slots: list[int]) -> list[set[int]]:
    words, owners = lists.of(np.array(slots, dtype=np.int64))
    return [set(words[owners == place].tolist()) for place in range(len(slots))]


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(rows, max_size=5), st.data())
def test_slots_have_their_content_words_after_any_additions(batches: list[list[set[str]]], data: st.DataObject) -> None:
    lists = WordLists()
    expected: list[set[int]] = []
    for batch in batches:
        add(lists, batch)
        expected += [{short(word) for word in words if word in CONTENT} for words in batch]
        if expected and data.draw(st.booleans()):
            kept = sorted(data.draw(st.sets(st.integers(0, len(expected) - 1))))
            lists.keep(np.array(kept, dtype=np.int64))
            expected = [expected[slot] for slot in kept]
    asked = data.draw(st.lists(st.integers(0, len(expected) - 1), max_size=4)) if expected else []
    assert words_of(lists, asked) == [expected[slot] for slot in asked]
    assert lists.nbytes > 0
