"""The arrays and the ranking against a naive reference that knows nothing of arrays."""

import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.core.domain.scope import Scope
from apps.retrieval.domain import bm25
from apps.retrieval.domain.bm25 import EVERY_WORD
from apps.retrieval.domain.lexemes import pack
from apps.retrieval.domain.query import VECTOR_WEIGHT, SearchMode, SearchQuery
from apps.retrieval.domain.ranking import rank, terms_of
from apps.retrieval.domain.rows import IndexRow, RowStore
from apps.retrieval.domain.sessions import NEIGHBOUR_WEIGHTS, SESSION_KEY
from apps.retrieval.domain.text.asked import NOTHING_ASKED
from apps.retrieval.domain.text.terms import query_terms
from tests.effort import examples

NOW = datetime(2026, 3, 1, tzinfo=UTC)
WORDS = ("fork", "river", "chess", "lamp", "cloud")
DIMENSION = 4
COLUMNS = ("type", *SESSION_KEY, "decay_policy")
HALF_LIVES = {"stable": None, "contextual": timedelta(days=7)}


@dataclass(frozen=True)
class Doc:
    """A row of the reference."""

    id: int
    words: tuple[str, ...] = ()
    session: str = ""
    persona: str = ""
    at: float = 0.0
    vector: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0)
    active: bool = True

    def row(self) -> IndexRow:
        coded = dict.fromkeys(COLUMNS, "")
        coded |= {"session_id": self.session, "persona_id": self.persona, "decay_policy": "stable"}
        vector = np.array(self.vector, dtype=np.float32).tobytes()
        return IndexRow(
            self.id, self.active, tuple(coded.values()), self.at, 0.0, 1.0, 0.0, 1.0, pack(self.words), vector
        )


def test_row_is_found_by_each_session_in_which_it_was_said() -> None:
    rows = [Doc(number, ("tea",), session="s1").row() for number in (1, 2, 3)]
    rows[1] = rows[1]._replace(further_sessions=("s2", "s3"))
    store = RowStore(4, COLUMNS)
    store.apply(rows)
    assert store.ids[store.having("session_id", "s2")].tolist() == [2]
    assert store.ids[store.having("session_id", "s1")].tolist() == [1, 2, 3]
    store.apply([rows[1]._replace(further_sessions=("s3",))])
    assert not store.having("session_id", "s2").any()
    assert store.ids[store.having("session_id", "s3")].tolist() == [2]
    store.apply([rows[1]._replace(active=False)])
    assert not store.having("session_id", "s3").any()


def test_tag_is_passed_by_another_column_where_the_query_says_so() -> None:
    rows = [Doc(number, ("tea",), persona=persona).row() for number, persona in enumerate(("", "p", "p", "q"), 1)]
    rows[0] = rows[0]._replace(coded=("t", *rows[0].coded[1:]))
    rows[1] = rows[1]._replace(coded=("t", *rows[1].coded[1:]))
    store, other = RowStore(DIMENSION, COLUMNS), filled([Doc(9, ("tea",))])
    store.apply(rows)
    assert search([store, other], tags={"type": "t"}).keys() == {1, 2}
    assert search([store, other], tags={"type": "t"}, also={"type": ("persona_id", "p")}).keys() == {1, 2, 3}
    assert search([store, other], tags={"type": "t"}, also={"type": ("persona_id", "nobody")}).keys() == {1, 2}
    assert search([store, other], also={"type": ("persona_id", "p")}).keys() == {1, 2, 3, 4, 9}


def naive_weights(docs: list[Doc], word: str) -> dict[int, float]:
    """How much of a word each document has, its neighbours' share included."""
    result = {}
    for doc in docs:
        weight = float(doc.words.count(word))
        if doc.session:
            peers = [d for d in docs if (d.session, d.persona) == (doc.session, doc.persona)]
            peers.sort(key=lambda d: (d.at, d.id))
            place = peers.index(doc)
            for distance, share in enumerate(NEIGHBOUR_WEIGHTS, start=1):
                for other in (place - distance, place + distance):
                    if 0 <= other < len(peers):
                        weight += share * peers[other].words.count(word)
        result[doc.id] = weight
    return result


