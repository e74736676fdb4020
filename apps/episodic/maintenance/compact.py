"""Merging and replacing archived segments, beside live writes (spec 000, Snapshot and compaction).

Nothing that a writer needs is locked: files are read and written outside any transaction, and the transaction that
replaces the old segments by the new one touches archived segments only.
"""

import heapq
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from django.conf import settings
from django.db import transaction

from apps.core.domain.clock import Clock, utcnow
from apps.core.steps import Step, no_step
from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.segment_file.format import SegmentDamagedError, SegmentSummary
from apps.episodic.domain.segment_state import RowsState, SegmentSize, SegmentState, merge_plan
from apps.episodic.maintenance.seal import file_columns, segment_end_empty
from apps.episodic.models import Segment
from apps.episodic.store.catalogue import catalogue_bump, file_open, segment_step
from apps.episodic.store.files import require_room, write_segment
from apps.episodic.store.segment_files import new_file_name

# Besides WRITE_STEPS, which come after the first.
REPLACE_STEPS = ("replace: begin", "replace: flip", "replace: flipped")
# Takes how many events are left, in the transaction in which the new segment replaces the old ones.
OnReplace = Callable[[int], None]
MERGE_STEPS = ("merge: read",)


def segments_replace(
    sources: Sequence[Segment],
    records: Iterator[EventRecord],
    *,
    clock: Clock,
    on_replace: OnReplace,
    step: Step = no_step,
) -> Segment | None:
    """Write `records` into a new archived segment, which replaces `sources`. Return None if there are no records.

    records: in `archive_order`, each once. on_replace: what else belongs to that transaction. The new segment is in
    the catalogue from the beginning, as one that is being sealed and has no rows: what a killed process leaves of it is
    recognised and removed. Maintenance removes the files of the sources later, because they may still be read.
    Raises what `records` and `on_replace` raise, OSError, StaleSegmentError; then nothing has changed.
    """
    first = next(records, None)
    if first is None:
        step("replace: flip")
        with transaction.atomic(durable=True):
            catalogue_bump()
            on_replace(0)
            for source in sources:
                segment_step(source, SegmentState.PRUNED, clock=clock, ended_at=utcnow(clock))
        step("replace: flipped")
        return None
    step("replace: begin")
    now = utcnow(clock)
    target = Segment(state=SegmentState.SEALING, opened_at=now, closed_at=now)
    target.file_name = new_file_name(target.uuid, now)
    target.save(force_insert=True)
    try:
        summary = write_segment(target.uuid, target.file_name, chain([first], records), step)
        step("replace: flip")
        put_in_place(target, summary, sources, clock, on_replace)
    except Exception:
        segment_end_empty(Segment.objects.get(pk=target.pk), clock)
        raise
    step("replace: flipped")
    return target


@transaction.atomic(durable=True)
def put_in_place(
    target: Segment, summary: SegmentSummary, sources: Sequence[Segment], clock: Clock, on_replace: OnReplace
) -> None:
    """Archive the new segment, and end those that it replaces."""
    catalogue_bump()
    on_replace(summary.event_count)
    now = utcnow(clock)
    segment_step(target, SegmentState.SEALED, clock=clock, sealed_at=now, **file_columns(summary, clock))
    segment_step(target, SegmentState.ARCHIVED, clock=clock, rows=RowsState.GONE, archived_at=now)
    for source in sources:
        segment_step(source, SegmentState.COMPACTED, clock=clock, ended_at=now, replaced_by=target)


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
