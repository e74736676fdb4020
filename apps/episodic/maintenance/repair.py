"""Putting damaged segments back in service: their own file, when it is good again, or what can be read of it.

While a segment is out of service nobody knows its events, so some may have been recorded again. Those are left out of
what comes back, and what writers add in the very moment in which it comes back is taken out again: each event is there
once.
"""

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar
from uuid import UUID

from django.db import transaction

from apps.core.domain.clock import Clock
from apps.core.steps import Step, no_step
from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.retention import PrunedEvent
from apps.episodic.domain.segment_file.format import Damage, SegmentDamagedError
from apps.episodic.domain.segment_file.reader import SegmentFile
from apps.episodic.domain.segment_file.salvage import Salvage
from apps.episodic.domain.segment_state import RowsState, SegmentState
from apps.episodic.maintenance.remove import DuplicateRow, Removal, emit_pruned, rows_delete, tell_ids_gone
from apps.episodic.maintenance.replace import segments_replace
from apps.episodic.maintenance.seal import rows_of, wait_for_writers
from apps.episodic.models import Segment, TimelineEvent
from apps.episodic.models.segment import MAX_DAMAGE_CHARS
from apps.episodic.store.catalogue import catalogue_bump, segment_step
from apps.episodic.store.files import segment_path
from apps.episodic.store.quarantine import clear_damage_warning, file_set_aside, segment_quarantine
from apps.episodic.store.verify import file_open, file_verify

_Item = TypeVar("_Item")
_AT_ONCE = 1_000
REPAIR_STEPS = ("repair: read", "repair: put back", "repair: set aside", "repair: wait for writers")


@dataclass(frozen=True)
class RepairResult:
    """What became of a damaged segment. lost: events that could not be read. again: that had been recorded again."""

    lost: int
    again: int


def segment_repair(segment: Segment, *, clock: Clock, give_up: bool = False, step: Step = no_step) -> RepairResult:
    """Put a segment in quarantine back in service, as far as it can be read, while nobody else changes segments.

    give_up: also when nothing can be read; then its events are lost for good.
    Raises SegmentDamagedError when there is nothing to do but to bring back the file, OSError, StaleSegmentError.
    """
    step("repair: read")
    damage = _damage_of(segment)
    if damage is not None and not give_up:
        _require_own_file(segment, damage)
    left = [record.identity for record in _survivors(segment, damage)]
    if damage is not None and not left and not give_up:
        raise damage
    again = find_duplicates(segment, left, clock)
    if damage is None and not again:
        step("repair: put back")
        _put_back(segment, clock)
        lost = 0
    else:
        lost = _replace(segment, damage, again, clock, step)
        step("repair: set aside")
        file_set_aside(segment.file_name)
    step("repair: wait for writers")
    _take_back_what_came_meanwhile(segment, clock)
    return RepairResult(lost, len(again))


def segment_expire(segment: Segment, removal: Removal, *, clock: Clock, step: Step = no_step) -> int:
    """End a segment in quarantine, of which every event is to be removed; gives of how many it is told.

    Those are the ones that can still be read; nobody knows the others by name. Raises OSError, StaleSegmentError.
    """
    step("repair: read")
    gone = [PrunedEvent.of(record) for record in _survivors(segment, _damage_of(segment))]

    def note(_: int) -> None:
        emit_pruned(gone, removal, clock)
        # Without a damage its file is removed with what it may still hold, and not set aside.
        Segment.objects.filter(pk=segment.pk).update(lost_count=segment.event_count - len(gone), damage="")
        clear_damage_warning(segment, clock)

    segments_replace([segment], iter(()), clock=clock, step=step, flipping=note)
    return len(gone)


def find_duplicates(segment: Segment, identities: Iterable[UUID], clock: Clock) -> dict[UUID, set[UUID]]:
    """Which of these are rows that count, not of this segment, or events of other files that count; with their ids.

    A file that turns out to be damaged is taken out of service, and does not count any more.
    """
    others = Segment.objects.filter(state=SegmentState.ARCHIVED).exclude(pk=segment.pk)
    if segment.first_timestamp and segment.last_timestamp:
        others = others.filter(first_timestamp__lte=segment.last_timestamp, last_timestamp__gte=segment.first_timestamp)
    wanted, found = list(identities), defaultdict[UUID, set[UUID]](set)
    for other in others:
        try:
            for identity, record in file_open(other).find(wanted).items():
                found[identity].add(record.uuid)
        except SegmentDamagedError as damage:
            segment_quarantine(segment_id=other.pk, error=damage, clock=clock)
    # Only now: the rows of one that has just left service may count again.
    for batch in _batches(wanted):
        rows = TimelineEvent.objects.readable().exclude(segment=segment).filter(identity__in=batch)
        for identity, uuid in rows.values_list("identity", "uuid"):
            found[identity].add(uuid)
    return dict(found)


