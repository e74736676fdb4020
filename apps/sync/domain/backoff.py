"""When a source that could not be reached is tried again (spec 003, error handling)."""

from datetime import datetime, timedelta

FIRST_DELAY = timedelta(minutes=1)
LONGEST_DELAY = timedelta(hours=1)


def retry_delay(failures: int) -> timedelta:
    """Return how long to wait after so many failures in a row: a minute after the first, doubled up to an hour."""
    doublings = min(max(failures, 1) - 1, 10)
    return min(FIRST_DELAY * (1 << doublings), LONGEST_DELAY)


def next_try(failures: int, now: datetime) -> datetime:
    """Return the moment before which no trigger starts a sync, after so many failures in a row."""
    return now + retry_delay(failures)
