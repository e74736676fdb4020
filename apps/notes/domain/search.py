"""What a search in notes answers with, and how its two scores become one (spec 001, hybrid search)."""

import math
from dataclasses import dataclass
from enum import StrEnum

VECTOR_WEIGHT, BM25_WEIGHT = 0.7, 0.3
# The constant of BM25 as FTS5 has it: one word counts at most (1 + K1) times its rarity.
K1 = 1.2
DIGITS = 6


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
