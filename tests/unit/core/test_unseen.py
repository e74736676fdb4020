"""Characters that are not seen are shown as marks; those that a script needs stay."""

import time

import pytest

from apps.core.domain.unseen import is_named, visible

NEEDED = (
    "Ana prefers tea", "two\nlines\tand a tab", "Ana’s naïve café", "שלום עולם",
    "می‌خواهم", "क्‍ष", "❤️‍🔥 👩🏽‍🚀 1️⃣ ☎︎", "葛󠄀飾区",
    "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    "Việt Nam", "e\u0301", "שׁ\u05b8\u05bd", "μm and kΩ",
)  # fmt: skip
MARKED = {
    "ana\u200b": "ana[U+200B]",
    "ana\u202enimda": "ana[U+202E]nimda",
    "\u2066ana\u2069": "[U+2066]ana[U+2069]",
    "an\u00ada": "an[U+00AD]a",
    "a\x07\x1b[31m": "a[U+0007 +1][31m",
    "\ufeffana": "[U+FEFF]ana",
    "an\u200da": "an[U+200D]a",
    "ana\ufe0f": "ana[U+FE0F]",
    "ana\u3164": "ana[U+3164]",
    "a\u2028b": "a[U+2028]b",
    "ana\U000e0061\U000e0062": "ana[U+E0061 +1]",
    "\u200b" * 1000: "[U+200B +999]",
    "a" + "\u0301" * 50: "a" + "\u0301" * 6 + "[+44 marks]",
}


@pytest.mark.parametrize("text", NEEDED)
def test_what_a_script_needs_stays(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(("text", "shown"), MARKED.items())
def test_what_is_not_seen_is_marked(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize("typed", ["ana\u200b", "ana[U+200B]", " ana\u200b "])
def test_a_name_is_typed_as_it_is_or_as_it_is_shown(typed: str) -> None:
    assert is_named(typed, "ana\u200b")


@pytest.mark.parametrize("typed", ["ana", "", "ana[U+200C]", "anna"])
def test_a_name_is_not_another_that_looks_like_it(typed: str) -> None:
    assert not is_named(typed, "ana\u200b")


@pytest.mark.parametrize("part", ["a", "а", "\u0301", "a\u200b", "א ", "\u200b", "❤️\u200d"])
def test_marks_take_time_in_proportion_to_the_text(part: str) -> None:
    text = part * (200_000 // len(part))
    began = time.process_time()
    visible(text)
    assert time.process_time() - began < 2
