"""Removing events for good, from rows and files, with a hub event for each (spec 000, Pruned event reconciliation)."""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet
from prometheus_client import Counter

from apps.core.domain.batches import batched
from apps.core.domain.clock import Clock, utcnow
from apps.core.steps import Step, no_step
from apps.episodic.domain.event import EventRecord, ScopeKey
from apps.episodic.domain.retention import CutoffOf, PrunedEvent, pruned_batches, runs_to_remove, should_remove
from apps.episodic.domain.segment_file.format import Damage, SegmentDamagedError, microseconds
from apps.episodic.domain.segment_file.reader import SegmentFile
from apps.episodic.domain.segment_state import RowsState, SegmentState
from apps.episodic.events import EventsPruned, PruneReason
from apps.episodic.maintenance.archive import ROWS_AT_ONCE, archived_rows_drop
from apps.episodic.maintenance.compact import segments_replace
from apps.episodic.maintenance.runner import MaintenanceRunner, RunReport, Watch
from apps.episodic.models import Segment, TimelineEvent
from apps.episodic.store.catalogue import file_open, segment_step
from apps.episodic.store.files import remove_file
from apps.events.services import emit_many

logger = logging.getLogger(__name__)

PRUNED = Counter("memoryhub_timeline_pruned_events", "Events that were removed for good, by why.", ["reason"])
REMOVE_STEPS = ("remove: rows", "remove: file of rows")
# Hub events that are emitted at a time, of up to MAX_PRUNED_IDS events each.
MESSAGES_AT_ONCE = 20
# Takes what is removed, in the transaction of the removal.
OnRemoved = Callable[[Sequence[PrunedEvent]], None]


@dataclass(frozen=True)
class Removal:
    """Which events are to be removed, as a condition on rows and by scope and time; and why, and by whom.

    only: of these, just the event of this id. since: none that happened before. event_type: just those of this type.
    wanted: just those for which it is true.
    is_announced: hub events name what was removed.
    """

    rows: Q
    cutoff_of: CutoffOf
    reason: PruneReason
    actor: str
    on_removed: OnRemoved | None = None
    only: UUID | None = None
    since: datetime | None = None
    event_type: str = ""
    wanted: Callable[[EventRecord], bool] | None = None
    is_announced: bool = True

    def includes(self, record: EventRecord) -> bool:
        """Return whether an event of a file is to be removed."""
        is_meant = (self.only is None or record.uuid == self.only) and (self.wanted is None or self.wanted(record))
        is_late = self.since is None or record.timestamp >= self.since
        is_kind = not self.event_type or record.event_type == self.event_type
        return is_meant and is_late and is_kind and should_remove(record.key, record.timestamp, self.cutoff_of)

    def is_in(self, file: SegmentFile) -> bool:
        """Return whether a file has an event that is to be removed. Reads the runs that may hold one, if need be."""
        some, _ = runs_to_remove(file.scopes, file.runs, self.cutoff_of)
        if self.since is not None:
            some &= file.runs["last"] >= microseconds(self.since)
        if not some.any() or (self.since is None and not self.event_type and self.wanted is None):
            return bool(some.any())
        return any(self.includes(record) for record in file.read_runs(some.nonzero()[0].tolist()))


@dataclass
class RemovalReport(RunReport):
    """How many events were removed, or would be. segments: files that were rewritten or ended."""

    rows: int = 0
    archived: int = 0
    segments: int = 0

    @property
    def events(self) -> int:
        """Return the number of events from rows and files."""
        return self.rows + self.archived


def events_remove(removal: Removal, candidates: QuerySet[Segment], runner: MaintenanceRunner) -> RemovalReport:
    """Remove events that count, under the maintenance lock. candidates: the archived segments that may hold some."""
    report = RemovalReport()
    archived_rows_drop(runner)
    runner.attempt("Removing rows", [], lambda _: remove_rows(removal, runner, report))

    def rewrite(segment: Segment) -> None:
        count = segment_remove(segment, removal, clock=runner.clock, step=runner.step)
        report.archived += count
        report.segments += count > 0

    archived = candidates.filter(state=SegmentState.ARCHIVED, rows=RowsState.GONE).order_by("first_timestamp", "id")
    runner.run_each("Removing from files", list(archived), rewrite)
    runner.complete(report)
    logger.info(
        "timeline: %d events were removed for good (%s): %d rows, %d from %d files",
        report.events, removal.reason, report.rows, report.archived, report.segments,
    )  # fmt: skip
    return report


