"""The part of a query that files answer: counted from the index, and read only where that does not tell."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np

from apps.core.domain.scope import Scope
from apps.episodic.archive_cache import View
from apps.episodic.domain.archive_index import Selection
from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.segment_format import BLOCK_LINES, Array, SegmentDamagedError, moment_of
from apps.episodic.domain.window import Harvest, Newest, Tally
from apps.episodic.listing import FileDamagedError

# About so many events are read from a file at a time.
READ_AT_ONCE = 4_096
# Runs of which each may hold one of the newest events are read together, to read a block once for several of them.
_RUNS_AT_ONCE = 16


@dataclass(frozen=True)
class Gathered:
    """events: archived ones of the scope. total: files with events of it near the window. read: those of them read."""

    events: int
    total: int
    read: int


def gather(view: View, scope: Scope, harvest: Harvest) -> Gathered:
    """Show a harvest the archived events of a scope. Raises FileDamagedError.

    Without types to tell apart, runs that lie in the window as a whole are counted unread, and only those of them are
    read that may hold one of the newest events.
    """
    selection = view.index.select(scope, harvest.window.start, harvest.window.end)
    reader = _Reader(view)
    harvest.count(Tally(scanned=selection.outside))
    for records in reader.read(selection.runs if harvest.event_types else selection.partial):
        harvest.look_at(records)
    if not harvest.event_types:
        whole = selection.whole
        count = int(whole["count"].sum(dtype=np.int64))
        harvest.count(Tally(count, count, count))
        for batch in _while_promising(whole, harvest.newest):
            for records in reader.read(batch):
                harvest.keep(records)
    return Gathered(selection.total, len(np.unique(selection.runs["segment"])), len(reader.segments))


def read_in_order(view: View, selection: Selection) -> list[Iterator[EventRecord]]:
    """The events of selected runs in `archive_order`: for each file an iterator that reads a block or two at a time."""
    reader = _Reader(view, at_once=BLOCK_LINES)
    segments = np.unique(selection.runs["segment"])
    runs_of = [selection.runs[selection.runs["segment"] == segment] for segment in segments]
    return [chain.from_iterable(reader.read(runs)) for runs in runs_of]


def _while_promising(runs: Array, newest: Newest) -> Iterator[Array]:
    """Runs that may hold one of the newest events, in batches. runs: those that end latest first."""
    begin = 0
    while begin < len(runs):
        end = begin
        if newest.missing:
            enough = np.searchsorted(np.cumsum(runs["count"][begin:], dtype=np.int64), newest.missing)
            end = min(begin + int(enough) + 1, len(runs))
        else:
            limit = min(begin + _RUNS_AT_ONCE, len(runs))
            while end < limit and newest.can_take(moment_of(int(runs["last"][end]))):
                end += 1
        if end == begin:
            return
        yield runs[begin:end]
        begin = end


class _Reader:
    """Reads runs of the files of a view, `at_once` events or a run. segments: the ids of those that it read."""

    def __init__(self, view: View, at_once: int = READ_AT_ONCE) -> None:
        self._view = view
        self._at_once = at_once
        self.segments: set[int] = set()

    def read(self, runs: Array) -> Iterator[list[EventRecord]]:
        """The events of runs, in parts, file by file."""
        numbers: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for segment, run, count in runs[["segment", "run", "count"]].tolist():
            numbers[segment].append((run, count))
        for segment, its in numbers.items():
            self.segments.add(segment)
            for part in _parts(sorted(its), self._at_once):
                yield self._read(segment, part)

    def _read(self, segment: int, runs: list[int]) -> list[EventRecord]:
        try:
            return self._view.index.file(segment).read_runs(runs)
        except SegmentDamagedError as error:
            raise FileDamagedError(self._view.listed(segment), error) from error


def _parts(runs: list[tuple[int, int]], at_once: int) -> Iterator[list[int]]:
    """Numbers of runs, put together until they have so many events. runs: number and count."""
    part: list[int] = []
    events = 0
    for run, count in runs:
        part.append(run)
        events += count
        if events >= at_once:
            yield part
            part, events = [], 0
    if part:
        yield part
