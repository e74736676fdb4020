"""What a search in notes answers with, and how its two scores become one (spec 001, hybrid search).

A question in Chinese is written without spaces, and asked for by its pairs of characters. Some of them are no words,
others only say that something is asked: 什麼時候 would find every note that has it.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import regex

from apps.retrieval.domain.text.terms import query_terms

VECTOR_WEIGHT, BM25_WEIGHT = 0.7, 0.3
# The constant of BM25 as FTS5 has it: one word counts at most (1 + K1) times its rarity.
K1 = 1.2
DIGITS = 6
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


class NoteSearchMode(StrEnum):
    """How notes are searched. HYBRID: vectors and words. KEYWORD: words only."""

    HYBRID = "hybrid"
    KEYWORD = "keyword"


@dataclass(frozen=True, slots=True)
class NoteHit:
    """A range of lines of a note. Scores are between 0 and 1.

    heading: of the headings above. vector_score: None where the text has no vector, or vectors are not used.
    """

    path: str
    first_line: int
    last_line: int
    heading: str
    text: str
    score: float
    vector_score: float | None
    bm25_score: float | None


@dataclass(frozen=True, slots=True)
class NoteSearch:
    """The answer to a search, the best hit first. reason: why vectors are not used; empty where they are.

    vectors_missing: how many texts have none yet, and are found by their words only.
    """

    hits: tuple[NoteHit, ...]
    mode: NoteSearchMode
    reason: str = ""
    vectors_missing: int = 0


def rarity_of(texts: int, frequency: int) -> float:
    """Return the rarity of a word that so many of the texts have.

    It is that of FTS5 with 1 inside the logarithm, as Lucene has it: a word that half of the texts have still says
    something, and in a small store a text with it is not worth 0 beside a word that no text has.
    """
    return math.log(1 + (texts - frequency + 0.5) / (frequency + 0.5))


def bm25_score(bm25: float, best: float) -> float:
    """Return which share of the best possible BM25 a text has: on the scale of a cosine, whatever the query is."""
    return round(min(max(bm25 / best, 0.0), 1.0), DIGITS) if best > 0 else 0.0


def vector_score(cosine: float) -> float:
    """Return a cosine as a score: opposites are as far away as what has nothing in common."""
    return round(min(max(cosine, 0.0), 1.0), DIGITS)


def hybrid_score(vector: float | None, bm25: float) -> float:
    """Return 0.7 x vector + 0.3 x BM25; the BM25 score alone for a text that has no vector yet."""
    return bm25 if vector is None else round(VECTOR_WEIGHT * vector + BM25_WEIGHT * bm25, DIGITS)


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