def naive_bm25(docs: list[Doc], query: str) -> dict[int, float]:
    lengths = dict.fromkeys((doc.id for doc in docs), 0.0)
    for word in WORDS:
        for key, weight in naive_weights(docs, word).items():
            lengths[key] += weight
    mean = sum(lengths.values()) / len(docs) or 1.0
    scores = dict.fromkeys(lengths, 0.0)
    for word in query_terms(query):
        weights = naive_weights(docs, word)
        having = sum(weight > 0 for weight in weights.values())
        idf = math.log(1 + (len(docs) - having + 0.5) / (having + 0.5))
        for key, weight in weights.items():
            norm = bm25.K1 * (1 - bm25.B + bm25.B * lengths[key] / mean)
            scores[key] += idf * weight * (bm25.K1 + 1) / (weight + norm)
    return scores


def filled(docs: list[Doc]) -> RowStore:
    index = RowStore(DIMENSION, COLUMNS)
    index.apply([doc.row() for doc in docs])
    return index


def search(shards: list[RowStore], scope: Scope | list[Scope] | None = None, **fields: object) -> dict[int, float]:
    query = SearchQuery(**{"top_k": 100, **fields})  # type: ignore[arg-type]
    vector = np.array([1, 0, 0, 0], dtype=np.float32)
    ranking = rank(query, scope or Scope("ana"), vector, terms_of(query), shards, NOW, HALF_LIVES)
    return {hit.id: hit.score for hit in ranking.hits}


documents = st.builds(
    Doc,
    id=st.integers(1, 40),
    words=st.lists(st.sampled_from(WORDS), max_size=4).map(tuple),
    session=st.sampled_from(["", "s", "t"]),
    persona=st.sampled_from(["", "p"]),
    at=st.floats(0, 5).map(round).map(float),
    active=st.booleans(),
)


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(st.lists(documents, max_size=12), min_size=1, max_size=5))
def test_keyword_scores_are_those_of_naive_reference_after_any_changes(changes: list[list[Doc]]) -> None:
    index = RowStore(DIMENSION, COLUMNS)
    stored: dict[int, Doc] = {}
    for batch in changes:
        index.apply([doc.row() for doc in batch])
        stored |= {doc.id: doc for doc in batch}
        docs = [doc for doc in stored.values() if doc.active]
        found = search([index], query="fork chess", mode=SearchMode.KEYWORD)
        expected = {key: score for key, score in naive_bm25(docs, "fork chess").items() if score > 0} if docs else {}
        best = max(expected.values(), default=1.0)
        assert found == {key: pytest.approx(score / best, abs=2e-6) for key, score in expected.items()}


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(documents, min_size=1, max_size=20, unique_by=lambda doc: doc.id))
def test_packing_the_arrays_changes_no_answer(docs: list[Doc]) -> None:
    index = filled(docs)
    before = search([index], query="fork river")
    index._pack()
    assert search([index], query="fork river") == before
    assert len(index) == sum(doc.active for doc in docs)


@pytest.mark.parametrize("mode", [SearchMode.KEYWORD, SearchMode.HYBRID])
@pytest.mark.parametrize("seed", range(8))
def test_ties_come_in_same_order_in_whatever_order_rows_came(mode: SearchMode, seed: int) -> None:
    """Another process has the same rows in another order, between rows that are gone, and adds in another order."""
    random = np.random.default_rng(seed)
    repeated = ("fork",) * int(random.integers(1, 4)), ("river",) * int(random.integers(2, 6)), ("chess",) * 7
    docs = [Doc(number, sum(permuted(repeated, number), ())) for number in range(1, 61)]
    docs += [Doc(number, ("lamp",) * (number % 7), session=str(number % 5)) for number in range(61, 200)]
    shuffled = [docs[place] for place in random.permutation(len(docs))]
    other = filled([*shuffled[:100], *(replace(doc, words=("gone",)) for doc in shuffled[100:])])
    other.apply([doc.row() for doc in shuffled[100:]])
    fields = {"query": "fork river chess", "mode": mode, "top_k": 50, "current_first": False}
    for store in (filled(docs), other):
        assert list(search([store], **fields)) == list(range(60, 10, -1))


