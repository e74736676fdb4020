"""When the index of a process is well, when it warns, and when it does with less (spec 000, Health and backpressure).

          sign over its limit                    sign over its hard limit
    OK ------------------------> WARNING -------------------------------> DEGRADED
       <------------------------         <-------------------------------
          all below 80% of it                    all below 80% of it

Degraded, searches look at every row, which is exact and needs no graph, and only so many writes a second are taken.
"""

from dataclasses import dataclass
from enum import StrEnum

# A level is left when every sign is below this share of its limit, so that nothing flutters.
RELIEVED = 0.8
# How much beyond the limit the hard limit lies.
HARD_BACKLOG = 4.0
HARD_BYTES = 1.5
HARD_LATENCY = 5.0


class IndexLevel(StrEnum):
    """How the index of a process is."""

    OK = "ok"
    WARNING = "warning"
    DEGRADED = "degraded"


class IndexReason(StrEnum):
    """What is over its limit."""

    BACKLOG = "backlog"
    CAPACITY = "capacity"
    WRITE_LATENCY = "write_latency"


@dataclass(frozen=True)
class IndexLimits:
    """backlog: rows that no graph knows yet. cache_bytes: memory of all shards. write_ms: 95th percentile of saves."""

    backlog: float
    cache_bytes: float
    write_ms: float


@dataclass(frozen=True)
class IndexSigns:
    """The same as they are now."""

    backlog: float = 0.0
    cache_bytes: float = 0.0
    write_ms: float = 0.0


@dataclass(frozen=True)
class IndexHealth:
    """level and, worst first, why."""

    level: IndexLevel = IndexLevel.OK
    reasons: tuple[IndexReason, ...] = ()


def judge(signs: IndexSigns, limits: IndexLimits, before: IndexHealth) -> IndexHealth:
    """The health that follows from the signs, given what it was."""
    shares = _shares(signs, limits)
    hard = {reason: share / _HARD[reason] for reason, share in shares.items()}
    level = IndexLevel.OK
    if _is_over(shares, sticky=before.level is not IndexLevel.OK):
        level = IndexLevel.WARNING
    if _is_over(hard, sticky=before.level is IndexLevel.DEGRADED):
        level = IndexLevel.DEGRADED
    if level is IndexLevel.OK:
        return IndexHealth()
    relevant = hard if level is IndexLevel.DEGRADED else shares
    worst_first = sorted(relevant, key=lambda reason: -relevant[reason])
    return IndexHealth(level, tuple(reason for reason in worst_first if relevant[reason] >= RELIEVED))


_HARD = {
    IndexReason.BACKLOG: HARD_BACKLOG,
    IndexReason.CAPACITY: HARD_BYTES,
    IndexReason.WRITE_LATENCY: HARD_LATENCY,
}


def _shares(signs: IndexSigns, limits: IndexLimits) -> dict[IndexReason, float]:
    return {
        IndexReason.BACKLOG: signs.backlog / limits.backlog,
        IndexReason.CAPACITY: signs.cache_bytes / limits.cache_bytes,
        IndexReason.WRITE_LATENCY: signs.write_ms / limits.write_ms,
    }


def _is_over(shares: dict[IndexReason, float], *, sticky: bool) -> bool:
    worst = max(shares.values())
    return worst > 1 or (sticky and worst >= RELIEVED)


class WriteAllowance:
    """So many writes a second, and as many at once; for the threads of one process, whose owner holds a lock."""

    def __init__(self, per_second: float) -> None:
        self._per_second = per_second
        self._left = per_second
        self._at: int | None = None

    def take(self, count: int, now: int) -> int:
        """Take `count` writes at `now` (milliseconds); gives 0, or after how many milliseconds to try again.

        More at once than a second allows are let in when a whole second's allowance is there, and owed afterwards.
        """
        if self._at is not None:
            self._left = min(self._per_second, self._left + max(0, now - self._at) * self._per_second / 1_000)
        self._at = now
        needed = min(float(count), self._per_second)
        if self._left >= needed:
            self._left -= count
            return 0
        return max(1, round((needed - self._left) * 1_000 / self._per_second))
