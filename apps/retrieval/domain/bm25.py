"""BM25 over the rows that a caller can see (DESIGN D10).

A row's keyword document holds its own words and, weighted down, those of its neighbours in the session. The
statistics (documents, how many have a term, mean length) are those of the visible rows only: what a caller
may not see influences no score.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo

import numpy as np

from apps.retrieval.domain.days import DaysOfRows, is_date_word
from apps.retrieval.domain.postings import Bools, Floats
from apps.retrieval.domain.rows import RowStore
from apps.retrieval.domain.text.asked import AskedTerms, written_as
from apps.retrieval.domain.text.terms import term_hash

K1 = 0.9
B = 0.4
# How much more than a row of mean length that has every word of the query once a row must have to count in full where
# vectors are compared as well: words that say little are found by chance (docs/decisions/0103).
EVERY_WORD = 1.3


@dataclass(frozen=True, eq=False)
class KeywordScores:
    """Scores per store and slot, each array of shape (store.size,).

    has_word: which slots have a word of the query, and not only single characters of one. details: per query term,
    kept when asked for. least: with what scores are compared at least. Pairs of characters are found by chance in
    many rows, so that the best of these may be as good as nothing. possible: of a row of mean length that has every
    word once. information: of the question, the sum of the weights of its terms.
    """

    scores: list[Floats]
    has_word: list[Bools]
    details: list["TermDetail"]
    least: float
    possible: float
    information: float

    def maximum(self) -> float:
        """Return the best score of all; 0.0 when no word was found."""
        best = max((float(part.max()) for part in self.scores if len(part)), default=0.0)
        return max(best, self.least) if best else 0.0

    def maximum_beside_vectors(self) -> float:
        """Return what counts in full beside a cosine of 1, which is more than any row has by chance."""
        best = self.maximum()
        return max(best, EVERY_WORD * self.possible) if best else 0.0

    def written_as(self, query: str) -> "KeywordScores":
        """Return the same with the terms as a query writes them."""
        written = written_as(query)
        return replace(self, details=[replace(one, term=written.get(one.term, one.term)) for one in self.details])


@dataclass(frozen=True, eq=False)
class TermDetail:
    """What one term adds, by slot of all stores one after the other."""

    term: str
    idf: float
    weights: Floats
    shares: Floats


def keyword_scores(
    asked: AskedTerms,
    stores: Sequence[RowStore],
    visible: Sequence[Bools],
    keep_details: bool = False,
    zone: tzinfo | None = None,
) -> KeywordScores:
    """Score every visible slot of the stores for the terms of a query.

    zone: in which a row has happened on a day; None for the words of its writer's day, which it is stored with.
    """
    documents = sum(int(mask.sum()) for mask in visible)
    lengths = [store.document_lengths() for store in stores]
    total_length = sum(float(length[mask].sum()) for length, mask in zip(lengths, visible, strict=True))
    mean = total_length / documents if documents and total_length else 1.0
    norms = [K1 * (1 - B + B * length / mean) for length in lengths]
    scores = [np.zeros(store.size) for store in stores]
    has_word = [np.zeros(store.size, dtype=np.bool_) for store in stores]
    details: list[TermDetail] = []
    possible = 0.0
    information = 0.0
    days = None if zone is None else [DaysOfRows(store, zone) for store in stores]
    for word in asked.all:
        if days is not None and is_date_word(word):
            every = [its.term_weights(word) for its in days]
        else:
            every = [store.term_weights(term_hash(word)) for store in stores]
        weights = [np.where(mask, found, 0.0) for mask, found in zip(visible, every, strict=True)]
        having = sum(int(np.count_nonzero(w)) for w in weights)
        idf = asked.weight(word) * inverse_document_frequency(documents, having)
        possible += asked.weight(word) * inverse_document_frequency(documents, max(having, 1))
        information += idf
        shares = [idf * w * (K1 + 1) / (w + norm) for w, norm in zip(weights, norms, strict=True)]
        for total, share in zip(scores, shares, strict=True):
            total += share
        if word in asked.words:
            for has, share in zip(has_word, shares, strict=True):
                has |= share > 0
        if keep_details:
            details.append(TermDetail(word, idf, np.concatenate(weights), np.concatenate(shares)))
    return KeywordScores(scores, has_word, details, possible if asked.has_pairs else 0.0, possible, information)


def inverse_document_frequency(documents: int, having: int) -> float:
    """Return ln(1 + (N - n + 0.5) / (n + 0.5)), the weight of a term; never negative."""
    return float(np.log1p((documents - having + 0.5) / (having + 0.5)))
