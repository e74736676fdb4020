"""When the open segment is closed, and when a sealed one leaves the table (DESIGN D8)."""

from datetime import datetime, timedelta


def is_full(first_arrival: int, last_arrival: int, capacity: int) -> bool:
    """Return whether as many arrivals as a segment may hold have come since its first.

    Duplicates use up arrival numbers too, so a segment may hold fewer events.
    """
    return last_arrival - first_arrival >= capacity


def is_old(first_recorded_at: datetime | None, now: datetime, hours: float) -> bool:
    """Return whether a segment has held events for so long. first_recorded_at: of its first event, if it has any."""
    return first_recorded_at is not None and first_recorded_at <= now - timedelta(hours=hours)


def archive_before(now: datetime, hours: float) -> datetime:
    """Return the moment at or before which a segment was closed whose rows may leave the table."""
    return now - timedelta(hours=hours)
