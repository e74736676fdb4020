"""Summaries of two texts without a model: their common keywords and their key sentences."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from apps.retrieval.domain.text.terms import query_terms
from apps.rules.domain.engine.sentences import deduplicate, sense_of, split_sentences

# Sentences kept of each memory.
MAX_SENTENCES_EACH = 5
MAX_COMMON_KEYWORDS = 10


@dataclass(frozen=True)
class Summary:
    """A summary of two texts. removed: its duplicate sentences that were left out."""

    text: str
    removed: int


class Sentence(NamedTuple):
    """A sentence without the spaces around it. content: its content terms."""

    text: str
    content: frozenset[str]


def common_keywords(first: str, second: str) -> tuple[str, ...]:
    """Return the content terms (stemmed) that two texts share, in the order of the first text, at most ten."""
    others = set(query_terms(second))
    return tuple(term for term in query_terms(first) if term in others)[:MAX_COMMON_KEYWORDS]


def summarize(first: str, second: str, threshold: float | None, shared: Sequence[str]) -> Summary:
    """Summarize two texts by their key sentences, in order.

    A sentence ranks higher, the more of its content terms occur in other sentences of both texts; common keywords count
    twice. At most five sentences of each text stay, and a sentence with a common keyword that no kept one has stays
    before others. threshold: of `deduplicate`; None keeps duplicates. shared: the common keywords of the texts.
    """
    texts = [read_sentences(text) for text in (first, second)]
    counts = Counter(term for sentences in texts for sentence in sentences for term in sentence.content)
    weights = {term: count * (2.0 if term in shared else 1.0) for term, count in counts.items()}
    chosen = [key_sentences(sentences, weights, shared) for sentences in texts]
    text = "\n".join(part for part in (" ".join(sentences) for sentences in chosen) if part)
    if threshold is None:
        return Summary(text, 0)
    unique = deduplicate(text, threshold)
    return Summary(" ".join(unique.text.split("\n")), unique.removed)


def read_sentences(text: str) -> list[Sentence]:
    """Return the sentences of a text with their content terms."""
    stripped = [sentence.strip() for sentence in split_sentences(text)]
    return [Sentence(sentence, sense_of(sentence).content) for sentence in stripped if sentence]


def key_sentences(sentences: Sequence[Sentence], weights: dict[str, float], shared: Sequence[str]) -> list[str]:
    """Return the highest ranking sentences of a text, in order."""
    if len(sentences) <= MAX_SENTENCES_EACH:
        return [sentence.text for sentence in sentences]
    missing = set(shared)
    # Half-way between the sum, which prefers long sentences, and the mean, which prefers short ones.
    worth = [
        math.fsum(weights[term] for term in sentence.content) / math.sqrt(max(len(sentence.content), 1))
        for sentence in sentences
    ]
    chosen: set[int] = set()
    while len(chosen) < MAX_SENTENCES_EACH:
        left = [number for number in range(len(sentences)) if number not in chosen]
        best = max(left, key=lambda number: (len(missing & sentences[number].content), worth[number]))
        chosen.add(best)
        missing -= sentences[best].content
    return [sentences[number].text for number in sorted(chosen)]
