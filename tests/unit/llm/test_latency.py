"""Latency summaries and the rules for samples: spec 002 section 11."""

import math
import random
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.core.domain.latency import (
    DEFAULT_SAMPLING_RULES,
    EXPECTED_PERFORMANCE,
    PRECISION,
    LatencyMeasurement,
    PercentileSummary,
    PerformanceTracker,
    SampleQuality,
    SamplingRules,
    measure,
    monotonic_ms,
    percentile,
    summarise,
    throughput,
)

durations = st.lists(st.floats(0, 10_000), min_size=1, max_size=200)


def test_the_numbers_are_the_spec_s() -> None:
    assert SamplingRules(minimum=30, preferred=100, warmup=3, trim_percent=1) == DEFAULT_SAMPLING_RULES
    assert PRECISION == 6


def test_percentiles_are_the_nearest_rank() -> None:
    assert summarise([float(number) for number in range(1, 101)]) == PercentileSummary(
        p50=50, p90=90, p95=95, p99=99, min=1, max=100, count=100
    )


@pytest.mark.parametrize(
    ("p", "value"), [(0, 10), (1, 10), (25, 10), (26, 20), (50, 20), (75, 30), (75.1, 40), (100, 40)]
)
def test_rank_between_two_values_takes_higher(p: float, value: float) -> None:
    assert percentile([10, 20, 30, 40], p) == value


def test_rank_is_not_moved_by_error_of_float() -> None:
    assert 55 / 100 * 100 > 55
    assert percentile(range(1, 101), 55) == 55
    assert percentile(range(1, 1001), 99.9) == 999


@given(durations, st.integers(1, 100))
def test_smallest_value_that_so_many_do_not_exceed(values: list[float], p: int) -> None:
    ordered = sorted(values)
    found = percentile(ordered, p)
    assert sum(value <= found for value in ordered) * 100 >= p * len(ordered)
    assert sum(value < found for value in ordered) * 100 < p * len(ordered)


@pytest.mark.parametrize("p", [-0.1, 100.1, math.nan])
def test_a_percentile_is_from_0_to_100(p: float) -> None:
    with pytest.raises(ValueError, match="from 0 to 100"):
        percentile([1.0], p)


def test_nothing_measured_is_a_summary_of_zeros() -> None:
    assert summarise([]) == PercentileSummary(p50=0, p90=0, p95=0, p99=0, min=0, max=0, count=0)


def test_a_single_value_is_all_of_them() -> None:
    assert summarise([7.5]) == PercentileSummary(7.5, 7.5, 7.5, 7.5, 7.5, 7.5, 1)


def test_values_are_rounded_to_six_decimals() -> None:
    assert summarise([1.23456789]).p50 == 1.234568


@given(durations, st.randoms(use_true_random=False))
def test_the_order_of_values_does_not_matter(values: list[float], order: random.Random) -> None:
    shuffled = order.sample(values, len(values))
    assert summarise(shuffled) == summarise(values)


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf])
def test_a_duration_is_finite_and_not_negative(bad: float) -> None:
    with pytest.raises(ValueError, match="finite and 0 or more"):
        summarise([1.0, bad])
    with pytest.raises(ValueError, match="finite and 0 or more"):
        measure([bad])


def test_the_first_three_requests_are_left_out() -> None:
    measured = measure([900.0, 800.0, 700.0, *[5.0] * 30])
    assert (measured.warmup, measured.summary.max, measured.summary.count) == (3, 5.0, 30)


def test_the_slowest_hundredth_is_left_out() -> None:
    measured = measure([0.0] * 3 + [float(number) for number in range(200)])
    assert (measured.trimmed, measured.summary.max, measured.summary.count) == (2, 197, 198)


def test_below_a_hundred_samples_none_is_left_out() -> None:
    assert measure([1.0] * (3 + 99)).trimmed == 0
    assert measure([1.0] * (3 + 100)).trimmed == 1


@pytest.mark.parametrize(
    ("samples", "quality"),
    [
        (0, SampleQuality.INSUFFICIENT),
        (29, SampleQuality.INSUFFICIENT),
        (30, SampleQuality.SUFFICIENT),
        (99, SampleQuality.SUFFICIENT),
        (100, SampleQuality.PREFERRED),
    ],
)
def test_quality_goes_by_samples_after_warm_up(samples: int, quality: SampleQuality) -> None:
    assert measure([1.0] * (3 + samples)).quality is quality


def test_run_that_ended_while_warming_up_measured_nothing() -> None:
    measured = measure([1.0, 2.0])
    assert (measured.warmup, measured.summary.count, measured.quality) == (2, 0, SampleQuality.INSUFFICIENT)


def ticking(*readings: float) -> tuple[PerformanceTracker, list[LatencyMeasurement]]:
    clock: Iterator[float] = iter(readings)
    emitted: list[LatencyMeasurement] = []
    return PerformanceTracker(emitted.append, lambda: next(clock)), emitted


def test_operation_is_timed_from_its_start_to_its_end() -> None:
    tracker, emitted = ticking(10.0, 12.3456789)
    tracker.start_operation("a", "complete")
    assert tracker.end_operation("a", {"provider": "openai"}) == 2.345679
    assert emitted == [LatencyMeasurement("complete", 10.0, 12.3456789, {"provider": "openai"})]


def test_operations_may_overlap() -> None:
    tracker, _ = ticking(0.0, 1.0, 5.0, 9.0)
    tracker.start_operation("a", "complete")
    tracker.start_operation("b", "stream")
    assert (tracker.end_operation("a"), tracker.end_operation("b")) == (5.0, 8.0)


def test_operation_that_is_not_timed_cannot_end() -> None:
    tracker, emitted = ticking(1.0, 2.0, 3.0)
    tracker.start_operation("a", "complete")
    tracker.end_operation("a")
    with pytest.raises(KeyError, match="No measurement for a"):
        tracker.end_operation("a")
    assert len(emitted) == 1


def test_the_monotonic_clock_does_not_go_back() -> None:
    readings = [monotonic_ms() for _ in range(1_000)]
    assert readings == sorted(readings)


def test_the_expected_profiles_are_the_spec_s() -> None:
    assert [(p.batch_size, p.median_latency_ms, p.p95_latency_ms, p.throughput) for p in EXPECTED_PERFORMANCE] == [
        (1, 200, 500, 5),
        (10, 800, 1_200, 12.5),
        (25, 1_500, 2_000, 16.7),
        (50, 2_500, 3_500, 20),
        (100, 4_000, 6_000, 25),
    ]


@pytest.mark.parametrize("profile", EXPECTED_PERFORMANCE, ids=lambda profile: str(profile.batch_size))
def test_expected_throughput_follows_from_its_median(profile) -> None:
    assert round(throughput(profile.batch_size, profile.median_latency_ms), 1) == profile.throughput


def test_batch_that_takes_no_time_has_no_end_of_throughput() -> None:
    assert throughput(10, 0) == math.inf


@pytest.mark.parametrize(("median", "slow", "met"), [(200, 500, True), (201, 500, False), (200, 501, False)])
def test_profile_is_met_by_its_median_and_its_95th_percentile(median: float, slow: float, met: bool) -> None:
    summary = summarise([median] * 18 + [slow] * 2)
    assert EXPECTED_PERFORMANCE[0].is_met_by(summary) is met