def permuted(counts: tuple[tuple[str, ...], ...], number: int) -> list[tuple[str, ...]]:
    """Return words of which each occurs as often as another one does in the next document."""
    order = list(permutations([len(words) for words in counts]))[number % 6]
    return [(words[0],) * count for words, count in zip(counts, order, strict=True)]


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(documents, min_size=1, max_size=20, unique_by=lambda doc: doc.id), st.integers(0, 20))
def test_two_shards_answer_as_one_when_sessions_are_not_split(docs: list[Doc], cut: int) -> None:
    docs = [replace(doc, session="") for doc in docs]
    assert search([filled(docs[:cut]), filled(docs[cut:])], query="fork") == search([filled(docs)], query="fork")


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(documents, max_size=12), st.lists(documents, max_size=12), st.sampled_from(["", "p"]))
def test_shards_of_which_each_has_a_scope_of_its_own_answer_as_naive_reference(
    own: list[Doc], included: list[Doc], persona: str
) -> None:
    """Of one owner what one persona has, of the other everything, and the statistics of words over both."""
    mine = {doc.id: doc for doc in own}
    theirs = {
        doc.id + 100: replace(doc, id=doc.id + 100, session=doc.session and f"of {doc.session}") for doc in included
    }
    stores = [filled(list(mine.values())), filled(list(theirs.values()))]
    visible = [doc for doc in mine.values() if doc.active and doc.persona == persona]
    visible += [doc for doc in theirs.values() if doc.active]
    scopes = [Scope("ana", persona_id=persona), Scope()]
    found = search(stores, scopes, query="fork chess", mode=SearchMode.KEYWORD)
    expected = {key: score for key, score in naive_bm25(visible, "fork chess").items() if score > 0} if visible else {}
    best = max(expected.values(), default=1.0)
    assert found == {key: pytest.approx(score / best, abs=2e-6) for key, score in expected.items()}


def test_arrays_are_packed_when_most_slots_are_dead() -> None:
    index = RowStore(DIMENSION, COLUMNS)
    for round_ in range(4):
        index.apply([Doc(n, ("fork",), at=float(round_)).row() for n in range(600)])
    assert len(index) == 600
    assert index.size <= 1_800
    assert len(search([index], query="fork", mode=SearchMode.KEYWORD)) == 100


def test_hybrid_is_weighted_sum_of_cosine_and_relative_bm25() -> None:
    docs = [Doc(1, ("fork",), vector=(0.6, 0.8, 0, 0)), Doc(2, ("river",), vector=(1, 0, 0, 0))]
    scores = search([filled(docs)], query="fork")
    assert scores == {
        1: pytest.approx(VECTOR_WEIGHT * 0.6 + (1 - VECTOR_WEIGHT) / EVERY_WORD, abs=1e-6),
        2: pytest.approx(VECTOR_WEIGHT, abs=1e-6),
    }


def test_a_word_found_by_chance_counts_for_less_than_a_vector_that_answers() -> None:
    by_chance, answer = (
        Doc(1, ("gate", "river"), vector=(0.6, 0.8, 0, 0)),
        Doc(2, ("lamp",), vector=(0.9, 0.19**0.5, 0, 0)),
    )
    others = [Doc(n, ("gate", "stone"), vector=(0, 0, 1, 0)) for n in range(3, 9)]
    index, query = filled([by_chance, answer, *others]), "chess board gate"
    scores = search([index], query=query)
    assert max(scores, key=scores.__getitem__) == answer.id
    by_words = search([index], query=query, mode=SearchMode.KEYWORD)
    assert max(by_words.values()) == pytest.approx(1)


def test_query_of_unknown_words_ranks_by_similarity() -> None:
    docs = [Doc(1, ("fork",), vector=(0.6, 0.8, 0, 0)), Doc(2, vector=(1, 0, 0, 0))]
    assert list(search([filled(docs)], query="zebra")) == [2, 1]


def test_equal_scores_are_ordered_by_newer_row() -> None:
    assert list(search([filled([Doc(n) for n in range(1, 31)])], query="x", top_k=3)) == [30, 29, 28]


@pytest.mark.parametrize("top_k", [1, 3, 10, 100])
def test_best_are_same_whatever_number_asked_for(top_k: int) -> None:
    rng = np.random.default_rng(7)
    docs = [Doc(n, vector=tuple(v / np.linalg.norm(v))) for n, v in enumerate(rng.normal(size=(50, 4)), start=1)]
    full = list(search([filled(docs)], query="x", top_k=1000))
    assert list(search([filled(docs)], query="x", top_k=top_k)) == full[:top_k]


def test_filter_that_keeps_one_in_thousand_still_finds_it() -> None:
    docs = [Doc(n, at=float(n)) for n in range(1, 1001)]
    moment = datetime.fromtimestamp(500, UTC)
    assert list(search([filled(docs)], query="x", start=moment, end=moment, top_k=5)) == [500]


