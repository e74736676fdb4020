"""Watch the indexes of this process: warn at a limit, degrade past the hard limit, and recover."""

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
from apps.core.per_process import PerProcess
from apps.episodic.domain.alarms import RecentWrites
from apps.events.services import emit
from apps.semantic.domain.index_health import (
    HINTS,
    IndexHealth,
    IndexLevel,
    IndexLimits,
    IndexSigns,
    WriteAllowance,
    judge,
)
from apps.semantic.events import IndexHealthChanged
from apps.semantic.index.cache import IndexCache, index_cache

logger = logging.getLogger(__name__)
LEVEL = Gauge(
    "memoryhub_index_level",
    "Health of the vector index: 0 healthy, 1 warning, 2 degraded; the worst of all processes.",
    multiprocess_mode="livemax",
)
EVICTION_RATE = Gauge(
    "memoryhub_index_evictions_per_minute",
    "Indexes dropped per minute because the cache was full, over the last five; of all processes.",
    multiprocess_mode="livesum",
)
THROTTLED = Counter("memoryhub_index_throttled_writes_total", "Saves refused with 429 while the index was degraded.")

TICK_SECONDS = 2.0
# The most changes that are kept for a database that does not answer.
MAX_PENDING_EVENTS = 100
# What each process takes while degraded.
DEGRADED_WRITES_PER_SECOND = 20.0


class IndexGuard:
    """The health of one cache. Its thread is started where requests are answered; elsewhere no save is throttled."""

    def __init__(self, cache: IndexCache) -> None:
        self._cache = cache
        self._lock = threading.Lock()
        self._writes = RecentWrites()
        self._slow_write: tuple[int, float] | None = None
        self._allowance = WriteAllowance(DEGRADED_WRITES_PER_SECOND)
        self._thread: threading.Thread | None = None
        self._pending: deque[IndexHealthChanged] = deque(maxlen=MAX_PENDING_EVENTS)
        self.health = IndexHealth()

    def start(self) -> None:
        """Check the health every two seconds from now on."""
        self._thread = threading.Thread(target=self._run, name="index guard", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while True:
            time.sleep(TICK_SECONDS)
            try:
                self.check()
            except Error as error:
                logger.warning("the health of the index could not be reported: %s", type(error).__name__)
                connection.close()
            except Exception:
                # Without its thread the guard would leave the index as it was last, perhaps degraded.
                logger.exception("the health of the index could not be judged")

    def note_write(self, duration_ms: float, *, clock: Clock = SYSTEM_CLOCK) -> None:
        """Note how long a save took."""
        now = clock.now()
        with self._lock:
            high = self._writes.add(duration_ms, now=now, limit_ms=settings.MEMORYHUB.index_write_ms)
            self._slow_write = None if high is None else (now, high)

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
        """Judge the signs, use graphs or not accordingly, and emit an event for a change of the level."""
        before = self.health
        health = judge(self._signs(clock), index_limits(), before)
        self._cache.use_graphs = health.level is not IndexLevel.DEGRADED
        self.health = health
        LEVEL.set(list(IndexLevel).index(health.level))
        EVICTION_RATE.set(self._cache.evictions.per_minute)
        if health.level is not before.level:
            reasons = health.reasons or before.reasons
            logger.warning("vector index: %s after %s (%s)", health.level, before.level, ", ".join(reasons))
            self._pending.append(
                IndexHealthChanged(
                    level=health.level,
                    before=before.level,
                    reasons=tuple(reasons),
                    hints=tuple(HINTS[reason] for reason in health.reasons),
                    instance=f"{socket.gethostname()}:{os.getpid()}",
                    at=utcnow(clock),
                )
            )
        while self._pending:  # in their order; what the database does not take now is emitted the next time
            with transaction.atomic():
                emit(self._pending[0], clock=clock)
            self._pending.popleft()
        return health

    def _signs(self, clock: Clock) -> IndexSigns:
        figures, write_ms = self._cache.describe(), 0.0
        with self._lock:
            # A minute after the last save a slow one says nothing about now.
            if self._slow_write is not None and clock.now() - self._slow_write[0] < 60_000:
                write_ms = self._slow_write[1]
        return IndexSigns(figures["backlog"], figures["bytes"], write_ms, figures["evictions_per_minute"])


def index_limits() -> IndexLimits:
    """Return the configured limits."""
    config = settings.MEMORYHUB
    return IndexLimits(config.index_backlog_rows, config.index_cache_mb * 1024 * 1024, config.index_write_ms)


_guard = PerProcess(lambda: IndexGuard(index_cache()))


def index_guard() -> IndexGuard:
    """Return the guard of this process's cache."""
    return _guard.get()
