"""Time zones by their IANA names, and what days are in them: of 23 or 25 hours where the clocks change."""

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

MAX_ZONE_CHARS = 64
MICROSECOND = timedelta(microseconds=1)
ZONE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+){0,2}")
# What machines keep beside the names of IANA: other ways to count, their own zone, and none.
NO_ZONES = re.compile(r"(?:posix|right)/.*|localtime|posixrules|Factory", re.DOTALL)


@lru_cache(maxsize=1024)
def find_zone(name: str) -> ZoneInfo:
    """Return the zone of an IANA name. Raises ValueError for a name that is none."""
    if len(name) > MAX_ZONE_CHARS or not ZONE_NAME.fullmatch(name) or NO_ZONES.fullmatch(name):
        raise ValueError("This is not the name of a time zone.")
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, OSError) as error:
        raise ValueError("There is no such time zone.") from error


def days_before(now: datetime, days: float, zone: tzinfo | None = None) -> datetime:
    """Return the moment of so many days before `now`, in UTC.

    In a zone whole days go back to the same time on the clock, whatever number of hours that takes; the rest of a day
    and days without a zone are of 24 hours. Raises OverflowError beyond the calendar.
    """
    if zone is None:
        return now - timedelta(days=days)
    whole = int(days)
    then = now.astimezone(zone) - timedelta(days=whole)
    return then.astimezone(UTC) - timedelta(days=days - whole)


def start_of(moment: date | datetime, zone: tzinfo) -> datetime:
    """Return a time on the clocks of a zone, or the beginning of a day there, in UTC.

    Of a time that comes twice the first one; of one that is left out the same time by the clock of before. Raises
    OverflowError beyond the calendar.
    """
    local = moment if isinstance(moment, datetime) else datetime.combine(moment, time())
    return local.replace(tzinfo=zone).astimezone(UTC)


def end_of(moment: date | datetime, zone: tzinfo) -> datetime:
    """Return the same as the end of a window: of a day its last microsecond, of a time that comes twice the second."""
    if isinstance(moment, datetime):
        return moment.replace(tzinfo=zone, fold=1).astimezone(UTC)
    return start_of(moment + timedelta(days=1), zone) - MICROSECOND
