"""How much a text has to say, judged by its form alone (docs/explain/retrieval.md).

A question seldom answers one, and a short interjection between two turns of a conversation ("Wow, thanks!")
mostly borrows its words from its neighbours.
"""

import math
from collections.abc import Sequence

import regex

from apps.retrieval.domain.text.terms import Token, tokenize, words

FULL_AT_WORDS = 20
QUESTION_CUT = 0.4
BREVITY_CUT = 0.3

_SENTENCE = regex.compile(r"[^.!?。！？؟]*[.!?。！？؟]+[\"'”’»)\]]*|[^.!?。！？؟]+")
_QUESTION_MARKS = ("?", "？", "؟")
_CLOSING = "\"'”’»)] \n\t"


def question_share(text: str) -> float:
    """Return the share of the text's words that stand in questions, in [0, 1]."""
    if not any(mark in text for mark in _QUESTION_MARKS):
        return 0.0
    total = asked = 0
    for sentence in _SENTENCE.findall(text):
        count = len(words(sentence))
        total += count
        if sentence.rstrip(_CLOSING).endswith(_QUESTION_MARKS):
            asked += count
    return asked / total if total else 0.0


def fullness(text: str | Sequence[Token]) -> float:
    """Return ln(1 + words) / ln(21), at most 1: 0 for no word, 1 for twenty or more. text: or its tokens."""
    tokens = tokenize(text) if isinstance(text, str) else text
    return min(1.0, math.log1p(sum(len(token.words) for token in tokens)) / math.log1p(FULL_AT_WORDS))
