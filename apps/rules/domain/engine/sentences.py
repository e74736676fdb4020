"""Sentences of a text, and duplicates among them."""

import re
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
    """The words of a sentence, for comparing. terms: all, stemmed; content: without stopwords.

    strict: its numbers and negations, which duplicates have in common.
    """

    terms: frozenset[str]
    content: frozenset[str]
    strict: frozenset[str]


@dataclass(frozen=True)
class Deduplicated:
    """A text without its duplicate sentences, and their number."""

    text: str
    removed: int


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text with the spaces that follow them: joined, they are the text again.

    A line ends a sentence. A single word ("Dr.") belongs to the sentence after it on its line.
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
    """Return the words of a sentence without case, punctuation, spacing and inflection."""
    found = words(sentence)
    strict = {word for word in found if word in _NEGATIONS or any(c.isdigit() for c in word)}
    return SentenceSense(frozenset(terms(sentence)), frozenset(query_terms(sentence)), frozenset(strict))


def likeness(one: SentenceSense, other: SentenceSense) -> float:
    """Return the share of terms that two sentences have in common, in [0, 1]; 0 for sentences without words."""
    union = one.terms | other.terms
    return len(one.terms & other.terms) / len(union) if union else 0.0


def is_duplicate(dropped: SentenceSense, kept: SentenceSense, threshold: float) -> bool:
    """Return whether a sentence may be dropped because another one is kept.

    They share at least `threshold` of their terms, the dropped one has no content word that the other lacks, and their
    numbers and negations are the same: no statement gets lost.
    """
    return (
        bool(dropped.terms)
        and dropped.content <= kept.content
        and dropped.strict == kept.strict
        and likeness(dropped, kept) >= threshold
    )


def deduplicate(text: str, threshold: float) -> Deduplicated:
    """Return a text without duplicate sentences; of two the one with more content stays.

    threshold: in [0, 1], see `is_duplicate`. A text without duplicates is returned unchanged.
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
    # Where the last sentence of a line was dropped, the line still ends.
    parts: list[str] = []
    chosen = set(kept)
    for number, sentence in enumerate(sentences):
        if number in chosen:
            parts.append(sentence)
        elif sentence.endswith("\n") and parts and not parts[-1].endswith("\n"):
            parts[-1] = parts[-1].rstrip() + "\n"
    return Deduplicated("".join(parts).strip(), len(sentences) - len(kept))
