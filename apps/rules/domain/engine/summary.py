"""Combining two texts without a model: their common keywords, and the sentences that tell most."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from apps.retrieval.domain.text.terms import query_terms
from apps.rules.domain.engine.sentences import deduplicate, sense_of, split_sentences

# More than this much of each memory is left out, the least telling sentences first.
MAX_SENTENCES_EACH = 5
MAX_COMMON_KEYWORDS = 10


@dataclass(frozen=True)
class Summary:
    """common_keywords: the terms that both texts share, the most frequent first."""

    text: str
    common_keywords: tuple[str, ...]
    removed: int


def common_keywords(first: str, second: str) -> tuple[str, ...]:
    """The telling terms (stemmed) that two texts share, in the order of the first text, at most ten."""
    others = set(query_terms(second))
    return tuple(term for term in query_terms(first) if term in others)[:MAX_COMMON_KEYWORDS]


def summarize(first: str, second: str, threshold: float | None) -> Summary:
    """The key sentences of two texts as one, in their order.

    A sentence tells the more, the more of its telling terms occur in other sentences of both texts, too; common
    keywords count twice. At most five sentences of each text stay, and a sentence that a common keyword would be
    lost with stays before others. threshold: of `deduplicate`; None keeps duplicates.
    """
    shared = common_keywords(first, second)
    chosen = [_key_sentences(text, _weights(first, second, shared), shared) for text in (first, second)]
    text = "\n".join(part for part in (" ".join(sentences) for sentences in chosen) if part)
    if threshold is None:
        return Summary(text, shared, 0)
    unique = deduplicate(text, threshold)
    return Summary(" ".join(unique.text.split("\n")), shared, unique.removed)


def _weights(first: str, second: str, shared: Sequence[str]) -> dict[str, float]:
    counts: Counter[str] = Counter()
    for sentence in (*split_sentences(first), *split_sentences(second)):
        counts.update(sense_of(sentence).telling)
    return {term: count * (2.0 if term in shared else 1.0) for term, count in counts.items()}


def _key_sentences(text: str, weights: dict[str, float], shared: Sequence[str]) -> list[str]:
    sentences = [sentence.strip() for sentence in split_sentences(text) if sentence.strip()]
    if len(sentences) <= MAX_SENTENCES_EACH:
        return sentences
    missing = set(shared)
    left = list(range(len(sentences)))
    chosen: list[int] = []
    while len(chosen) < MAX_SENTENCES_EACH:
        best = max(left, key=lambda n: (len(missing & sense_of(sentences[n]).telling), _tells(sentences[n], weights)))
        left.remove(best)
        chosen.append(best)
        missing -= sense_of(sentences[best]).telling
    return [sentences[number] for number in sorted(chosen)]


def _tells(sentence: str, weights: dict[str, float]) -> float:
    telling = sense_of(sentence).telling
    # Half-way between the sum, which prefers the long, and the mean, which prefers the short.
    return sum(weights[term] for term in sorted(telling)) / math.sqrt(max(len(telling), 1))
