"""Which time zones there are."""

from functools import cache
from zoneinfo import available_timezones

# Regions of the world in the database of IANA; other names there are of programs, or old names of these.
REGIONS = ("Africa/", "America/", "Antarctica/", "Asia/", "Atlantic/", "Australia/", "Europe/", "Indian/", "Pacific/")


@cache
def time_zones() -> tuple[str, ...]:
    """Return the names of time zones that people choose from: UTC, then places by region."""
    return ("UTC", *sorted(name for name in available_timezones() if name.startswith(REGIONS)))
