"""Texts made to take long."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.retrieval.domain.text.normal import nfkc
from apps.retrieval.domain.text.terms import query_terms, terms, words
from apps.rules.domain.engine.weighing import is_silent_about, may_join_alone, may_replace_alone
from apps.rules.domain.statements.contrasts import are_occurrences_apart
from tests.effort import examples
from tests.timing import assert_quick

LONG = 100_000
NASTY = [
    "1,", "1.", "1-", "12:", "12345,", "2023-05-08", "2023-05-0", "١,", "1_", "1a", "a1", "1'", "a'", "a.", "a'b.",
    "'s", "_a", "aA", "AAa", "l'", "qu'", "1st", "C++", "c#", "x_y", "U.S.", "\u0301\u0316", "\u0316\u0301",
    "e\u0301\u0316\u0334", "\u0f71\u0f72\u0f74", "\uff9e\u0301", "\u3099", "1\u0301", "中", "가", "ᄀ", "か\u3099",
    "ก็", "က်", "👩\u200d", "🇩🇪", "\u200b", "Ａ", "ǅ", "ß", "İ", "\x00", "\ud800", "\u0e33", "Łódź ",
]  # fmt: skip
MARKS = "\u0301\u0316\u0334\u0345\u035d\u0344\u0f73\u0f71\u0e38\u1160\uff9e\uff9f\u3099\u20dd"


def assert_terms_are_quick(text: str) -> None:
    """What was quadratic took from 4 seconds to minutes; what is not takes less than one."""
    assert_quick(lambda each: (terms(each), query_terms(each)), text, 3)


@pytest.mark.parametrize("end", ["", "1aé"])
@pytest.mark.parametrize("piece", NASTY, ids=ascii)
def test_no_long_text_takes_long(piece, end):
    assert_terms_are_quick(piece * (LONG // len(piece)) + end)


@settings(max_examples=examples(30), deadline=None)
@given(st.lists(st.sampled_from(NASTY), min_size=1, max_size=3), st.sampled_from(["", "a", "é", "1", "_", "'"]))
def test_no_mixture_takes_long_either(pieces, end):
    piece = "".join(pieces)
    assert_terms_are_quick(piece * (LONG // len(piece)) + end)


PARTS_OF_PAIRS = [
    "a",
    "9",
    "room 1",
    "event ",
    "Ana's ",
    "a man ",
    "3 May ",
    "no ",
    "週一",
    "a_",
    "€1,",
    "5 km,",
    "1.1",
]


@pytest.mark.parametrize("piece", [*NASTY, *PARTS_OF_PAIRS], ids=ascii)
def test_no_pair_of_long_texts_takes_long_to_be_weighed(piece):
    """A word of 20,000 letters took half a minute in one save."""

    def weigh(text: str) -> None:
        other = text[:-1] + "b"
        is_silent_about(text, other)
        may_replace_alone(text, other)
        may_join_alone(text, other)
        are_occurrences_apart(text, other)

    assert_quick(weigh, piece * (20_000 // len(piece)), 2)


def test_number_of_more_than_sixteen_parts_is_several():
    assert words(",".join("1" * 17)) == [",".join("1" * 16), *"1" * 17]


@given(st.text(st.sampled_from(f"{MARKS}aé가か"), max_size=200) | st.text(st.sampled_from(MARKS), min_size=60))
def test_long_run_of_marks_is_normalised_as_unicode_says(text):
    assert nfkc(text) == unicodedata.normalize("NFKC", text)
