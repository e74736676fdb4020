"""Which segments are merged."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from apps.episodic.domain.segment_state import MAX_MERGED, SegmentSize, is_small, merge_plan

START = datetime(2026, 1, 1, tzinfo=UTC)


def sizes(*counts: int) -> list[SegmentSize]:
    """Segments with these numbers of events, a day apart, with ids from 1."""
    return [SegmentSize(number, count, START + timedelta(days=number)) for number, count in enumerate(counts, start=1)]


def test_small_neighbours_are_merged() -> None:
    assert merge_plan(sizes(10, 20, 30), 100) == [(1, 2, 3)]


def test_one_that_is_half_full_is_left_alone_and_keeps_its_neighbours_apart() -> None:
    assert merge_plan(sizes(10, 50, 10), 100) == []
    assert merge_plan(sizes(10, 10, 50, 10, 10), 100) == [(1, 2), (4, 5)]


def test_merged_segment_is_never_over_its_capacity() -> None:
    assert merge_plan(sizes(40, 40, 40, 40), 100) == [(1, 2), (3, 4)]


def test_one_alone_is_no_merge() -> None:
    assert merge_plan(sizes(10), 100) == []


def test_order_is_that_of_time_whatever_order_given() -> None:
    assert merge_plan(reversed(sizes(10, 20, 30)), 100) == [(1, 2, 3)]


def test_a_merge_has_a_bounded_number_of_sources() -> None:
    plan = merge_plan(sizes(*[1] * (MAX_MERGED + 2)), 1_000_000)
    assert [len(group) for group in plan] == [MAX_MERGED, 2]


@given(counts=st.lists(st.integers(1, 30), max_size=40), capacity=st.integers(1, 60))
def test_after_one_round_no_two_neighbours_are_small(counts: list[int], capacity: int) -> None:
    segments = sizes(*counts)
    plan = merge_plan(segments, capacity)
    together = {segment.id: segment.event_count for segment in segments}
    for group in plan:
        assert all(is_small(together[one], capacity) for one in group)
        assert list(group) == list(range(group[0], group[0] + len(group))), "neighbours"
        total = sum(together.pop(one) for one in group)
        assert total <= capacity
        together[group[0]] = total
    left = [together[one] for one in sorted(together)]
    assert sum(left) == sum(counts)
    assert not any(is_small(one, capacity) and is_small(other, capacity) for one, other in pairwise(left))
