"""Putting a new segment in the place of archived ones: merged, rewritten without some events, or salvaged."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from django.db import transaction

from apps.core.domain.clock import Clock, utcnow
from apps.core.steps import Step, no_step
from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.segment_file.format import SegmentSummary
from apps.episodic.domain.segment_state import RowsState, SegmentState
from apps.episodic.maintenance.seal import file_columns, segment_end_empty
from apps.episodic.models import Segment
from apps.episodic.store.catalogue import catalogue_bump, segment_step
from apps.episodic.store.files import new_file_name, write_segment

# Besides those of `archive.write_segment`, which come after the first.
REPLACE_STEPS = ("replace: begin", "replace: flip", "replace: flipped")
# Is given how many events are left, in the transaction in which the new segment takes the place of the old ones.
OnReplace = Callable[[int], None]


def segments_replace(
    sources: Sequence[Segment],
    records: Iterator[EventRecord],
    *,
    clock: Clock,
    step: Step = no_step,
    flipping: OnReplace,
) -> Segment | None:
    """Write `records` into a new archived segment, which takes the place of `sources` at once; None if there are none.

    records: in `archive_order`, each once. flipping: what else belongs to that transaction. The new segment is in the
    catalogue from the beginning, as one that is being sealed and has no rows: what a killed process leaves of it is
    recognised and removed. The files of the sources are left to maintenance, because somebody may be reading them.
    Raises what `records` and `flipping` raise, OSError, StaleSegmentError; then nothing has changed.
    """
    first = next(records, None)
    if first is None:
        step("replace: flip")
        _flip_to_nothing(sources, clock, flipping)
        step("replace: flipped")
        return None
    step("replace: begin")
    target = _begin(clock)
    try:
        summary = write_segment(target.uuid, target.file_name, chain([first], records), step)
        step("replace: flip")
        _flip(sources, target, summary, clock, flipping)
    except Exception:
        segment_end_empty(Segment.objects.get(pk=target.pk), clock)
        raise
    step("replace: flipped")
    return target


def _begin(clock: Clock) -> Segment:
    now = utcnow(clock)
    target = Segment(state=SegmentState.SEALING, opened_at=now, closed_at=now)
    target.file_name = new_file_name(target.uuid, now)
    target.save(force_insert=True)
    return target


@transaction.atomic(durable=True)
def _flip(
    sources: Sequence[Segment], target: Segment, summary: SegmentSummary, clock: Clock, flipping: OnReplace
) -> None:
    catalogue_bump()
    flipping(summary.event_count)
    now = utcnow(clock)
    segment_step(target, SegmentState.SEALED, clock=clock, sealed_at=now, **file_columns(summary, clock))
    segment_step(target, SegmentState.ARCHIVED, clock=clock, rows=RowsState.GONE, archived_at=now)
    for source in sources:
        segment_step(source, SegmentState.COMPACTED, clock=clock, ended_at=now, replaced_by=target)


@transaction.atomic(durable=True)
def _flip_to_nothing(sources: Sequence[Segment], clock: Clock, flipping: OnReplace) -> None:
    catalogue_bump()
    flipping(0)
    for source in sources:
        segment_step(source, SegmentState.PRUNED, clock=clock, ended_at=utcnow(clock))