def test_persona_of_scope_bounds_statistics_too() -> None:
    mine = [Doc(1, ("fork",), persona="p"), Doc(2, ("river",), persona="p")]
    others = [Doc(n, ("fork", "lamp") * 3, persona="q") for n in range(3, 20)]
    scope = Scope("ana", persona_id="p")
    alone = search([filled(mine)], scope, query="fork river")
    assert search([filled(mine + others)], scope, query="fork river") == alone


def test_a_row_without_a_vector_has_no_similarity() -> None:
    row = Doc(1, ("fork",)).row()._replace(vector=b"")
    index = RowStore(DIMENSION, COLUMNS)
    index.apply([row])
    assert search([index], query="fork") == {1: pytest.approx((1 - VECTOR_WEIGHT) / EVERY_WORD, abs=1e-6)}


def test_confidence_decays_by_policy() -> None:
    coded = dict.fromkeys(COLUMNS, "") | {"decay_policy": "contextual"}
    row = Doc(1).row()._replace(coded=tuple(coded.values()), anchor=(NOW - timedelta(days=7)).timestamp())
    index = RowStore(DIMENSION, COLUMNS)
    index.apply([row])
    query = SearchQuery(query="x", min_confidence=0.5)
    ranking = rank(query, Scope("ana"), np.zeros(4, dtype=np.float32), terms_of(query), [index], NOW, HALF_LIVES)
    assert [hit.confidence for hit in ranking.hits] == [0.5]


def test_shard_is_filtered_by_columns_that_its_owner_names() -> None:
    index = RowStore(DIMENSION, (*SESSION_KEY, "event_type"))
    index.apply([Doc(n).row()._replace(coded=("", "", "", kind)) for n, kind in enumerate(("visit", "meal", "visit"))])
    query = SearchQuery(query="x", tags={"event_type": "visit"})
    ranking = rank(query, Scope("ana"), np.zeros(4, dtype=np.float32), NOTHING_ASKED, [index], NOW, {})
    assert ({hit.id for hit in ranking.hits}, ranking.filtered) == ({0, 2}, {"event_type": 1})


def test_rows_without_vectors_and_decay_are_ranked_by_their_words() -> None:
    index = RowStore(0)
    docs = [Doc(1, ("fork",)), Doc(2, ("fork", "river")), Doc(3, ("lamp",))]
    index.apply([doc.row()._replace(coded=("", "", ""), vector=b"") for doc in docs])
    query = SearchQuery(query="river fork", mode=SearchMode.KEYWORD)
    ranking = rank(query, Scope("ana"), None, terms_of(query), [index], NOW, {})
    assert [(hit.id, hit.confidence) for hit in ranking.hits] == [(2, 1.0), (1, 1.0)]


def test_what_the_embedder_does_not_read_is_ranked_by_words_alone() -> None:
    near, named = Doc(1, ("river",)), Doc(2, ("fork",), vector=(0.0, 1.0, 0.0, 0.0))
    assert search([filled([near, named])], query="fork", is_read=False) == {2: 1.0, 1: 0.0}
    assert search([filled([near, named])], query="fork")[1] > 0


def test_single_characters_order_hits_but_find_none_by_words() -> None:
    docs = [Doc(1, ("敏", "感")), Doc(2, ("river",)), Doc(3, ("过敏", "过", "敏"))]
    assert search([filled(docs)], query="過敏", mode=SearchMode.KEYWORD).keys() == {3}
    scores = search([filled(docs)], query="過敏", is_read=False)
    assert scores[3] > 0.9 > scores[1] > scores[2] == 0.0


def test_share_of_the_possible_counts_for_pairs_of_characters() -> None:
    docs = [Doc(1, ("过敏", "river")), Doc(2, ("river",))]
    assert search([filled(docs)], query="過敏", mode=SearchMode.KEYWORD)[1] > 0.6
    assert search([filled(docs)], query="過敏花生醬", mode=SearchMode.KEYWORD)[1] < 0.3
    assert search([filled(docs)], query="rivers", mode=SearchMode.KEYWORD) == {1: pytest.approx(0.9, abs=0.1), 2: 1.0}


def test_best_of_single_characters_is_not_as_good_as_a_word() -> None:
    assert 0 < search([filled([Doc(1, ("敏", "感")), Doc(2, ("river",))])], query="過敏", is_read=False)[1] < 0.5
