"""What a question looks for, and how much each term counts.

A question in Chinese is written without spaces, and asked for by its pairs of characters. Some of them are no words,
others only say that something is asked: 什麼時候 would find every note that has it. A single character says little, but
it is what a question and an answer in other words often share (過敏, 敏感).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain

import regex

from apps.retrieval.domain.text.scripts import fold_script
from apps.retrieval.domain.text.terms import query_terms, tokenize

# Of a longer question only the first words are searched for.
MAX_TERMS = 64
# A pair with a character such as 的 is seldom a word.
LOOSE_PAIR, CHARACTER = 0.3, 0.2
_ASKING = re.compile(
    "什麼時候|什么时候|甚麼時候|何時|何时|為什麼|为什么|為甚麼|為何|为何|什麼|什么|甚麼|哪一?[裡裏里兒儿個个些天年月日位種种間间家]|"
    "怎麼樣|怎么样|怎樣|怎样|怎麼|怎么|如何|多少|多久|請問|请问|是不是|有沒有|有没有|是否|告訴我|告诉我|[嗎吗呢吧啊]"
)
_LOOSE = frozenset("的了是在有我你您他她它们和与跟也都就要会可以能这那个哪谁几啥么幺")
_HAN = regex.compile(r"\p{Han}+")


@dataclass(frozen=True, slots=True)
class AskedTerms:
    """What is searched for, with weights. parts: single characters of the words, which are no reason to find a text."""

    words: Mapping[str, float]
    parts: Mapping[str, float] = field(default_factory=dict)

    @property
    def has_pairs(self) -> bool:
        """Return whether there are pairs of Chinese characters among the words."""
        return any(_HAN.fullmatch(word) for word in self.words)

    def weight(self, term: str) -> float:
        """Return how much one of the terms counts."""
        return self.words.get(term, 0.0) or self.parts[term]

    @property
    def all(self) -> tuple[str, ...]:
        """Return the terms, the words first."""
        return tuple(chain(self.words, self.parts))


def asked_terms(query: str) -> AskedTerms:
    """Return the distinct terms of a question, of a long one those of its first words."""
    words = (query_terms(_ASKING.sub(" ", query)) or query_terms(query))[:MAX_TERMS]
    characters = (each for word in words if _HAN.fullmatch(word) for each in word if each not in _LOOSE)
    return AskedTerms(
        {word: LOOSE_PAIR if is_loose(word) else 1.0 for word in words},
        {each: CHARACTER for each in characters if each not in words},
    )


NOTHING_ASKED = AskedTerms({})


def is_loose(term: str) -> bool:
    """Return whether a term is a pair of characters that is seldom a word."""
    return _HAN.fullmatch(term) is not None and bool(_LOOSE.intersection(term))


def written_as(query: str) -> dict[str, str]:
    """Return how a question writes those of its terms that are compared in another script."""
    of_tokens = (word for token in tokenize(query) for word in token.words)
    return {
        word.term: word.text for word in of_tokens if word.term != word.text and word.term == fold_script(word.text)
    }
