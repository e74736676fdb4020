"""Scopes to measure with: what is in the tables is what is searched, and the truth about it is the truth."""

from collections.abc import Iterator

import numpy as np
import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from apps.core.domain.scope import Scope, system_access
from apps.retrieval.domain.query import SearchMode, SearchQuery
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Memory, MemoryEmbedding
from apps.semantic.search.search import memory_search
from apps.semantic.services import memory_save
from apps.semantic.store.embedding_space import current_space, forget_space
from apps.semantic.store.rows import word_columns
from benchmarks.vectors.data import FILTERS, Question, ScopeData, fill, questions, real_scope, synthetic_scope

ALL, TENTH, HUNDREDTH, THOUSANDTH, CLUSTERED = FILTERS


def scope(rows: int = 300, dimension: int = 16, queries: int = 20) -> ScopeData:
    return synthetic_scope("ana", rows, queries, dimension)


@pytest.fixture(autouse=True)
def _space_of_this_test() -> Iterator[None]:
    forget_space()
    yield
    forget_space()


@pytest.fixture
def filled() -> tuple[ScopeData, list[tuple[int, str]]]:
    data = scope(dimension=current_space().dimension)
    return data, fill(data, current_space())


@pytest.mark.django_db
class TestFilling:
    def test_every_row_is_memory_with_its_vector_and_its_tags(self, filled) -> None:
        data, ids = filled
        memories = Memory.objects.in_bulk([pk for pk, _ in ids])
        assert [memories[pk].content for pk, _ in ids] == list(data.texts)
        assert [str(memories[pk].uuid) for pk, _ in ids] == [uuid for _, uuid in ids]
        for column, values in data.tags.items():
            assert [getattr(memories[pk], column) for pk, _ in ids] == values.tolist()
        stored = dict(MemoryEmbedding.objects.values_list("memory_id", "vector"))
        assert np.array_equal(np.array([stored[pk] for pk, _ in ids], dtype=np.float32), data.vectors)

    def test_a_row_has_what_a_saved_one_has(self, filled) -> None:
        data, ids = filled
        draft = MemoryDraft(data.texts[7], scope=Scope("ben"))
        saved = memory_save(access=system_access("test"), draft=draft).memory
        copied = Memory.objects.get(pk=ids[7][0])
        different = {
            field.attname
            for field in Memory._meta.concrete_fields
            if getattr(saved, field.attname) != getattr(copied, field.attname)
        }
        assert different == {
            "id", "uuid", "user_id", "created_at", "updated_at", "type", "project", "agent", "personality",
        }  # fmt: skip
        assert bytes(copied.lexemes) == word_columns(data.texts[7], (), "", None)["lexemes"]

    def test_searches_find_what_the_truth_says(self, filled) -> None:
        data, ids = filled
        rows = {pk: row for row, (pk, _) in enumerate(ids)}
        for query in range(5):
            for each in FILTERS:
                tags = {} if each.column is None else {each.column: data.value(each, query)}
                asked = SearchQuery(
                    scope=Scope("ana"), embedding=data.queries[query], tags=tags, mode=SearchMode.VECTOR
                )
                found = [rows[one.memory.pk] for one in memory_search(system_access("test"), asked).found]
                question = Question.of(data, each, query, 10)
                assert (question.recall(found), question.is_complete(found)) == (1.0, True)

    def test_filling_twice_adds_to_user_and_later_searches_see_it(self, filled) -> None:
        data, _ = filled
        before = memory_search(system_access("test"), SearchQuery(scope=Scope("ana"), query="x")).ranking.matched
        more = real_scope("ana", [f"one more {n}" for n in range(30)], data.vectors[:30], 25, 5)
        fill(more, current_space())
        after = memory_search(system_access("test"), SearchQuery(scope=Scope("ana"), query="x")).ranking.matched
        assert (before, after) == (300, 325)

    def test_it_says_how_far_it_is(self) -> None:
        told: list[int] = []
        fill(scope(dimension=current_space().dimension), current_space(), told.append)
        assert told == [300]

    def test_the_planner_knows_of_the_rows(self, filled) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT reltuples FROM pg_class WHERE relname = 'semantic_memoryembedding'")
            assert cursor.fetchone()[0] >= 300


@pytest.mark.parametrize(("each", "share"), [(ALL, 1.0), (TENTH, 0.1), (HUNDREDTH, 0.01), (THOUSANDTH, 0.001)])
def test_filter_keeps_its_share_of_rows_whatever_it_asks_for(each, share) -> None:
    data = scope(4_000)
    assert {len(data.matching(each, query)) / 4_000 for query in range(20)} == {share}


def test_scope_that_is_smaller_than_share_keeps_row() -> None:
    data = scope(100)
    assert [len(data.matching(THOUSANDTH, query)) for query in range(20)] == [1] * 20


def test_by_turns_filter_of_clusters_keeps_all_rows_around_query_and_none() -> None:
    data = scope(4_000)
    for query in range(20):
        nearest = int(np.argmax(data.vectors @ data.queries[query]))
        assert (nearest in data.matching(CLUSTERED, query)) == (query % 2 == 0)


@pytest.mark.parametrize("rows", [1, 40, 100, 2_000])
def test_every_filter_finds_something_in_scope_of_any_size(rows) -> None:
    data = scope(rows)
    assert all(len(data.matching(each, query)) for each in FILTERS for query in range(20))


def test_real_texts_are_split_into_rows_and_queries() -> None:
    vectors = synthetic_scope("x", 500, 1, 16).vectors
    texts = [f"text {number}" for number in range(500)]
    data = real_scope("ana", texts, vectors, 300, 40)
    assert data.texts == texts[:300]
    assert np.array_equal(data.vectors, vectors[:300])
    assert np.array_equal(data.queries, vectors[460:])
    assert len(set(data.clusters.tolist())) > 1
    cut = real_scope("ana", texts, vectors, 10_000, 40)
    assert len(cut) == 460


@given(seed=st.integers(0, 1_000), top_k=st.integers(1, 30))
def test_what_is_right_is_what_a_sort_finds(seed, top_k) -> None:
    data = synthetic_scope("ana", 60, 4, 8)
    each, query = FILTERS[seed % len(FILTERS)], seed % 4
    rows = data.matching(each, query)
    best = rows[np.argsort(-(data.vectors[rows] @ data.queries[query]))][:top_k].tolist()
    question = questions(data, each, top_k)[query]
    assert (question.recall(best), question.is_complete(best)) == (1.0, True)
    assert question.recall(best[1:]) == pytest.approx(1 - 1 / len(best))
    assert not question.is_complete(best[1:])
    assert not question.is_complete([best[0]] * len(best)) or len(best) == 1


def test_rows_that_do_not_match_count_for_nothing() -> None:
    data = scope(200)
    question = Question.of(data, TENTH, 0, 10)
    others = np.setdiff1d(np.arange(200), data.matching(TENTH, 0))
    nearest = others[np.argsort(-(data.vectors[others] @ question.vector))][:10]
    assert question.recall(nearest.tolist()) == 0.0
    assert [row for row in range(200) if question.mask[row]] == data.matching(TENTH, 0).tolist()
