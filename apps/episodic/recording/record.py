"""Recording what happened (spec 000, Record episodic event): once each, in a segment, and told of."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import MemoryHubError, UnavailableError
from apps.core.domain.scope import Access
from apps.episodic.domain.event import EventDraft, EventRecord, ScopeKey
from apps.episodic.domain.identity import event_identity
from apps.episodic.domain.rotation import is_full
from apps.episodic.domain.rules import require_recordable
from apps.episodic.events import EventSaved
from apps.episodic.metrics import RECORDED
from apps.episodic.recording.latency import Stopwatch
from apps.episodic.recording.open_segment import segment_open
from apps.episodic.recording.rotation import segment_close
from apps.episodic.recording.rows import (
    OpenSegment,
    delete_rows,
    insert_rows,
    known_rows,
    may_be_archived,
    take_open_segment,
)
from apps.episodic.store.archived_segments import ArchivedFileDamagedError
from apps.episodic.store.file_cache import archive_cache, catalogue_contention
from apps.events.services import emit_many

_TRIES = 10


class RecordAction(StrEnum):
    """What recording did: the event is new, or the same event was recorded before."""

    RECORDED = "recorded"
    DUPLICATE = "duplicate"


@dataclass(frozen=True)
class RecordResult:
    """record: as it is kept, by whichever call. segment: where it is; None when it has been archived."""

    action: RecordAction
    record: EventRecord
    segment: UUID | None


RecordOutcome = RecordResult | MemoryHubError
_Results = dict[UUID, RecordResult]


def event_record(*, access: Access, draft: EventDraft, clock: Clock = SYSTEM_CLOCK) -> RecordResult:
    """Record one event. Raises MemoryHubError when it must not be recorded; then nothing was written."""
    [outcome] = events_record(access=access, drafts=[draft], clock=clock)
    if isinstance(outcome, MemoryHubError):
        raise outcome
    return outcome


def events_record(*, access: Access, drafts: Sequence[EventDraft], clock: Clock = SYSTEM_CLOCK) -> list[RecordOutcome]:
    """Record events in one transaction; gives one outcome per draft, in order.

    A draft that must not be recorded gives its error and keeps no other from being recorded. Recording goes on while
    warnings are active: what is told now can be told by nobody later. Raises UnavailableError while the files that
    could hold one of the events are still being loaded, and then nothing was written. Call it outside a transaction: a
    file that is found damaged is taken out of service in one of its own.
    """
    watch, now = Stopwatch(len(drafts), clock), utcnow(clock)
    items = [_prepare(access, draft, now) for draft in drafts]
    unique = _unique(items)
    results = _committed(unique, access.actor, clock) if unique else {}
    watch.stop()
    return list(_outcomes(items, results))


def _prepare(access: Access, draft: EventDraft, now: datetime) -> EventRecord | MemoryHubError:
    """The event of a draft, without its arrival number."""
    try:
        require_recordable(draft, max_content_chars=settings.MEMORYHUB.max_content_chars, now=now)
        key = ScopeKey.of(access.for_write(draft.scope, settings.MEMORYHUB.default_user))
    except MemoryHubError as error:
        return error
    return EventRecord(
        arrival=0,
        uuid=uuid4(),
        key=key,
        timestamp=draft.timestamp.astimezone(UTC),
        event_type=draft.event_type,
        content=draft.content,
        importance=float(draft.importance),
        source=draft.source,
        metadata=draft.metadata,
        identity=event_identity(key, draft.event_type, draft.timestamp, draft.content),
        recorded_at=now,
    )


def _unique(items: Iterable[EventRecord | MemoryHubError]) -> dict[UUID, EventRecord]:
    """The events by their identities: of several that are the same, the first."""
    unique: dict[UUID, EventRecord] = {}
    for item in items:
        if isinstance(item, EventRecord):
            unique.setdefault(item.identity, item)
    return unique


def _outcomes(items: Iterable[EventRecord | MemoryHubError], results: _Results) -> Iterator[RecordOutcome]:
    told: set[UUID] = set()
    for item in items:
        if isinstance(item, MemoryHubError):
            yield item
            continue
        result = results[item.identity]
        yield replace(result, action=RecordAction.DUPLICATE) if item.identity in told else result
        told.add(item.identity)


def _committed(unique: Mapping[UUID, EventRecord], actor: str, clock: Clock) -> _Results:
    """Record in one transaction. When a file turns out to be damaged that one is given up, and recording begins anew.

    Reporting it in the same transaction would have its locks held, and what it says undone, with the recording.
    """
    for _ in range(_TRIES):
        try:
            with transaction.atomic():
                return _record(unique, actor, clock)
        except ArchivedFileDamagedError as damage:
            damage.report()
    raise catalogue_contention()


def _record(unique: Mapping[UUID, EventRecord], actor: str, clock: Clock) -> _Results:
    """Insert what is new, in the caller's transaction, and find what is not; tell of the former."""
    results: _Results = {}
    for _ in range(_TRIES):
        results |= _record_once([record for identity, record in unique.items() if identity not in results], clock)
        if len(results) == len(unique):
            ordered = [results[identity] for identity in unique]
            emit_many([_saved(result, actor) for result in ordered if _is_new(result)], clock=clock)
            _count(ordered)
            return results
    raise UnavailableError("The same events are being recorded and removed at once. Try again.")


