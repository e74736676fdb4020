"""Removing events for good, as rows and from files, and telling of each (spec 000, Pruned event reconciliation)."""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from django.db import transaction
from django.db.models import Q, QuerySet
from prometheus_client import Counter

from apps.core.domain.clock import Clock, utcnow
from apps.core.steps import Step, no_step
from apps.episodic.domain.event import EventRecord, ScopeKey
from apps.episodic.domain.removal import CutoffOf, runs_to_remove, should_remove
from apps.episodic.domain.retention import PrunedEvent, pruned_batches
from apps.episodic.domain.segment_file.format import Damage, SegmentDamagedError
from apps.episodic.domain.segment_file.reader import SegmentFile
from apps.episodic.domain.segment_state import RowsState, SegmentState
from apps.episodic.events import EventsPruned, PruneReason
from apps.episodic.maintenance.archive import ROWS_AT_ONCE, rows_drop, segments_to_drop
from apps.episodic.maintenance.progress import Watch
from apps.episodic.maintenance.replace import segments_replace
from apps.episodic.maintenance.runner import MaintenanceRunner
from apps.episodic.models import Segment, TimelineEvent
from apps.episodic.store.catalogue import segment_step
from apps.episodic.store.files import remove_file
from apps.episodic.store.verify import file_open
from apps.events.services import emit_many

logger = logging.getLogger(__name__)

PRUNED = Counter("memoryhub_timeline_pruned_events", "Events that were removed for good, by why.", ["reason"])
REMOVE_STEPS = ("remove: rows", "remove: file of rows")
# Messages that are made at a time, of up to MAX_PRUNED_IDS events each.
_MESSAGES_AT_ONCE = 20
_ROW_COLUMNS = ("pk", "segment_id", "user_id", "household_id", "persona_id", "uuid", "identity")
# Told, in the transaction of the removal, what is gone.
Noted = Callable[[Sequence[PrunedEvent]], None]


@dataclass(frozen=True)
class Removal:
    """Which events are to be removed, as a condition on rows and by scope and time, and what is told of it."""

    rows: Q
    cutoff_of: CutoffOf
    reason: PruneReason
    actor: str
    noted: Noted | None = None


# Removes no event, so that no condition applies.
REPAIR = Removal(Q(pk__in=[]), lambda _: None, PruneReason.REPAIR, "repair")


@dataclass
class RemovalReport:
    """How many events were removed, or would be. segments: files that were rewritten or ended.

    finished: False when it stopped because it had gone on for long enough; then it should be called again.
    """

    rows: int = 0
    archived: int = 0
    segments: int = 0
    damaged: int = 0
    failures: list[str] = field(default_factory=list)
    finished: bool = True

    @property
    def events(self) -> int:
        """Altogether."""
        return self.rows + self.archived


def events_remove(removal: Removal, candidates: QuerySet[Segment], work: MaintenanceRunner) -> RemovalReport:
    """Remove the events that count, while nobody else changes segments. candidates: archived segments to look into."""
    report = RemovalReport()
    work.each_one(
        "Removing archived rows", list(segments_to_drop()), lambda segment: rows_drop(segment, step=work.step)
    )
    work.attempt("Removing rows", [], lambda _: _remove_rows(removal, work, report))

    def rewrite(segment: Segment) -> None:
        count = segment_remove(segment, removal, clock=work.clock, step=work.step)
        report.archived += count
        report.segments += count > 0

    archived = candidates.filter(state=SegmentState.ARCHIVED, rows=RowsState.GONE).order_by("first_timestamp", "id")
    work.each_one("Removing from files", list(archived), rewrite)
    report.damaged, report.failures, report.finished = work.damaged, work.failures, work.finished
    logger.info(
        "timeline: %d events were removed for good (%s): %d rows, %d from %d files",
        report.events, removal.reason, report.rows, report.archived, report.segments,
    )  # fmt: skip
    return report


def removal_preview(rows: Q, cutoff_of: CutoffOf, candidates: QuerySet[Segment], watch: Watch) -> RemovalReport:
    """What `events_remove` would remove; nothing is changed. Files that cannot be read are counted as damaged."""
    report = RemovalReport(rows=TimelineEvent.objects.readable().filter(rows).count())
    archived = list(candidates.filter(state=SegmentState.ARCHIVED).order_by("first_timestamp", "id"))
    with watch("Looking into files", len(archived)) as advance:
        for segment in archived:
            try:
                count = _count_doomed(file_open(segment), cutoff_of)
            except SegmentDamagedError:
                report.damaged += 1
            else:
                report.archived += count
                report.segments += count > 0
            advance(1)
    return report


def _count_doomed(file: SegmentFile, cutoff_of: CutoffOf) -> int:
    """How many events of a file are to be removed; reads only those runs of which some are and some are not."""
    some, whole = runs_to_remove(file.scopes, file.runs, cutoff_of)
    partly = file.read_runs([int(run) for run in (some & ~whole).nonzero()[0]])
    count = sum(should_remove(record.key, record.timestamp, cutoff_of) for record in partly)
    return count + int(file.runs["count"][whole].sum())


