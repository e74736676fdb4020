"""The health of the indexes of a process: healthy, warning or degraded (spec 000, Health and backpressure).

          sign over its limit                    sign over its hard limit
    OK ------------------------> WARNING -------------------------------> DEGRADED
       <------------------------         <-------------------------------
          all below 80% of it                    all below 80% of it

While degraded, searches compare every row, which is exact and needs no graph, and writes are limited.
"""

import math
from dataclasses import dataclass
from enum import StrEnum

# A level ends when every sign is below this share of its limit, so that it does not flutter.
RELIEVED = 0.8
# The hard limits, as multiples of the limits.
HARD_BACKLOG = 4.0
HARD_BYTES = 1.5
HARD_LATENCY = 5.0


class IndexLevel(StrEnum):
    """The level of health."""

    OK = "ok"
    WARNING = "warning"
    DEGRADED = "degraded"


class IndexReason(StrEnum):
    """What is over its limit."""

    BACKLOG = "backlog"
    CAPACITY = "capacity"
    WRITE_LATENCY = "write_latency"
    EVICTIONS = "evictions"


HARD = {
    IndexReason.BACKLOG: HARD_BACKLOG,
    IndexReason.CAPACITY: HARD_BYTES,
    IndexReason.WRITE_LATENCY: HARD_LATENCY,
    IndexReason.EVICTIONS: math.inf,  # they cost time, which fewer graphs and slower saves would not save
}


# What to do about each.
HINTS = {
    IndexReason.BACKLOG: "A graph is being built or brought up to date; this finishes by itself.",
    IndexReason.CAPACITY: "Raise MEMORYHUB_INDEX_CACHE_MB, or spread the users over more machines.",
    IndexReason.EVICTIONS: (
        "The indexes of all users do not fit in memory and are reloaded again and again: raise "
        "MEMORYHUB_INDEX_CACHE_MB, or spread the users over more machines."
    ),
    IndexReason.WRITE_LATENCY: "Check the load of the database and the disk; this ends when it falls.",
}


@dataclass(frozen=True)
class IndexLimits:
    """backlog: rows in no graph yet. cache_bytes: memory of all indexes. write_ms: 95th percentile of saves.

    evictions: indexes that are dropped per minute because the cache is full.
    """

    backlog: float
    cache_bytes: float
    write_ms: float
    evictions: float = 1.0


@dataclass(frozen=True)
class IndexSigns:
    """The present values of what IndexLimits limits."""

    backlog: float = 0.0
    cache_bytes: float = 0.0
    write_ms: float = 0.0
    evictions: float = 0.0


@dataclass(frozen=True)
class IndexHealth:
    """A level and the reasons for it, the worst first."""

    level: IndexLevel = IndexLevel.OK
    reasons: tuple[IndexReason, ...] = ()


def judge(signs: IndexSigns, limits: IndexLimits, before: IndexHealth) -> IndexHealth:
    """Return the health that follows from the signs, given the previous one."""
    shares = {
        IndexReason.BACKLOG: signs.backlog / limits.backlog,
        IndexReason.CAPACITY: signs.cache_bytes / limits.cache_bytes,
        IndexReason.WRITE_LATENCY: signs.write_ms / limits.write_ms,
        IndexReason.EVICTIONS: signs.evictions / limits.evictions,
    }
    hard = {reason: share / HARD[reason] for reason, share in shares.items()}
    level = IndexLevel.OK
    if is_over(shares, sticky=before.level is not IndexLevel.OK):
        level = IndexLevel.WARNING
    if is_over(hard, sticky=before.level is IndexLevel.DEGRADED):
        level = IndexLevel.DEGRADED
    if level is IndexLevel.OK:
        return IndexHealth()
    relevant = hard if level is IndexLevel.DEGRADED else shares
    worst_first = sorted(relevant, key=lambda reason: -relevant[reason])
    return IndexHealth(level, tuple(reason for reason in worst_first if relevant[reason] >= RELIEVED))


def is_over(shares: dict[IndexReason, float], *, sticky: bool) -> bool:
    """Return whether a limit is exceeded. sticky: or was, and not every share is low again."""
    worst = max(shares.values())
    return worst > 1 or (sticky and worst >= RELIEVED)


class WriteAllowance:
    """A limit of writes per second, and as many at once. Not thread-safe: its owner holds a lock."""

    def __init__(self, per_second: float) -> None:
        self._per_second = per_second
        self._left = per_second
        self._at: int | None = None

    def take(self, count: int, now: int) -> int:
        """Take `count` writes at `now` (milliseconds). Return 0, or after how many milliseconds to retry.

        More at once than a second allows are admitted when a whole second's allowance is left, and owed afterwards.
        """
        if self._at is not None:
            self._left = min(self._per_second, self._left + max(0, now - self._at) * self._per_second / 1_000)
        self._at = now
        needed = min(float(count), self._per_second)
        if self._left >= needed:
            self._left -= count
            return 0
        return max(1, round((needed - self._left) * 1_000 / self._per_second))
