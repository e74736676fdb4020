"""Sealing: the rows of a closed segment are written into its file (DESIGN D8)."""

import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from django.db import connection, transaction
from django.db.models.functions import Collate

from apps.core.domain.clock import Clock, utcnow
from apps.core.domain.deadline import Deadline
from apps.core.domain.errors import UnavailableError
from apps.core.steps import Step, no_step
from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.segment_file.format import SegmentSummary
from apps.episodic.domain.segment_state import RowsState, SegmentState
from apps.episodic.models import Segment, TimelineEvent
from apps.episodic.store.catalogue import SEGMENT_LOCKS, clear_damage_warning, segment_step
from apps.episodic.store.files import remove_file, require_room, write_segment
from apps.episodic.store.segment_files import new_file_name

WRITERS_SECONDS = 30.0
POLL_SECONDS = 0.01
ROWS_AT_ONCE = 2_000
# Besides WRITE_STEPS, which come after the third.
SEAL_STEPS = ("seal: wait for writers", "seal: remove older file", "seal: name file", "seal: note", "seal: sealed")


class WritersAtWorkError(UnavailableError):
    """Transactions that write to a closed segment do not end."""

    code = "writers_at_work"


def segment_seal(segment: Segment, *, clock: Clock, step: Step = no_step) -> None:
    """Write a closed segment's rows into a verified file; end a segment that has no rows. Safe to repeat.

    The catalogue knows the name before the file exists, so a file that no segment has is never one of these.
    Raises DiskNearlyFullError, WritersAtWorkError, OSError, StaleSegmentError; then the rows are all there.
    """
    require_room()
    step("seal: wait for writers")
    wait_for_writers(segment)
    rows = TimelineEvent.objects.filter(segment=segment)
    if not rows.exists():
        segment_end_empty(segment, clock)
        return
    step("seal: remove older file")
    if segment.file_name:
        remove_file(segment.file_name)
    step("seal: name file")
    segment.file_name = new_file_name(segment.uuid, utcnow(clock))
    Segment.objects.filter(pk=segment.pk).update(file_name=segment.file_name)
    summary = write_segment(segment.uuid, segment.file_name, rows_of(segment), step)
    step("seal: note")
    with transaction.atomic():
        if (count := rows.count()) != summary.event_count:
            raise RuntimeError(f"Segment {segment.uuid} has {count} rows, and its file {summary.event_count} events.")
        if segment.damage:
            clear_damage_warning(segment, clock)
        segment_step(segment, SegmentState.SEALED, clock=clock, sealed_at=utcnow(clock), **file_columns(summary, clock))
    step("seal: sealed")


def segment_end_empty(segment: Segment, clock: Clock) -> None:
    """End a segment that is being sealed and holds nothing.

    All its events were removed, or it is a replacement whose creation was interrupted.
    """
    with transaction.atomic():
        segment_step(segment, SegmentState.PRUNED, clock=clock, rows=RowsState.GONE, ended_at=utcnow(clock))
    if segment.file_name:
        remove_file(segment.file_name)


def file_columns(summary: SegmentSummary, clock: Clock) -> dict[str, Any]:
    """Return what the catalogue keeps of a file that has just been written and read back."""
    return {**asdict(summary), "checked_at": utcnow(clock), "damage": ""}


def rows_of(segment: Segment) -> Iterator[EventRecord]:
    """Yield the rows of a segment in `archive_order`, fetched in batches.

    The order is that of code points, which is Python's, whatever the database sorts by.
    """
    scope = [Collate(name, "C") for name in ("user_id", "household_id", "persona_id")]
    rows = TimelineEvent.objects.filter(segment=segment).order_by(*scope, "timestamp", "id")
    return (row.record for row in rows.iterator(chunk_size=ROWS_AT_ONCE))


def wait_for_writers(segment: Segment) -> None:
    """Wait until every transaction has ended that took the segment for the open one before this call.

    Polls instead of waiting in the queue of the lock, where others would wait behind it.
    """
    deadline = Deadline(WRITERS_SECONDS)
    while True:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", [SEGMENT_LOCKS, segment.pk])
            if cursor.fetchone()[0]:
                return
        if deadline.expired:
            raise WritersAtWorkError(f"Segment {segment.uuid} is still being written to.")
        time.sleep(POLL_SECONDS)
