"""Queries of the timeline, what they collect and what they report (spec 000, Episodic Retrieval Controls)."""

import heapq
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from itertools import count
from typing import Any

from apps.core.domain.errors import InvalidInputError
from apps.core.domain.filters.expression import EVERYTHING, Expression
from apps.core.domain.filters.match import matches
from apps.core.domain.scope import Scope
from apps.core.domain.zones import days_before
from apps.episodic.domain.event import EPOCH, MICROSECOND, EventRecord, event_values
from apps.retrieval.domain.query import Hit, SearchMode

DEFAULT_TOP_K = 50
MAX_TOP_K = 1_000
MAX_EVENT_TYPES = 50


@dataclass(frozen=True)
class Window:
    """A span of time, both ends included; None for no end."""

    start: datetime | None = None
    end: datetime | None = None

    def contains(self, moment: datetime) -> bool:
        """Return whether a moment is in the window."""
        return (self.start is None or self.start <= moment) and (self.end is None or moment <= self.end)

    def overlaps(self, other: "Window") -> bool:
        """Return whether some moment belongs to both windows."""
        begins = self.start is None or other.end is None or self.start <= other.end
        return begins and (self.end is None or other.start is None or other.start <= self.end)


@dataclass(frozen=True)
class EventQuery:
    """A query of the timeline.

    include: owners whose events are queried besides those of the scope, as far as the caller may read them.
    start, end: the window, both ends included. last_days: a window from that many days ago on, instead of the two.
    event_types: those wanted, none for all. where: what else they must be. text: what the events
    are about; with it the best matches come first. zone: in which `last_days` and the days of the text are meant.
    asked_at: see `SearchQuery`.
    """

    scope: Scope = field(default_factory=Scope)
    start: datetime | None = None
    end: datetime | None = None
    last_days: float | None = None
    top_k: int = DEFAULT_TOP_K
    event_types: tuple[str, ...] = ()
    where: Expression = EVERYTHING
    text: str | None = None
    mode: SearchMode | None = None
    explain: bool = False
    zone: tzinfo | None = None
    asked_at: datetime | None = None
    include: tuple[str, ...] = ()

    def window(self, now: datetime) -> Window:
        """Return the window as of now. Raises InvalidInputError."""
        if self.last_days is not None:
            if self.start is not None or self.end is not None:
                raise InvalidInputError("Send either `from` and `to` or `last_days`, not both.", attr="last_days")
            return Window(days_before(now, self.last_days, self.zone))
        if self.start is not None and self.end is not None and self.start > self.end:
            raise InvalidInputError("`from` is after `to`.", attr="from")
        return Window(self.start, self.end)


@dataclass(frozen=True)
class EventCounts:
    """scanned: events of the scope. inside: of these, those in the window. wanted: of these, those of the types.

    passed: of these, those that pass the filter.
    """

    scanned: int = 0
    inside: int = 0
    wanted: int = 0
    passed: int = 0

    def __add__(self, other: "EventCounts") -> "EventCounts":
        return EventCounts(
            self.scanned + other.scanned,
            self.inside + other.inside,
            self.wanted + other.wanted,
            self.passed + other.passed,
        )


class TopEvents:
    """Keeps the newest `limit` of the events added to it; with `max_bytes` no more than have that much content.

    The event that crosses `max_bytes` (1 or more, of UTF-8) is the last one kept. What is kept depends on the events
    alone, not on the order in which they are added: what it keeps is newer than all that it dropped.
    """

    def __init__(self, limit: int, max_bytes: int | None = None) -> None:
        self._limit = limit
        self._max_bytes = math.inf if max_bytes is None else max_bytes
        self._bytes = 0
        self._heap: list[tuple[tuple[Any, int], int, int, EventRecord]] = []
        self._serial = count()

    def add(self, record: EventRecord) -> None:
        """Keep an event, and drop the oldest ones that there is no room for."""
        rank = self.rank(*record.order)
        if not self.free and rank < self._heap[0][0]:
            return
        size = len(record.content.encode())
        heapq.heappush(self._heap, (rank, next(self._serial), size, record))
        self._bytes += size
        while len(self._heap) > self._limit or self._bytes - self._heap[0][2] >= self._max_bytes:
            self._bytes -= heapq.heappop(self._heap)[2]

    def rank(self, moment: datetime, arrival: int) -> tuple[Any, int]:
        """Return by what events are compared: the greater ones are kept."""
        return moment, arrival

    @property
    def free(self) -> int:
        """Return how many more events there may be room for."""
        return self._limit - len(self._heap) if self._bytes < self._max_bytes else 0

    def can_take(self, moment: datetime) -> bool:
        """Return whether an event of this moment could be among the newest."""
        return bool(self.free) or self.rank(moment, 0)[0] >= self._heap[0][0][0]

    def records(self) -> tuple[EventRecord, ...]:
        """Return the events, the newest first."""
        return tuple(record for *_, record in sorted(self._heap, reverse=True))


