"""Long texts, made to take long: work grows as the text does, never with its square."""

import re
import sys
from collections.abc import Callable
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.retrieval.domain.text.terms import words
from apps.rules.domain.contradiction.lexicon import OPPOSITES, are_opposites, opposites_of
from apps.rules.domain.engine.detection import restated_share
from apps.rules.domain.engine.merge import ContentStrategy, MergeConfig, merge
from apps.rules.domain.engine.sentences import (
    MAX_COMPARED,
    deduplicate,
    is_duplicate,
    numbers_without_duplicates,
    sense_of,
    split_sentences,
)
from tests.timing import assert_quick
from tests.unit.rules.records import record

# As long as a memory may be by default.
LONGEST = 100_000
MAKERS: dict[str, Callable[[int], str]] = {
    "full stops and spaces": lambda size: ". " * (size // 2),
    "full stops": lambda size: "." * size,
    "dots": lambda size: "… " * (size // 2),
    "question marks and quotes": lambda size: "?'\")" * (size // 4),
    "single words": lambda size: "a. " * (size // 3),
    "Chinese full stops": lambda size: "。 我。" * (size // 4),
    "lines": lambda size: "a b\n" * (size // 4),
    "blank lines": lambda size: "\n " * (size // 2),
    "short sentences, all different": lambda size: " ".join(f"tea is{number}." for number in range(size // 12)),
    "short sentences, all the same": lambda size: "Ana likes tea. " * (size // 15),
    "words, all different": lambda size: " ".join(f"word{number}" for number in range(size // 9)),
}


def words_read(work: Callable[[str], object], text: str) -> int:
    """How many calls of functions working on a text takes, and how many characters are split into words."""
    count = 0

    def trace(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        if event == "call":
            count += 1
            if frame.f_code.co_name in ("words", "tokenize", "count_words"):
                count += len(frame.f_locals["text"])

    before = sys.getprofile()
    sys.setprofile(trace)
    try:
        work(text)
    finally:
        sys.setprofile(before)
    return count


def summarize_twice(text: str) -> object:
    config = MergeConfig(content_strategy=ContentStrategy.SUMMARIZE)
    return merge(record(text), record(f"Eva reads. {text}"), 0.9, config)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("work", [split_sentences, lambda text: deduplicate(text, 0.8), summarize_twice])
def test_work_on_sentences_grows_as_the_text_does(work: Callable[[str], object], name: str) -> None:
    make = MAKERS[name]
    small, big = (words_read(work, make(size)) for size in (4_000, 16_000))
    assert big <= 4.6 * small + 2_000


@pytest.mark.parametrize("name", MAKERS)
def test_longest_memories_are_merged_quickly(name: str) -> None:
    assert_quick(summarize_twice, MAKERS[name](LONGEST), 4)


def test_sixteen_thousand_full_stops_are_split_quickly() -> None:
    assert_quick(split_sentences, ". " * 16_000, 1)


def test_words_of_long_texts_are_not_compared_each_with_each() -> None:
    longest = MAKERS["words, all different"](LONGEST)
    assert_quick(lambda text: restated_share(text[: len(text) // 2], text), longest, 3)


def test_opposites_of_a_key_are_those_of_all_pairs() -> None:
    listed = {key for pair in OPPOSITES for key in pair} | {"happi", "unhappi", "un"}
    for key in listed:
        keys = listed | opposites_of(key)
        assert {other for other in keys if are_opposites(key, other)} == opposites_of(key)


# --- the same as before, without its cost -------------------------------------------------------------------

_SENTENCE = re.compile(r".*?(?:[.!?…]+[\"')\]»”’]*\s+|[。！？]+\s*|\n\s*|\Z)", re.DOTALL)
_PARTS = ["a", "b", " ", ".", "!", "…", '"', "'", ")", "。", "！", "\n", "Dr", "5", "我", "\u0301", "ｧ", "\u200b"]
_WORDS = ["tea", "Ana", "likes", "green", "not", "5", "the", "dog", ".", "。", "\n"]


def split_naively(text: str) -> list[str]:
    """Split a text by the definition, reading what is pending again with each part."""
    sentences, pending = [], ""
    for piece in _SENTENCE.findall(text):
        pending += piece
        if "\n" in piece or len(words(pending)) >= 2:
            sentences.append(pending)
            pending = ""
    return [*sentences, pending] if pending else sentences


@given(st.lists(st.sampled_from(_PARTS), max_size=25).map("".join))
def test_sentences_end_where_they_are_defined_to(text: str) -> None:
    assert split_sentences(text) == split_naively(text)


@given(st.lists(st.sampled_from(_WORDS), max_size=60).map(" ".join), st.sampled_from([0, 0.5, 0.8, 1]))
def test_duplicates_are_those_of_comparing_each_with_each(text: str, threshold: float) -> None:
    senses = [sense_of(sentence) for sentence in split_sentences(text)]
    assert len(senses) <= MAX_COMPARED
    kept: list[int] = []
    for number, sense in enumerate(senses):
        if not any(is_duplicate(sense, senses[other], threshold) for other in kept):
            kept = [*(other for other in kept if not is_duplicate(senses[other], sense, threshold)), number]
    assert numbers_without_duplicates(senses, threshold) == set(kept)
