"""Texts that no one would call a conversation."""

import random
import sys

import pytest

from apps.notes.domain.extraction.extract import extract_facts
from apps.notes.domain.extraction.fact import Turn
from tests.timing import assert_quick, seconds_of

PIECES = [
    "I live in ", "my sister ", "Ana ", "because ", "and I ", ", ", '"', "'", "“", "「", "`", "```",
    "> ", ": ", "\n", "always ", "我住在", "，", "我妹妹叫", "以後", "一律", "。", "？", "i ",
    "really " * 5, "http://x.y/", "(", ")", "1", "next Friday ", "下週五", "\ud800", "\x00", "\ue000",
    "\u202e", "İ", "ß", "👩‍👩‍👧", "\r", "…", "the ", "please ", "never ", "in 999 years ", "9999年99月99日",
]  # fmt: skip


def read(text: str) -> object:
    return extract_facts([Turn("user", text)], recalled=[text[:50_000]])


def test_no_text_raises():
    chance = random.Random(15)
    for _ in range(400):
        text = "".join(chance.choices(PIECES, k=chance.randint(1, 40)))
        for fact in extract_facts(
            [Turn("user", text), Turn("user", text[::-1])], recalled=[text[: chance.randint(0, 20)]]
        ):
            assert fact.content.strip()


def test_every_character_can_be_read():
    for start in range(0, sys.maxunicode, 0x4000):
        extract_facts(
            [Turn("user", "I live in " + "".join(map(chr, range(start, min(start + 0x400, sys.maxunicode)))))]
        )


@pytest.mark.parametrize("piece", [piece for piece in PIECES if piece.strip()])
def test_a_megabyte_is_bounded(piece):
    assert_quick(read, piece * (1_000_000 // len(piece)), 2.0)


@pytest.mark.parametrize(
    "piece",
    [
        "I live in Oslo and I work at a bank. ",
        "my sister Ana is a nurse, ",
        "i really really always ",
        "我住在台北，我喜歡吃麵。",
        "以後請一律用中文，",
        "'a ",
    ],
)
def test_time_is_linear(piece):
    once, twice = (
        min(
            seconds_of(lambda number=number, chars=chars: read(f"{number} {piece * (chars // len(piece))}"))
            for number in range(4)
        )
        for chars in (8000, 16_000)
    )
    assert twice <= 4 * once + 0.05
