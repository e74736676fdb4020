from hypothesis import given
from hypothesis import strategies as st

from apps.llm.embedding.batches import batches_by_length, batches_in_order

LENGTHS = st.lists(st.integers(0, 50), max_size=60)


@given(LENGTHS, st.integers(1, 120))
def test_batches_by_length_hold_every_position_once(lengths, budget):
    batches = list(batches_by_length(lengths, budget))
    assert sorted(position for batch in batches for position in batch) == list(range(len(lengths)))


@given(LENGTHS, st.integers(1, 120))
def test_padded_batch_stays_within_its_budget_unless_it_is_single_item(lengths, budget):
    for batch in batches_by_length(lengths, budget):
        assert len(batch) == 1 or len(batch) * max(lengths[p] for p in batch) <= budget


def test_items_of_similar_length_come_together_shortest_first():
    assert list(batches_by_length([9, 2, 8, 3], 18)) == [[1, 3], [2, 0]]


def test_batch_is_filled_as_far_as_its_budget_goes():
    assert [len(batch) for batch in batches_by_length([10] * 7, 30)] == [3, 3, 1]


@given(LENGTHS, st.integers(1, 10), st.integers(1, 120))
def test_runs_in_order_join_to_the_whole(lengths, most, budget):
    runs = list(batches_in_order(lengths, most=most, budget=budget))
    assert [length for run in runs for length in lengths[run]] == lengths


@given(LENGTHS, st.integers(1, 10), st.integers(1, 120))
def test_run_keeps_both_limits_unless_it_is_single_item(lengths, most, budget):
    for run in batches_in_order(lengths, most=most, budget=budget):
        part = lengths[run]
        assert len(part) <= most
        assert len(part) == 1 or sum(part) <= budget


def test_a_run_ends_where_either_limit_is_reached():
    assert list(batches_in_order([1, 1, 1, 5, 5], most=2, budget=6)) == [
        slice(0, 2),
        slice(2, 4),
        slice(4, 5),
    ]
