"""Moments in the offset of their writer."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.core.domain.offsets import MAX_MINUTES, in_offset, offset_minutes
from apps.core.schemas.fields import OffsetDateTimeField

moments = st.datetimes(timezones=st.just(UTC))


@given(moments, st.integers(-24 * 60 + 1, 24 * 60 - 1))
def test_instant_is_kept_in_any_offset(moment: datetime, minutes: int) -> None:
    there = in_offset(moment, minutes)

    assert there == moment
    assert offset_minutes(there) in {minutes, 0}


@given(moments.filter(lambda moment: 1 < moment.year < 9999), st.integers(-MAX_MINUTES, MAX_MINUTES))
def test_offset_of_a_place_is_kept(moment: datetime, minutes: int) -> None:
    assert offset_minutes(in_offset(moment, minutes)) == minutes


@pytest.mark.parametrize("minutes", [MAX_MINUTES + 1, -MAX_MINUTES - 1, 23 * 60 + 59])
def test_offset_that_no_place_has_becomes_utc(minutes: int) -> None:
    assert in_offset(datetime(2026, 1, 1, tzinfo=UTC), minutes).tzinfo is UTC


@pytest.mark.parametrize("moment", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)])
def test_end_of_the_calendar_stays_in_utc(moment: datetime) -> None:
    assert {in_offset(moment, -300), in_offset(moment, 300)} == {moment}


def test_naive_moment_has_no_offset() -> None:
    with pytest.raises(ValueError):
        offset_minutes(datetime(2026, 1, 1))  # noqa: DTZ001


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("2026-03-01T23:30:00-05:00", timedelta(hours=-5)),
        ("2026-03-01T23:30:00+05:45", timedelta(hours=5, minutes=45)),
        ("2026-03-01T23:30:00Z", timedelta()),
        # Of history: whole minutes are kept, and the instant is exact.
        ("1880-03-01T23:30:00-04:56:02", timedelta(hours=-4, minutes=-57)),
    ],
)
def test_field_keeps_the_offset_of_the_writer(text: str, offset: timedelta) -> None:
    moment = OffsetDateTimeField().run_validation(text)

    assert (moment, moment.utcoffset()) == (datetime.fromisoformat(text), offset)
    assert isinstance(moment.tzinfo, timezone)
