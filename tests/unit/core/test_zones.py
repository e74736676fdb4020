"""Time zones, and days of 23 and of 25 hours."""

from datetime import UTC, date, datetime, timedelta

import pytest

from apps.core.domain.zones import days_before, end_of, find_zone, start_of

BERLIN, HAVANA, APIA = (find_zone(name) for name in ("Europe/Berlin", "America/Havana", "Pacific/Apia"))
HOUR = timedelta(hours=1)


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


@pytest.mark.parametrize("name", ["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5"])
def test_names_of_iana_are_known(name: str) -> None:
    assert find_zone(name).key == name


@pytest.mark.parametrize(
    "name",
    [
        *("", "Berlin", "Europe", "Europe/", "Europe/Nowhere", "/etc/passwd", "../UTC", "Europe/../UTC", "A" * 65),
        *("UTC\x00", "UTC\n", "+02:00", "🙂", "posix/Europe/Berlin", "right/UTC", "localtime", "Factory", "zone.tab"),
    ],
)
def test_anything_else_is_no_zone(name: str) -> None:
    with pytest.raises(ValueError):
        find_zone(name)


@pytest.mark.parametrize(
    ("day", "hours"),
    [(date(2026, 3, 28), 24), (date(2026, 3, 29), 23), (date(2026, 10, 25), 25), (date(2026, 7, 1), 24)],
)
def test_day_has_the_hours_that_it_has(day: date, hours: int) -> None:
    assert end_of(day, BERLIN) - start_of(day, BERLIN) == hours * HOUR - timedelta(microseconds=1)
    assert start_of(day, BERLIN).astimezone(BERLIN).date() == end_of(day, BERLIN).astimezone(BERLIN).date() == day


def test_midnight_that_is_left_out_or_comes_twice_begins_the_day_once() -> None:
    # In Havana clocks go from 24:00 to 1:00 in spring, and from 1:00 back to 0:00 in autumn.
    assert start_of(date(2026, 3, 8), HAVANA) == moment("2026-03-08T05:00:00Z")
    assert start_of(date(2026, 11, 1), HAVANA) == moment("2026-11-01T04:00:00Z")
    assert end_of(date(2026, 11, 1), HAVANA) - start_of(date(2026, 11, 1), HAVANA) > 24 * HOUR


def test_day_that_a_place_left_out_is_empty() -> None:
    assert end_of(date(2011, 12, 30), APIA) < start_of(date(2011, 12, 30), APIA)


def test_time_that_comes_twice_is_taken_whole() -> None:
    twice = datetime(2026, 10, 25, 2, 30)  # noqa: DTZ001
    assert start_of(twice, BERLIN) == moment("2026-10-25T00:30:00Z")
    assert end_of(twice, BERLIN) == moment("2026-10-25T01:30:00Z")


@pytest.mark.parametrize(
    ("now", "days", "hours"),
    [
        ("2026-03-29T10:00:00Z", 1, 23),
        ("2026-03-30T10:00:00Z", 1, 24),
        ("2026-10-25T10:00:00Z", 1, 25),
        ("2026-10-26T10:00:00Z", 7, 7 * 24 + 1),
        ("2026-10-25T10:00:00Z", 1.5, 25 + 12),
        ("2026-10-25T10:00:00Z", 0.5, 12),
        ("2026-10-25T10:00:00Z", 0, 0),
    ],
)
def test_days_go_back_to_the_same_time_on_the_clock(now: str, days: float, hours: int) -> None:
    assert moment(now) - days_before(moment(now), days, BERLIN) == hours * HOUR


def test_days_without_a_zone_have_24_hours() -> None:
    now = datetime(2026, 3, 29, 10, tzinfo=UTC)
    assert days_before(now, 1.5) == now - 36 * HOUR
