"""Increases of counts, and quantiles of histograms."""

import math

import pytest

from apps.monitor.domain.series import MetricSet, increase, increases, quantile

BOUNDS = (0.01, 0.1, 1.0, math.inf)


@pytest.mark.parametrize(("before", "now", "rise"), [(5, 8, 3), (5, 5, 0), (900, 4, 4), (900, 0, 0)])
def test_counter_that_restarts_never_falls(before: float, now: float, rise: float) -> None:
    assert increase(before, now) == rise


def test_histogram_that_restarts_is_all_new() -> None:
    assert increases([10, 20, 30], [11, 22, 33]) == [1, 2, 3]
    assert increases([10, 20, 30], [9, 22, 33]) == [9, 22, 33]
    assert increases([10, 20], [1, 2, 3]) == [1, 2, 3]


@pytest.mark.parametrize(
    ("counts", "share", "value"),
    [
        ((0, 100, 100, 100), 0.5, 0.055),  # in the middle of the second bucket
        ((100, 100, 100, 100), 0.95, 0.0095),
        ((50, 50, 100, 100), 0.95, 0.91),  # the empty bucket in between is passed over
        ((0, 0, 0, 7), 0.5, 1.0),  # above the last finite bound
        ((0, 0, 0, 0), 0.5, None),
        ((), 0.5, None),
    ],
)
def test_quantile_is_interpolated_in_its_bucket(counts: tuple[float, ...], share: float, value: float | None) -> None:
    found = quantile(BOUNDS, counts, share)
    assert found == (None if value is None else pytest.approx(value))


def test_quantile_is_right_to_the_width_of_its_bucket() -> None:
    durations = [0.001 * number for number in range(1, 1_000)]
    counts = [sum(duration <= bound for duration in durations) for bound in BOUNDS]
    for share in (0.1, 0.5, 0.95):
        exact = durations[round(share * len(durations)) - 1]
        found = quantile(BOUNDS, counts, share)
        assert found is not None
        assert abs(found - exact) < 0.02


def test_metrics_are_summed_over_the_labels_that_match() -> None:
    metrics = MetricSet(
        [
            ("seconds_bucket", {"route": "a", "le": "0.1"}, 1.0),
            ("seconds_bucket", {"route": "a", "le": "+Inf"}, 2.0),
            ("seconds_bucket", {"route": "b", "le": "0.1"}, 4.0),
            ("seconds_bucket", {"route": "b", "le": "+Inf"}, 4.0),
            ("requests_total", {"route": "a"}, 2.0),
            ("requests_total", {"route": "b"}, 4.0),
        ]
    )
    whole = metrics.histogram("seconds", 0.5)
    assert (whole.bounds, whole.counts) == ((0.1, math.inf), (5.0, 6.0))
    assert metrics.histogram("seconds", 0.5, lambda labels: labels["route"] == "b").counts == (4.0, 4.0)
    assert metrics.total("requests_total", lambda labels: labels["route"] == "a").value == 2.0
    assert metrics.total("unknown_total").value == 0.0
    assert metrics.value("unknown") is None
