"""How likely a hit is what was asked for: one meaning for every limit, mode and filter, and the cut."""

from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.core.domain.scope import Scope
from apps.retrieval.domain.lexemes import document_lexemes
from apps.retrieval.domain.query import Ranking, SearchMode, SearchQuery
from apps.retrieval.domain.ranking import rank, terms_of, times_of
from apps.retrieval.domain.relevance import (
    MIN_RELEVANCE,
    MIN_RELEVANCE_UNASKED,
    MIN_SPREAD,
    Background,
    gather_evidence,
    measure_background,
    relevance_of,
)
from apps.retrieval.domain.rows import IndexRow, RowStore
from apps.retrieval.domain.sessions import SESSION_KEY
from tests.effort import examples

NOW = datetime(2026, 3, 1, tzinfo=UTC)
BACKGROUND = Background(0.1, 0.1)
TEXTS = (
    "Ana plays the cello on Sundays.",
    "Ana keeps her cello in the studio.",
    "The heating was broken for a week.",
    "Bread is cheaper at the market.",
    "The train to Graz leaves at nine.",
    "Rex is afraid of thunder.",
)
# By the dimension of the first number: how near each text is to "cello".
NEAR = (0.8, 0.7, 0.1, 0.0, 0.15, 0.05)
ASKED = np.array([1.0, 0.0], dtype=np.float32)
OTHER = np.array([0.0, 1.0], dtype=np.float32)


@pytest.fixture(scope="module")
def store() -> RowStore:
    store = RowStore(2, SESSION_KEY)
    store.apply([
        IndexRow(place, True, ("", "", ""), place, 0.0, 1.0, 0.0, 1.0, document_lexemes(text), vector_at(near))
        for place, (text, near) in enumerate(zip(TEXTS, NEAR, strict=True), 1)
    ])  # fmt: skip
    return store


def vector_at(near: float) -> bytes:
    """A unit vector with this cosine with ASKED, and a small one with OTHER."""
    return np.array([near, 0.2], dtype=np.float32).tobytes()


def search(store: RowStore, background: Background | None = BACKGROUND, **fields: object) -> Ranking:
    query = replace(SearchQuery(query="Who plays the cello?", current_first=False), **fields)  # type: ignore[arg-type]
    vector = None if query.mode is SearchMode.KEYWORD else ASKED
    return rank(query, Scope(), vector, terms_of(query), [store], NOW, {}, background=background)


@pytest.mark.parametrize("mode", SearchMode)
def test_a_cut_leaves_out_the_weak_and_counts_them(store: RowStore, mode: SearchMode) -> None:
    everything, cut = search(store, mode=mode), search(store, mode=mode, min_relevance=MIN_RELEVANCE)
    likely = {hit.id: hit.relevance for hit in everything.hits}
    assert {hit.id for hit in cut.hits} == {row for row, each in likely.items() if each >= MIN_RELEVANCE} <= {1, 2}
    assert all(hit.relevance == likely[hit.id] for hit in cut.hits)
    assert cut.filtered["min_relevance"] == everything.matched - cut.matched
    assert cut.considered == everything.considered == len(TEXTS)
    assert [hit.id for hit in cut.hits] == [hit.id for hit in everything.hits if hit.id in {h.id for h in cut.hits}]


@pytest.mark.parametrize("mode", SearchMode)
def test_relevance_does_not_depend_on_the_limit(store: RowStore, mode: SearchMode) -> None:
    assert search(store, mode=mode, top_k=1).hits[0] == search(store, mode=mode, top_k=1000).hits[0]


def test_what_no_memory_answers_finds_nothing(store: RowStore) -> None:
    query = SearchQuery(query="Which dentist did we choose in Oslo?", min_relevance=MIN_RELEVANCE, current_first=False)
    ranking = rank(query, Scope(), OTHER, terms_of(query), [store], NOW, {}, background=BACKGROUND)
    assert (ranking.hits, ranking.matched, ranking.filtered["min_relevance"]) == ((), 0, len(TEXTS))


def test_zero_leaves_out_nothing(store: RowStore) -> None:
    assert search(store, min_relevance=0.0).hits == search(store).hits


def test_without_background_words_decide_and_without_both_nothing(store: RowStore) -> None:
    by_words = search(store, mode=SearchMode.KEYWORD).hits
    assert search(store, background=None).hits[0].relevance == by_words[0].relevance
    unknown = search(store, background=None, mode=SearchMode.VECTOR, min_relevance=0.5)
    assert (len(unknown.hits), {hit.relevance for hit in unknown.hits}) == (len(TEXTS), {None})
    assert "min_relevance" not in unknown.filtered


