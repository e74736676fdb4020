"""Putting damaged segments back in service: their own file, if it is good again, or what can be read of it.

While a segment is out of service its events are unknown, so some may have been recorded again. These are left out of
what comes back, and what writers add in the very moment in which it comes back is deleted: each event is there once.
"""

import heapq
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from apps.core.domain.batches import batched
from apps.core.domain.clock import Clock
from apps.core.steps import Step, no_step
from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.retention import PrunedEvent
from apps.episodic.domain.segment_file.format import Damage, SegmentDamagedError
from apps.episodic.domain.segment_file.reader import SegmentFile, salvage_events
from apps.episodic.domain.segment_state import RowsState, SegmentState
from apps.episodic.events import PruneReason
from apps.episodic.maintenance.compact import segments_replace
from apps.episodic.maintenance.remove import Removal, delete_rows, emit_pruned
from apps.episodic.maintenance.seal import rows_of, wait_for_writers
from apps.episodic.models import Segment, TimelineEvent
from apps.episodic.models.segment import MAX_DAMAGE_CHARS
from apps.episodic.store.catalogue import (
    catalogue_bump,
    clear_damage_warning,
    file_open,
    file_set_aside,
    file_verify,
    segment_quarantine,
    segment_step,
)
from apps.episodic.store.files import remove_file, segment_place

AT_ONCE = 1_000
REPAIR_STEPS = ("repair: read", "repair: put back", "repair: set aside", "repair: wait for writers")
# For ids that go while their events stay under others. Removes no event, so that no condition applies.
REPLACED_IDS = Removal(Q(pk__in=[]), lambda _: None, PruneReason.REPAIR, "repair")


@dataclass(frozen=True)
class RepairResult:
    """The outcome of a repair. lost: events that could not be read. duplicates: that had been recorded again."""

    lost: int
    duplicates: int


@dataclass(frozen=True)
class DuplicateRow:
    """A row of an event that a file holds too. gone: what is removed with the row, unless the file has the same id."""

    arrival: int
    segment_id: int
    gone: PrunedEvent | None


def segment_repair(segment: Segment, *, clock: Clock, give_up: bool = False, step: Step = no_step) -> RepairResult:
    """Put a segment in quarantine back in service, as far as it can be read, under the maintenance lock.

    give_up: also when nothing can be read; then its events are lost for good.
    Raises SegmentDamagedError when only bringing back the file helps, OSError, StaleSegmentError.
    """
    step("repair: read")
    damage = find_damage(segment)
    if damage is not None and not give_up:
        require_own_file(segment, damage)
    left = [record.identity for record in readable_events(segment, damage)]
    if damage is not None and not left and not give_up:
        raise damage
    duplicates = find_duplicates(segment, left, clock)
    lost = 0
    if damage is None and not duplicates:
        step("repair: put back")
        with transaction.atomic(durable=True):
            catalogue_bump()
            segment_step(segment, SegmentState.ARCHIVED, clock=clock, damage="")
            clear_damage_warning(segment, clock)
    else:
        lost = replace_with_readable(segment, damage, duplicates, clock, step)
        step("repair: set aside")
        file_set_aside(segment.file_name)
    step("repair: wait for writers")
    # Writers that began before the segment was back did not know its events.
    for writing in Segment.objects.filter(state__in=(SegmentState.OPEN, SegmentState.SEALING)):
        wait_for_writers(writing)
    back = Segment.objects.filter(pk=segment.pk).values_list("replaced_by", flat=True).first() or segment.pk
    serving = Segment.objects.filter(pk=back, state=SegmentState.ARCHIVED).first()
    if serving is not None:
        # The event is still there, as it was recorded first: only the ids of the rows are gone.
        delete_duplicate_rows(find_duplicate_rows(serving, file_open(serving)), clock)
    return RepairResult(lost, len(duplicates))


def segment_expire(segment: Segment, removal: Removal, *, clock: Clock, step: Step = no_step) -> int:
    """End a segment in quarantine of which every event is to be removed. Return for how many hub events are emitted.

    Those are the ones that can still be read; of the others no id is known. Raises OSError, StaleSegmentError.
    """
    step("repair: read")
    gone = [PrunedEvent.of(record) for record in readable_events(segment, find_damage(segment))]

    def note(_: int) -> None:
        emit_pruned(gone, removal, clock)
        # Without a damage its file is removed with what it may still hold, and not set aside.
        Segment.objects.filter(pk=segment.pk).update(lost_count=segment.event_count - len(gone), damage="")
        clear_damage_warning(segment, clock)

    segments_replace([segment], iter(()), clock=clock, step=step, on_replace=note)
    return len(gone)


