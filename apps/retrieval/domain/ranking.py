"""Which rows answer a query best, and why the others do not (spec 000 retrieval controls, DESIGN D10)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from apps.core.domain.scope import Scope
from apps.retrieval.domain.bm25 import KeywordScores, keyword_scores
from apps.retrieval.domain.planner import DEFAULT_COSTS, SearchCosts, SearchWay
from apps.retrieval.domain.postings import Bools, Floats, Slots
from apps.retrieval.domain.query import EMPTY_RANKING, Hit, Ranking, SearchMode, SearchQuery, TermShare
from apps.retrieval.domain.rows import RowStore
from apps.retrieval.domain.substance import BREVITY_CUT, QUESTION_CUT
from apps.retrieval.domain.text.terms import query_terms
from apps.retrieval.domain.vectors.cosines import cosines
from apps.retrieval.domain.vectors.nearest import nearest_rows

VECTOR_WEIGHT = 0.5
KEYWORD_WEIGHT = 0.5
# By the value of the column `decay_policy`, None for never; rows that do not decay need neither it nor the column.
HalfLives = Mapping[str, timedelta | None]
# Half of the sixth decimal: what is shown as reaching a limit reaches it.
_ROUNDING = 5e-7
Number = TypeVar("Number", bound=np.generic)
# Why rows are left out, and which rows pass.
_Filter = tuple[str, Bools]


@dataclass(frozen=True, eq=False)
class _Scored:
    """Everything computed per slot of all shards, one after the other."""

    ids: npt.NDArray[np.int64]
    score: Floats
    similarity: Floats | None
    keyword: Floats | None
    substance: Floats
    confidence: Floats


def rank(
    query: SearchQuery,
    scope: Scope,
    vector: npt.NDArray[np.float32] | None,
    terms: Sequence[str],
    shards: Sequence[RowStore],
    now: datetime,
    half_lives: HalfLives,
    costs: SearchCosts = DEFAULT_COSTS,
) -> Ranking:
    """Return the best `query.top_k` of the rows in `scope`, ties broken by the newer one.

    vector: the query's unit vector, or None when similarity is not needed. terms: see `terms_of`; both are made
    before the shards are locked. costs: of the ways to the nearest rows.
    """
    visible = [visible_slots(shard, scope) for shard in shards]
    if not any(mask.any() for mask in visible):
        return EMPTY_RANKING
    if query.effective_mode is SearchMode.VECTOR and query.min_similarity is None and vector is not None:
        return _rank_nearest(query, vector, shards, visible, now, half_lives, costs)
    words = None
    if query.effective_mode is not SearchMode.VECTOR:
        words = keyword_scores(terms, shards, visible, keep_details=query.explain)
    scored = _score(query, vector, shards, words, now, half_lives)
    remaining, _, filtered = _filter(_filters(query, shards, scored), _joined(visible))
    matched = np.flatnonzero(remaining)
    best = _best(scored, matched, query.top_k)
    hits = tuple(_hit(scored, slot, words) for slot in best)
    return Ranking(hits, len(matched), filtered)


def _rank_nearest(
    query: SearchQuery,
    vector: npt.NDArray[np.float32],
    shards: Sequence[RowStore],
    visible: Sequence[Bools],
    now: datetime,
    half_lives: HalfLives,
    costs: SearchCosts,
) -> Ranking:
    """Rank by similarity alone, so that only the rows near the vector are read."""
    filters = _row_filters(query, shards)
    if query.min_confidence is not None:
        filters.append(_confidence_filter(query, _joined([confidences(s, now, half_lives) for s in shards])))
    remaining, matched, filtered = _filter(filters, _joined(visible))
    parts = [remaining] if len(shards) == 1 else np.split(remaining, np.cumsum([s.size for s in shards])[:-1])
    near = [nearest_rows(shard, vector, part, query.top_k, costs) for shard, part in zip(shards, parts, strict=True)]
    ids = _joined([shard.ids[part.slots] for shard, part in zip(shards, near, strict=True)])
    similarities = _joined([part.similarities for part in near])
    confidence = _joined(
        [confidences(shard, now, half_lives, part.slots) for shard, part in zip(shards, near, strict=True)]
    )
    best = np.lexsort((-ids, -similarities))[: query.top_k]
    columns = ids[best].tolist(), similarities[best].round(6).tolist(), confidence[best].round(6).tolist()
    hits = tuple(
        Hit(id=row, score=cosine, similarity=cosine, keyword=None, substance=1.0, confidence=shown)
        for row, cosine, shown in zip(*columns, strict=True)
    )
    ways = sorted({part.way for part in near if len(part.slots)})
    return Ranking(hits, matched, filtered, "+".join(ways) or SearchWay.SCAN)


def _joined(parts: Sequence[npt.NDArray[Number]]) -> npt.NDArray[Number]:
    """Return one after the other, and no copy of a single one: with a large shard that is felt."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def visible_slots(shard: RowStore, scope: Scope) -> Bools:
    """Return the living slots that match the household and the persona of the scope. Shape (size,)."""
    mask = shard.alive
    for name in ("household_id", "persona_id"):
        wanted = getattr(scope, name)
        if wanted is not None:
            mask = mask & (shard.codes(name) == shard.code(name, wanted))
    return mask


def terms_of(query: SearchQuery) -> tuple[str, ...]:
    """Return the words that a search looks for; none when it goes by vector alone."""
    if query.query is None or query.effective_mode is SearchMode.VECTOR:
        return ()
    return tuple(query_terms(query.query))


