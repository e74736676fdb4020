"""When two contents are the same: spec 002 section 9 with DESIGN section 6."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.retrieval.domain.content import content_hash, normalise_content
from tests.timing import assert_quick

anything = st.text(st.characters(codec=None))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Hello, World!!", "hello,   world"),
        ("  test \n", "test"),
        ("ﬁne", "fine"),
        ("Ｆｕｌｌ　ｗｉｄｔｈ", "full width"),
        ("zero\u200bwidth", "zerowidth"),
        ("what?!;:", "what"),
        ("\ufeffmarked", "marked"),
        ("a\u2003b", "a b"),
    ],
)
def test_contents_that_differ_only_in_form_are_same(one: str, other: str) -> None:
    assert content_hash(one) == content_hash(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Hello, world!", "hello world"),
        ("3.5 km", "35 km"),
        ("can't", "cant"),
        ("a b", "ab"),
        ("I like tea", "I like teas"),
    ],
)
def test_internal_punctuation_and_spaces_count(one: str, other: str) -> None:
    assert content_hash(one) != content_hash(other)


@pytest.mark.parametrize("separator", ["\x1c", "\x1d", "\x1e", "\x1f", "\x85"])
def test_what_only_python_calls_white_space_vanishes_instead_of_becoming_space(separator: str) -> None:
    assert normalise_content(f"a{separator}b") == "ab"


def test_byte_order_mark_is_white_space_as_in_javascript() -> None:
    assert normalise_content("a\ufeffb") == "a b"


def test_line_end_after_closing_punctuation_does_not_hide_it() -> None:
    assert normalise_content("done.\n") == "done"


def test_hash_is_that_of_normalised_text_in_utf_8() -> None:
    assert content_hash("Test.") == "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"


@given(anything)
def test_any_text_has_hash_and_same_one_each_time(text: str) -> None:
    assert content_hash(text) == content_hash(text)
    assert len(content_hash(text)) == 64


@pytest.mark.parametrize(
    "nasty", ["!" * 100_000 + "x", "a" + " " * 100_000 + "b", "\u3000!" * 50_000 + "x", "\u0301\u0316" * 50_000]
)
def test_longest_content_is_normalised_in_instant(nasty: str) -> None:
    """A pattern that backtracks would take half a minute."""
    assert_quick(normalise_content, nasty, 1)


@given(st.text())
def test_space_around_a_text_does_not_matter(text: str) -> None:
    assert content_hash(f" \t{text}\u3000") == content_hash(text)
