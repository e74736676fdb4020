"""The part of a query that files answer: counted from the index, and read only where that does not tell."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np

from apps.core.domain.scope import Scope
from apps.episodic.domain.archive_index import Selection
from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.segment_file.format import BLOCK_LINES, Array, SegmentDamagedError, moment_of
from apps.episodic.domain.segment_file.reader import SegmentFile
from apps.episodic.domain.window import EventCounts, QueryAccumulator, TopEvents
from apps.episodic.store.archived_segments import ArchivedFileDamagedError
from apps.episodic.store.file_cache import ArchiveView

# About so many events are read from a file at a time, or so many bytes of them as NDJSON.
READ_AT_ONCE = 4_096
BYTES_AT_ONCE = 8 * 1024 * 1024
# Runs of which each may hold one of the newest events are read together, to read a block once for several of them.
_RUNS_AT_ONCE = 16


@dataclass(frozen=True)
class ArchiveCounts:
    """events: archived ones of the scope. total: files with events of it near the window. read: those of them read."""

    events: int
    total: int
    read: int


def read_archived(view: ArchiveView, scope: Scope, accumulator: QueryAccumulator) -> ArchiveCounts:
    """Add the archived events of a scope to a query. Raises ArchivedFileDamagedError.

    Without types to tell apart, runs that lie in the window as a whole are counted unread, and only those of them are
    read that may hold one of the newest events.
    """
    selection = view.index.select(scope, accumulator.window.start, accumulator.window.end)
    reader = _Reader(view)
    accumulator.add_counts(EventCounts(scanned=selection.outside))
    for records in reader.read(selection.runs if accumulator.event_types else selection.partial):
        accumulator.add_uncounted(records)
    if not accumulator.event_types:
        whole = selection.whole
        count = int(whole["count"].sum(dtype=np.int64))
        accumulator.add_counts(EventCounts(count, count, count))
        for batch in _while_promising(view, whole, accumulator.top):
            for records in reader.read(batch):
                accumulator.add_counted(records)
    return ArchiveCounts(selection.total, len(np.unique(selection.runs["segment"])), len(reader.segments))


def read_in_order(view: ArchiveView, selection: Selection) -> list[Iterator[EventRecord]]:
    """The events of selected runs in `archive_order`: for each file an iterator that reads a block or two at a time."""
    reader = _Reader(view, at_once=BLOCK_LINES)
    segments = np.unique(selection.runs["segment"])
    runs_of = [selection.runs[selection.runs["segment"] == segment] for segment in segments]
    return [chain.from_iterable(reader.read(runs)) for runs in runs_of]


def _while_promising(view: ArchiveView, runs: Array, newest: TopEvents) -> Iterator[Array]:
    """Runs that may hold one of the newest events, in batches. runs: those that end latest first."""
    begin = 0
    while begin < len(runs):
        end = begin
        if newest.free:
            end = begin + _enough(runs["count"][begin:], newest.free)
            end = begin + _enough(_sizes(view, runs[begin:end]), BYTES_AT_ONCE)
        else:
            limit = min(begin + _RUNS_AT_ONCE, len(runs))
            while end < limit and newest.can_take(moment_of(int(runs["last"][end]))):
                end += 1
        if end == begin:
            return
        yield runs[begin:end]
        begin = end


def _enough(amounts: Array, needed: int) -> int:
    """How many of them, from the first on, come to what is needed; all when they do not."""
    return min(int(np.searchsorted(np.cumsum(amounts, dtype=np.int64), needed)) + 1, len(amounts))


def _sizes(view: ArchiveView, runs: Array) -> Array:
    """About the bytes of each run."""
    sizes = np.zeros(len(runs), dtype=np.int64)
    for segment in np.unique(runs["segment"]).tolist():
        its = runs["segment"] == segment
        sizes[its] = view.index.file(segment).bytes_of(runs["run"][its])
    return sizes


class _Reader:
    """Reads runs of the files of a view, `at_once` events, BYTES_AT_ONCE or a run.

    segments: the ids of those that it read.
    """

    def __init__(self, view: ArchiveView, at_once: int = READ_AT_ONCE) -> None:
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
            for part in _parts(self._view.index.file(segment), sorted(its), self._at_once):
                yield self._read(segment, part)

    def _read(self, segment: int, runs: list[int]) -> list[EventRecord]:
        try:
            return self._view.index.file(segment).read_runs(runs)
        except SegmentDamagedError as error:
            raise ArchivedFileDamagedError(self._view.segment(segment), error) from error


def _parts(file: SegmentFile, runs: list[tuple[int, int]], at_once: int) -> Iterator[list[int]]:
    """Numbers of runs, put together until they have so many events or bytes. runs: number and count."""
    part: list[int] = []
    events = size = 0
    sizes = file.bytes_of(np.array([run for run, _ in runs])).tolist()
    for (run, count), its in zip(runs, sizes, strict=True):
        part.append(run)
        events, size = events + count, size + its
        if events >= at_once or size >= BYTES_AT_ONCE:
            yield part
            part, events, size = [], 0, 0
    if part:
        yield part
