"""Spans of time that a chart has one point for."""

from datetime import UTC, datetime, timedelta

import pytest

from apps.monitor.domain.series import HOUR, plan_buckets

NOW = datetime(2026, 11, 23, 7, 14, 31, tzinfo=UTC)


@pytest.mark.parametrize(
    ("span", "points", "width", "count"),
    [
        (timedelta(hours=1), 60, 60, 60),
        (timedelta(hours=1), 200, 60, 60),
        (timedelta(hours=24), 96, 900, 96),
        (timedelta(hours=24), 120, 900, 96),
        (timedelta(days=7), 168, 3_600, 168),
        (timedelta(days=30), 120, 21_600, 120),
        (timedelta(days=365), 100, 4 * 86_400, 92),
        (timedelta(days=365), 1, 366 * 86_400, 1),
        (timedelta(seconds=5), 100, 60, 1),
        (timedelta(days=36_500), 100, 366 * 86_400, 100),
    ],
)
def test_buckets_are_round_and_no_more_than_asked_for(span: timedelta, points: int, width: int, count: int) -> None:
    buckets = plan_buckets(NOW - span, NOW, points)
    assert (buckets.width, buckets.count) == (width, count)
    assert buckets.begin(count - 1) < NOW <= buckets.end
    assert buckets.start <= NOW - span + timedelta(seconds=width)
    assert buckets.start.timestamp() % width == 0


def test_hourly_samples_have_buckets_of_an_hour_at_least() -> None:
    assert plan_buckets(NOW - timedelta(hours=1), NOW, 60, HOUR).width == HOUR


def test_gap_has_no_value_and_unfinished_sum_neither() -> None:
    buckets = plan_buckets(NOW - timedelta(minutes=60), NOW, 4)
    values = {buckets.first: 1.0, buckets.first + 2: 3.0, buckets.first + 3: 4.0}
    assert [value for _, value in buckets.fill(values)] == [1.0, None, 3.0, 4.0]
    assert [value for _, value in buckets.fill(values, NOW)] == [1.0, None, 3.0, None]


@pytest.mark.parametrize(("start", "points"), [(NOW, 5), (NOW + timedelta(hours=1), 5), (NOW - timedelta(hours=1), 0)])
def test_span_and_points_are_positive(start: datetime, points: int) -> None:
    with pytest.raises(ValueError, match="positive"):
        plan_buckets(start, NOW, points)
