"""The terms that a search in notes looks for, and how much each counts.

A question in Chinese is written without spaces, and asked for by its pairs of characters. Some of them are no words,
others only say that something is asked: 什麼時候 would find every note that has it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import regex

from apps.retrieval.domain.text.terms import query_terms

# Of a longer question only the first words are searched for.
MAX_TERMS = 64
# A pair with a character such as 的 is seldom a word, and a single character says little.
LOOSE_PAIR, CHARACTER = 0.3, 0.2
_ASKING = re.compile(
    "什麼時候|什么时候|甚麼時候|何時|何时|為什麼|为什么|為甚麼|為何|为何|什麼|什么|甚麼|哪一?[裡裏里兒儿個个些天年月日位種种間间家]|"
    "怎麼樣|怎么样|怎樣|怎样|怎麼|怎么|如何|多少|多久|請問|请问|是不是|有沒有|有没有|是否|告訴我|告诉我|[嗎吗呢吧啊]"
)
_LOOSE = frozenset("的了是在有我你您他她它們们和與与跟也都就要會会可以能這这那個个哪誰谁幾几啥")
_HAN = regex.compile(r"\p{Han}+")


@dataclass(frozen=True, slots=True)
class AskedTerms:
    """What is searched for, with weights. parts: count in texts that have one of the words, and nowhere else."""

    words: Mapping[str, float]
    parts: Mapping[str, float] = field(default_factory=dict)


def asked_terms(query: str) -> AskedTerms:
    """Return the distinct terms of a question, of a long one those of its first words."""
    words = (query_terms(_ASKING.sub(" ", query)) or query_terms(query))[:MAX_TERMS]
    characters = (each for word in words if _HAN.fullmatch(word) for each in word if each not in _LOOSE)
    return AskedTerms(
        {word: LOOSE_PAIR if _HAN.fullmatch(word) and _LOOSE.intersection(word) else 1.0 for word in words},
        {each: CHARACTER for each in characters if each not in words},
    )
