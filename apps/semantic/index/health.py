"""Watches the index of this process: warns, does with less past the hard limit, and recovers by itself."""

import logging
import math
import os
import socket
import threading
import time
from collections import deque

from django.conf import settings
from django.db import Error, connection, transaction
from prometheus_client import Counter, Gauge

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ThrottledError
from apps.episodic.domain.alarms import RecentWrites
from apps.events.services import emit
from apps.semantic.domain.index_health import (
    IndexHealth,
    IndexLevel,
    IndexLimits,
    IndexReason,
    IndexSigns,
    WriteAllowance,
    judge,
)
from apps.semantic.events import IndexHealthChanged
from apps.semantic.index.cache import IndexCache, index_cache

logger = logging.getLogger(__name__)
LEVEL = Gauge(
    "semantic_index_level",
    "Health of the vector index: 0 well, 1 warning, 2 degraded; the worst of all processes.",
    multiprocess_mode="livemax",
)
THROTTLED = Counter("semantic_index_throttled_writes_total", "Saves refused with 429 while the index was degraded.")

TICK_SECONDS = 2.0
# So many changes wait for a database that is away.
UNTOLD_CHANGES = 100
# While degraded, each process takes so many saves a second.
DEGRADED_WRITES_PER_SECOND = 20.0
HINTS = {
    IndexReason.BACKLOG: "The graph is being made or brought up to date; this ends by itself.",
    IndexReason.CAPACITY: "Raise MEMORYHUB_INDEX_CACHE_MB, or spread the users over more machines.",
    IndexReason.WRITE_LATENCY: "Look at the load of the database and the disk; this ends by itself.",
}


class IndexGuard:
    """The health of one cache. Its thread is started where requests are answered; elsewhere nobody is throttled."""

    def __init__(self, cache: IndexCache) -> None:
        self._cache = cache
        self._lock = threading.Lock()
        self._writes = RecentWrites()
        self._write_high: tuple[int, float] | None = None
        self._allowance = WriteAllowance(DEGRADED_WRITES_PER_SECOND)
        self._thread: threading.Thread | None = None
        self._untold: deque[IndexHealthChanged] = deque(maxlen=UNTOLD_CHANGES)
        self.health = IndexHealth()

    def start(self) -> None:
        """Look at the signs from now on, every two seconds."""
        self._thread = threading.Thread(target=self._run, name="index guard", daemon=True)
        self._thread.start()

    def note_write(self, duration_ms: float, *, clock: Clock = SYSTEM_CLOCK) -> None:
        """A save is over."""
        now = clock.now()
        with self._lock:
            high = self._writes.add(duration_ms, now=now, limit_ms=settings.MEMORYHUB.index_write_ms)
            self._write_high = None if high is None else (now, high)

    def admit(self, count: int, *, clock: Clock = SYSTEM_CLOCK) -> None:
        """Let a save of `count` memories in. Raises ThrottledError while the index is degraded and busy."""
        if self.health.level is not IndexLevel.DEGRADED:
            return
        with self._lock:
            wait_ms = self._allowance.take(count, clock.now())
        if wait_ms:
            THROTTLED.inc()
            reasons = ", ".join(self.health.reasons)
            detail = f"Saves are slowed down because the vector index is degraded ({reasons}). Try again shortly."
            raise ThrottledError(detail, retry_after=math.ceil(wait_ms / 1_000), code="index_degraded")

    def check(self, *, clock: Clock = SYSTEM_CLOCK) -> IndexHealth:
        """Judge the signs, and tell of a change."""
        before = self.health
        health = judge(self._signs(clock), _limits(), before)
        self._cache.use_graphs = health.level is not IndexLevel.DEGRADED
        self.health = health
        LEVEL.set(list(IndexLevel).index(health.level))
        if health.level is not before.level:
            self._note_change(before, health, clock)
        self._tell(clock)
        return health

    def _signs(self, clock: Clock) -> IndexSigns:
        figures = self._cache.describe()
        with self._lock:
            # Where nobody saves any more, the last slow save says nothing about now.
            recent = self._write_high is not None and clock.now() - self._write_high[0] < 60_000
            write_ms = self._write_high[1] if self._write_high and recent else 0.0
        return IndexSigns(figures["backlog"], figures["bytes"], write_ms)

    def _note_change(self, before: IndexHealth, health: IndexHealth, clock: Clock) -> None:
        reasons = health.reasons or before.reasons
        logger.warning("vector index: %s after %s (%s)", health.level, before.level, ", ".join(reasons))
        self._untold.append(
            IndexHealthChanged(
                level=health.level,
                before=before.level,
                reasons=tuple(reasons),
                hints=tuple(HINTS[reason] for reason in health.reasons),
                instance=f"{socket.gethostname()}:{os.getpid()}",
                at=utcnow(clock),
            )
        )

    def _tell(self, clock: Clock) -> None:
        """Tell of the changes in their order. What the database does not take now is told the next time."""
        while self._untold:
            with transaction.atomic():
                emit(self._untold[0], clock=clock)
            self._untold.popleft()

    def _run(self) -> None:
        while True:
            time.sleep(TICK_SECONDS)
            try:
                self.check()
            except Error as error:
                logger.warning("the health of the index could not be told: %s", type(error).__name__)
                connection.close()
            except Exception:
                # A guard that is gone would leave the index as it was last, perhaps degraded.
                logger.exception("the health of the index could not be judged")


def _limits() -> IndexLimits:
    config = settings.MEMORYHUB
    return IndexLimits(config.index_backlog_rows, config.index_cache_mb * 1024 * 1024, config.index_write_ms)


_guard: IndexGuard | None = None
_guard_lock = threading.Lock()


def _begin_unguarded() -> None:
    """In a forked process: the cache is another one, and the thread is not there."""
    global _guard, _guard_lock
    _guard, _guard_lock = None, threading.Lock()


os.register_at_fork(after_in_child=_begin_unguarded)


def index_guard() -> IndexGuard:
    """The guard of this process's cache."""
    global _guard
    with _guard_lock:
        if _guard is None:
            _guard = IndexGuard(index_cache())
        return _guard
