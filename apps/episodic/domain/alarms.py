"""Kinds of warnings, and when one begins and ends: two limits with a gap, so that it does not flap."""

from collections import deque
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from apps.core.domain.latency import percentile

# Of writes: which are recent, how many are kept, and how many slow ones are more than chance.
WINDOW_MS = 60_000
KEPT_WRITES = 200
MIN_SLOW_WRITES = 3
PERCENTILE = 95
# A warning begins at its limit, is critical beyond this multiple of it, and ends below this share of it.
CRITICAL_LATENCY = 5
RELIEVED_LATENCY = 0.8
QUIET = timedelta(minutes=2)
CRITICAL_CAPACITY = 2
RELIEVED_CAPACITY = 0.9
CRITICAL_SPACE = 0.25
RELIEVED_SPACE = 1.25


class WarningKind(StrEnum):
    """What is wrong. At most one warning of a kind (and segment, if it is about one) is active at a time."""

    WRITE_LATENCY = "write_latency"
    SEGMENT_DAMAGED = "segment_damaged"
    DISK_NEARLY_FULL = "disk_nearly_full"
    CAPACITY = "capacity"
    MAINTENANCE_FAILED = "maintenance_failed"


class Severity(StrEnum):
    """How bad it is. From `warning` on, events are not made into memories until the warning ends."""

    NOTICE = "notice"
    WARNING = "warning"
    CRITICAL = "critical"


HINTS: dict[WarningKind, str] = {
    WarningKind.WRITE_LATENCY: (
        "Recording takes longer than MEMORYHUB_TIMELINE_WRITE_MS. Check the load on the database, and record in "
        "batches. The warning ends when writes are fast again."
    ),
    WarningKind.SEGMENT_DAMAGED: (
        "Run `manage.py timeline doctor --repair`, or put the file back from a backup and choose Verify in the admin."
    ),
    WarningKind.DISK_NEARLY_FULL: (
        "Free space on the disk of the data directory, or enable a retention policy. Sealing waits until there is room."
    ),
    WarningKind.CAPACITY: (
        "More events are waiting to be archived than MEMORYHUB_TIMELINE_MAX_ROWS allows. Check that the worker is "
        "running and that the schedule `timeline: maintain` exists."
    ),
    WarningKind.MAINTENANCE_FAILED: "Check the failed task in the admin and the log of the worker.",
}


class Assessment(NamedTuple):
    """severity: None within the limit. is_relieved: so far within it that a warning may end."""

    severity: Severity | None
    is_relieved: bool


class RecentWrites:
    """How long the recent writes of one process took. Not safe for several threads.

    They become too slow when, of the last KEPT_WRITES within a minute, the 95th percentile and at least three writes
    are over the limit, and stay so until the percentile is below four fifths of it.
    """

    def __init__(self) -> None:
        self._writes: deque[tuple[int, float]] = deque(maxlen=KEPT_WRITES)
        self._is_slow = False

    def add(self, duration_ms: float, *, now: int, limit_ms: float) -> float | None:
        """Add a write. Return the 95th percentile in milliseconds while the writes are too slow, else None.

        now: milliseconds, as of a Clock.
        """
        self._writes.append((now, duration_ms))
        while self._writes[0][0] < now - WINDOW_MS:
            self._writes.popleft()
        ordered = sorted(duration for _, duration in self._writes)
        high = percentile(ordered, PERCENTILE)
        if self._is_slow:
            self._is_slow = high >= RELIEVED_LATENCY * limit_ms
        else:
            self._is_slow = high > limit_ms and sum(duration > limit_ms for duration in ordered) >= MIN_SLOW_WRITES
        return high if self._is_slow else None


def assess_latency(high_ms: float, limit_ms: float) -> Severity:
    """Return the severity of a percentile over the limit."""
    return Severity.CRITICAL if high_ms > CRITICAL_LATENCY * limit_ms else Severity.WARNING


def is_quiet(last_seen_at: datetime, now: datetime) -> bool:
    """Return whether a condition has not been reported for so long that it is over."""
    return now - last_seen_at >= QUIET


def assess_space(free_mb: float, min_free_mb: float) -> Assessment:
    """Assess the free space of the disk."""
    if free_mb >= min_free_mb:
        return Assessment(None, free_mb >= RELIEVED_SPACE * min_free_mb)
    return Assessment(Severity.CRITICAL if free_mb < CRITICAL_SPACE * min_free_mb else Severity.WARNING, False)


def assess_capacity(rows: int, max_rows: int) -> Assessment:
    """Assess how many events wait to be archived."""
    if rows <= max_rows:
        return Assessment(None, rows <= RELIEVED_CAPACITY * max_rows)
    return Assessment(Severity.CRITICAL if rows > CRITICAL_CAPACITY * max_rows else Severity.WARNING, False)
