"""Closing the open segment and sealing it (spec 000, Snapshot and compaction)."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import connection, transaction
from django_q.models import OrmQ

from apps.core.domain.errors import ConflictError
from apps.episodic.domain.alarms import WarningKind
from apps.episodic.domain.segment_file.reader import SegmentFile
from apps.episodic.maintenance import seal
from apps.episodic.maintenance.run import timeline_seal
from apps.episodic.models import Segment, TimelineEvent
from apps.episodic.recording.rows import rotate_if_due, segment_close
from apps.episodic.store.files import DiskNearlyFullError, free_mb, remove_file, require_room, segment_place
from apps.episodic.warnings import active_warnings
from apps.events.models import Event
from tests.integration.episodic.upkeep import clock_at, contents, expected, files, maintain, record, states
from tests.segments import segment_path
from tests.threads import at_once

pytestmark = pytest.mark.django_db


@pytest.fixture
def configure(settings: Any) -> Callable[..., None]:
    """Change what is configured about the timeline."""

    def change(**changes: Any) -> None:
        hub = settings.MEMORYHUB
        settings.MEMORYHUB = replace(hub, timeline=replace(hub.timeline, **changes))

    return change


def the_open() -> Segment:
    return Segment.objects.get(state="open")


def test_scenario_snapshot_and_compaction_a_segment_is_closed_when_it_is_full(
    configure: Callable[..., None], django_capture_on_commit_callbacks: Any
) -> None:
    configure(segment_events=10)
    with django_capture_on_commit_callbacks(execute=True):
        record(range(9))
    assert states() == ["open"]
    with django_capture_on_commit_callbacks(execute=True):
        record([9])
    assert states() == ["sealing", "open"]
    assert [task.task["func"] for task in OrmQ.objects.all()].count("apps.episodic.tasks.maintain") == 1


def test_scenario_snapshot_and_compaction_maintenance_closes_a_segment_that_is_full(
    configure: Callable[..., None],
) -> None:
    configure(segment_events=10)
    record(range(10))
    assert maintain().closed == 1
    assert states() == ["sealed", "open"]


def test_scenario_snapshot_and_compaction_a_segment_is_closed_when_it_has_held_events_for_long() -> None:
    record(range(3))
    assert not rotate_if_due(clock=clock_at(days=0.99))
    assert rotate_if_due(clock=clock_at(days=1))
    assert states() == ["sealing", "open"]


def test_segment_that_holds_nothing_stays_open_however_old_it_is() -> None:
    record([1])
    TimelineEvent.objects.all().delete()
    assert not rotate_if_due(clock=clock_at(days=100))
    assert not segment_close(segment_id=the_open().pk)
    assert states() == ["open"]


def test_next_segment_begins_after_last_arrival() -> None:
    record(range(5))
    last = TimelineEvent.objects.latest("pk").pk
    assert segment_close(segment_id=the_open().pk)
    assert the_open().first_arrival == last


def test_segment_that_is_closed_already_is_not_closed_again() -> None:
    record([1])
    segment = the_open()
    assert segment_close(segment_id=segment.pk)
    assert not segment_close(segment_id=segment.pk)
    assert states() == ["sealing", "open"]


@pytest.mark.django_db(transaction=True)
def test_however_many_close_segment_at_once_it_is_closed_once() -> None:
    record(range(3))
    pk = the_open().pk
    closed = at_once(*[lambda: segment_close(segment_id=pk)] * 6)
    assert sorted(closed) == [False] * 5 + [True]
    assert states() == ["sealing", "open"]


def test_sealing_writes_rows_into_file_and_leaves_them_where_they_are() -> None:
    record(range(20))
    report = timeline_seal(clock=clock_at())
    assert (report.closed, report.sealed) == (1, 1)
    segment = Segment.objects.get(state="sealed")
    file = SegmentFile.open(segment_place(segment.file_name), segment.uuid)
    file.verify(segment.sha256)
    rows = [row.record for row in TimelineEvent.objects.filter(segment=segment)]
    assert list(file.events()) == sorted(rows, key=lambda event: event.archive_order)
    assert (segment.event_count, segment.rows, segment.size_bytes) == (20, "complete", file.summary.size_bytes)
    assert (segment.first_timestamp, segment.last_timestamp) == (
        min(r.timestamp for r in rows),
        max(r.timestamp for r in rows),
    )
    assert segment.sealed_at == segment.checked_at is not None


def test_order_of_file_is_that_of_code_points_whatever_database_sorts_by() -> None:
    from apps.core.domain.scope import Scope

    users = ["b", "B", "a", "ä", "Z", "é", "a b", "a-b", "ab", "\U0001f600", "\uffee"]
    for number, user in enumerate(users):
        record([number], scope=Scope(user, f"home {user}"))
    timeline_seal(clock=clock_at())
    segment = Segment.objects.get(state="sealed")
    read = SegmentFile.open(segment_place(segment.file_name)).events()
    assert [event.key.user_id for event in read] == sorted(users)


def test_each_step_of_a_segment_is_emitted() -> None:
    record([1, 2])
    timeline_seal(clock=clock_at())
    events = (
        Event.objects.filter(name="memory:episodic:segment_changed").order_by("id").values_list("payload", flat=True)
    )
    steps = [(payload["before"], payload["state"], payload["event_count"]) for payload in events]
    assert steps == [("open", "sealing", 0), ("sealing", "sealed", 2)]
    assert {payload["segment_id"] for payload in events} == {str(Segment.objects.get(state="sealed").uuid)}


def test_closed_segment_of_which_every_event_was_removed_is_ended() -> None:
    record([1])
    segment_close(segment_id=the_open().pk)
    TimelineEvent.objects.all().delete()
    maintain()
    assert states() == ["pruned", "open"]
    assert files() == set()


def test_sealing_again_leaves_one_file() -> None:
    record(range(5))
    timeline_seal(clock=clock_at())
    first = files()
    Segment.objects.filter(state="sealed").update(state="sealing")
    maintain(days=0.1)
    assert len(files()) == 1
    assert files() != first, "another name, because a process may know the tables of the first"
    assert states() == ["sealed", "open"]


def test_segment_that_is_sealed_already_is_not_sealed_on_request() -> None:
    record([1])
    timeline_seal(clock=clock_at())
    with pytest.raises(ConflictError, match="sealed cannot become sealed"):
        timeline_seal(segment_id=Segment.objects.get(state="sealed").pk, clock=clock_at())


def test_only_the_segment_asked_for_is_sealed() -> None:
    record([1])
    first = the_open()
    segment_close(segment_id=first.pk)
    record([2])
    assert timeline_seal(segment_id=first.pk, clock=clock_at()).sealed == 1
    assert states() == ["sealed", "open"]
    assert TimelineEvent.objects.filter(segment=the_open()).count() == 1


def test_with_disk_that_is_nearly_full_nothing_is_written_and_it_is_warned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    record([1])
    monkeypatch.setattr("apps.episodic.store.files.free_mb", lambda: 10.0)
    monkeypatch.setattr("apps.episodic.maintenance.runner.free_mb", lambda: 10.0)
    report = timeline_seal(clock=clock_at())
    assert (report.sealed, len(report.failures)) == (0, 1)
    assert states() == ["sealing", "open"]
    assert files() == set()
    assert [warning.kind for warning in active_warnings()] == [WarningKind.DISK_NEARLY_FULL]
    assert contents() == expected([1])


def test_room_is_what_is_left_where_segments_are_kept(configure: Callable[..., None]) -> None:
    configure(min_free_mb=int(free_mb()) - 1)
    require_room()
    configure(min_free_mb=int(free_mb()) + 1_000_000)
    with pytest.raises(DiskNearlyFullError, match="must stay so"):
        require_room()


class Writer(threading.Thread):
    """Records an event and keeps its transaction open until it is let commit."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.written, self.may_commit = threading.Event(), threading.Event()

    def run(self) -> None:
        try:
            with transaction.atomic():
                record([100])
                self.written.set()
                assert self.may_commit.wait(30)
        finally:
            connection.close()