def removal_preview(rows: Q, cutoff_of: CutoffOf, candidates: QuerySet[Segment], watch: Watch) -> RemovalReport:
    """Return what `events_remove` would remove, and change nothing. Unreadable files are counted as damaged."""
    report = RemovalReport(rows=TimelineEvent.objects.readable().filter(rows).count())
    archived = list(candidates.filter(state=SegmentState.ARCHIVED).order_by("first_timestamp", "id"))
    with watch("Reading files", len(archived)) as advance:
        for segment in archived:
            try:
                # Only the runs are read of which some events are to be removed and some are not.
                file = file_open(segment)
                some, whole = runs_to_remove(file.scopes, file.runs, cutoff_of)
                partly = file.read_runs([int(run) for run in (some & ~whole).nonzero()[0]])
                count = sum(should_remove(record.key, record.timestamp, cutoff_of) for record in partly)
                count += int(file.runs["count"][whole].sum())
            except SegmentDamagedError:
                report.damaged += 1
            else:
                report.archived += count
                report.segments += count > 0
            advance(1)
    return report


def segment_remove(segment: Segment, removal: Removal, *, clock: Clock, step: Step = no_step) -> int:
    """Rewrite an archived segment without the events to be removed. Return their number.

    Raises SegmentDamagedError, OSError, StaleSegmentError; then nothing has changed.
    """
    file = file_open(segment)
    if not removal.is_in(file):
        return 0
    gone: list[PrunedEvent] = []

    def kept() -> Iterator[EventRecord]:
        for record in file.events():
            if removal.includes(record):
                gone.append(PrunedEvent.of(record))
            else:
                yield record

    def emit_gone(kept_count: int) -> None:
        if kept_count + len(gone) != segment.event_count:
            raise SegmentDamagedError(Damage.MISMATCH, "It does not hold as many events as the catalogue says.")
        emit_pruned(gone, removal, clock)

    segments_replace([segment], kept(), clock=clock, step=step, on_replace=emit_gone)
    return len(gone)


def remove_rows(removal: Removal, runner: MaintenanceRunner, report: RemovalReport) -> None:
    """Remove rows, each batch with its hub events in a transaction of its own."""
    rows = TimelineEvent.objects.readable().filter(removal.rows)
    total = rows.count()
    if not total:
        return
    with runner.watch("Removing rows", total) as advance:
        last, count = 0, ROWS_AT_ONCE
        while count and not runner.should_stop:
            runner.step("remove: rows")
            last, count, unsealed = remove_batch(rows.filter(pk__gt=last), removal, runner.clock)
            for name in unsealed:
                runner.step("remove: file of rows")
                remove_file(name)
            report.rows += count
            advance(count)


@transaction.atomic
def remove_batch(rows: QuerySet[TimelineEvent], removal: Removal, clock: Clock) -> tuple[int, int, list[str]]:
    """Remove the first rows. Return the last arrival, their number, and the files that hold more than the rows now."""
    columns = ("pk", "segment_id", "user_id", "household_id", "persona_id", "uuid", "identity")
    batch = list(rows.order_by("pk").values_list(*columns)[:ROWS_AT_ONCE])
    if not batch:
        return 0, 0, []
    unsealed = delete_rows([row[:2] for row in batch], clock)
    emit_pruned([PrunedEvent(ScopeKey(*row[2:5]), row[5], row[6]) for row in batch], removal, clock)
    return batch[-1][0], len(batch), unsealed


def delete_rows(rows: Sequence[tuple[int, int]], clock: Clock) -> list[str]:
    """Delete rows, by arrival and segment, in the caller's transaction.

    Their sealed segments go back to sealing. Return the names of the files of these, which hold more than the rows now.
    """
    segment_ids = {segment_id for _, segment_id in rows}
    sealed = list(Segment.objects.filter(pk__in=segment_ids, state=SegmentState.SEALED).order_by("pk"))
    for segment in sealed:
        segment_step(segment, SegmentState.SEALING, clock=clock, sha256="")
    chosen = TimelineEvent.objects.filter(pk__in=[pk for pk, _ in rows])
    chosen._raw_delete(chosen.db)
    return [segment.file_name for segment in sealed]


def emit_pruned(gone: Sequence[PrunedEvent], removal: Removal, clock: Clock) -> None:
    """Emit hub events of bounded size about removed events, in the transaction of the removal."""
    if not gone:
        return
    for batches in batched(pruned_batches(gone), MESSAGES_AT_ONCE) if removal.is_announced else ():
        emit_many([pruned_message(batch, removal, clock) for batch in batches], clock=clock)
    if removal.on_removed is not None:
        removal.on_removed(gone)
    transaction.on_commit(lambda: PRUNED.labels(reason=removal.reason.value).inc(len(gone)))


def pruned_message(batch: Sequence[PrunedEvent], removal: Removal, clock: Clock) -> EventsPruned:
    """Return the hub event about removed events of one scope."""
    key = batch[0].key
    return EventsPruned(
        user_id=key.user_id,
        household_id=key.household_id or None,
        persona_id=key.persona_id or None,
        event_ids=tuple(event.uuid for event in batch),
        hashes=tuple(event.identity.hex for event in batch),
        reason=removal.reason,
        actor=removal.actor,
        at=utcnow(clock),
    )
