"""The part of a query that files answer, as of one moment: read only where the index is not enough."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from apps.core.domain.scope import Reach
from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.segment_file.format import Array, SegmentDamagedError, moment_of
from apps.episodic.domain.window import EventCounts, QueryAccumulator, TopEvents
from apps.episodic.store.archived_segments import ArchivedFileDamagedError, unreadable_error
from apps.episodic.store.file_cache import ArchiveView, archive_cache, catalogue_contention

MAX_TRIES = 50
Rows = TypeVar("Rows")
Answer = TypeVar("Answer")
# About so many events are read from a file at a time, or so many bytes of them as NDJSON.
READ_AT_ONCE = 4_096
BYTES_AT_ONCE = 8 * 1024 * 1024
# Runs of which each may hold one of the newest events are read together, to read a block once for several of them.
RUNS_AT_ONCE = 16


def of_one_moment(read: Callable[[], tuple[int, Rows]], answer: Callable[[Rows, ArchiveView], Answer]) -> Answer:
    """Return an answer from rows and files. read: the version of the catalogue with the rows, of one statement.

    When the files change in between, both are read again. Raises UnavailableError.
    """
    for _ in range(MAX_TRIES):
        version, rows = read()
        try:
            view = archive_cache().at(version)
            if view is not None:
                return answer(rows, view)
            archive_cache().refresh()
        except ArchivedFileDamagedError as damage:
            damage.report()
        except OSError as error:
            raise unreadable_error(error) from error
    raise catalogue_contention()


@dataclass(frozen=True)
class ArchiveCounts:
    """events: archived ones that the read covers. total: files with such events near the window. read: those
    of them that were read."""

    events: int
    total: int
    read: int


def read_archived(view: ArchiveView, reach: Reach, accumulator: QueryAccumulator) -> ArchiveCounts:
    """Add the archived events that a read covers to a query. Raises ArchivedFileDamagedError.

    When the query asks for a window only, runs that lie in the window as a whole are counted unread, and only those of
    them are read that may hold one of the newest events.
    """
    selection = view.index.select(reach, accumulator.window.start, accumulator.window.end)
    reader = RunReader(view)
    accumulator.add_counts(EventCounts(scanned=selection.outside))
    for records in reader.read(selection.partial if accumulator.is_by_time_only else selection.runs):
        accumulator.add_uncounted(records)
    if accumulator.is_by_time_only:
        count = int(selection.whole["count"].sum(dtype=np.int64))
        accumulator.add_counts(EventCounts(count, count, count, count))
        for batch in promising_runs(view, selection.whole, accumulator.top):
            for records in reader.read(batch):
                accumulator.add_counted(records)
    return ArchiveCounts(selection.total, len(np.unique(selection.runs["segment"])), len(reader.segments))


def promising_runs(view: ArchiveView, runs: Array, top: TopEvents) -> Iterator[Array]:
    """Yield batches of runs that may hold one of the newest events. runs: those that end latest first."""
    begin = 0
    while begin < len(runs):
        end = begin
        if top.free:
            end = begin + count_until(runs["count"][begin:], top.free)
            end = begin + count_until(sizes_of(view, runs[begin:end]), BYTES_AT_ONCE)
        else:
            limit = min(begin + RUNS_AT_ONCE, len(runs))
            while end < limit and top.can_take(moment_of(int(runs["last"][end]))):
                end += 1
        if end == begin:
            return
        yield runs[begin:end]
        begin = end


def count_until(amounts: Array, needed: int) -> int:
    """Return how many of the first amounts add up to what is needed; all of them when they do not."""
    return min(int(np.searchsorted(np.cumsum(amounts, dtype=np.int64), needed)) + 1, len(amounts))


def sizes_of(view: ArchiveView, runs: Array) -> Array:
    """Return the approximate size of each run in bytes."""
    sizes = np.zeros(len(runs), dtype=np.int64)
    for segment in np.unique(runs["segment"]).tolist():
        own = runs["segment"] == segment
        sizes[own] = view.index.file(segment).bytes_of(runs["run"][own])
    return sizes


class RunReader:
    """Reads runs of the files of a view, about `at_once` events or BYTES_AT_ONCE at a time, and at least one run.

    segments: the ids of the segments that it has read.
    """

    def __init__(self, view: ArchiveView, at_once: int = READ_AT_ONCE) -> None:
        self._view = view
        self._at_once = at_once
        self.segments: set[int] = set()

    def read(self, runs: Array) -> Iterator[list[EventRecord]]:
        """Yield the events of runs, in parts, file by file. Raises ArchivedFileDamagedError."""
        runs_of: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for segment, run, count in runs[["segment", "run", "count"]].tolist():
            runs_of[segment].append((run, count))
        for segment, numbers in runs_of.items():
            self.segments.add(segment)
            for part in self._parts(segment, sorted(numbers)):
                try:
                    yield self._view.index.file(segment).read_runs(part)
                except SegmentDamagedError as error:
                    raise ArchivedFileDamagedError(self._view.segment(segment), error) from error

    def _parts(self, segment: int, runs: list[tuple[int, int]]) -> Iterator[list[int]]:
        """Yield numbers of runs that are read together. runs: number and count."""
        part: list[int] = []
        events = size = 0
        sizes = self._view.index.file(segment).bytes_of(np.array([run for run, _ in runs])).tolist()
        for (run, count), run_size in zip(runs, sizes, strict=True):
            part.append(run)
            events, size = events + count, size + run_size
            if events >= self._at_once or size >= BYTES_AT_ONCE:
                yield part
                part, events, size = [], 0, 0
        if part:
            yield part
