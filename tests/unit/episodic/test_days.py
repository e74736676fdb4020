"""Days of a time zone, at midnight and when clocks change."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.episodic.domain.event import MICROSECOND
from apps.episodic.domain.histogram import EventDays, day_spans, days_window, midnight
from apps.episodic.domain.segment_file.format import microseconds

# Clocks go forward at 2, at midnight, and by half an hour; one zone is a quarter of an hour off.
ZONES = ["Europe/Berlin", "Africa/Cairo", "Australia/Lord_Howe", "Asia/Kathmandu", "America/Havana", "Asia/Taipei"]


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        ("Europe/Berlin", date(2026, 3, 29), 23),
        ("Europe/Berlin", date(2026, 10, 25), 25),
        ("Europe/Berlin", date(2026, 10, 26), 24),
        ("Africa/Cairo", date(2026, 4, 24), 23),
        ("Africa/Cairo", date(2026, 4, 23), 24),
        ("Africa/Cairo", date(2026, 10, 29), 25),
        ("Africa/Cairo", date(2026, 10, 30), 24),
        ("America/Havana", date(2026, 11, 1), 25),
        ("Australia/Lord_Howe", date(2026, 4, 5), 24.5),
        ("Asia/Taipei", date(2026, 3, 29), 24),
    ],
)
def test_a_day_is_as_long_as_clocks_make_it(zone: str, day: date, hours: float) -> None:
    window = days_window(day, day, ZoneInfo(zone))
    assert window.start is not None
    assert window.end is not None
    assert window.end.astimezone(UTC) - window.start.astimezone(UTC) + MICROSECOND == timedelta(hours=hours)


@pytest.mark.parametrize("name", ZONES)
@given(minute=st.integers(0, 364 * 24 * 60))
def test_a_moment_is_in_the_day_that_its_zone_says(name: str, minute: int) -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minute)
    zone = ZoneInfo(name)
    spans = day_spans(date(2025, 12, 31), date(2027, 1, 1), zone)
    number = spans.number_at(moment)
    assert date(2025, 12, 31) + timedelta(days=number) == moment.astimezone(zone).date()
    assert spans.numbers(np.array([microseconds(moment)])).tolist() == [number]


def test_the_last_microsecond_is_of_the_day_before() -> None:
    zone = ZoneInfo("Asia/Taipei")
    begin = midnight(date(2026, 11, 23), zone)
    assert begin.astimezone(UTC) == datetime(2026, 11, 22, 16, tzinfo=UTC)
    spans = day_spans(date(2026, 11, 22), date(2026, 11, 23), zone)
    assert [spans.number_at(begin - MICROSECOND), spans.number_at(begin)] == [0, 1]
    assert spans.count == 2


def test_days_are_added_up_over_types() -> None:
    days = EventDays({"visit": [1, 0, 2], "order": [0, 5, 0]})
    assert days.totals == [1, 5, 2]
    assert list(days.by_type.items()) == [("order", 5), ("visit", 3)]
    assert EventDays({}).totals == []
