"""The nearest rows, by whatever way, against all rows sorted by their cosine."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from apps.retrieval.domain.planner import DEFAULT_COSTS, SearchWay
from apps.retrieval.domain.rows import IndexRow, RowStore
from apps.retrieval.domain.vectors.graph import VectorGraph
from apps.retrieval.domain.vectors.graph_file import read_graph_rows
from apps.retrieval.domain.vectors.nearest import nearest_rows
from tests.effort import examples

DIMENSION = 8
FREE_GRAPH = replace(DEFAULT_COSTS, graph=0.0, fixed=0.0, scan=1e6, subset=1e6)


def unit(seed: int) -> np.ndarray:
    vector = np.random.default_rng(seed).standard_normal(DIMENSION).astype(np.float32)
    return vector / np.linalg.norm(vector)


def row(number: int, seed: int, active: bool = True) -> IndexRow:
    return IndexRow(number, active, ("", "", ""), 0.0, 0.0, 1.0, 0.0, 1.0, b"", unit(seed).tobytes())


def filled(count: int) -> RowStore:
    shard = RowStore(DIMENSION)
    shard.apply([row(number, number) for number in range(count)])
    return shard


def with_graph(shard: RowStore) -> RowStore:
    source = shard.graph_source()
    shard.attach(VectorGraph.of(source.ids, source.vectors[source.slots], threads=1), source)
    return shard


def ids_of(shard: RowStore, vector: np.ndarray, matching: np.ndarray, top_k: int, costs=FREE_GRAPH) -> list[int]:
    near = nearest_rows(shard, vector, matching, top_k, costs)
    best = np.lexsort((-shard.ids[near.slots], -near.similarities))[:top_k]
    return [int(shard.ids[slot]) for slot in near.slots[best]]


def naive(shard: RowStore, vector: np.ndarray, matching: np.ndarray, top_k: int) -> list[int]:
    slots = np.flatnonzero(matching)
    cosines = shard.vectors[slots] @ vector
    best = np.lexsort((-shard.ids[slots], -cosines))[:top_k]
    return [int(shard.ids[slot]) for slot in slots[best]]


@pytest.mark.parametrize("way", list(SearchWay))
@pytest.mark.parametrize("share", [1.0, 0.3, 0.05])
def test_every_way_finds_the_same_rows(way, share):
    shard = with_graph(filled(400))
    matching = shard.alive & (np.random.default_rng(1).random(shard.size) < share)
    prices = {"scan": 1e6, "subset": 1e6, "graph": 1e6, "fixed": 0.0}
    prices[{SearchWay.SCAN: "scan", SearchWay.SUBSET: "subset", SearchWay.GRAPH: "graph"}[way]] = 0.0
    costs = replace(DEFAULT_COSTS, **prices)
    for seed in range(20):
        vector = unit(10_000 + seed)
        assert ids_of(shard, vector, matching, 10, costs) == naive(shard, vector, matching, 10)


def test_it_says_how_the_rows_were_found():
    shard = with_graph(filled(400))
    assert nearest_rows(shard, unit(1), shard.alive, 10, FREE_GRAPH).way is SearchWay.GRAPH
    assert nearest_rows(filled(400), unit(1), shard.alive, 10, FREE_GRAPH).way is not SearchWay.GRAPH


def test_graph_of_rows_that_were_all_removed_is_not_used():
    shard = filled(1_200)
    source = shard.graph_source()
    graph = VectorGraph.of(source.ids, source.vectors[source.slots], threads=1)
    shard.apply([row(number, number, active=False) for number in range(1_200)])
    shard.attach(graph, source)
    assert (shard.size, shard.graph) == (0, None)
    shard.apply([row(1, 1)])
    assert ids_of(shard, unit(2), shard.alive, 10) == [1]


def test_as_many_as_exist_are_found_where_matching_rows_lie_far_away():
    shard = with_graph(filled(500))
    vector = unit(3)
    farthest = np.argsort(shard.vectors @ vector)[:25]
    matching = np.zeros(shard.size, dtype=np.bool_)
    matching[farthest] = True
    assert ids_of(shard, vector, matching, 20) == naive(shard, vector, matching, 20)


def test_new_rows_that_match_do_not_stand_in_for_nearer_ones_that_graph_did_not_give():
    shard = with_graph(filled(500))
    vector = unit(3)
    matching = np.zeros(shard.size + 40, dtype=np.bool_)
    matching[np.argsort(shard.vectors @ vector)[::-1][200:260]] = True
    shard.apply([row(1_000 + number, seed) for number, seed in enumerate(farthest_seeds(vector, 40))])
    matching[500:] = True
    assert ids_of(shard, vector, matching, 20) == naive(shard, vector, matching, 20)


def farthest_seeds(vector: np.ndarray, count: int) -> list[int]:
    return sorted(range(20_000, 20_400), key=lambda seed: float(unit(seed) @ vector))[:count]


def test_a_larger_top_k_than_rows_returns_all():
    shard = with_graph(filled(30))
    assert sorted(ids_of(shard, unit(1), shard.alive, 100)) == list(range(30))


def test_row_saved_after_graph_was_made_is_found():
    shard = with_graph(filled(100))
    shard.apply([row(1_000, 77_777)])
    assert ids_of(shard, unit(77_777), shard.alive, 1) == [1_000]


def test_a_row_that_left_is_not_found():
    shard = with_graph(filled(100))
    shard.apply([row(5, 5, active=False)])
    assert 5 not in ids_of(shard, unit(5), shard.alive, 50)


def test_row_with_another_vector_is_found_by_that_one():
    shard = with_graph(filled(100))
    shard.apply([row(5, 88_888)])
    assert ids_of(shard, unit(88_888), shard.alive, 1) == [5]
    assert ids_of(shard, unit(5), shard.alive, 1) != [5]


def test_what_changed_while_graph_was_made_is_not_in_it():
    shard = filled(100)
    source = shard.graph_source()
    graph = VectorGraph.of(source.ids, source.vectors[source.slots], threads=1)
    shard.apply([row(5, 88_888), row(6, 6, active=False), row(1_000, 77_777)])
    shard.attach(graph, source)
    assert len(shard.graph) == 98
    assert sorted(shard.ids[shard.outside_graph()]) == [5, 1_000]


def test_packing_between_copying_and_attaching_does_no_harm():
    shard = filled(2_200)
    source = shard.graph_source()
    graph = VectorGraph.of(source.ids, source.vectors[source.slots], threads=1)
    shard.apply([row(number, number, active=False) for number in range(1_200)])
    assert shard.size == 1_000
    shard.attach(graph, source)
    vector = unit(1_500)
    assert ids_of(shard, vector, shard.alive, 10) == naive(shard, vector, shard.alive, 10)


def test_codes_of_column_lie_in_one_piece_however_shard_has_changed():
    shard = filled(2_200)
    assert shard.codes("session_id").flags.c_contiguous
    shard.apply([row(number, number, active=False) for number in range(1_200)])
    assert shard.size == 1_000
    assert shard.codes("session_id").flags.c_contiguous
    shard.apply([row(number, number) for number in range(3_000, 4_000)])
    assert shard.codes("session_id").flags.c_contiguous


def test_rows_without_vector_stay_outside_graph():
    shard = filled(10)
    shard.apply([row(50, 1)._replace(vector=b"")])
    with_graph(shard)
    assert [int(shard.ids[slot]) for slot in shard.outside_graph()] == [50]


def test_nothing_can_be_put_into_a_graph():
    shard = with_graph(filled(20))
    shard.cover(shard.outside_graph())
    assert len(shard.graph) == 20


def test_a_graph_comes_back_from_its_file(tmp_path):
    shard = with_graph(filled(200))
    shard.graph.remove([3, 4])
    shard.graph.save(tmp_path / "graph")
    loaded = VectorGraph.load(tmp_path / "graph", DIMENSION, shard.graph.removed_ids())
    vector = unit(3)
    assert loaded.search(vector, 10).tolist() == shard.graph.search(vector, 10).tolist()
    assert (len(loaded), loaded.removed) == (198, 2)
    assert loaded.room > 0


def test_rows_of_graph_are_read_from_its_file(tmp_path):
    shard = with_graph(filled(200))
    shard.graph.remove([3, 4])
    shard.graph.save(tmp_path / "graph")
    rows = read_graph_rows(tmp_path / "graph", DIMENSION)
    order = np.argsort(rows.ids)
    assert rows.ids[order].tolist() == list(range(200))
    assert np.array_equal(rows.vectors[order], shard.vectors)
    assert sorted(rows.ids[rows.removed]) == [3, 4]


@pytest.mark.parametrize("dimension", [DIMENSION - 1, DIMENSION + 1])
def test_a_file_of_another_dimension_is_refused(tmp_path, dimension):
    with_graph(filled(20)).graph.save(tmp_path / "graph")
    with pytest.raises(ValueError, match="no graph"):
        read_graph_rows(tmp_path / "graph", dimension)


def test_file_that_is_none_of_graph_is_refused(tmp_path):
    (tmp_path / "graph").write_bytes(b"nothing")
    with pytest.raises(ValueError, match="no graph"):
        read_graph_rows(tmp_path / "graph", DIMENSION)


def test_graph_without_rows_comes_back_without_any(tmp_path):
    VectorGraph(DIMENSION, 10).save(tmp_path / "graph")
    assert len(read_graph_rows(tmp_path / "graph", DIMENSION).ids) == 0


def test_graph_of_other_times_covers_rows_that_still_have_their_vectors(tmp_path):
    old = with_graph(filled(50))
    old.graph.remove([3])
    old.graph.save(tmp_path / "graph")
    graph = VectorGraph.load(tmp_path / "graph", DIMENSION, [3])
    shard = filled(60)
    shard.apply([row(7, seed=700), row(8, 8, active=False)])
    shard.attach_known(graph, read_graph_rows(tmp_path / "graph", DIMENSION))
    assert sorted(shard.ids[shard.outside_graph()]) == [3, 7, *range(50, 60)]
    assert len(graph) == 47
    for vector in (unit(3), unit(7), unit(8), unit(700)):
        assert ids_of(shard, vector, shard.alive, 10) == naive(shard, vector, shard.alive, 10)


def test_building_says_how_far_it_is():
    told: list[tuple[int, int]] = []
    ids = np.arange(4_500)
    vectors = np.random.default_rng(1).standard_normal((4_500, DIMENSION)).astype(np.float32)
    VectorGraph.of(ids, vectors, threads=2, progress=lambda done, total: told.append((done, total)))
    assert told == [(2_000, 4_500), (4_000, 4_500), (4_500, 4_500)]


class GraphedShard(RuleBasedStateMachine):
    """Whatever happens to a shard, searching it by its graph finds what a sort finds."""

    @initialize(count=st.integers(0, 40))
    def start(self, count):
        self.shard = filled(count)
        self.model = {number: number for number in range(count)}

    @rule(number=st.integers(0, 60), seed=st.integers(0, 200))
    def save(self, number, seed):
        self.shard.apply([row(number, seed)])
        self.model[number] = seed

    @rule(number=st.integers(0, 60))
    def leave(self, number):
        self.shard.apply([row(number, 0, active=False)])
        self.model.pop(number, None)

    @rule()
    def graph(self):
        with_graph(self.shard)

    @rule()
    def ungraph(self):
        self.shard.detach()

    @rule()
    def cover(self):
        slots = self.shard.outside_graph()
        if self.shard.graph is not None and len(slots) <= self.shard.graph.room:
            self.shard.cover(slots)

    @invariant()
    def finds_what_a_sort_finds(self):
        if not hasattr(self, "shard"):
            return
        vector = unit(4_242)
        expected = sorted(self.model, key=lambda n: (-float(unit(self.model[n]) @ vector), -n))[:5]
        found = ids_of(self.shard, vector, self.shard.alive, 5)
        assert np.allclose(
            [unit(self.model[n]) @ vector for n in found], [unit(self.model[n]) @ vector for n in expected]
        )
        assert len(set(found)) == len(expected)


TestGraphedShard = GraphedShard.TestCase
TestGraphedShard.settings = settings(max_examples=examples(60), stateful_step_count=30, deadline=None)


@given(count=st.integers(1, 80), top_k=st.integers(1, 90), share=st.floats(0, 1))
@settings(deadline=None, max_examples=examples(60))
def test_never_fewer_than_exist(count, top_k, share):
    shard = with_graph(filled(count))
    matching = shard.alive & (np.random.default_rng(2).random(shard.size) < share)
    assert len(ids_of(shard, unit(9), matching, top_k)) == min(top_k, int(matching.sum()))