def segment_remove(segment: Segment, removal: Removal, *, clock: Clock, step: Step = no_step) -> int:
    """Rewrite an archived segment without the events to be removed; gives their number.

    Raises SegmentDamagedError, OSError, StaleSegmentError; then nothing has changed.
    """
    file = file_open(segment)
    some, _ = runs_to_remove(file.scopes, file.runs, removal.cutoff_of)
    if not some.any():
        return 0
    gone: list[PrunedEvent] = []

    def tell(kept: int) -> None:
        if kept + len(gone) != segment.event_count:
            raise SegmentDamagedError(Damage.MISMATCH, "It does not hold as many events as the catalogue says.")
        emit_pruned(gone, removal, clock)

    segments_replace([segment], _kept(file, removal, gone), clock=clock, step=step, flipping=tell)
    return len(gone)


def _kept(file: SegmentFile, removal: Removal, gone: list[PrunedEvent]) -> Iterator[EventRecord]:
    for record in file.events():
        if should_remove(record.key, record.timestamp, removal.cutoff_of):
            gone.append(PrunedEvent.of(record))
        else:
            yield record


def _remove_rows(removal: Removal, work: MaintenanceRunner, report: RemovalReport) -> None:
    """Remove rows, each batch with what is told of it in a transaction of its own."""
    rows = TimelineEvent.objects.readable().filter(removal.rows)
    total = rows.count()
    if not total:
        return
    with work.watch("Removing rows", total) as advance:
        last, count = 0, ROWS_AT_ONCE
        while count and not work.is_over:
            work.step("remove: rows")
            last, count, unsealed = _remove_batch(rows.filter(pk__gt=last), removal, work.clock)
            for name in unsealed:
                work.step("remove: file of rows")
                remove_file(name)
            report.rows += count
            advance(count)


@transaction.atomic
def _remove_batch(rows: QuerySet[TimelineEvent], removal: Removal, clock: Clock) -> tuple[int, int, list[str]]:
    """Remove the first rows; gives the last arrival, their number, and the files that say more than rows do now."""
    batch = list(rows.order_by("pk").values_list(*_ROW_COLUMNS)[:ROWS_AT_ONCE])
    if not batch:
        return 0, 0, []
    unsealed = _delete([row[:2] for row in batch], clock)
    emit_pruned([PrunedEvent(ScopeKey(*row[2:5]), row[5], row[6]) for row in batch], removal, clock)
    return batch[-1][0], len(batch), unsealed


@dataclass(frozen=True)
class DuplicateRow:
    """A row of an event that is in a file, too. gone: what to tell of it, unless it has the id that is in the file."""

    arrival: int
    segment_id: int
    gone: PrunedEvent | None


def rows_delete(rows: Sequence[DuplicateRow], clock: Clock) -> int:
    """Remove rows of events that stay in a file, and tell of the ids that go with them; gives their number."""
    with transaction.atomic():
        unsealed = _delete([(row.arrival, row.segment_id) for row in rows], clock)
        tell_ids_gone([row.gone for row in rows if row.gone], clock)
    for name in unsealed:
        remove_file(name)
    return len(rows)


def tell_ids_gone(gone: Sequence[PrunedEvent], clock: Clock) -> None:
    """Tell of ids that a repair removes while their events stay under others, in the transaction in which they go."""
    if gone:
        emit_pruned(gone, REPAIR, clock)


def _delete(rows: Sequence[tuple[int, int]], clock: Clock) -> list[str]:
    """Remove rows; gives the files that say more than rows do now."""
    unsealed = _unseal({segment_id for _, segment_id in rows}, clock)
    doomed = TimelineEvent.objects.filter(pk__in=[pk for pk, _ in rows])
    doomed._raw_delete(doomed.db)
    return unsealed


def _unseal(segment_ids: set[int], clock: Clock) -> list[str]:
    """Have the sealed ones of these segments sealed again; gives the names of their files."""
    sealed = list(Segment.objects.filter(pk__in=segment_ids, state=SegmentState.SEALED).order_by("pk"))
    for segment in sealed:
        segment_step(segment, SegmentState.SEALING, clock=clock, sha256="")
    return [segment.file_name for segment in sealed]


def emit_pruned(gone: Sequence[PrunedEvent], removal: Removal, clock: Clock) -> None:
    """Tell of what is gone, in the transaction in which it goes, in messages of bounded size."""
    messages = (_message(batch, removal, clock) for batch in pruned_batches(gone))
    while part := list(islice(messages, _MESSAGES_AT_ONCE)):
        emit_many(part, clock=clock)
    if removal.noted is not None:
        removal.noted(gone)
    transaction.on_commit(lambda: PRUNED.labels(reason=removal.reason.value).inc(len(gone)))


def _message(batch: Sequence[PrunedEvent], removal: Removal, clock: Clock) -> EventsPruned:
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
