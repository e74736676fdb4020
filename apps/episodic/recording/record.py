"""Record events (spec 000), each once, in a segment, with a hub event for each new one; warn when that is slow."""

import math
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import partial
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction

from apps.core.db.memberships import WriteScopes, ties_make
from apps.core.db.user_locks import hold_users
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import MemoryHubError, UnavailableError
from apps.core.domain.latency import monotonic_ms
from apps.core.domain.offsets import in_offset, offset_minutes
from apps.core.domain.scope import Access, Scope
from apps.core.pauses import refuse_paused
from apps.episodic.domain.alarms import RecentWrites, WarningKind, assess_latency
from apps.episodic.domain.event import (
    MAX_ACTOR_CHARS,
    EventDraft,
    EventRecord,
    ScopeKey,
    event_identity,
    require_recordable,
)
from apps.episodic.domain.segment_state import is_full
from apps.episodic.events import EventSaved
from apps.episodic.metrics import RECORDED, WRITE_SECONDS
from apps.episodic.recording.rows import (
    OpenSegment,
    delete_rows,
    insert_rows,
    known_rows,
    may_be_archived,
    segment_close,
    segment_open,
    take_open_segment,
)
from apps.episodic.store.archived_segments import ArchivedFileDamagedError
from apps.episodic.store.file_cache import archive_cache, catalogue_contention
from apps.episodic.warnings import warning_report
from apps.events.services import emit_many

# A batch is not slow for being large: every hundred events of it may take as long as a single event.
EVENTS_PER_WRITE = 100
# One process reports no more often than this; the row itself is changed even less often.
REPORT_EVERY_MS = 10_000
MAX_TRIES = 10


class WriteLatency:
    """The recent writes of this process, from all its threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._recent = RecentWrites()
        self._reported_at: int | None = None

    def note(self, duration_ms: float, *, clock: Clock = SYSTEM_CLOCK) -> None:
        """Add a write that is over, outside its transaction; warn when the recent ones are too slow."""
        now, limit = clock.now(), settings.MEMORYHUB.timeline.write_ms
        with self._lock:
            high = self._recent.add(duration_ms, now=now, limit_ms=limit)
            if high is None:
                return
            if self._reported_at is not None and abs(now - self._reported_at) < REPORT_EVERY_MS:
                return
            self._reported_at = now
        warning_report(
            kind=WarningKind.WRITE_LATENCY,
            severity=assess_latency(high, limit),
            detail=f"The 95th percentile of recent writes is {high:.0f} ms; the limit is {limit:.0f} ms.",
            clock=clock,
        )


class Stopwatch:
    """Times one call that records `count` events, from here until its commit."""

    def __init__(self, count: int, clock: Clock = SYSTEM_CLOCK) -> None:
        self._count, self._clock, self._start = count, clock, monotonic_ms()

    def stop(self) -> None:
        """End the time, and note it after the commit, which in a caller's transaction may come much later."""
        duration = monotonic_ms() - self._start

        def note() -> None:
            WRITE_SECONDS.labels(size="one" if self._count == 1 else "batch").observe(duration / 1_000)
            write_latency.note(duration / math.ceil(max(1, self._count) / EVENTS_PER_WRITE), clock=self._clock)

        # Robust: a failure here must not make a recorded event look unrecorded.
        transaction.on_commit(note, robust=True)


write_latency = WriteLatency()


class RecordAction(StrEnum):
    """What recording did: the event is new, or the same event was recorded before."""

    RECORDED = "recorded"
    DUPLICATE = "duplicate"


@dataclass(frozen=True)
class RecordResult:
    """record: as it is kept, whichever call recorded it. segment: where it is; None when it has been archived."""

    action: RecordAction
    record: EventRecord
    segment: UUID | None


RecordOutcome = RecordResult | MemoryHubError


def event_record(*, access: Access, draft: EventDraft, clock: Clock = SYSTEM_CLOCK) -> RecordResult:
    """Record one event. Raises MemoryHubError when it must not be recorded; then nothing was written."""
    [outcome] = events_record(access=access, drafts=[draft], clock=clock)
    if isinstance(outcome, MemoryHubError):
        raise outcome
    return outcome


def events_record(*, access: Access, drafts: Sequence[EventDraft], clock: Clock = SYSTEM_CLOCK) -> list[RecordOutcome]:
    """Record events in one transaction. Return one outcome per draft, in order.

    A draft that must not be recorded has its error as outcome and stops no other. Events are also recorded while
    warnings are active, because a caller may not be able to send them again. Raises UnavailableError while the files
    that could hold one of the events are still being loaded; then nothing was written. Call it outside a transaction: a
    file that is found damaged is taken out of service in a transaction of its own.
    """
    watch, now = Stopwatch(len(drafts), clock), utcnow(clock)
    scopes = WriteScopes(access, settings.MEMORYHUB.default_user)
    drafted = [prepare_event(access, scopes, draft, now) for draft in drafts]
    prepared = refuse_paused(access, drafted, lambda record: record.key.user_id, clock=clock)
    unique: dict[UUID, EventRecord] = {}
    for item in prepared:
        if isinstance(item, EventRecord):
            unique.setdefault(item.identity, item)
    results = commit_events(unique, scopes.claims, access.actor, clock) if unique else {}
    watch.stop()
    outcomes: list[RecordOutcome] = []
    seen: set[UUID] = set()
    for item in prepared:
        if isinstance(item, MemoryHubError):
            outcomes.append(item)
            continue
        result = results[item.identity]
        # Of several drafts of one event, the first one recorded it.
        outcomes.append(replace(result, action=RecordAction.DUPLICATE) if item.identity in seen else result)
        seen.add(item.identity)
    return outcomes