def test_the_newer_of_a_matter_is_as_relevant_as_the_older() -> None:
    told = ["Ana lives in Lisbon.", "Ana now lives in Graz with a friend of hers."]
    store = RowStore(2, SESSION_KEY)
    store.apply([
        IndexRow(place, True, ("", "", ""), place, 0.0, 1.0, 0.0, 1.0, document_lexemes(text), vector_at(near))
        for place, (text, near) in enumerate(zip(told, (0.95, 0.9), strict=True), 1)
    ])  # fmt: skip
    query = SearchQuery(query="Where does Ana live?", current_first=True)
    alone = rank(replace(query, current_first=False), Scope(), ASKED, terms_of(query), [store], NOW, {},
                 background=BACKGROUND).hits  # fmt: skip
    assert [hit.id for hit in alone] == [1, 2]
    assert alone[0].relevance > alone[1].relevance
    for least in (None, alone[0].relevance):
        asked = replace(query, min_relevance=least)
        newer, older = rank(asked, Scope(), ASKED, terms_of(query), [store], NOW, {}, background=BACKGROUND).hits
        assert (newer.id, newer.relevance, older.relevance) == (2, alone[0].relevance, alone[0].relevance)


@given(
    best=st.floats(-1, 1), cosines=st.lists(st.floats(-1, 1), min_size=2, max_size=9), rows=st.integers(1, 10**6),
    mean=st.floats(-0.2, 0.9), spread=st.floats(MIN_SPREAD, 0.3),
)  # fmt: skip
@settings(max_examples=examples(200))
def test_relevance_is_a_share_that_rises_with_the_cosine(
    best: float, cosines: list[float], rows: int, mean: float, spread: float
) -> None:
    similar = np.array([best, *sorted(cosines)])
    for keyword in (None, np.zeros(len(similar))):
        evidence = gather_evidence(similar, keyword, None, np.array([0]), Background(mean, spread), 3.0, rows)
        likely = relevance_of(evidence)
        assert likely is not None
        assert ((likely >= 0) & (likely <= 1)).all()
        assert all(one <= other for one, other in pairwise(likely[1:].tolist()))


def test_a_crowded_space_is_judged_as_a_wide_one() -> None:
    wide, crowded = np.array([0.7, 0.1, 0.0]), np.array([0.94, 0.82, 0.80])
    found = [
        relevance_of(gather_evidence(cosines, None, None, np.array([0]), Background(mean, spread), 0.0, 100))
        for cosines, mean, spread in ((wide, 0.05, 0.1), (crowded, 0.81, 0.02))
    ]
    assert found[0] is not None
    assert found[1] is not None
    assert np.allclose(found[0], found[1])


def test_what_happened_then_is_more_relevant_and_nothing_is_less() -> None:
    store = RowStore(2, SESSION_KEY)
    store.apply([
        IndexRow(place, True, ("", "", ""), datetime(2025, month, 10, tzinfo=UTC).timestamp(), 0.0, 1.0, 0.0, 1.0,
                 document_lexemes("Dinner with Ana"), vector_at(0.6))
        for place, month in ((1, 5), (2, 8))
    ])  # fmt: skip
    query = SearchQuery(query="Dinner in May?", min_relevance=0.0)
    asked = replace(query, times=times_of(query, datetime(2025, 9, 1, tzinfo=UTC)))
    plain, timed = (
        {hit.id: hit.relevance for hit in rank(one, Scope(), ASKED, terms_of(query), [store], NOW, {},
                                               background=BACKGROUND).hits}
        for one in (query, asked)
    )  # fmt: skip
    assert plain[1] == plain[2] == pytest.approx(timed[2], abs=0.02)
    assert timed[1] > timed[2] >= plain[2]


def test_background_is_that_of_the_sentences() -> None:
    same = np.tile(ASKED, (3, 1))
    assert measure_background(same, same) == Background(1.0, MIN_SPREAD)
    assert measure_background(same, np.stack([ASKED, OTHER])) == Background(0.5, 0.5)


def test_what_is_added_unasked_must_fit_better() -> None:
    assert 0 < MIN_RELEVANCE < MIN_RELEVANCE_UNASKED < 1