def find_duplicate_rows(segment: Segment, file: SegmentFile) -> list[DuplicateRow]:
    """The rows that count of events that a segment's file holds."""
    found: list[DuplicateRow] = []
    for batch in _batches((record.identity, record.uuid) for record in file.events()):
        ids = dict(batch)
        rows = TimelineEvent.objects.readable().exclude(segment=segment).filter(identity__in=ids)
        for row in rows.order_by("pk"):
            gone = PrunedEvent.of(row.record) if row.uuid != ids[row.identity] else None
            found.append(DuplicateRow(row.pk, row.segment_id, gone))
    return found


def _damage_of(segment: Segment) -> SegmentDamagedError | None:
    try:
        file_verify(segment)
    except SegmentDamagedError as damage:
        return damage
    return None


def _require_own_file(segment: Segment, damage: SegmentDamagedError) -> None:
    """Raises `damage` for a file that is somebody else's, or of a version that only a newer hub can read."""
    try:
        owner = SegmentFile.open(segment_path(segment.file_name)).segment
    except SegmentDamagedError as found:
        if found.code == Damage.UNKNOWN_VERSION:
            raise
        return
    if owner != segment.uuid:
        raise damage


def _survivors(segment: Segment, damage: SegmentDamagedError | None) -> Iterator[EventRecord]:
    """What can be read of a segment, in `archive_order`: of its file, and of its rows if they have not all left."""
    path = segment_path(segment.file_name)
    if damage is None:
        read: Iterator[EventRecord] = SegmentFile.open(path, segment.uuid).events()
    else:
        read = _salvaged(segment, Salvage(path, segment.event_count))
    rows = rows_of(segment) if segment.rows == RowsState.LEAVING else iter(())
    last = None
    for record in heapq.merge(read, rows, key=lambda record: record.archive_order):
        if record.archive_order != last:
            yield record
        last = record.archive_order


def _salvaged(segment: Segment, salvage: Salvage) -> Iterator[EventRecord]:
    """The events that are the segment's by what the catalogue says of it; a file of anybody else's has others."""
    first, last = segment.first_timestamp, segment.last_timestamp
    try:
        for count, record in enumerate(salvage, start=1):
            if count > segment.event_count or not (first and last and first <= record.timestamp <= last):
                raise SegmentDamagedError(Damage.MISMATCH, "It holds events that are not this segment's.")
            yield record
    except SegmentDamagedError as damage:
        if damage.code != Damage.MISSING:
            raise


def _put_back(segment: Segment, clock: Clock) -> None:
    with transaction.atomic(durable=True):
        catalogue_bump()
        segment_step(segment, SegmentState.ARCHIVED, clock=clock, damage="")
        clear_damage_warning(segment, clock)


def _replace(
    segment: Segment, damage: SegmentDamagedError | None, again: Mapping[UUID, set[UUID]], clock: Clock, step: Step
) -> int:
    """Put what survived, without what was recorded again, in the place of a segment; gives how many are lost.

    again: identity -> the ids under which it stays.
    """
    read, gone = 0, list[PrunedEvent]()

    def wanted() -> Iterator[EventRecord]:
        nonlocal read
        for record in _survivors(segment, damage):
            read += 1
            if record.identity not in again:
                yield record
            elif record.uuid not in again[record.identity]:
                gone.append(PrunedEvent.of(record))

    def note(_: int) -> None:
        found = str(damage or segment.damage)[:MAX_DAMAGE_CHARS]
        Segment.objects.filter(pk=segment.pk).update(lost_count=segment.event_count - read, damage=found)
        tell_ids_gone(gone, clock)
        clear_damage_warning(segment, clock)

    segments_replace([segment], wanted(), clock=clock, step=step, flipping=note)
    return segment.event_count - read


def _take_back_what_came_meanwhile(segment: Segment, clock: Clock) -> None:
    """Remove what writers recorded who began before the segment was back and so did not know its events."""
    for writing in Segment.objects.filter(state__in=(SegmentState.OPEN, SegmentState.SEALING)):
        wait_for_writers(writing)
    back = Segment.objects.filter(pk=segment.pk).values_list("replaced_by", flat=True).first() or segment.pk
    serving = Segment.objects.filter(pk=back, state=SegmentState.ARCHIVED).first()
    if serving is not None:
        # The event is still there, as it was recorded first: only the ids of the rows are gone.
        rows_delete(find_duplicate_rows(serving, file_open(serving)), clock)


def _batches(items: Iterable[_Item]) -> Iterator[Sequence[_Item]]:
    remaining = iter(items)
    while batch := list(islice(remaining, _AT_ONCE)):
        yield batch
