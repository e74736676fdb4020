"""BM25 over the memories that a caller can see (DESIGN D10).

A memory's keyword document holds its own words and, weighted down, those of its neighbours in the session. The
statistics (documents, how many have a term, mean length) are those of the visible memories only: what a caller
may not see influences no score.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from apps.core.domain.text import query_terms, term_hash
from apps.semantic.domain.shard import Bools, Floats, Shard

K1 = 0.9
B = 0.4
MAX_QUERY_TERMS = 64


@dataclass(frozen=True, eq=False)
class KeywordScores:
    """Scores per shard and slot, each array of shape (shard.size,).

    terms, idf, shares: per query term; shares[i] are term i's contributions per shard, kept when asked for.
    """

    scores: list[Floats]
    terms: list[str]
    idf: list[float]
    weights: list[list[Floats]]
    shares: list[list[Floats]]

    def maximum(self) -> float:
        """The best score of all; 0.0 when no word was found."""
        return max((float(part.max()) for part in self.scores if len(part)), default=0.0)


def keyword_scores(
    query: str, shards: Sequence[Shard], visible: Sequence[Bools], keep_shares: bool = False
) -> KeywordScores:
    """Score every visible slot of the shards for the query's words."""
    words = query_terms(query)[:MAX_QUERY_TERMS]
    documents = sum(int(mask.sum()) for mask in visible)
    norms = _length_norms(shards, visible, documents)
    result = KeywordScores([np.zeros(shard.size) for shard in shards], words, [], [], [])
    for word in words:
        weights = [
            np.where(mask, shard.term_weights(term_hash(word)), 0.0)
            for shard, mask in zip(shards, visible, strict=True)
        ]
        idf = inverse_document_frequency(documents, sum(int(np.count_nonzero(w)) for w in weights))
        shares = [idf * w * (K1 + 1) / (w + norm) for w, norm in zip(weights, norms, strict=True)]
        for total, share in zip(result.scores, shares, strict=True):
            total += share
        result.idf.append(idf)
        if keep_shares:
            result.weights.append(weights)
            result.shares.append(shares)
    return result


def inverse_document_frequency(documents: int, having: int) -> float:
    """ln(1 + (N - n + 0.5) / (n + 0.5)): how much a term tells, never negative."""
    return float(np.log1p((documents - having + 0.5) / (having + 0.5)))


def _length_norms(shards: Sequence[Shard], visible: Sequence[Bools], documents: int) -> list[Floats]:
    lengths = [shard.document_lengths() for shard in shards]
    total = sum(float(length[mask].sum()) for length, mask in zip(lengths, visible, strict=True))
    mean = total / documents if documents and total else 1.0
    return [K1 * (1 - B + B * length / mean) for length in lengths]