def prepare_event(
    access: Access, scopes: WriteScopes, draft: EventDraft, now: datetime
) -> EventRecord | MemoryHubError:
    """Return the event of a draft, without its arrival number, or the reason why it must not be recorded."""
    try:
        require_recordable(draft, max_content_chars=settings.MEMORYHUB.max_content_chars, now=now)
        origin = access.write_origin(draft.origin)
        key = ScopeKey.of(scopes.settle(draft.scope))
    except MemoryHubError as error:
        return error
    return EventRecord(
        arrival=0,
        uuid=uuid4(),
        key=key,
        timestamp=in_offset(draft.timestamp, offset_minutes(draft.timestamp)),
        event_type=draft.event_type,
        content=draft.content,
        importance=float(draft.importance),
        source=draft.source,
        metadata=draft.metadata,
        identity=event_identity(key, draft.event_type, draft.timestamp, draft.content),
        recorded_at=now,
        actor=access.actor[:MAX_ACTOR_CHARS],
        origin=origin,
    )


def commit_events(
    unique: Mapping[UUID, EventRecord], claims: Collection[Scope], actor: str, clock: Clock
) -> dict[UUID, RecordResult]:
    """Record events, and the ties that they make, in one transaction.

    When a file turns out to be damaged, abandon it and begin a new one.

    A report in the same transaction would hold its locks as long as the recording, and be rolled back with it.
    """
    for _ in range(MAX_TRIES):
        try:
            with transaction.atomic():
                results = record_new(unique, actor, clock)
                ties_make(claims, made_by=actor, made_at=utcnow(clock))
                return results
        except ArchivedFileDamagedError as damage:
            damage.report()
    raise catalogue_contention()


def record_new(unique: Mapping[UUID, EventRecord], actor: str, clock: Clock) -> dict[UUID, RecordResult]:
    """Insert what is new and find the rest, in the caller's transaction; emit a hub event for each new event."""
    results = find_or_insert(unique, clock)
    ordered = [results[identity] for identity in unique]
    new = [result for result in ordered if result.action is RecordAction.RECORDED]
    emit_many([saved_event(result, actor) for result in new], clock=clock)

    def count() -> None:
        for action in RecordAction:
            RECORDED.labels(action=action).inc(sum(result.action is action for result in ordered))

    transaction.on_commit(count)
    return results


def find_or_insert(unique: Mapping[UUID, EventRecord], clock: Clock) -> dict[UUID, RecordResult]:
    """Insert what is new and find the rest, in the caller's transaction. unique: by identity.

    Raises UserLockedError, UnavailableError, and ArchivedFileDamagedError, which is to be reported once the transaction
    is over.
    """
    hold_users(record.key.user_id for record in unique.values())
    results: dict[UUID, RecordResult] = {}
    for _ in range(MAX_TRIES):
        missing = [record for identity, record in unique.items() if identity not in results]
        results |= try_record(missing, clock)
        if len(results) == len(unique):
            return results
    raise UnavailableError("The same events are being recorded and removed at the same time. Try again.")


def saved_event(result: RecordResult, actor: str) -> EventSaved:
    """Return the hub event for a new event."""
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
        origin=record.origin,
    )


def try_record(records: Sequence[EventRecord], clock: Clock) -> dict[UUID, RecordResult]:
    """Insert or find events once. One that was a row at the beginning and is nowhere at the end has no result."""
    segment, arrivals = insert_events(records, clock)
    rows = known_rows([record.identity for record in records if record.identity not in arrivals])
    # Only now: an event whose row has just been replaced by a file is in a file that was in service before the row was
    # deleted, so if it could be inserted again it is found there.
    moments = {record.identity: record.timestamp for record in records if record.identity not in rows}
    archived: dict[UUID, EventRecord] = {}
    if moments and may_be_archived(min(moments.values())):
        archived = archive_cache().find(moments)
    if again := [arrival for identity, arrival in arrivals.items() if identity in archived]:
        delete_rows(again)
    results = {identity: RecordResult(RecordAction.DUPLICATE, *row) for identity, row in rows.items()}
    results |= {identity: RecordResult(RecordAction.DUPLICATE, record, None) for identity, record in archived.items()}
    for record in records:
        if record.identity in arrivals and record.identity not in archived:
            stored = replace(record, arrival=arrivals[record.identity])
            results[record.identity] = RecordResult(RecordAction.RECORDED, stored, segment.uuid)
    return results


def insert_events(records: Sequence[EventRecord], clock: Clock) -> tuple[OpenSegment, dict[UUID, int]]:
    """Insert events into the segment that is open. Return it, and the arrival numbers of the new ones by identity."""
    for _ in range(MAX_TRIES):
        segment = take_open_segment()
        if segment is None:
            segment_open(now=utcnow(clock))
            continue
        arrivals = insert_rows(segment, records)
        if arrivals is None:
            continue
        last = max(arrivals.values(), default=0)
        if is_full(segment.first_arrival, last, settings.MEMORYHUB.timeline.segment_events):
            # Robust: the events are recorded, and if this fails the next writer or maintenance closes the segment.
            transaction.on_commit(partial(segment_close, segment_id=segment.id, clock=clock), robust=True)
        return segment, arrivals
    raise UnavailableError("The timeline is closing segments faster than this could be written. Try again.")
