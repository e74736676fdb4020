"""Windows in requests, and the time zone in which their ends are meant."""

from typing import Any

import pytest
from rest_framework.exceptions import ValidationError

from apps.core.schemas.serializers import StrictSerializer
from apps.core.schemas.windows import TimezoneField, WindowInput, settle_time_window


class Asked(StrictSerializer):
    time_window = WindowInput()
    timezone = TimezoneField()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return settle_time_window(attrs)


def settled(zone: str | None, **ends: str) -> list[str]:
    window = Asked().run_validation({"time_window": ends, "timezone": zone})["time_window"]
    return [window[name].isoformat() for name in ("start", "end") if window.get(name)]


def refused(zone: str | None, **ends: str) -> Any:
    with pytest.raises(ValidationError) as error:
        settled(zone, **ends)
    return error.value.get_codes()


def test_dates_are_days_of_the_zone() -> None:
    ends = {"from": "2026-03-29", "to": "2026-03-29"}
    assert settled("Europe/Berlin", **ends) == ["2026-03-28T23:00:00+00:00", "2026-03-29T21:59:59.999999+00:00"]
    assert settled("UTC", **ends) == ["2026-03-29T00:00:00+00:00", "2026-03-29T23:59:59.999999+00:00"]


def test_datetimes_without_offset_are_of_the_zone_and_others_are_not() -> None:
    assert settled("Asia/Tokyo", **{"from": "2026-03-29T09:00:00", "to": "2026-03-29T09:00:00Z"}) == [
        "2026-03-29T00:00:00+00:00",
        "2026-03-29T09:00:00+00:00",
    ]


@pytest.mark.parametrize("end", ["from", "to"])
@pytest.mark.parametrize("text", ["2026-03-29", "2026-03-29T09:00:00"])
def test_without_a_zone_they_are_refused(end: str, text: str) -> None:
    assert refused(None, **{end: text}) == {"time_window": {end: ["naive"]}}


@pytest.mark.parametrize("text", ["2026-02-30", "0000-01-01", "tomorrow", "2026-3-9", "2026-W10-7", "20260329"])
def test_what_is_no_date_is_refused(text: str) -> None:
    assert list(refused("Europe/Berlin", **{"from": text})["time_window"]) == ["from"]


@pytest.mark.parametrize("ends", [{"to": "9999-12-31"}, {"from": "0001-01-01"}])
def test_day_at_the_end_of_the_calendar_is_refused(ends: dict[str, str]) -> None:
    assert refused("Asia/Tokyo", **ends) == {"time_window": {next(iter(ends)): ["overflow"]}}


def test_window_that_ends_before_it_begins_is_refused() -> None:
    assert refused("Asia/Tokyo", **{"from": "2026-03-30", "to": "2026-03-29"}) == {"time_window": {"from": ["invalid"]}}


@pytest.mark.parametrize("zone", ["Berlin", "", "../UTC"])
def test_zone_that_is_none_is_refused_by_name(zone: str) -> None:
    assert list(refused(zone)) == ["timezone"]