def _record_once(records: Sequence[EventRecord], clock: Clock) -> _Results:
    """One try. An event that was a row when it began and is nowhere at its end has no result: it was just removed."""
    segment, arrivals = _insert(records, clock)
    rows = known_rows([record.identity for record in records if record.identity not in arrivals])
    # Only now: an event whose row has just given way to a file is in a file that was in service before the row went, so
    # whoever could insert it again finds it there.
    archived = _archived([record for record in records if record.identity not in rows])
    again = [arrival for identity, arrival in arrivals.items() if identity in archived]
    if again:
        delete_rows(again)
    results = {identity: RecordResult(RecordAction.DUPLICATE, *row) for identity, row in rows.items()}
    results |= {identity: RecordResult(RecordAction.DUPLICATE, record, None) for identity, record in archived.items()}
    for record in records:
        if record.identity in arrivals and record.identity not in archived:
            stored = replace(record, arrival=arrivals[record.identity])
            results[record.identity] = RecordResult(RecordAction.RECORDED, stored, segment.uuid)
    return results


def _archived(records: Sequence[EventRecord]) -> dict[UUID, EventRecord]:
    """Those that are archived, as they are in their files."""
    moments = {record.identity: record.timestamp for record in records}
    if not moments or not may_be_archived(min(moments.values())):
        return {}
    return archive_cache().find(moments)


def _insert(records: Sequence[EventRecord], clock: Clock) -> tuple[OpenSegment, dict[UUID, int]]:
    """Insert the events into the open segment, whichever that is by then."""
    for _ in range(_TRIES):
        segment = take_open_segment()
        if segment is None:
            segment_open(now=utcnow(clock))
            continue
        arrivals = insert_rows(segment, records)
        if arrivals is not None:
            _close_if_full(segment, max(arrivals.values(), default=0), clock)
            return segment, arrivals
    raise UnavailableError("The timeline is being rotated faster than it can be written. Try again.")


def _close_if_full(segment: OpenSegment, last: int, clock: Clock) -> None:
    """After the commit, close a segment that has had its number of arrivals."""

    def close() -> None:
        segment_close(segment_id=segment.id, clock=clock)

    if is_full(segment.first_arrival, last, settings.MEMORYHUB.timeline.segment_events):
        # Robust: what was recorded is recorded, and the next writer or maintenance closes it.
        transaction.on_commit(close, robust=True)


def _is_new(result: RecordResult) -> bool:
    return result.action is RecordAction.RECORDED


def _saved(result: RecordResult, actor: str) -> EventSaved:
    record, segment = result.record, result.segment
    assert segment is not None
    return EventSaved(
        event_id=record.uuid,
        user_id=record.key.user_id,
        household_id=record.key.household_id or None,
        persona_id=record.key.persona_id or None,
        event_type=record.event_type,
        timestamp=record.timestamp,
        importance=record.importance,
        content=record.content,
        source=record.source,
        segment_id=segment,
        recorded_at=record.recorded_at,
        actor=actor,
    )


def _count(results: Iterable[RecordResult]) -> None:
    """Count them once they are committed."""
    actions = [result.action for result in results]

    def count() -> None:
        for action in RecordAction:
            RECORDED.labels(action=action).inc(actions.count(action))

    transaction.on_commit(count)
