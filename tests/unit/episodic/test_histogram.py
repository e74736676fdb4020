"""Into which spans a time is cut."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from apps.episodic.domain.histogram import MAX_BUCKETS, EventHistogram, plan_buckets

NOON = datetime(2026, 5, 10, 12, tzinfo=UTC)
moments = st.datetimes(timezones=st.just(UTC))


@given(moments, moments)
def test_few_spans_of_one_length_cover_a_time(one: datetime, other: datetime) -> None:
    start, end = min(one, other), max(one, other)
    buckets = plan_buckets(start, end)
    assert 1 <= buckets.count <= MAX_BUCKETS <= 200
    assert buckets.span[0] <= start
    assert end <= buckets.edge(buckets.count)
    assert buckets.number_at(start) == 0
    edges = buckets.edges[1:-1]
    assert all(later - earlier == buckets.width for earlier, later in pairwise(edges))


@given(moments, st.timedeltas(timedelta(minutes=1), timedelta(days=4_000)), st.floats(0, 1))
def test_each_moment_is_in_the_span_that_says_so(start: datetime, length: timedelta, share: float) -> None:
    start = start.replace(year=min(start.year, 9_900) if start.month > 2 else 2_000)
    buckets = plan_buckets(start, start + length)
    moment = start + length * share * 0.999
    number = buckets.number_at(moment)
    assert buckets.edge(number) <= moment < buckets.edge(number + 1)


def test_a_month_is_shown_by_half_days_from_midnight() -> None:
    buckets = plan_buckets(NOON - timedelta(days=30), NOON)
    assert {edge.hour for edge in buckets.edges} == {0, 12}


def test_an_hour_is_shown_by_the_minute() -> None:
    buckets = plan_buckets(NOON - timedelta(minutes=59, seconds=30), NOON + timedelta(seconds=30))
    assert (buckets.width, buckets.count) == (timedelta(minutes=1), 61)


def test_counts_are_added_up_by_type_and_span() -> None:
    buckets = plan_buckets(NOON, NOON + timedelta(minutes=3))
    histogram = EventHistogram(buckets, {"visit": [0, 1, 0], "message": [2, 0, 3]})
    assert histogram.totals == [2, 1, 3]
    assert list(histogram.by_type.items()) == [("message", 5), ("visit", 1)]
    assert histogram.between(1, 2) == {"message": 3, "visit": 1}
    assert EventHistogram(buckets, {}).totals == [0, 0, 0]
