"""Summaries of two texts without a model: their common keywords and their key sentences."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

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


def common_keywords(first: str, second: str) -> tuple[str, ...]:
    """Return the content terms (stemmed) that two texts share, in the order of the first text, at most ten."""
    others = set(query_terms(second))
    return tuple(term for term in query_terms(first) if term in others)[:MAX_COMMON_KEYWORDS]


def summarize(first: str, second: str, threshold: float | None) -> Summary:
    """Summarize two texts by their key sentences, in order.

    A sentence ranks higher, the more of its content terms occur in other sentences of both texts; common keywords count
    twice. At most five sentences of each text stay, and a sentence with a common keyword that no kept one has stays
    before others. threshold: of `deduplicate`; None keeps duplicates.
    """
    shared = common_keywords(first, second)
    counts: Counter[str] = Counter()
    for sentence in (*split_sentences(first), *split_sentences(second)):
        counts.update(sense_of(sentence).content)
    weights = {term: count * (2.0 if term in shared else 1.0) for term, count in counts.items()}
    chosen = [key_sentences(text, weights, shared) for text in (first, second)]
    text = "\n".join(part for part in (" ".join(sentences) for sentences in chosen) if part)
    if threshold is None:
        return Summary(text, 0)
    unique = deduplicate(text, threshold)
    return Summary(" ".join(unique.text.split("\n")), unique.removed)


def key_sentences(text: str, weights: dict[str, float], shared: Sequence[str]) -> list[str]:
    """Return the highest ranking sentences of a text, in order."""
    sentences = [sentence.strip() for sentence in split_sentences(text) if sentence.strip()]
    if len(sentences) <= MAX_SENTENCES_EACH:
        return sentences
    missing = set(shared)

    def rank(number: int) -> tuple[int, float]:
        content = sense_of(sentences[number]).content
        # Half-way between the sum, which prefers long sentences, and the mean, which prefers short ones.
        return len(missing & content), sum(weights[term] for term in sorted(content)) / math.sqrt(max(len(content), 1))

    left = list(range(len(sentences)))
    chosen: list[int] = []
    while len(chosen) < MAX_SENTENCES_EACH:
        best = max(left, key=rank)
        left.remove(best)
        chosen.append(best)
        missing -= sense_of(sentences[best]).content
    return [sentences[number] for number in sorted(chosen)]
