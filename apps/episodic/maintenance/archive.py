"""Archiving: the file of a sealed segment takes the place of its rows (DESIGN D8)."""

from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from apps.core.domain.clock import Clock, utcnow
from apps.core.steps import Step, no_step
from apps.episodic.domain.segment_file.format import Damage, SegmentDamagedError
from apps.episodic.domain.segment_state import RowsState, SegmentState
from apps.episodic.maintenance.runner import MaintenanceRunner
from apps.episodic.models import Segment, TimelineEvent
from apps.episodic.store.catalogue import StaleSegmentError, catalogue_bump, file_verify, segment_step

ROWS_AT_ONCE = 1_000
ARCHIVE_STEPS = ("archive: verify", "archive: flip", "archive: flipped")
DROP_STEPS = ("archive: verify before dropping", "archive: drop rows", "archive: dropped")


def segments_to_archive(before: datetime) -> QuerySet[Segment]:
    """Return the sealed segments that were closed at this moment or earlier, the oldest first."""
    return Segment.objects.filter(state=SegmentState.SEALED, closed_at__lte=before).order_by("closed_at", "id")


def segments_to_drop() -> QuerySet[Segment]:
    """Return the segments whose rows do not count any more and are not all removed.

    Not those in quarantine: what is left of their rows may be all that is left of some events.
    """
    return Segment.objects.filter(rows=RowsState.LEAVING).exclude(state=SegmentState.QUARANTINED).order_by("id")


def segment_archive(segment: Segment, *, clock: Clock, step: Step = no_step) -> None:
    """Let the file of a sealed segment count instead of its rows, which `rows_drop` then removes.

    The file is read once more from end to end: it may be a week old.
    Raises SegmentDamagedError, and StaleSegmentError; then the rows count as before.
    """
    step("archive: verify")
    file_verify(segment)
    step("archive: flip")
    with transaction.atomic(durable=True):
        if TimelineEvent.objects.filter(segment=segment).count() != segment.event_count:
            raise SegmentDamagedError(Damage.MISMATCH, "It does not hold as many events as there are rows.")
        now = utcnow(clock)
        changes = {"rows": RowsState.LEAVING, "archived_at": now, "checked_at": now}
        catalogue_bump()
        segment_step(segment, SegmentState.ARCHIVED, clock=clock, **changes)
    step("archive: flipped")


def archived_rows_drop(runner: MaintenanceRunner) -> None:
    """Remove the rows of all segments whose files count."""
    segments = list(segments_to_drop())
    runner.run_each("Removing archived rows", segments, lambda segment: rows_drop(segment, step=runner.step))


def rows_drop(segment: Segment, *, step: Step = no_step) -> None:
    """Remove the rows of a segment whose file counts, in batches. Safe to repeat.

    Raises SegmentDamagedError before the first row is removed, StaleSegmentError when another process finds the file
    damaged in between; then the remaining rows stay.
    """
    if segment.state == SegmentState.ARCHIVED:
        step("archive: verify before dropping")
        file_verify(segment)
    deleted = True
    while deleted:
        step("archive: drop rows")
        deleted = drop_batch(segment)
    step("archive: dropped")


@transaction.atomic
def drop_batch(segment: Segment) -> bool:
    """Remove some rows. Return False when none was left, which the segment then notes."""
    # A process that puts the segment into quarantine waits for this batch, and no further one follows.
    seen = Segment.objects.filter(pk=segment.pk, state=segment.state, rows=RowsState.LEAVING)
    if not seen.select_for_update(no_key=True).exists():
        raise StaleSegmentError(f"The rows of segment {segment.uuid} may not leave any more.")
    rows = TimelineEvent.objects.filter(segment=segment)
    batch = rows.order_by("id").values_list("id", flat=True)[:ROWS_AT_ONCE]
    if rows.filter(id__in=list(batch))._raw_delete(rows.db):
        return True
    seen.update(rows=RowsState.GONE)
    segment.rows = RowsState.GONE
    return False