def _score(
    query: SearchQuery,
    vector: npt.NDArray[np.float32] | None,
    shards: Sequence[RowStore],
    words: KeywordScores | None,
    now: datetime,
    half_lives: HalfLives,
) -> _Scored:
    similarity = None
    if vector is not None:
        similarity = np.concatenate([cosines(shard.vectors, vector) for shard in shards]).astype(np.float64)
    keyword = None if words is None else np.concatenate(words.scores)
    substance = np.concatenate([substances(shard) for shard in shards])
    score = fuse(query.effective_mode, similarity, keyword, 0.0 if words is None else words.maximum())
    if query.effective_mode is SearchMode.HYBRID:
        score = score * substance
    confidence = np.concatenate([confidences(shard, now, half_lives) for shard in shards])
    ids = np.concatenate([shard.ids for shard in shards])
    return _Scored(ids, score, similarity, keyword, substance, confidence)


def fuse(mode: SearchMode, similarity: Floats | None, keyword: Floats | None, best_keyword: float) -> Floats:
    """Return half the cosine and half BM25 divided by the best BM25 (DESIGN D10), or one of the two alone."""
    if mode is SearchMode.VECTOR:
        assert similarity is not None
        return similarity
    assert keyword is not None
    relative = keyword / best_keyword if best_keyword > 0 else keyword
    if mode is SearchMode.KEYWORD:
        return relative
    assert similarity is not None
    return VECTOR_WEIGHT * similarity + KEYWORD_WEIGHT * relative


def substances(shard: RowStore) -> Floats:
    """Return the factor of a hybrid score by slot, in (0, 1]: less for questions and for interjections in a session."""
    brief = np.where(shard.sessions.have_neighbours(), 1 - shard.fullness, 0.0)
    return np.asarray((1 - QUESTION_CUT * shard.question_share) * (1 - BREVITY_CUT * brief))


def confidences(shard: RowStore, now: datetime, half_lives: HalfLives, slots: Slots | slice = slice(None)) -> Floats:
    """Return the confidence that a reader sees, of these slots or of all."""
    rates = {policy: 1 / half_life.total_seconds() for policy, half_life in half_lives.items() if half_life is not None}
    if not rates:
        return shard.base_confidence[slots]
    by_code = np.array([rates.get(policy, 0.0) for policy in shard.values("decay_policy")])
    decay_rate = by_code[shard.codes("decay_policy")[slots]]
    age = np.maximum(now.timestamp() - shard.anchor[slots], 0.0)
    return np.asarray(shard.base_confidence[slots] * np.exp2(-age * decay_rate))


def _filter(filters: Sequence[_Filter], considered: Bools) -> tuple[Bools, int, dict[str, int]]:
    """Return the slots that pass every filter, their number, and how many failed which filter first."""
    remaining = considered
    counts = [int(np.count_nonzero(remaining))]
    for _, passes in filters:
        remaining = remaining & passes
        counts.append(int(np.count_nonzero(remaining)))
    fallen = (before - after for before, after in pairwise(counts))
    return remaining, counts[-1], {reason: count for (reason, _), count in zip(filters, fallen, strict=True)}


def _filters(query: SearchQuery, shards: Sequence[RowStore], scored: _Scored) -> list[_Filter]:
    filters = _row_filters(query, shards)
    if query.min_confidence is not None:
        filters.append(_confidence_filter(query, scored.confidence))
    if query.min_similarity is not None and scored.similarity is not None:
        filters.append(("min_similarity", scored.similarity >= query.min_similarity - _ROUNDING))
    if query.effective_mode is SearchMode.KEYWORD and scored.keyword is not None:
        filters.append(("no_common_word", scored.keyword > 0))
    return filters


def _row_filters(query: SearchQuery, shards: Sequence[RowStore]) -> list[_Filter]:
    """Return those that need no score."""
    filters = [
        (name, _joined([shard.codes(name) == shard.code(name, value) for shard in shards]))
        for name, value in query.tags.items()
    ]
    if query.start is not None or query.end is not None:
        happened = _joined([shard.happened for shard in shards])
        start = -np.inf if query.start is None else query.start.timestamp()
        end = np.inf if query.end is None else query.end.timestamp()
        filters.append(("time_window", (happened >= start) & (happened <= end)))
    return filters


def _confidence_filter(query: SearchQuery, confidence: Floats) -> _Filter:
    assert query.min_confidence is not None
    return "min_confidence", confidence >= query.min_confidence - _ROUNDING


def _best(scored: _Scored, matched: npt.NDArray[np.int64], top_k: int) -> list[int]:
    """Return the slots of the best matches, in order; equal scores by the newer id."""
    scores = scored.score[matched]
    if len(matched) > 4 * top_k:
        threshold = np.partition(scores, len(scores) - top_k)[len(scores) - top_k]
        candidates = scores >= threshold
        matched, scores = matched[candidates], scores[candidates]
    order = np.lexsort((-scored.ids[matched], -scores))[:top_k]
    return [int(slot) for slot in matched[order]]


def _hit(scored: _Scored, slot: int, words: KeywordScores | None) -> Hit:
    shares = (
        ()
        if words is None
        else tuple(
            TermShare(
                term=detail.term,
                weight=round(float(detail.weights[slot]), 3),
                idf=round(detail.idf, 6),
                score=round(float(detail.shares[slot]), 6),
            )
            for detail in words.details
            if detail.weights[slot] > 0
        )
    )
    return Hit(
        id=int(scored.ids[slot]),
        score=round(float(scored.score[slot]), 6),
        similarity=None if scored.similarity is None else round(float(scored.similarity[slot]), 6),
        keyword=None if scored.keyword is None else round(float(scored.keyword[slot]), 6),
        substance=round(float(scored.substance[slot]), 6),
        confidence=round(float(scored.confidence[slot]), 6),
        terms=shares,
    )
