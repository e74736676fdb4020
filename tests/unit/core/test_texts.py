"""A text of any length is readable on a page, and no page becomes as long as it."""

import pytest

from apps.core.pages.texts import HELD_CHARS, SHOWN_CHARS, cut, long_text


def test_short_text_is_whole() -> None:
    assert long_text("a <b>\nb") == '<div class="mh-text">a &lt;b&gt;\nb</div>'


def test_long_text_begins_and_the_rest_is_on_request() -> None:
    text = "x" * SHOWN_CHARS + "the end"
    first, rest = str(long_text(text)).split("<details")
    assert "the end" not in first
    assert f"Show all {len(text):,} characters" in rest
    assert text in rest


@pytest.mark.parametrize("length", [HELD_CHARS + 1, 3_000_000])
def test_page_holds_so_much_of_a_text_and_says_so(length: int) -> None:
    page = long_text("x" * length, "mh-json", "pre")
    assert len(page) < HELD_CHARS + SHOWN_CHARS + 1_000
    assert f"Show 200,000 of {length:,} characters; the API has all of them" in page
    assert page.count('<pre class="mh-json" tabindex="0">') == 2


@pytest.mark.parametrize(("chars", "shown"), [(3, "abc"), (4, "abc"), (2, "a…")])
def test_cut_text_has_at_most_so_many_characters(chars: int, shown: str) -> None:
    assert cut("abc", chars) == shown