def find_duplicates(segment: Segment, identities: Collection[UUID], clock: Clock) -> dict[UUID, set[UUID]]:
    """Return which events are also rows that count, or in other files that count, with the ids that they have there.

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
    for batch in batched(wanted, AT_ONCE):
        rows = TimelineEvent.objects.readable().exclude(segment=segment).filter(identity__in=batch)
        for identity, uuid in rows.values_list("identity", "uuid"):
            found[identity].add(uuid)
    return dict(found)


def find_duplicate_rows(segment: Segment, file: SegmentFile) -> list[DuplicateRow]:
    """Return the rows that count of events that a segment's file holds."""
    found: list[DuplicateRow] = []
    for batch in batched(((record.identity, record.uuid) for record in file.events()), AT_ONCE):
        ids = dict(batch)
        rows = TimelineEvent.objects.readable().exclude(segment=segment).filter(identity__in=ids)
        for row in rows.order_by("pk"):
            gone = PrunedEvent.of(row.record) if row.uuid != ids[row.identity] else None
            found.append(DuplicateRow(row.pk, row.segment_id, gone))
    return found


def delete_duplicate_rows(rows: Sequence[DuplicateRow], clock: Clock) -> None:
    """Delete rows of events that stay in a file, and emit hub events about the ids that go with them."""
    with transaction.atomic():
        unsealed = delete_rows([(row.arrival, row.segment_id) for row in rows], clock)
        emit_pruned([row.gone for row in rows if row.gone], REPLACED_IDS, clock)
    for name in unsealed:
        remove_file(name)


def find_damage(segment: Segment) -> SegmentDamagedError | None:
    """Return what is wrong with the file of a segment."""
    try:
        file_verify(segment)
    except SegmentDamagedError as damage:
        return damage
    return None


def require_own_file(segment: Segment, damage: SegmentDamagedError) -> None:
    """Raise `damage` for the file of another segment, or the damage of a version that only a newer hub can read."""
    try:
        owner = SegmentFile.open(segment_place(segment.file_name, afresh=True)).segment
    except SegmentDamagedError as found:
        if found.code == Damage.UNKNOWN_VERSION:
            raise
        return
    if owner != segment.uuid:
        raise damage


def readable_events(segment: Segment, damage: SegmentDamagedError | None) -> Iterator[EventRecord]:
    """Yield what can be read of a segment, in `archive_order`: of its file, and of its rows if not all have left."""
    if damage is None:
        read: Iterator[EventRecord] = SegmentFile.open(
            segment_place(segment.file_name, afresh=True), segment.uuid
        ).events()
    else:
        read = salvaged_events(segment)
    rows = rows_of(segment) if segment.rows == RowsState.LEAVING else iter(())
    last = None
    for record in heapq.merge(read, rows, key=lambda record: record.archive_order):
        if record.archive_order != last:
            yield record
        last = record.archive_order


def salvaged_events(segment: Segment) -> Iterator[EventRecord]:
    """Yield salvaged events that fit what the catalogue says of the segment, until one is found that does not."""
    first, last = segment.first_timestamp, segment.last_timestamp
    try:
        for count, record in enumerate(salvage_events(segment_place(segment.file_name, afresh=True)), start=1):
            if count > segment.event_count or not (first and last and first <= record.timestamp <= last):
                raise SegmentDamagedError(Damage.MISMATCH, "It holds events that are not this segment's.")
            yield record
    except SegmentDamagedError as damage:
        if damage.code != Damage.MISSING:
            raise


def replace_with_readable(
    segment: Segment,
    damage: SegmentDamagedError | None,
    duplicates: Mapping[UUID, set[UUID]],
    clock: Clock,
    step: Step,
) -> int:
    """Replace a segment by its readable events without duplicates. Return how many events are lost.

    duplicates: identity -> the ids under which the event stays.
    """
    read, gone = 0, list[PrunedEvent]()

    def wanted() -> Iterator[EventRecord]:
        nonlocal read
        for record in readable_events(segment, damage):
            read += 1
            if record.identity not in duplicates:
                yield record
            elif record.uuid not in duplicates[record.identity]:
                gone.append(PrunedEvent.of(record))

    def note(_: int) -> None:
        found = str(damage or segment.damage)[:MAX_DAMAGE_CHARS]
        Segment.objects.filter(pk=segment.pk).update(lost_count=segment.event_count - read, damage=found)
        emit_pruned(gone, REPLACED_IDS, clock)
        clear_damage_warning(segment, clock)

    segments_replace([segment], wanted(), clock=clock, step=step, on_replace=note)
    return segment.event_count - read
