"""The score of every row, and its parts (DESIGN D10)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from apps.retrieval.domain.bm25 import KeywordScores
from apps.retrieval.domain.postings import Floats, Slots
from apps.retrieval.domain.query import SearchMode, SearchQuery
from apps.retrieval.domain.rows import RowStore
from apps.retrieval.domain.substance import BREVITY_CUT, QUESTION_CUT
from apps.retrieval.domain.times.closeness import closeness, time_factors
from apps.retrieval.domain.vectors.cosines import cosines

# By the value of the column `decay_policy`, None for never; rows that do not decay need neither it nor the column.
HalfLives = Mapping[str, timedelta | None]
Number = TypeVar("Number", bound=np.generic)


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Everything computed per slot of all stores, concatenated.

    closeness: to the times that the query names; None where none count.
    """

    ids: npt.NDArray[np.int64]
    score: Floats
    similarity: Floats | None
    keyword: Floats | None
    substance: Floats
    confidence: Floats
    happened: Floats
    closeness: Floats | None


def score_rows(
    query: SearchQuery,
    vector: npt.NDArray[np.float32] | None,
    stores: Sequence[RowStore],
    words: KeywordScores | None,
    now: datetime,
    half_lives: HalfLives,
) -> ScoredRows:
    """Compute similarity, keyword score, substance, confidence and score of every slot."""
    similarity = None
    if vector is not None:
        similarity = np.concatenate([cosines(store.vectors, vector) for store in stores]).astype(np.float64)
    keyword = None if words is None else np.concatenate(words.scores)
    # Less for questions and for interjections in a session. In (0, 1].
    brief = [np.where(store.sessions.have_neighbours(), 1 - store.fullness, 0.0) for store in stores]
    substance = np.concatenate([
        (1 - QUESTION_CUT * store.question_share) * (1 - BREVITY_CUT * part)
        for store, part in zip(stores, brief, strict=True)
    ])  # fmt: skip
    score = fuse(query, similarity, keyword, words)
    if query.effective_mode is SearchMode.HYBRID:
        score = score * substance
    confidence = np.concatenate([confidences(store, now, half_lives) for store in stores])
    ids, happened = (concatenate([getattr(store, name) for store in stores]) for name in ("ids", "happened"))
    near = None
    if query.times and query.effective_mode is SearchMode.HYBRID:
        near = closeness(happened, query.times)
        score = score * time_factors(score, near)
    return ScoredRows(ids, score, similarity, keyword, substance, confidence, happened, near)


def fuse(query: SearchQuery, similarity: Floats | None, keyword: Floats | None, words: KeywordScores | None) -> Floats:
    """Return half the cosine and half BM25 as a share of what counts in full (DESIGN D10), or one of the two alone.

    It is the words alone as well where the embedder does not read the query.
    """
    mode = query.effective_mode
    if mode is SearchMode.VECTOR:
        assert similarity is not None
        return similarity
    assert keyword is not None
    assert words is not None
    reads_both = mode is SearchMode.HYBRID and query.vector_weight > 0
    full = words.maximum_beside_vectors() if reads_both else words.maximum()
    relative = keyword / full if full > 0 else keyword
    if mode is SearchMode.KEYWORD:
        return relative
    assert similarity is not None
    return query.vector_weight * similarity + (1 - query.vector_weight) * relative


def confidences(store: RowStore, now: datetime, half_lives: HalfLives, slots: Slots | slice = slice(None)) -> Floats:
    """Return the confidence that a reader sees, of these slots or of all."""
    rates = {policy: 1 / half_life.total_seconds() for policy, half_life in half_lives.items() if half_life is not None}
    if not rates:
        return store.base_confidence[slots]
    by_code = np.array([rates.get(policy, 0.0) for policy in store.values("decay_policy")])
    decay_rate = by_code[store.codes("decay_policy")[slots]]
    age = np.maximum(now.timestamp() - store.anchor[slots], 0.0)
    return np.asarray(store.base_confidence[slots] * np.exp2(-age * decay_rate))


def concatenate(parts: Sequence[npt.NDArray[Number]]) -> npt.NDArray[Number]:
    """Concatenate arrays without a copy of a single one, which takes long for a large store."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
