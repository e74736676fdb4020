"""When events happened, as bars and by days: into which spans a time is cut, and what is counted in each."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo

import numpy as np

from apps.episodic.domain.event import EPOCH, MICROSECOND
from apps.episodic.domain.segment_file.format import Array, microseconds
from apps.episodic.domain.window import Window

MAX_BUCKETS = 62
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
# The narrowest of them that needs no more than MAX_BUCKETS is taken.
WIDTHS = (
    *(MINUTE * minutes for minutes in (1, 2, 5, 10, 15, 30)),
    *(HOUR * hours for hours in (1, 2, 3, 6, 12)),
    *(DAY * days for days in (1, 2, 4, 7, 14, 28, 56, 91, 182, 364)),
)
FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Buckets:
    """Spans of equal length, one after another. first: microseconds since 1970; each includes its beginning only."""

    first: int
    width: timedelta
    count: int

    def edge(self, number: int) -> datetime:
        """Return where a span begins, and the one before it ends; within the calendar."""
        return at_microsecond(self.first + number * (self.width // MICROSECOND))

    @property
    def edges(self) -> list[datetime]:
        """Return the beginnings of all spans, and the end of the last one."""
        return [self.edge(number) for number in range(self.count + 1)]

    @property
    def span(self) -> tuple[datetime, datetime]:
        """Return the first and the last moment of all spans."""
        last = self.first + self.count * (self.width // MICROSECOND) - 1
        return self.edge(0), at_microsecond(last)

    def number_at(self, moment: datetime) -> int:
        """Return the number of the span that a moment lies in, from -1 for before the first to `count` for after."""
        number = ((moment - EPOCH) // MICROSECOND - self.first) // (self.width // MICROSECOND)
        return max(-1, min(number, self.count))

    def numbers(self, times: Array) -> Array:
        """Return the numbers of the spans of moments in microseconds."""
        return (times - self.first) // (self.width // MICROSECOND)


@dataclass(frozen=True)
class EventHistogram:
    """How many events of each type there are in each span. counts: by type, a number for each span.

    since: what happened before may be missing, because the files hold more than is read at once; None: all is counted.
    """

    buckets: Buckets
    counts: Mapping[str, Sequence[int]]
    since: datetime | None = None

    @property
    def totals(self) -> list[int]:
        """Return the events of all types in each span."""
        return [sum(column) for column in zip(*self.counts.values(), strict=True)] or [0] * self.buckets.count

    @property
    def by_type(self) -> dict[str, int]:
        """Return the events of each type, the most frequent first."""
        sums = {name: sum(counts) for name, counts in self.counts.items()}
        return dict(sorted(sums.items(), key=lambda one: (-one[1], one[0])))

    @property
    def total(self) -> int:
        """Return the number of all events."""
        return sum(map(sum, self.counts.values()))

    def between(self, first: int, last: int) -> dict[str, int]:
        """Return the events of each type in the spans from `first` to `last`, both included."""
        return {name: sum(self.counts[name][first : last + 1]) for name in self.by_type}


def plan_buckets(start: datetime, end: datetime) -> Buckets:
    """Return at most MAX_BUCKETS spans that cover the time from `start` up to `end`, which lies after it."""
    begin, finish = ((moment - EPOCH) // MICROSECOND for moment in (start, max(end, start + MICROSECOND)))
    width = DAY
    for width in (*WIDTHS, (end - start) // (MAX_BUCKETS - 1) // DAY * DAY + DAY):
        size = width // MICROSECOND
        first = begin // size * size
        count = -(-(finish - first) // size)
        if count <= MAX_BUCKETS:
            return Buckets(first, width, count)
    raise AssertionError("The last width covers every time.")


def at_microsecond(number: int) -> datetime:
    """Return the moment of microseconds since 1970, or the nearest one that the calendar has."""
    lowest, highest = ((edge - EPOCH) // MICROSECOND for edge in (FIRST, LAST))
    return EPOCH + max(lowest, min(number, highest)) * MICROSECOND


@dataclass(frozen=True)
class Spans:
    """Spans of any length, one after another. edges: where each begins, and where the last one ends; rising."""

    edges: tuple[datetime, ...]

    @property
    def count(self) -> int:
        """Return the number of spans."""
        return len(self.edges) - 1

    @property
    def span(self) -> tuple[datetime, datetime]:
        """Return the first and the last moment of all spans."""
        return self.edges[0], self.edges[-1] - MICROSECOND

    def number_at(self, moment: datetime) -> int:
        """Return the number of the span that a moment lies in, from -1 for before the first to `count` for after."""
        return bisect_right(self.edges, moment) - 1

    def numbers(self, times: Array) -> Array:
        """Return the numbers of the spans of moments in microseconds."""
        return np.searchsorted(np.array([microseconds(edge) for edge in self.edges]), times, side="right") - 1


@dataclass(frozen=True)
class EventDays:
    """How many events of each type are in each span. since: what happened before may be missing; None: nothing."""

    counts: Mapping[str, Sequence[int]]
    since: datetime | None = None

    @property
    def totals(self) -> list[int]:
        """Return the events of all types in each span; nothing where there are no events at all."""
        return [sum(column) for column in zip(*self.counts.values(), strict=True)]

    @property
    def by_type(self) -> dict[str, int]:
        """Return the events of each type, the most frequent first."""
        sums = {name: sum(counts) for name, counts in self.counts.items()}
        return dict(sorted(sums.items(), key=lambda one: (-one[1], one[0])))


def midnight(day: date, zone: tzinfo) -> datetime:
    """Return in UTC when a day begins in a zone; where clocks skip midnight, when they do so.

    In UTC, since the times of one zone are subtracted and compared as its clocks show them, of which some come twice.
    """
    return datetime.combine(day, time.min, zone).astimezone(UTC)


def day_spans(first: date, last: date, zone: tzinfo) -> Spans:
    """Return the spans of all days from the first to the last, both included."""
    days = (last - first).days + 1
    return Spans(tuple(midnight(first + timedelta(days=number), zone) for number in range(days + 1)))


def days_window(first: date, last: date, zone: tzinfo) -> Window:
    """Return the first and the last moment of days in a zone."""
    return Window(midnight(first, zone), midnight(last + timedelta(days=1), zone) - MICROSECOND)
