"""Moments of a Clock (milliseconds since the epoch) as the database keeps them, and back."""

from datetime import UTC, date, datetime, time, timedelta

from apps.core.domain.clock import to_datetime

_EPOCH = to_datetime(0)
_MILLISECOND = timedelta(milliseconds=1)


def milliseconds(moment: datetime) -> int:
    """Return the reading of a Clock at `moment`."""
    return (moment - _EPOCH) // _MILLISECOND


def day_of(now: int) -> date:
    """Return the day in UTC."""
    return to_datetime(now).date()


def midnight(day: date) -> int:
    """Return the first millisecond of a day in UTC."""
    return milliseconds(datetime.combine(day, time(), UTC))
