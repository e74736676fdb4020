"""Which rows answer a query best, and why the others do not (spec 000 retrieval controls, DESIGN D10)."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from apps.core.domain.scope import Scope
from apps.retrieval.domain.bm25 import KeywordScores, keyword_scores
from apps.retrieval.domain.matters import WINDOW, find_matters, put_newer_first
from apps.retrieval.domain.planner import DEFAULT_COSTS, SearchCosts, SearchWay
from apps.retrieval.domain.postings import Bools, Floats, Slots
from apps.retrieval.domain.query import EMPTY_RANKING, Hit, Pair, Ranking, SearchMode, SearchQuery, TermShare, TimeShare
from apps.retrieval.domain.relevance import BEST_OF, Background, Evidence, gather_evidence, relevance_of
from apps.retrieval.domain.rows import RowStore
from apps.retrieval.domain.scores import HalfLives, ScoredRows, concatenate, confidences, score_rows
from apps.retrieval.domain.text.asked import NOTHING_ASKED, AskedTerms, asked_terms
from apps.retrieval.domain.times.closeness import time_factors
from apps.retrieval.domain.times.read import NamedTime, read_times
from apps.retrieval.domain.vectors.nearest import nearest_rows

# So many of the nearest rows are searched for newer ones: asking a graph for more takes longer.
NEAR_WINDOW = 10
# Scores that are shown as equal are equal: the order of additions, which differs between processes, decides nothing.
DIGITS = 6
# Half of the sixth decimal: what is shown as reaching a limit reaches it.
_ROUNDING = 5e-7
# The reason for which rows are left out, and which rows pass.
Filter = tuple[str, Bools]


def rank(
    query: SearchQuery,
    scope: Scope | Sequence[Scope],
    vector: npt.NDArray[np.float32] | None,
    terms: AskedTerms,
    stores: Sequence[RowStore],
    now: datetime,
    half_lives: HalfLives,
    costs: SearchCosts = DEFAULT_COSTS,
    background: Background | None = None,
) -> Ranking:
    """Return the best `query.top_k` of the rows in `scope`, ties broken by the newer one.

    scope: of all stores, or one for each of them.
    vector: the query's unit vector, or None when similarity is not needed. terms: see `terms_of`; both are made
    before the stores are locked. costs: of the ways to the nearest rows. background: what cosines are compared with to
    judge the relevance of hits; None where they say nothing of the query.
    """
    ranking = rank_by_score(query, scope, vector, terms, stores, now, half_lives, costs, background)
    return replace(ranking, hits=put_newer_first(ranking.hits, ranking.pairs)[: query.top_k])


def rank_by_score(
    query: SearchQuery,
    scope: Scope | Sequence[Scope],
    vector: npt.NDArray[np.float32] | None,
    terms: AskedTerms,
    stores: Sequence[RowStore],
    now: datetime,
    half_lives: HalfLives,
    costs: SearchCosts = DEFAULT_COSTS,
    background: Background | None = None,
) -> Ranking:
    """Return the same in the order of the scores, and which hits speak of one matter where the query asks for it.

    After the best `query.top_k` come those that may be put before one of them. Arguments: see `rank`.
    """
    scopes = [scope] * len(stores) if isinstance(scope, Scope) else scope
    visible = [visible_slots(store, one, now) for store, one in zip(stores, scopes, strict=True)]
    if not any(mask.any() for mask in visible):
        return EMPTY_RANKING
    needs_all = query.min_similarity is not None or query.min_relevance is not None
    if query.effective_mode is SearchMode.VECTOR and not needs_all and vector is not None:
        return rank_nearest(query, vector, stores, visible, now, half_lives, costs, background)
    words = None
    if query.effective_mode is not SearchMode.VECTOR:
        words = keyword_scores(terms, stores, visible, keep_details=query.explain, zone=query.zone)
        if query.explain and query.query is not None:
            words = words.written_as(query.query)
    scored = score_rows(query, vector, stores, words, now, half_lives)
    filters = row_filters(query, stores)
    if query.min_confidence is not None:
        filters.append(("min_confidence", scored.confidence >= query.min_confidence - _ROUNDING))
    if query.min_similarity is not None and scored.similarity is not None:
        filters.append(("min_similarity", scored.similarity >= query.min_similarity - _ROUNDING))
    if query.effective_mode is SearchMode.KEYWORD and words is not None:
        filters.append(("no_common_word", concatenate(words.has_word)))
    considered = concatenate(visible)
    remaining, _, filtered = apply_filters(filters, considered)
    matched = np.flatnonzero(remaining)
    best = best_slots(scored, matched, max(query.top_k, WINDOW if query.current_first else BEST_OF))
    similarities = None if scored.similarity is None else scored.similarity[best[:WINDOW]]
    matters = find_matters(query, stores, best[:WINDOW], scored.score[best[:WINDOW]], similarities)
    rows = int(np.count_nonzero(considered))
    known, leading = background if query.is_read else None, leading_slots(scored, matched, best)
    if query.min_relevance is None:
        evidence = evidence_of_best(scored, best, leading, words, known, rows)
        likely = relevance_by_slot(evidence, scored.ids, best, matters.pairs)
    else:
        likely = {}
        everything = evidence_of(scored, leading, words, known, rows)
        relevant = relevant_slots(query.min_relevance, everything, scored.ids, best[:WINDOW], matters.pairs)
        if relevant is not None:
            matched = np.flatnonzero(remaining & relevant)
            filtered["min_relevance"] = int(np.count_nonzero(remaining)) - len(matched)
            window, best = best, best_slots(scored, matched, len(best))
            slots = np.union1d(window, best)
            likely = relevance_by_slot(take(everything, slots), scored.ids, slots, matters.pairs)
    shown = with_newer(best, scored.ids, query.top_k, matters.pairs)
    hits = [make_hit(query, scored, slot, words)._replace(relevance=likely.get(slot)) for slot in shown]
    return Ranking(tuple(hits), len(matched), filtered, pairs=matters.pairs, notes=matters.notes)


def relevant_slots(
    least: float, evidence: Evidence, ids: npt.NDArray[np.int64], best: Slots, pairs: Sequence[Pair]
) -> Bools | None:
    """Return which slots are relevant enough; None where nothing can tell."""
    relevance = relevance_of(evidence)
    if relevance is None:
        return None
    raise_newer(relevance, ids, best, pairs)
    return np.asarray(relevance >= least)


def relevance_by_slot(
    evidence: Evidence, ids: npt.NDArray[np.int64], slots: Slots, pairs: Sequence[Pair]
) -> dict[int, float]:
    """Return how relevant some slots are; nothing where nothing can tell. evidence: of these slots, in their order."""
    likely = relevance_of(evidence)
    if likely is None:
        return {}
    raise_newer(likely, ids[slots], np.arange(len(slots)), pairs)
    return dict(zip(slots.tolist(), likely.tolist(), strict=True))


def leading_slots(scored: ScoredRows, matched: Slots, best: Slots) -> Slots:
    """Return the slots by which it is judged whether there is an answer at all: the best, however near in time."""
    if scored.closeness is None:
        return best[:BEST_OF]
    timeless = scored.score / time_factors(scored.score, scored.closeness)
    return best_slots(replace(scored, score=timeless), matched, BEST_OF)


def evidence_of(
    scored: ScoredRows, leading: Slots, words: KeywordScores | None, background: Background | None, rows: int
) -> Evidence:
    """Return what is known of the relevance of every slot. leading: see `leading_slots`."""
    information = 0.0 if words is None else words.information
    evidence = gather_evidence(
        scored.similarity, scored.keyword, scored.substance, leading, background, information, rows
    )
    return evidence._replace(closeness=scored.closeness)


def evidence_of_best(
    scored: ScoredRows,
    best: Slots,
    leading: Slots,
    words: KeywordScores | None,
    background: Background | None,
    rows: int,
) -> Evidence:
    """Return the same of the best slots alone, in their order: without a cut no other one is asked about."""
    slots = np.concatenate([best, leading])
    parts = (
        None if part is None else part[slots]
        for part in (scored.similarity, scored.keyword, scored.substance, scored.closeness)
    )
    similarity, keyword, substance, near = parts
    information, first = 0.0 if words is None else words.information, np.arange(len(best), len(slots))
    evidence = gather_evidence(similarity, keyword, substance, first, background, information, rows)
    return take(evidence._replace(closeness=near), np.arange(len(best)))


def take(evidence: Evidence, slots: Slots) -> Evidence:
    """Return the evidence of some slots alone."""
    nearness, coverage, substance, near = (
        None if part is None else part[slots]
        for part in (evidence.nearness, evidence.coverage, evidence.substance, evidence.closeness)
    )
    return evidence._replace(nearness=nearness, coverage=coverage, substance=substance, closeness=near)


def raise_newer(relevance: Floats, ids: npt.NDArray[np.int64], slots: Slots, pairs: Sequence[Pair]) -> None:
    """Make the newer one of each pair as relevant as the older one, of which it speaks as well. Changes `relevance`."""
    slot_of = dict(zip(ids[slots].tolist(), slots.tolist(), strict=True)) if pairs else {}
    for _ in pairs:  # a chain of pairs is as long as there are pairs, at most
        before = relevance[slots].copy()
        for newer, older, _by in pairs:
            if newer in slot_of and older in slot_of:
                relevance[slot_of[newer]] = max(relevance[slot_of[newer]], relevance[slot_of[older]])
        if np.array_equal(before, relevance[slots]):
            break


def with_newer(best: Slots, ids: npt.NDArray[np.int64], top_k: int, pairs: Sequence[Pair]) -> list[int]:
    """Return the first `top_k` slots, and of the others those of the newer row of a pair. ids: by slot."""
    newer = {pair.newer for pair in pairs}
    return [slot for place, slot in enumerate(best.tolist()) if place < top_k or ids[slot] in newer]


def rank_nearest(
    query: SearchQuery,
    vector: npt.NDArray[np.float32],
    stores: Sequence[RowStore],
    visible: Sequence[Bools],
    now: datetime,
    half_lives: HalfLives,
    costs: SearchCosts,
    background: Background | None,
) -> Ranking:
    """Rank by similarity alone, so that only the rows near the vector are read."""
    filters = row_filters(query, stores)
    if query.min_confidence is not None:
        confidence = concatenate([confidences(store, now, half_lives) for store in stores])
        filters.append(("min_confidence", confidence >= query.min_confidence - _ROUNDING))
    remaining, matched, filtered = apply_filters(filters, concatenate(visible))
    parts = [remaining] if len(stores) == 1 else np.split(remaining, np.cumsum([s.size for s in stores])[:-1])
    wanted = max(query.top_k, NEAR_WINDOW) if query.current_first else query.top_k
    near = [nearest_rows(store, vector, part, wanted, costs) for store, part in zip(stores, parts, strict=True)]
    starts = np.cumsum([0, *(store.size for store in stores)])
    slots = concatenate([part.slots + start for part, start in zip(near, starts, strict=False)])
    similarities = concatenate([part.similarities for part in near])
    ids = concatenate([store.ids[part.slots] for store, part in zip(stores, near, strict=True)])
    happened = concatenate([store.happened[part.slots] for store, part in zip(stores, near, strict=True)])
    confidence = concatenate(
        [confidences(store, now, half_lives, part.slots) for store, part in zip(stores, near, strict=True)]
    )
    best = np.lexsort((-ids, -similarities.round(DIGITS)))[:wanted]
    top = best[:WINDOW]
    matters = find_matters(query, stores, slots[top], similarities[top], similarities[top])
    shown = with_newer(best, ids, query.top_k, matters.pairs)
    columns = ids[shown], similarities[shown].round(6), confidence[shown].round(6), happened[shown]
    rows = sum(int(np.count_nonzero(mask)) for mask in visible)
    likely = relevance_of(gather_evidence(similarities, None, None, best[:BEST_OF], background, 0.0, rows))
    hits = tuple(
        Hit(row, cosine, similarity=cosine, keyword=None, substance=1.0, confidence=sure, happened=moment)
        for row, cosine, sure, moment in zip(*(column.tolist() for column in columns), strict=True)
    )
    if likely is not None:
        raise_newer(likely, ids, best, matters.pairs)
        hits = tuple(hit._replace(relevance=each) for hit, each in zip(hits, likely[shown].tolist(), strict=True))
    ways = sorted({part.way for part in near if len(part.slots)})
    return Ranking(hits, matched, filtered, "+".join(ways) or SearchWay.SCAN, *matters)


def visible_slots(store: RowStore, scope: Scope, now: datetime) -> Bools:
    """Return the living slots that match household and persona of the scope and have not expired. Shape (size,)."""
    mask = store.alive
    if store.next_expiry <= now.timestamp():
        mask = mask & (store.expires > now.timestamp())
    for name in ("household_id", "persona_id"):
        wanted = getattr(scope, name)
        if wanted is not None:
            mask = mask & (store.codes(name) == store.code(name, wanted))
    return mask


def times_of(query: SearchQuery, now: datetime) -> tuple[NamedTime, ...]:
    """Return the times that a hybrid search names, by its moment and its zone, else by `now`; other modes use none."""
    if query.query is None or query.effective_mode is not SearchMode.HYBRID:
        return ()
    asked_at = query.asked_at or now
    return read_times(query.query, asked_at, query.zone or asked_at.tzinfo or UTC)


def terms_of(query: SearchQuery) -> AskedTerms:
    """Return the words that a search looks for; none when it goes by vector alone.

    Where vectors find what is said in other words, single characters would only disturb them.
    """
    if query.query is None or query.effective_mode is SearchMode.VECTOR:
        return NOTHING_ASKED
    asked = asked_terms(query.query)
    return AskedTerms(asked.words) if query.effective_mode is SearchMode.HYBRID and query.is_read else asked


def apply_filters(filters: Sequence[Filter], considered: Bools) -> tuple[Bools, int, dict[str, int]]:
    """Return the slots that pass every filter, their number, and how many failed which filter first."""
    remaining = considered
    counts = [int(np.count_nonzero(remaining))]
    for _, passes in filters:
        remaining = remaining & passes
        counts.append(int(np.count_nonzero(remaining)))
    fallen = (before - after for before, after in pairwise(counts))
    return remaining, counts[-1], {reason: count for (reason, _), count in zip(filters, fallen, strict=True)}


def row_filters(query: SearchQuery, stores: Sequence[RowStore]) -> list[Filter]:
    """Return the filters that need no score: tags and the time window."""
    filters: list[Filter] = []
    for name, value in query.tags.items():
        # Another column and the value with which a slot passes as well; most stores never had such a row.
        also = query.also.get(name)
        parts = [store.having(name, value) for store in stores]
        if also is not None:
            for store, passes in zip(stores, parts, strict=True):
                if store.code(*also) >= 0:
                    passes |= store.having(*also)
        filters.append((name, concatenate(parts)))
    if query.start is not None or query.end is not None:
        happened = concatenate([store.happened for store in stores])
        passes = np.ones(len(happened), dtype=np.bool_)
        if query.start is not None:
            passes &= happened >= query.start.timestamp()
        if query.end is not None:
            passes &= happened <= query.end.timestamp()
        filters.append(("time_window", passes))
    if query.allowed is not None:
        filters.append(("filter", np.isin(concatenate([store.ids for store in stores]), query.allowed)))
    return filters


def best_slots(scored: ScoredRows, matched: Slots, top_k: int) -> Slots:
    """Return the slots of the best matches, in order; scores that are shown as equal by the newer id."""
    scores = scored.score[matched]
    if len(matched) > 4 * top_k:
        threshold = np.partition(scores, len(scores) - top_k)[len(scores) - top_k]
        candidates = scores >= threshold - 2 * _ROUNDING
        matched, scores = matched[candidates], scores[candidates]
    order = np.lexsort((-scored.ids[matched], -scores.round(DIGITS)))[:top_k]
    return np.asarray(matched[order])


def make_hit(query: SearchQuery, scored: ScoredRows, slot: int, words: KeywordScores | None) -> Hit:
    """Return the hit of a slot, with the share of each term when details were kept."""
    shares = (
        TermShare(
            term=detail.term,
            weight=round(float(detail.weights[slot]), 3),
            idf=round(detail.idf, 6),
            score=round(float(detail.shares[slot]), 6),
        )
        for detail in (words.details if words else ())
        if detail.weights[slot] > 0
    )
    return Hit(
        id=int(scored.ids[slot]),
        score=round(float(scored.score[slot]), 6),
        similarity=None if scored.similarity is None else round(float(scored.similarity[slot]), 6),
        keyword=None if scored.keyword is None else round(float(scored.keyword[slot]), 6),
        substance=round(float(scored.substance[slot]), 6),
        confidence=round(float(scored.confidence[slot]), 6),
        terms=tuple(shares),
        happened=float(scored.happened[slot]),
        vector_weight=query.vector_weight,
        time=time_share(query, scored, slot),
    )


def time_share(query: SearchQuery, scored: ScoredRows, slot: int) -> TimeShare | None:
    """Return what the times of a query did to the score of a slot; None where none count."""
    if scored.closeness is None:
        return None
    near = scored.closeness[slot]
    factor = time_factors(scored.score[slot], near)
    return TimeShare(query.times, round(float(near), DIGITS), round(float(factor), DIGITS))
