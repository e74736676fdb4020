"""Merging small archived segments into fewer, beside live writes (spec 000, Snapshot and compaction).

Nothing that a writer needs is locked: files are read and written outside any transaction, and the transaction that
replaces the old segments by the new one touches archived segments only.
"""

import heapq
from collections.abc import Iterator, Sequence

from django.conf import settings

from apps.core.domain.clock import Clock
from apps.core.steps import Step, no_step
from apps.episodic.domain.compaction import SegmentSize, merge_plan
from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.segment_file.format import SegmentDamagedError
from apps.episodic.domain.segment_state import RowsState, SegmentState
from apps.episodic.maintenance.replace import segments_replace
from apps.episodic.models import Segment
from apps.episodic.store.files import require_room
from apps.episodic.store.quarantine import file_open

MERGE_STEPS = ("merge: read",)


class DamagedSourceError(Exception):
    """A segment that was to be merged cannot be read."""

    def __init__(self, segment: Segment, damage: SegmentDamagedError) -> None:
        super().__init__(f"Segment {segment.uuid}: {damage}")
        self.segment = segment
        self.damage = damage


def merge_groups() -> list[list[Segment]]:
    """Return the segments to merge, group by group."""
    archived = Segment.objects.filter(state=SegmentState.ARCHIVED, rows=RowsState.GONE)
    segments = {segment.pk: segment for segment in archived}
    sizes = [
        SegmentSize(segment.pk, segment.event_count, segment.first_timestamp)
        for segment in segments.values()
        if segment.first_timestamp is not None
    ]
    plan = merge_plan(sizes, settings.MEMORYHUB.timeline.segment_events)
    return [[segments[pk] for pk in group] for group in plan]


def segments_merge(group: Sequence[Segment], *, clock: Clock, step: Step = no_step) -> Segment | None:
    """Merge archived segments into a new one, which replaces them at once.

    Raises DamagedSourceError, DiskNearlyFullError, OSError, StaleSegmentError; then nothing has changed.
    """
    require_room()
    step("merge: read")
    merged = heapq.merge(*map(read_source, group), key=lambda record: record.archive_order)
    expected = sum(segment.event_count for segment in group)

    def check(count: int) -> None:
        if count != expected:
            raise RuntimeError(f"{count} events were merged, and there are {expected}.")

    return segments_replace(group, merged, clock=clock, step=step, on_replace=check)


def read_source(segment: Segment) -> Iterator[EventRecord]:
    """Yield the events of an archived segment. Raises DamagedSourceError."""
    try:
        yield from file_open(segment).events()
    except SegmentDamagedError as damage:
        raise DamagedSourceError(segment, damage) from damage
