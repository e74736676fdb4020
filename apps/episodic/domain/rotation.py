"""When the open segment is closed, and when a sealed one leaves the table (DESIGN D8)."""

from datetime import datetime, timedelta


def is_full(first_arrival: int, last_arrival: int, capacity: int) -> bool:
    """Whether as many arrivals as a segment may hold have come since its first.

    Arrival numbers of events that were known already are used up, too, so a segment may hold fewer.
    """
    return last_arrival - first_arrival >= capacity


def is_old(first_recorded_at: datetime | None, now: datetime, hours: float) -> bool:
    """Whether a segment has held events for so long. first_recorded_at: of its first event; None when it is empty."""
    return first_recorded_at is not None and first_recorded_at <= now - timedelta(hours=hours)


def archive_before(now: datetime, hours: float) -> datetime:
    """Segments that were closed at this moment or before may leave the table."""
    return now - timedelta(hours=hours)
