"""When the timeline warns and when it is well again: limits with a gap between them, so that nothing flutters."""

from collections import deque
from datetime import datetime, timedelta
from typing import NamedTuple

from apps.core.domain.latency import percentile
from apps.episodic.domain.warnings import Severity

# Of writes: what counts as recent, how many are kept, and how many slow ones are more than chance.
WINDOW_MS = 60_000
KEPT_WRITES = 200
MIN_SLOW_WRITES = 3
PERCENTILE = 95
# A warning begins at its limit, becomes critical beyond so many times it, and ends below this share of it.
CRITICAL_LATENCY = 5
RELIEVED_LATENCY = 0.8
QUIET = timedelta(minutes=2)
CRITICAL_CAPACITY = 2
RELIEVED_CAPACITY = 0.9
CRITICAL_SPACE = 0.25
RELIEVED_SPACE = 1.25


class Assessment(NamedTuple):
    """severity: how bad it is, None within the limit. is_relieved: so far within it that a warning may end."""

    severity: Severity | None
    is_relieved: bool


class RecentWrites:
    """How long the writes of one process took lately. Not safe for several threads.

    They are too slow from when, of the last KEPT_WRITES within a minute, the 95th percentile and at least three are
    over the limit, until the percentile is below four fifths of it.
    """

    def __init__(self) -> None:
        self._writes: deque[tuple[int, float]] = deque(maxlen=KEPT_WRITES)
        self._is_slow = False

    def add(self, duration_ms: float, *, now: int, limit_ms: float) -> float | None:
        """Note a write; gives the 95th percentile in milliseconds while they are too slow, else None.

        now: milliseconds, as a Clock gives them.
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
    """How bad a percentile over the limit is."""
    return Severity.CRITICAL if high_ms > CRITICAL_LATENCY * limit_ms else Severity.WARNING


def is_quiet(last_seen_at: datetime, now: datetime) -> bool:
    """Whether nobody has reported it for so long that it is over."""
    return now - last_seen_at >= QUIET


def assess_space(free_mb: float, min_free_mb: float) -> Assessment:
    """What is left of the disk."""
    if free_mb >= min_free_mb:
        return Assessment(None, free_mb >= RELIEVED_SPACE * min_free_mb)
    return Assessment(Severity.CRITICAL if free_mb < CRITICAL_SPACE * min_free_mb else Severity.WARNING, False)


def assess_capacity(rows: int, max_rows: int) -> Assessment:
    """How many events wait to be archived."""
    if rows <= max_rows:
        return Assessment(None, rows <= RELIEVED_CAPACITY * max_rows)
    return Assessment(Severity.CRITICAL if rows > CRITICAL_CAPACITY * max_rows else Severity.WARNING, False)
