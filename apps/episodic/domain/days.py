"""Days as people count them: from midnight to midnight in their time zone, 23 to 25 hours long."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo

import numpy as np

from apps.episodic.domain.event import MICROSECOND
from apps.episodic.domain.segment_file.format import Array, microseconds
from apps.episodic.domain.window import Window


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
