"""Moments in the offset in which their writer said them: the instant is compared, the offset says which day it was."""

from datetime import UTC, datetime, timedelta, timezone

MINUTE = timedelta(minutes=1)
# No place has ever had an offset of 16 hours or more, and PostgreSQL reads none.
MAX_MINUTES = 16 * 60 - 1


def offset_minutes(moment: datetime | None) -> int:
    """Return how far a moment's offset lies from UTC in whole minutes, east of it positive; 0 for None.

    Raises ValueError for a naive datetime.
    """
    if moment is None:
        return 0
    offset = moment.utcoffset()
    if offset is None:
        raise ValueError("A moment has an offset.")
    return offset // MINUTE


def in_offset(moment: datetime, minutes: int) -> datetime:
    """Return the same instant in an offset of so many minutes; in UTC where no place has it, or the calendar ends."""
    zone = timezone(timedelta(minutes=minutes)) if 0 < abs(minutes) <= MAX_MINUTES else UTC
    try:
        return moment.astimezone(zone)
    except OverflowError:
        return moment.astimezone(UTC)
