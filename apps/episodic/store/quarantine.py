"""Damaged segments: out of service at once, while everything else is still answered (DESIGN D8)."""

from dataclasses import fields

from django.db import transaction

from apps.core.domain.clock import SYSTEM_CLOCK, Clock
from apps.episodic.domain.alarms import Severity, WarningKind
from apps.episodic.domain.segment_file.format import Damage, SegmentDamagedError, SegmentFacts
from apps.episodic.domain.segment_file.reader import SegmentFile
from apps.episodic.domain.segment_state import RowsState, SegmentState
from apps.episodic.jobs import request_maintenance
from apps.episodic.models import Segment, TimelineEvent
from apps.episodic.models.segment import MAX_DAMAGE_CHARS
from apps.episodic.store.catalogue import catalogue_bump, segment_step
from apps.episodic.store.files import remove_file, segment_path, set_aside
from apps.episodic.warnings import warning_end, warning_report


def file_open(segment: Segment) -> SegmentFile:
    """Open the file of a segment, and compare its tables with the catalogue. Raises SegmentDamagedError."""
    file = SegmentFile.open(segment_path(segment.file_name), segment.uuid)
    for field in fields(SegmentFacts):
        if getattr(file.summary, field.name) != getattr(segment, field.name):
            raise SegmentDamagedError(Damage.MISMATCH, f"Its {field.name} is not what the catalogue says.")
    return file


def file_verify(segment: Segment) -> SegmentFile:
    """Open the file of a segment, and verify every byte of it. Raises SegmentDamagedError."""
    file = file_open(segment)
    file.verify(segment.sha256)
    return file


def segment_quarantine(*, segment_id: int, error: SegmentDamagedError, clock: Clock = SYSTEM_CLOCK) -> bool:
    """Take a segment whose file cannot be read out of service, and warn. Return whether this call did it.

    One that has all its rows loses nothing: they count again, and get a new file soon. A process that finds the same
    damage at the same time, or that of a file which has been replaced, changes nothing. Call it outside of any
    transaction.
    """
    readable = Segment.objects.filter(pk=segment_id, state__in=(SegmentState.SEALED, SegmentState.ARCHIVED))
    if not readable.exists():
        return False
    with transaction.atomic(durable=True):
        catalogue_bump()
        # What drops rows in batches takes the same lock: either it sees the quarantine, or the batch is over.
        segment = readable.select_for_update(no_key=True).first()
        if segment is None:
            return False
        damage = str(error)[:MAX_DAMAGE_CHARS]
        has_rows = (
            segment.state == SegmentState.SEALED
            or TimelineEvent.objects.filter(segment=segment).count() == segment.event_count
        )
        if segment.state == SegmentState.ARCHIVED:
            segment_step(segment, SegmentState.QUARANTINED, clock=clock, damage=damage)
        if has_rows:
            back = {"rows": RowsState.COMPLETE, "sha256": "", "damage": damage}
            segment_step(segment, SegmentState.SEALING, clock=clock, **back)
        outcome = "its rows are still there" if has_rows else f"{segment.event_count} events are out of reach"
        warning_report(
            kind=WarningKind.SEGMENT_DAMAGED,
            severity=Severity.NOTICE if has_rows else Severity.CRITICAL,
            detail=f"Segment {segment.uuid}: {damage} ({outcome})"[:500],
            segment=segment,
            clock=clock,
        )
        request_maintenance()
    return True


def clear_damage_warning(segment: Segment, clock: Clock) -> None:
    """End the warning about a segment that was damaged, in the caller's transaction."""
    warning_end(kind=WarningKind.SEGMENT_DAMAGED, segment=segment, clock=clock)


def file_set_aside(file_name: str) -> bool:
    """Move a damaged file to where a person can examine it; return False when it is not there any more."""
    try:
        set_aside(file_name)
    except SegmentDamagedError as damage:
        if damage.code != Damage.MISSING:
            raise
        return False
    return True


def remove_ended_file(segment: Segment) -> bool:
    """Remove the file of a segment that ended; return False when it is not there any more.

    A damaged one is set aside, as the repair would have done that was killed after it ended the segment.
    """
    return file_set_aside(segment.file_name) if segment.damage else remove_file(segment.file_name)
