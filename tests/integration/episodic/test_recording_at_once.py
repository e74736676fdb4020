"""Recording by many at once, and while segments are closed and archived."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from functools import partial

import pytest
from django.db import connection, transaction

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import UnavailableError
from apps.core.domain.scope import Access, Scope
from apps.episodic.domain.event import EventDraft, EventRecord
from apps.episodic.maintenance.archive import rows_drop, segment_archive
from apps.episodic.maintenance.seal import segment_seal
from apps.episodic.models import Segment, TimelineEvent
from apps.episodic.recording import record as recording_record
from apps.episodic.recording.record import RecordResult, event_record, events_record
from apps.episodic.recording.rows import OpenSegment, insert_rows, segment_close, segment_open, take_open_segment
from apps.episodic.store.archived_segments import ArchivedFileDamagedError, catalogue_version
from apps.episodic.store.catalogue import SEGMENT_LOCKS
from apps.episodic.store.file_cache import archive_cache, reset_archive_cache
from apps.events.models import Event
from tests.integration.episodic.records import record
from tests.segments import segment_path
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)

NOW = utcnow(SYSTEM_CLOCK)
THREADS = 16


def drafts(count: int, user: str = "ana") -> list[EventDraft]:
    scope = Scope(user)
    return [EventDraft(NOW - timedelta(minutes=number), "message", f"event {number}", scope) for number in range(count)]


def results(outcomes: list[object]) -> Iterator[RecordResult]:
    for outcome in outcomes:
        assert isinstance(outcome, RecordResult)
        yield outcome


def close_and_wait() -> Segment | None:
    """Close the open segment and wait until its writers have gone, as sealing does."""
    segment = Segment.objects.filter(state="open").first()
    if segment is None or not segment_close(segment_id=segment.pk):
        return None
    gone = False
    while not gone:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", [SEGMENT_LOCKS, segment.pk])
            gone = cursor.fetchone()[0]
    return segment


def test_same_event_from_sixteen_threads_is_recorded_once(access: Access) -> None:
    for draft in drafts(5):
        outcomes = at_once(*[lambda draft=draft: event_record(access=access, draft=draft)] * THREADS)
        row = TimelineEvent.objects.get(content=draft.content)
        assert sorted(outcome.action for outcome in outcomes) == ["duplicate"] * (THREADS - 1) + ["recorded"]
        assert all((outcome.record, outcome.segment) == (row.record, row.segment.uuid) for outcome in outcomes)
    assert Event.objects.filter(name="memory:episodic:saved").count() == TimelineEvent.objects.count() == 5


def test_batches_of_the_same_events_in_any_order(access: Access) -> None:
    batch = drafts(300)
    orders = [batch, batch[::-1], batch[150:] + batch[:150], batch[::2] + batch[1::2]]
    outcomes = at_once(*[lambda order=order: events_record(access=access, drafts=order) for order in orders])
    actions = [result.action for answer in outcomes for result in results(answer)]
    assert sorted(actions) == ["duplicate"] * 900 + ["recorded"] * 300
    assert TimelineEvent.objects.count() == 300


def test_inserts_in_opposite_orders_do_not_deadlock() -> None:
    segment_open(now=NOW)

    @transaction.atomic
    def insert(events: list[EventRecord]) -> int:
        segment = take_open_segment()
        assert segment is not None
        return len(insert_rows(segment, events) or ())

    for start in (1, 3_001):
        events = [record(number) for number in range(start, start + 3_000)]
        assert sorted(at_once(partial(insert, events), partial(insert, events[::-1]))) == [0, 3_000]


def test_first_writers_of_hub_open_one_segment(access: Access) -> None:
    at_once(*[lambda user=f"user {n}": events_record(access=access, drafts=drafts(1, user)) for n in range(THREADS)])
    assert Segment.objects.count() == 1
    assert TimelineEvent.objects.count() == THREADS


def test_segment_that_is_being_sealed_is_not_waited_for(access: Access) -> None:
    event_record(access=access, draft=drafts(1)[0])
    segment = Segment.objects.get()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [SEGMENT_LOCKS, segment.pk])
        assert at_once(lambda: transaction.atomic(take_open_segment)()) == [None]


def test_segment_that_is_closed_before_insert_takes_nothing(access: Access, monkeypatch: pytest.MonkeyPatch) -> None:
    first = event_record(access=access, draft=drafts(1)[0])
    taken: list[OpenSegment | None] = []

    def take_late() -> OpenSegment | None:
        """The open segment, which another connection closes as soon as it is taken, the first time."""
        segment = take_open_segment()
        if segment and not taken:
            at_once(lambda: segment_close(segment_id=segment.id))
        taken.append(segment)
        return segment

    monkeypatch.setattr(recording_record, "take_open_segment", take_late)
    second = event_record(access=access, draft=drafts(1, "ben")[0])
    assert [segment and segment.uuid for segment in taken] == [first.segment, second.segment]
    assert Segment.objects.get(state="open").events.count() == 1


def test_closing_loses_nothing_and_closed_ones_do_not_grow(access: Access) -> None:
    writers, batches, size = 4, 12, 25
    writing = threading.Event()
    writing.set()
    counts: dict[int, int] = {}

    def write(user: str) -> list[RecordResult]:
        batch = drafts(batches * size, user)
        parts = [batch[start : start + size] for start in range(0, len(batch), size)]
        return [result for part in parts for result in results(events_record(access=access, drafts=part))]

    def write_all() -> list[RecordResult]:
        try:
            answers = at_once(*[lambda user=f"user {number}": write(user) for number in range(writers)])
        finally:
            writing.clear()
        return [result for answer in answers for result in answer]

    def close_all() -> None:
        while writing.is_set():
            segment = close_and_wait()
            if segment is not None:
                counts[segment.pk] = TimelineEvent.objects.filter(segment=segment).count()

    answers, _ = at_once(write_all, close_all)
    assert [result.action for result in answers] == ["recorded"] * (writers * batches * size)
    rows = {row.uuid: row for row in TimelineEvent.objects.select_related("segment")}
    assert {result.record.uuid: result.segment for result in answers} == {
        uuid: row.segment.uuid for uuid, row in rows.items()
    }
    assert len(counts) > 1
    assert counts == {pk: TimelineEvent.objects.filter(segment=pk).count() for pk in counts}
    saved = Event.objects.filter(name="memory:episodic:saved").values_list("payload__event_id", "payload__segment_id")
    assert dict(saved) == {str(uuid): str(row.segment.uuid) for uuid, row in rows.items()}


# --- archived events ----------------------------------------------------------------------------------


def archive_open_segment() -> Segment:
    """Close, seal and archive the open segment; its rows are still there."""
    segment = close_and_wait()
    assert segment is not None
    segment.refresh_from_db()
    segment_seal(segment, clock=SYSTEM_CLOCK)
    segment_archive(segment, clock=SYSTEM_CLOCK)
    return segment


def test_an_archived_event_is_not_recorded_again(access: Access) -> None:
    batch = drafts(20)
    first = list(results(events_record(access=access, drafts=batch[:10])))
    rows_drop(archive_open_segment())
    again = list(results(events_record(access=access, drafts=batch)))
    assert [result.action for result in again] == ["duplicate"] * 10 + ["recorded"] * 10
    assert [result.record for result in again[:10]] == [result.record for result in first]
    assert [result.segment for result in again[:10]] == [None] * 10
    assert TimelineEvent.objects.count() == 10
    assert Event.objects.filter(name="memory:episodic:saved").count() == 20


def test_while_segments_are_archived_no_event_is_there_twice(access: Access) -> None:
    batch = drafts(100)
    first = {result.record.uuid for result in results(events_record(access=access, drafts=batch))}
    moments = {row.identity: row.timestamp for row in TimelineEvent.objects.all()}
    archiving = threading.Event()
    archiving.set()

    def archive() -> None:
        try:
            for user in ("ben", "cem"):
                rows_drop(archive_open_segment())
                event_record(access=access, draft=drafts(1, user)[0])
        finally:
            archiving.clear()

    def record_again() -> set[str]:
        actions = set()
        while archiving.is_set():
            for part in (batch[:50], batch[50:]):
                answer = list(results(events_record(access=access, drafts=part)))
                actions |= {str(result.action) for result in answer}
                assert {result.record.uuid for result in answer} <= first
        return actions

    _, *actions = at_once(archive, record_again, record_again, record_again)
    assert actions == [{"duplicate"}] * 3
    assert not TimelineEvent.objects.filter(identity__in=moments).exists()
    assert {record.uuid for record in archive_cache().find(moments).values()} == first


# --- damaged files ------------------------------------------------------------------------------------


def an_archived_file_that_is_gone(access: Access, batch: list[EventDraft]) -> Segment:
    """Record events, archive them, and lose their file."""
    events_record(access=access, drafts=batch)
    segment = archive_open_segment()
    rows_drop(segment)
    segment.refresh_from_db()
    segment_path(segment.file_name).unlink()
    return segment


@pytest.mark.parametrize("knows_it", [True, False])
def test_recording_reports_damage_after_its_transaction(
    access: Access, monkeypatch: pytest.MonkeyPatch, knows_it: bool
) -> None:
    events_record(access=access, drafts=drafts(3))
    archive_cache().refresh()
    segment = an_archived_file_that_is_gone(access, drafts(3, "ben"))
    if not knows_it:
        reset_archive_cache()
    report, inside = ArchivedFileDamagedError.report, list[bool]()

    def watched(damage: ArchivedFileDamagedError) -> None:
        inside.append(connection.in_atomic_block)
        report(damage)

    monkeypatch.setattr(ArchivedFileDamagedError, "report", watched)
    answer = list(results(events_record(access=access, drafts=[*drafts(3, "ben"), *drafts(3, "cem")])))
    assert [result.action for result in answer] == ["recorded"] * 6, "the file is out of service now"
    assert inside == [False]
    segment.refresh_from_db()
    assert segment.state == "quarantined"


def test_damage_stays_reported_when_recording_that_found_it_fails(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    segment = an_archived_file_that_is_gone(access, drafts(3))
    before = catalogue_version()

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("the transaction is rolled back")

    monkeypatch.setattr(recording_record, "emit_many", fail)
    with pytest.raises(RuntimeError, match="rolled back"):
        events_record(access=access, drafts=drafts(3))
    segment.refresh_from_db()
    assert (segment.state, catalogue_version()) == ("quarantined", before + 1)
    view = archive_cache().at(before + 1)
    assert view is None or segment.pk not in view.index.segment_ids


def test_no_more_than_so_many_damaged_files_are_tried(access: Access, monkeypatch: pytest.MonkeyPatch) -> None:
    an_archived_file_that_is_gone(access, drafts(3))
    monkeypatch.setattr(ArchivedFileDamagedError, "report", lambda damage: None)
    with pytest.raises(UnavailableError, match="changed at every try"):
        events_record(access=access, drafts=drafts(3))
    assert not TimelineEvent.objects.exists()
