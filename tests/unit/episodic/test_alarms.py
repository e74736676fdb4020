"""When the timeline warns, and when it is well again."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.episodic.domain.alarms import (
    KEPT_WRITES,
    MIN_SLOW_WRITES,
    QUIET,
    WINDOW_MS,
    Assessment,
    RecentWrites,
    Severity,
    assess_capacity,
    assess_latency,
    assess_space,
    is_quiet,
)

NOW = datetime(2026, 3, 4, tzinfo=UTC)


def write(recent: RecentWrites, *durations: float, now: int = 0) -> float | None:
    answer = None
    for duration in durations:
        answer = recent.add(duration, now=now, limit_ms=100)
    return answer


def test_one_slow_write_or_two_are_chance() -> None:
    recent = RecentWrites()
    assert write(recent, 5_000, 5_000) is None
    assert write(recent, 5_000) == 5_000


def test_many_quick_writes_outweigh_few_slow_ones() -> None:
    recent = RecentWrites()
    assert write(recent, *[1.0] * 97, *[5_000] * MIN_SLOW_WRITES) is None
    assert write(recent, *[5_000] * 3) == 5_000


def test_the_limit_itself_is_not_too_slow() -> None:
    assert write(RecentWrites(), *[100.0] * 10) is None


def test_it_is_over_only_below_four_fifths_of_limit() -> None:
    recent = RecentWrites()
    assert write(recent, *[101] * 3) == 101
    assert write(recent, *[80] * KEPT_WRITES) == 80
    assert write(recent, *[79] * KEPT_WRITES) is None
    assert write(recent, *[99] * KEPT_WRITES) is None


def test_writes_of_more_than_minute_ago_do_not_count() -> None:
    recent = RecentWrites()
    assert write(recent, *[5_000] * 10) == 5_000
    assert write(recent, 1, now=WINDOW_MS) == 5_000
    assert write(recent, 1, now=WINDOW_MS + 1) is None


@given(st.lists(st.tuples(st.integers(0, 20_000), st.floats(0, 300)), max_size=60))
def test_warning_begins_and_ends_like_naive_model(
    writes: list[tuple[int, float]],
) -> None:
    recent, past, now, is_slow = RecentWrites(), [], 0, False
    for step, duration in writes:
        now += step
        past.append((now, duration))
        lately = sorted(took for at, took in past[-KEPT_WRITES:] if at >= now - WINDOW_MS)
        high = next(took for took in lately if 100 * sum(other <= took for other in lately) >= 95 * len(lately))
        begins = high > 100 and sum(took > 100 for took in lately) >= 3
        is_slow = high >= 80 if is_slow else begins
        assert recent.add(duration, now=now, limit_ms=100) == (high if is_slow else None)


@pytest.mark.parametrize(("high", "expected"), [(101, Severity.WARNING), (500, Severity.WARNING), (501, "critical")])
def test_five_times_the_limit_is_critical(high: float, expected: str) -> None:
    assert assess_latency(high, 100) == expected


def test_two_quiet_minutes_end_a_slow_spell() -> None:
    assert is_quiet(NOW - QUIET, NOW)
    assert not is_quiet(NOW - QUIET + timedelta(milliseconds=1), NOW)


@pytest.mark.parametrize(
    ("free", "expected"),
    [
        (24, Assessment(Severity.CRITICAL, False)),
        (25, Assessment(Severity.WARNING, False)),
        (99.9, Assessment(Severity.WARNING, False)),
        (100, Assessment(None, False)),
        (125, Assessment(None, True)),
    ],
)
def test_disk_space_has_a_gap_of_a_quarter(free: float, expected: Assessment) -> None:
    assert assess_space(free, 100) == expected


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (90, Assessment(None, True)),
        (91, Assessment(None, False)),
        (100, Assessment(None, False)),
        (101, Assessment(Severity.WARNING, False)),
        (200, Assessment(Severity.WARNING, False)),
        (201, Assessment(Severity.CRITICAL, False)),
    ],
)
def test_capacity_has_a_gap_of_a_tenth(rows: int, expected: Assessment) -> None:
    assert assess_capacity(rows, 100) == expected
