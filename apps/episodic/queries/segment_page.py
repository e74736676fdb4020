"""Read a page of the events in the file of a segment, of which only the blocks needed are read."""

from dataclasses import dataclass

import numpy as np

from apps.episodic.domain.event import EventRecord
from apps.episodic.models import Segment
from apps.episodic.store.quarantine import file_open


@dataclass(frozen=True)
class SegmentFilePage:
    """events: in the order of the file, by scope and then by time. number: of this page, from 1 to `count`.

    raw_bytes: the size of all events of the file before compression.
    """

    events: tuple[EventRecord, ...]
    number: int
    count: int
    raw_bytes: int


def segment_page(segment: Segment, number: int, size: int) -> SegmentFilePage:
    """Return a page of a segment that has a file; the nearest one that exists. Raises SegmentDamagedError."""
    file = file_open(segment)
    ends = np.cumsum(file.runs["count"], dtype=np.int64)
    count = max(1, -(-file.summary.event_count // size))
    number = min(max(number, 1), count)
    start, end = (number - 1) * size, min(number * size, file.summary.event_count)
    # The runs that hold the first and the last line of the page, and those between them.
    first, last = np.searchsorted(ends, [start, end - 1], side="right")
    runs = range(int(first), int(last) + 1)
    before = int(ends[first - 1]) if first else 0
    events = file.read_runs(runs)[start - before : end - before]
    return SegmentFilePage(tuple(events), number, count, file.raw_bytes)
