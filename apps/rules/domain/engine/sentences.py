"""Sentences of a text, duplicates among them, and the words by which two texts are compared."""

import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass

from apps.core.domain.caches import SizedCache
from apps.retrieval.domain.text.languages import STOPWORDS
from apps.retrieval.domain.text.terms import count_words, query_terms, query_terms_of, terms_of, tokenize, words_of
from apps.rules.domain.decimals import reaches

# What may end a sentence, read once from its first mark to its last space. The spaces belong to the sentence, so that
# joining the sentences restores the text. Latin marks without a space after them, as in "3.5", end nothing.
_MARKS = re.compile(r"[.!?…]++[\"')\]»”’]*+(?P<spaces>\s++)?|(?P<end>[。！？]++\s*+|\n\s*+)")
_NEGATIONS = frozenset(word for word in STOPWORDS if word.endswith("nt")) | {
    "not", "no", "never", "none", "neither", "nor", "nobody", "nothing", "cannot", "without",
    "kein", "keine", "nicht", "nie", "jamais", "pas", "sin", "nunca", "sem", "nao", "non", "mai",
}  # fmt: skip
_MIN_SENTENCE_WORDS = 2
# Longer ones would fill the cache; they hardly ever recur.
_MAX_CACHED_CHARS = 1_000
# Of the sentences with a word, so many are compared with the next one that has it: the nearest before it.
MAX_COMPARED = 64
_cache = SizedCache("words of texts", megabytes=3, entry_bytes=700, char_bytes=12)


@dataclass(frozen=True)
class SentenceSense:
    """The words of a sentence, for comparing. terms: all, stemmed; content: without stopwords.

    strict: its numbers and negations, which duplicates have in common.
    """

    terms: frozenset[str]
    content: frozenset[str]
    strict: frozenset[str]


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text with the spaces that follow them: joined, they are the text again.

    A line ends a sentence. A single word ("Dr.") belongs to the sentence after it on its line.
    """
    sentences: list[str] = []
    pending: list[str] = []
    count = 0
    for piece in split_at_marks(text):
        pending.append(piece)
        count += count_words(piece, _MIN_SENTENCE_WORDS - count)
        if "\n" in piece or count >= _MIN_SENTENCE_WORDS:
            sentences.append("".join(pending))
            pending, count = [], 0
    return [*sentences, "".join(pending)] if pending else sentences


def split_at_marks(text: str) -> Iterator[str]:
    """Yield the parts of a text that end with the marks of a sentence, or with a line."""
    start = 0
    for marks in _MARKS.finditer(text):
        if marks["spaces"] or marks["end"]:
            yield text[start : marks.end()]
            start = marks.end()
    if start < len(text):
        yield text[start:]


def sense_of(sentence: str) -> SentenceSense:
    """Return the words of a sentence without case, punctuation, spacing and inflection."""
    return _cached_sense(sentence) if len(sentence) <= _MAX_CACHED_CHARS else read_sense(sentence)


def read_sense(sentence: str) -> SentenceSense:
    """Return the same as `sense_of`, which remembers it for short sentences."""
    tokens = tokenize(sentence)
    strict = {word for word in words_of(tokens) if word in _NEGATIONS or any(c.isdigit() for c in word)}
    return SentenceSense(frozenset(terms_of(tokens)), frozenset(query_terms_of(tokens)), frozenset(strict))


_cached_sense = SizedCache("sentences of texts", megabytes=4, entry_bytes=1_000, char_bytes=30).remember(read_sense)


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
        and reaches(likeness(dropped, kept), threshold)
    )


def deduplicate(text: str, threshold: float) -> tuple[str, int]:
    """Return a text without duplicate sentences, and their number; of two the one with more content stays.

    threshold: in [0, 1], see `is_duplicate`. A text without duplicates is returned unchanged. A sentence is compared
    with the MAX_COMPARED nearest before it that have a content word in common with it, for each of its words.
    """
    sentences = split_sentences(text)
    kept = numbers_without_duplicates([sense_of(sentence) for sentence in sentences], threshold)
    if len(kept) == len(sentences):
        return text, 0
    # Where the last sentence of a line was dropped, the line still ends.
    parts: list[str] = []
    for number, sentence in enumerate(sentences):
        if number in kept:
            parts.append(sentence)
        elif sentence.endswith("\n") and parts and not parts[-1].endswith("\n"):
            parts[-1] = parts[-1].rstrip() + "\n"
    return "".join(parts).strip(), len(sentences) - len(kept)


def numbers_without_duplicates(senses: list[SentenceSense], threshold: float) -> set[int]:
    """Return the numbers of the sentences that stay."""
    kept: set[int] = set()
    with_term: defaultdict[str, deque[int]] = defaultdict(lambda: deque(maxlen=MAX_COMPARED))
    for number, sense in enumerate(senses):
        shared = Counter(other for term in sense.content for other in with_term[term] if other in kept)
        # A duplicate has all of its content words in common with the sentence that stays.
        others = [other for other in shared if shared[other] >= min(len(sense.content), len(senses[other].content))]
        if any(is_duplicate(sense, senses[other], threshold) for other in others):
            continue
        kept.difference_update([other for other in others if is_duplicate(senses[other], sense, threshold)])
        kept.add(number)
        for term in sense.content:
            with_term[term].append(number)
    return kept


@_cache.remember
def distinct_terms(text: str) -> frozenset[str]:
    """Return the terms of a text. A text is compared with many others, so those of the last ones are remembered."""
    return frozenset(query_terms(text))
