"""The choice among the ways to the nearest rows: arithmetic with costs, so all of it can be said of any costs."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.retrieval.domain.planner import (
    DEFAULT_COSTS,
    FILTERED_SHARE,
    GRAPH_ROWS,
    GraphNeed,
    RowCounts,
    SearchCosts,
    SearchWay,
    graph_need,
    plan,
    rows_to_ask_for,
)
from apps.retrieval.domain.vectors.graph import MIN_BREADTH, breadth_for

prices = st.floats(0.01, 10_000)
any_costs = st.builds(SearchCosts, scan=prices, subset=prices, graph=prices, fixed=prices)
top_ks = st.integers(1, 1_000)


@st.composite
def row_counts(draw: st.DrawFn) -> RowCounts:
    slots = draw(st.integers(1, 2_000_000))
    living = draw(st.integers(1, slots))
    return RowCounts(slots, living, draw(st.integers(0, living)), draw(st.integers(0, living)))


def counts(living: int, matching: int | None = None, in_graph: int | None = None) -> RowCounts:
    matching = living if matching is None else matching
    return RowCounts(living, living, matching, living if in_graph is None else in_graph)


@pytest.mark.parametrize(
    ("rows", "way"),
    [
        (counts(100), SearchWay.SCAN),
        (counts(100, 10), SearchWay.SUBSET),
        (counts(GRAPH_ROWS), SearchWay.GRAPH),
        (counts(200_000), SearchWay.GRAPH),
        (counts(200_000, 20_000), SearchWay.GRAPH),
        (counts(200_000, 2_000), SearchWay.SUBSET),
        (counts(200_000, 200), SearchWay.SUBSET),
        (counts(200_000, 0), SearchWay.SUBSET),
        (counts(200_000, 199_000, in_graph=0), SearchWay.SCAN),
    ],
)
def test_what_is_chosen_for_ten_rows_with_costs_of_this_page(rows: RowCounts, way: SearchWay) -> None:
    assert plan(rows, 10).way is way


def test_without_filter_no_more_rows_are_asked_for_than_wanted() -> None:
    assert rows_to_ask_for(counts(200_000), 10) == 10
    assert rows_to_ask_for(counts(5), 10) == 5


def test_fewer_rows_match_more_are_asked_for() -> None:
    asked = [rows_to_ask_for(counts(200_000, matching), 10) for matching in (200_000, 100_000, 20_000, 2_000)]
    assert asked == [10, 33, 164, 1_633]


def test_dead_slots_count_for_a_scan_only() -> None:
    rows = RowCounts(slots=300_000, living=200_000, matching=200_000, in_graph=200_000)
    assert plan(rows, 10).asked == 10


def test_rows_that_graph_does_not_know_make_it_dearer() -> None:
    known, unknown = counts(200_000), counts(200_000, in_graph=190_000)
    assert plan(unknown, 10).price == pytest.approx(plan(known, 10).price + 10 * DEFAULT_COSTS.subset)


def test_search_is_never_narrower_than_what_it_asks_for() -> None:
    assert breadth_for(1) == MIN_BREADTH
    assert all(breadth_for(asked) >= asked for asked in range(1, 3_000))


def test_costs_of_another_dimension_grow_with_its_numbers() -> None:
    costs = DEFAULT_COSTS.at(1_536)
    assert (costs.scan, costs.dimension) == (4 * DEFAULT_COSTS.scan, 1_536)
    assert costs.fixed == DEFAULT_COSTS.fixed
    assert costs.at(384) == DEFAULT_COSTS


@given(row_counts(), top_ks, any_costs)
def test_what_is_asked_of_the_graph_is_there(rows: RowCounts, top_k: int, costs: SearchCosts) -> None:
    chosen = plan(rows, top_k, costs)
    if chosen.way is SearchWay.GRAPH:
        assert min(top_k, rows.matching) <= chosen.asked <= rows.in_graph
    else:
        assert chosen.asked == 0


@given(row_counts(), top_ks, any_costs)
def test_no_way_that_turns_out_wrong_costs_much_more_than_right_one(
    rows: RowCounts, top_k: int, costs: SearchCosts
) -> None:
    exact = plan(replace(rows, in_graph=0), top_k, costs).price
    chosen = plan(rows, top_k, costs)
    assert chosen.price <= exact
    if chosen.way is SearchWay.GRAPH and rows.matching < rows.living:
        assert chosen.price + exact <= (1 + FILTERED_SHARE) * exact * 1.000001


@given(row_counts(), top_ks, any_costs, st.integers(0, 100_000))
def test_a_larger_shard_is_never_cheaper(rows: RowCounts, top_k: int, costs: SearchCosts, more: int) -> None:
    larger = replace(rows, slots=rows.slots + more)
    assert plan(larger, top_k, costs).price >= plan(rows, top_k, costs).price


@given(row_counts(), top_ks, any_costs, st.integers(0, 100_000))
def test_a_graph_that_knows_more_is_never_dearer(rows: RowCounts, top_k: int, costs: SearchCosts, more: int) -> None:
    better = replace(rows, in_graph=min(rows.in_graph + more, rows.living))
    assert plan(better, top_k, costs).price <= plan(rows, top_k, costs).price


@given(row_counts(), top_ks, any_costs, st.integers(1, 100_000))
def test_graph_that_is_worth_it_is_so_too_when_more_rows_match(
    rows: RowCounts, top_k: int, costs: SearchCosts, more: int
) -> None:
    wider = replace(rows, matching=min(rows.matching + more, rows.living))
    if rows.matching >= top_k and plan(rows, top_k, costs).way is SearchWay.GRAPH:
        assert plan(wider, top_k, costs).way is SearchWay.GRAPH


@given(row_counts(), top_ks, any_costs, st.integers(0, 100))
def test_more_results_are_never_cheaper(rows: RowCounts, top_k: int, costs: SearchCosts, more: int) -> None:
    assert plan(rows, top_k + more, costs).price >= plan(rows, top_k, costs).price


@given(row_counts(), top_ks, any_costs, st.floats(0.1, 10))
def test_machine_that_is_slower_in_everything_pays_in_proportion(
    rows: RowCounts, top_k: int, costs: SearchCosts, factor: float
) -> None:
    slower = SearchCosts(costs.scan * factor, costs.subset * factor, costs.graph * factor, costs.fixed * factor)
    here, there = plan(rows, top_k, costs), plan(rows, top_k, slower)
    assert there.price == pytest.approx(here.price * factor)


@pytest.mark.parametrize(("removed", "need"), [(6_000, GraphNeed.NOTHING), (6_001, GraphNeed.BUILD)])
def test_graph_that_lost_more_than_its_share_is_built_again(removed: int, need: GraphNeed) -> None:
    assert graph_need(living=20_000, in_graph=20_000, removed=removed, room=0) is need
