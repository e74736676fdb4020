"""Damaged segments: out of service at once, while everything else still answers (DESIGN D8)."""

from django.db import transaction

from apps.core.domain.clock import SYSTEM_CLOCK, Clock
from apps.episodic.domain.segment_file.format import Damage, SegmentDamagedError
from apps.episodic.domain.segment_state import RowsState, SegmentState
from apps.episodic.domain.warnings import Severity, WarningKind
from apps.episodic.jobs import request_maintenance
from apps.episodic.models import Segment, TimelineEvent
from apps.episodic.models.segment import MAX_DAMAGE_CHARS
from apps.episodic.store.catalogue import catalogue_bump, segment_step
from apps.episodic.store.files import remove_file, set_aside
from apps.episodic.warnings import warning_end, warning_report


def segment_quarantine(*, segment_id: int, error: SegmentDamagedError, clock: Clock = SYSTEM_CLOCK) -> bool:
    """Take a segment whose file cannot be read out of service, and warn; True if this call did it.

    One that has all its rows loses nothing: they count again, and get a fresh file soon. Whoever finds the same damage
    at the same time, or that of a file which has been replaced meanwhile, changes nothing. Call it outside of any
    transaction.
    """
    readable = Segment.objects.filter(pk=segment_id, state__in=(SegmentState.SEALED, SegmentState.ARCHIVED))
    if not readable.exists():
        return False
    with transaction.atomic(durable=True):
        catalogue_bump()
        # Whoever drops rows in batches takes the same lock: either it sees the quarantine, or the batch is over.
        segment = readable.select_for_update(no_key=True).first()
        if segment is None:
            return False
        damage = str(error)[:MAX_DAMAGE_CHARS]
        has_rows = segment.state == SegmentState.SEALED or _has_all_rows(segment)
        if segment.state == SegmentState.ARCHIVED:
            segment_step(segment, SegmentState.QUARANTINED, clock=clock, damage=damage)
        if has_rows:
            back = {"rows": RowsState.COMPLETE, "sha256": "", "damage": damage}
            segment_step(segment, SegmentState.SEALING, clock=clock, **back)
        _warn(segment, damage, has_rows=has_rows, clock=clock)
        request_maintenance()
    return True


def _has_all_rows(segment: Segment) -> bool:
    return TimelineEvent.objects.filter(segment=segment).count() == segment.event_count


def _warn(segment: Segment, damage: str, *, has_rows: bool, clock: Clock) -> None:
    severity = Severity.NOTICE if has_rows else Severity.CRITICAL
    state = "its rows are still there" if has_rows else f"{segment.event_count} events are out of reach"
    detail = f"Segment {segment.uuid}: {damage} ({state})"
    warning_report(
        kind=WarningKind.SEGMENT_DAMAGED, severity=severity, detail=detail[:500], segment=segment, clock=clock
    )


def clear_damage_warning(segment: Segment, clock: Clock) -> None:
    """End the warning about a segment that was damaged, in the caller's transaction."""
    warning_end(kind=WarningKind.SEGMENT_DAMAGED, segment=segment, clock=clock)


def file_set_aside(file_name: str) -> bool:
    """Move a damaged file to where a person can look at it; False when it is not there any more."""
    try:
        set_aside(file_name)
    except SegmentDamagedError as damage:
        if damage.code != Damage.MISSING:
            raise
        return False
    return True


def remove_ended_file(segment: Segment) -> bool:
    """Take the file of a segment that ended out of the way; False when it is not there any more.

    A damaged one is set aside, as the repair would have done that was killed between ending its segment and that.
    """
    return file_set_aside(segment.file_name) if segment.damage else remove_file(segment.file_name)
