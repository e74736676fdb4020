"""Measure how long the writes of this process take, and warn when they take too long."""

import math
import threading

from django.conf import settings
from django.db import transaction

from apps.core.domain.clock import SYSTEM_CLOCK, Clock
from apps.core.domain.latency import monotonic_ms
from apps.episodic.domain.alarms import RecentWrites, assess_latency
from apps.episodic.domain.warnings import WarningKind
from apps.episodic.metrics import WRITE_SECONDS
from apps.episodic.warnings import warning_report

# A batch is not slow for being large: every hundred events of it may take as long as a single event.
EVENTS_PER_WRITE = 100
# One process reports no more often than this; the row itself is changed even less often.
REPORT_EVERY_MS = 10_000


class WriteLatency:
    """The recent writes of this process, from all its threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._recent = RecentWrites()
        self._reported_at: int | None = None

    def note(self, duration_ms: float, *, clock: Clock = SYSTEM_CLOCK) -> None:
        """Add a write that is over, outside its transaction; warn when the recent ones are too slow."""
        now, limit = clock.now(), settings.MEMORYHUB.timeline.write_ms
        with self._lock:
            high = self._recent.add(duration_ms, now=now, limit_ms=limit)
            if high is None:
                return
            if self._reported_at is not None and abs(now - self._reported_at) < REPORT_EVERY_MS:
                return
            self._reported_at = now
        warning_report(
            kind=WarningKind.WRITE_LATENCY,
            severity=assess_latency(high, limit),
            detail=f"The 95th percentile of recent writes is {high:.0f} ms; the limit is {limit:.0f} ms.",
            clock=clock,
        )


class Stopwatch:
    """Times one call that records `count` events, from here until its commit."""

    def __init__(self, count: int, clock: Clock = SYSTEM_CLOCK) -> None:
        self._count, self._clock, self._start = count, clock, monotonic_ms()

    def stop(self) -> None:
        """End the time, and note it after the commit, which in a caller's transaction may come much later."""
        duration = monotonic_ms() - self._start

        def note() -> None:
            WRITE_SECONDS.labels(size="one" if self._count == 1 else "batch").observe(duration / 1_000)
            write_latency.note(duration / math.ceil(max(1, self._count) / EVENTS_PER_WRITE), clock=self._clock)

        # Robust: a failure here must not make a recorded event look unrecorded.
        transaction.on_commit(note, robust=True)


write_latency = WriteLatency()
