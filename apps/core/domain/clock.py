"""Time as an argument: the Clock protocol of spec 002 section 10 and its two implementations."""

import time
from datetime import UTC, datetime
from typing import Protocol, overload


class Clock(Protocol):
    """Where the time comes from."""

    def now(self) -> int:
        """Return the milliseconds since 1970-01-01T00:00:00Z."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> int:
        return time.time_ns() // 1_000_000


class DeterministicClock:
    """A clock that moves only when it is set; for tests and rehearsals."""

    def __init__(self, initial: int) -> None:
        self._now = initial

    def now(self) -> int:
        return self._now

    def reset(self, value: int) -> None:
        """Set the time to `value` milliseconds since the epoch."""
        self._now = value

    def advance(self, milliseconds: int) -> None:
        """Advance the time by `milliseconds`."""
        self._now += milliseconds


def to_datetime(milliseconds: int) -> datetime:
    """Return the aware UTC datetime of a Clock reading."""
    seconds, rest = divmod(milliseconds, 1000)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest * 1000)


def utcnow(clock: Clock) -> datetime:
    """Return the current time as an aware UTC datetime, to the millisecond."""
    return to_datetime(clock.now())


SYSTEM_CLOCK: Clock = SystemClock()


@overload
def iso(moment: datetime) -> str: ...
@overload
def iso(moment: datetime | None) -> str | None: ...
def iso(moment: datetime | None) -> str | None:
    """Return ISO 8601 in the moment's own offset, `Z` for UTC, with microseconds where there are any; None for None."""
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")
