"""Sentences of a text, and which of them say the same."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from apps.retrieval.domain.text.languages import STOPWORDS
from apps.retrieval.domain.text.terms import query_terms, terms, words

# The spaces after a sentence belong to it, so that joining the sentences gives the text back.
_SENTENCE = re.compile(r".*?(?:[.!?…]+[\"')\]»”’]*\s+|[。！？]+\s*|\n\s*|\Z)", re.DOTALL)
_NEGATIONS = frozenset(word for word in STOPWORDS if word.endswith("nt")) | {
    "not", "no", "never", "none", "neither", "nor", "nobody", "nothing", "cannot", "without",
    "kein", "keine", "nicht", "nie", "jamais", "pas", "sin", "nunca", "sem", "nao", "non", "mai",
}  # fmt: skip
_MIN_SENTENCE_WORDS = 2


@dataclass(frozen=True)
class SentenceSense:
    """What a sentence says, for comparing. terms: all of them, stemmed; telling: those that are no stopwords.

    strict: its numbers and negations, which two sentences that say the same have in common.
    """

    terms: frozenset[str]
    telling: frozenset[str]
    strict: frozenset[str]


@dataclass(frozen=True)
class Deduplicated:
    """A text without its duplicate sentences, and how many those were."""

    text: str
    removed: int


def split_sentences(text: str) -> list[str]:
    """The sentences of a text with the spaces that follow them: joined, they are the text again.

    A line ends a sentence. What is a single word ("Dr.") belongs to the sentence after it on its line.
    """
    sentences: list[str] = []
    pending = ""
    for piece in _SENTENCE.findall(text):
        pending += piece
        if "\n" in piece or len(words(pending)) >= _MIN_SENTENCE_WORDS:
            sentences.append(pending)
            pending = ""
    return [*sentences, pending] if pending else sentences


@lru_cache(maxsize=4096)
def sense_of(sentence: str) -> SentenceSense:
    """What a sentence says, freed of case, punctuation, spacing and inflection."""
    found = words(sentence)
    strict = {word for word in found if word in _NEGATIONS or any(c.isdigit() for c in word)}
    return SentenceSense(frozenset(terms(sentence)), frozenset(query_terms(sentence)), frozenset(strict))


def likeness(one: SentenceSense, other: SentenceSense) -> float:
    """The share of terms that two sentences have in common, in [0, 1]; 0 for sentences without words."""
    union = one.terms | other.terms
    return len(one.terms & other.terms) / len(union) if union else 0.0


def is_duplicate(dropped: SentenceSense, kept: SentenceSense, threshold: float) -> bool:
    """Whether a sentence may go because another one stays.

    They share at least `threshold` of their terms, the one that goes has no telling word that the other lacks, and
    their numbers and negations are the same: nothing that was said gets lost.
    """
    return (
        bool(dropped.terms)
        and dropped.telling <= kept.telling
        and dropped.strict == kept.strict
        and likeness(dropped, kept) >= threshold
    )


def deduplicate(text: str, threshold: float) -> Deduplicated:
    """A text without sentences that another one of it says, too; of two the one that says more stays.

    threshold: in [0, 1], see `is_duplicate`. A text without duplicates stays exactly as it is.
    """
    sentences = split_sentences(text)
    senses = [sense_of(sentence) for sentence in sentences]
    kept: list[int] = []
    for number, sense in enumerate(senses):
        if any(is_duplicate(sense, senses[other], threshold) for other in kept):
            continue
        kept = [other for other in kept if not is_duplicate(senses[other], sense, threshold)]
        kept.append(number)
    if len(kept) == len(sentences):
        return Deduplicated(text, 0)
    return Deduplicated(_joined(sentences, kept), len(sentences) - len(kept))


def _joined(sentences: Sequence[str], kept: Sequence[int]) -> str:
    """The kept sentences; where the last one of a line went, the line still ends."""
    parts: list[str] = []
    chosen = set(kept)
    for number, sentence in enumerate(sentences):
        if number in chosen:
            parts.append(sentence)
        elif sentence.endswith("\n") and parts and not parts[-1].endswith("\n"):
            parts[-1] = parts[-1].rstrip() + "\n"
    return "".join(parts).strip()
