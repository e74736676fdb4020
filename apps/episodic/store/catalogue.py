"""The steps of a segment's life, as the catalogue keeps them; a damaged one is out of service at once (DESIGN D8).

Every step is a conditional update: it changes the row only if the segment is still what the caller saw, so two
processes never both take it.

The locks of the timeline are advisory, because what they order has no row that every process touches: writers must
never wait for maintenance. They are released when their transaction or session ends, whatever happened to the process.
"""

from contextlib import AbstractContextManager
from dataclasses import fields
from typing import Any

from django.db import connection, transaction

from apps.core.db.session_locks import try_session_lock
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ConflictError
from apps.episodic.domain.alarms import Severity, WarningKind
from apps.episodic.domain.segment_file.format import Damage, SegmentDamagedError, SegmentFacts
from apps.episodic.domain.segment_file.reader import SegmentFile
from apps.episodic.domain.segment_state import RowsState, SegmentState, require_step
from apps.episodic.events import SegmentChanged
from apps.episodic.jobs import request_maintenance
from apps.episodic.models import Segment, TimelineEvent
from apps.episodic.models.segment import MAX_DAMAGE_CHARS
from apps.episodic.store.files import remove_file, segment_place, set_aside
from apps.episodic.warnings import warning_end, warning_report
from apps.events.services import emit

# With a segment's id as second key: shared by the writers of the segment until they commit. Sealing takes it
# exclusively, once the segment is closed and they have gone; a writer that finds it taken reads which segment is open.
SEGMENT_LOCKS = 0x6D68_7467
# A key of its own (one 64-bit number): maintenance, one run at a time.
MAINTENANCE_LOCK = 0x6D68_746D


def try_maintenance_lock() -> AbstractContextManager[bool]:
    """Take the lock of maintenance without waiting, until the end of the block. Yield whether it was free.

    Call it outside a transaction: the lock is the session's, so that it spans many of them.
    """
    return try_session_lock(MAINTENANCE_LOCK)


class StaleSegmentError(ConflictError):
    """Another process changed the segment since the caller read it."""

    code = "stale_segment"


def catalogue_bump() -> int:
    """Increment the version, in the caller's transaction: other files are read from its commit on. Return the version.

    That transaction has to be the outermost one (`atomic(durable=True)`), and must not read the archive: a process
    that knew files by a version which is rolled back would take them for those of the next one of the same number.
    Call it before any segment is changed or locked in the transaction: every process takes these locks in this order,
    so no deadlock arises.
    """
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("Change the catalogue inside transaction.atomic.")
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO episodic_catalogue (id, version) VALUES (1, 1) "
            "ON CONFLICT (id) DO UPDATE SET version = episodic_catalogue.version + 1 RETURNING version"
        )
        return int(cursor.fetchone()[0])


def segment_step(segment: Segment, state: SegmentState, *, clock: Clock, **changes: Any) -> None:
    """Move a segment to a state, in the caller's transaction, and emit a hub event. changes: other columns of its row.

    `segment` is as the caller read it, and is brought up to date. Raises ConflictError for a step that the diagram does
    not have, StaleSegmentError when the segment is not any more what the caller saw.
    """
    before = SegmentState(segment.state)
    require_step(before, state)
    # No lock but the update's own, under which writers can still reference the segment.
    seen = Segment.objects.filter(pk=segment.pk, state=before, rows=segment.rows, sha256=segment.sha256)
    if not seen.update(state=state, **changes):
        raise StaleSegmentError(f"Segment {segment.uuid} is not {before} any more.")
    for name, value in {"state": state, **changes}.items():
        setattr(segment, name, value)
    changed = SegmentChanged(
        segment_id=segment.uuid, before=before, state=state, event_count=segment.event_count, at=utcnow(clock)
    )
    emit(changed, clock=clock)


def last_arrival() -> int:
    """Return the last assigned arrival number, whether or not its event is visible yet; 0 before the first."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT last_value FROM episodic_timelineevent_id_seq WHERE is_called")
        row = cursor.fetchone()
    return int(row[0]) if row else 0


def file_open(segment: Segment) -> SegmentFile:
    """Open the file of a segment, and compare its tables with the catalogue. Raises SegmentDamagedError."""
    file = SegmentFile.open(segment_place(segment.file_name, afresh=True), segment.uuid)
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