class OldestEvents(TopEvents):
    """Keeps the oldest of the events added to it, and returns the oldest first."""

    def rank(self, moment: datetime, arrival: int) -> tuple[int, int]:
        """Return by what events are compared: the older, the greater."""
        return -((moment - EPOCH) // MICROSECOND), -arrival


class QueryAccumulator:
    """Counts the events of a scope, and keeps the newest of those that a query wants."""

    def __init__(
        self,
        window: Window,
        event_types: Iterable[str],
        limit: int,
        max_bytes: int | None = None,
        where: Expression = EVERYTHING,
    ) -> None:
        self.window = window
        self.event_types = frozenset(event_types)
        self.where = where
        self.top = TopEvents(limit, max_bytes)
        self.counts = EventCounts()

    @property
    def is_by_time_only(self) -> bool:
        """Return whether the time of an event decides that it is wanted, so that it can be counted unread."""
        return not self.event_types and self.where == EVERYTHING

    def add_counts(self, counts: EventCounts) -> None:
        """Add events that were counted elsewhere."""
        self.counts += counts

    def add_uncounted(self, records: Iterable[EventRecord]) -> None:
        """Count events of the scope, and keep the wanted ones."""
        scanned = inside = wanted = passed = 0
        for record in records:
            scanned += 1
            if self.window.contains(record.timestamp):
                inside += 1
                if not self.event_types or record.event_type in self.event_types:
                    wanted += 1
                    if self.where == EVERYTHING or matches(self.where, event_values(record)):
                        passed += 1
                        self.top.add(record)
        self.add_counts(EventCounts(scanned, inside, wanted, passed))

    def add_counted(self, records: Iterable[EventRecord]) -> None:
        """Keep events that are wanted and were counted elsewhere."""
        for record in records:
            self.top.add(record)


@dataclass(frozen=True)
class FileCounts:
    """total: files with events of the scope. read: those of them that were read. quarantined: damaged in the hub."""

    total: int = 0
    read: int = 0
    quarantined: int = 0


@dataclass(frozen=True)
class TextDiagnostics:
    """How a text was compared. fallback: why not in the mode asked for, if that was not possible."""

    mode: SearchMode
    index: str
    compared_by_meaning: int
    fallback: str | None = None


@dataclass(frozen=True)
class QueryDiagnostics:
    """How a query came to its events: scanned = returned + the sum of dropped = hot + archived.

    dropped: each event counts under the first reason. hot, archived: scanned events that are rows, and lines of files.
    took_ms: milliseconds, wall time.
    """

    scanned: int
    returned: int
    dropped: Mapping[str, int]
    hot: int
    archived: int
    segments: FileCounts
    took_ms: float
    text: TextDiagnostics | None = None


@dataclass(frozen=True)
class QueryResult:
    """The events found, the newest first; with a text the best first, and a hit for each of them."""

    events: tuple[EventRecord, ...]
    diagnostics: QueryDiagnostics
    hits: tuple[Hit, ...] = ()


def window_drops(counts: EventCounts, kept: int, reason: str) -> dict[str, int]:
    """Return how many events of the scope are not among the `kept` ones, by reason. reason: for those that passed."""
    return {
        "outside_window": counts.scanned - counts.inside,
        "event_type": counts.inside - counts.wanted,
        "filter": counts.wanted - counts.passed,
        reason: counts.passed - kept,
    }