@pytest.fixture
def writer(transactional_db: None) -> Iterator[Writer]:
    """A writer in the middle of writing to the segment that event 0 was recorded in."""
    record([0])
    writer = Writer()
    writer.start()
    assert writer.written.wait(30)
    yield writer
    writer.may_commit.set()
    writer.join(30)


@pytest.mark.django_db(transaction=True)
def test_sealing_waits_for_those_who_are_still_writing_to_segment(writer: Writer) -> None:
    record([1])
    segment = the_open()
    assert segment_close(segment_id=segment.pk), "closing waits for no writer"
    record([2])
    assert the_open().pk != segment.pk
    timer = threading.Timer(0.1, writer.may_commit.set)
    timer.start()
    timeline_seal(segment_id=segment.pk, clock=clock_at())
    assert Segment.objects.get(pk=segment.pk).event_count == 3
    assert contents() == expected([0, 1, 2, 100])


@pytest.mark.django_db(transaction=True)
def test_endless_writer_delays_sealing_and_blocks_no_other(writer: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seal, "WRITERS_SECONDS", 0.05)
    record([1])
    segment = the_open()
    report = timeline_seal(clock=clock_at())
    assert report.sealed == 0
    assert "WritersAtWorkError" in report.failures[0]
    assert [warning.kind for warning in active_warnings()] == [WarningKind.MAINTENANCE_FAILED]
    record([2])
    writer.may_commit.set()
    writer.join(30)
    assert timeline_seal(segment_id=segment.pk, clock=clock_at()).sealed == 1
    assert not active_warnings().exists(), "what works again is well again"
    assert contents() == expected([0, 1, 2, 100])


def test_the_directory_is_that_of_the_settings() -> None:
    record([1])
    timeline_seal(clock=clock_at())
    [name] = files()
    assert segment_path(name).parent == django_settings.TIMELINE_DIR
    assert remove_file(name)
