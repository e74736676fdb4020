"""A person forgets events of a time or a kind: rows, files and the outbox, and nothing of anyone else."""

from datetime import date, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from apps.core.domain.errors import ForbiddenError
from apps.core.domain.scope import Access, Permission, Scope
from apps.episodic.domain.histogram import EventDays, day_spans
from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.domain.window import EventQuery, Window
from apps.episodic.events import EventSaved, EventsPruned
from apps.episodic.maintenance.runner import maintenance_lock
from apps.episodic.models import Segment, TimelineEvent
from apps.episodic.queries.histogram import event_days
from apps.episodic.retention import forget as module
from apps.episodic.retention.forget import Forgetting, Forgotten, events_forget, forgetting_go_on
from apps.events.models import Event
from tests.integration.episodic.records import NOW
from tests.integration.episodic.timeline import SYSTEM, Timeline, draft, segments
from tests.integration.episodic.upkeep import clock_at, files, maintain
from tests.segments import segment_path

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("timeline_dir")]

ANA = Access(Scope("ana"), Permission.WRITE, "person:ana")
HOUR = timedelta(hours=1)
BEGAN = NOW - 40 * HOUR
KINDS = ["visit", "order"]


def fill(timeline: Timeline, numbers: range) -> None:
    """An event an hour, of two kinds and two people in turn, each with a content of its own."""
    timeline.record(
        *(
            draft(f"secret {number}", timestamp=BEGAN + number * HOUR, event_type=KINDS[number // 2 % 2],
                  scope=Scope("ana" if number % 2 else "ben"))
            for number in numbers
        )
    )  # fmt: skip


@pytest.fixture
def timeline() -> Timeline:
    """Events in two files, in a sealed segment, and in rows."""
    made = Timeline()
    for numbers in (range(12), range(12, 24)):
        fill(made, numbers)
        made.archive()
    fill(made, range(24, 30))
    made.close()
    made.seal()
    fill(made, range(30, 36))
    return made


def forget(start: int | None, end: int | None, kind: str = "", **options: Any) -> Forgotten:
    """Forget ana's events between two hours, both included."""
    first, last = (None if hour is None else BEGAN + hour * HOUR for hour in (start, end))
    return events_forget(access=ANA, forgetting=Forgetting("ana", Window(first, last), kind), **options)


def left(timeline: Timeline) -> list[int]:
    """The numbers of the events that are there."""
    found = timeline.query(top_k=1_000).events
    return sorted(round((event.timestamp - BEGAN) / HOUR) for event in found)


def others(*gone: int) -> list[int]:
    return [number for number in range(36) if number not in gone]


@pytest.mark.parametrize(
    ("span", "kind", "gone"),
    [
        ((13, 17), "", [13, 15, 17]),
        ((14, 16), "order", [15]),
        ((5, 31), "visit", [5, 9, 13, 17, 21, 25, 29]),
        ((22, 33), "", [23, 25, 27, 29, 31, 33]),
        ((None, 3), "", [1, 3]),
        ((33, None), "order", [35]),
        ((None, None), "order", list(range(3, 36, 4))),
        ((None, None), "", list(range(1, 36, 2))),
        ((0, 0), "", []),
        ((None, None), "meal", []),
    ],
)
def test_what_is_asked_for_goes_and_all_else_stays(timeline: Timeline, span: Any, kind: str, gone: list[int]) -> None:
    assert forget(*span, kind) == Forgotten(len(gone))
    assert left(timeline) == others(*gone)


def test_the_words_are_in_no_file_and_no_table(timeline: Timeline) -> None:
    forget(0, 26, clock=clock_at(0.1))
    maintain(days=0.2)
    contents = {event.content for event in timeline.query(top_k=1_000).events}
    assert not contents & {f"secret {number}" for number in range(1, 27, 2)}
    assert {f"secret {number}" for number in range(0, 27, 2)} <= contents
    assert Segment.objects.filter(state=SegmentState.ARCHIVED).exists()
    saved = Event.objects.filter(name=EventSaved.name, payload__user_id="ana").values_list("payload", flat=True)
    forgotten = [one["content"] for one in saved if one["timestamp"] <= (BEGAN + 26 * HOUR).isoformat()]
    assert len(forgotten) == 13
    assert set(forgotten) == {""}
    forget(None, None, clock=clock_at(0.3))
    maintain(days=0.4)
    assert files()
    assert b"ana" not in b"".join(segment_path(name).read_bytes() for name in files())
    assert not TimelineEvent.objects.filter(user_id="ana").exists()


def test_files_without_such_events_are_not_written_again(timeline: Timeline) -> None:
    before = {one.pk: one.sha256 for one in segments(SegmentState.ARCHIVED)}
    forget(13, 13)
    after = {one.pk: one.sha256 for one in segments(SegmentState.ARCHIVED)}
    assert len(before.items() & after.items()) == 1
    forget(0, 11, "meal")
    assert {one.pk: one.sha256 for one in segments(SegmentState.ARCHIVED)} == after


def test_the_hub_hears_which_events_are_gone(timeline: Timeline) -> None:
    wanted = {str(event.uuid) for event in timeline.model if event.key.user_id == "ana"}
    forget(None, None)
    payloads = Event.objects.filter(name=EventsPruned.name).values_list("payload", flat=True)
    assert {one for payload in payloads for one in payload["event_ids"]} == wanted
    assert {(payload["reason"], payload["actor"], payload["user_id"]) for payload in payloads} == {
        ("manual", "person:ana", "ana")
    }


def test_no_one_forgets_for_another(timeline: Timeline) -> None:
    with pytest.raises(ForbiddenError):
        events_forget(access=ANA, forgetting=Forgetting("ben", Window()))
    assert left(timeline) == others()


def test_what_takes_long_goes_on_in_the_worker(timeline: Timeline, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []
    monkeypatch.setattr(module, "request_forgetting", lambda **arguments: asked.append(arguments))
    done = forget(None, 20, "visit", seconds=0.0)
    assert done.goes_on
    [arguments] = asked
    again = forgetting_go_on(seconds=60.0, wait_seconds=0.0, **arguments)
    assert (done.events + again.events, again.goes_on) == (5, False)
    assert left(timeline) == others(1, 5, 9, 13, 17)


def test_another_maintenance_is_waited_for_by_the_worker(timeline: Timeline, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []
    monkeypatch.setattr(module, "request_forgetting", lambda **arguments: asked.append(arguments))
    monkeypatch.setattr(module, "maintenance_run", busy)
    assert forget(13, 13) == Forgotten(0, goes_on=True)
    assert asked == [{"actor": "person:ana", **Forgetting("ana", Window(*[BEGAN + 13 * HOUR] * 2)).as_arguments()}]


def busy(*_: Any, **__: Any) -> Any:
    """Another run that keeps the lock."""
    raise module.MaintenanceRunningError("The timeline is already being maintained.")


def test_a_damaged_file_is_said_and_the_rest_goes(timeline: Timeline) -> None:
    damaged = segments(SegmentState.ARCHIVED)[0]
    path = segment_path(damaged.file_name)
    path.chmod(0o600)
    path.write_bytes(path.read_bytes()[:200])
    done = forget(None, None)
    assert (done.events, done.damaged > 0) == (12, True)
    assert set(left(timeline)) & set(range(13, 36, 2)) == set()


def test_days_of_rows_and_files_are_counted(timeline: Timeline) -> None:
    zone = ZoneInfo("Asia/Taipei")
    first = (BEGAN - timedelta(days=1)).astimezone(zone).date()
    spans = day_spans(first, first + timedelta(days=4), zone)
    counted = event_days(ANA, Scope(), spans)
    for number in range(spans.count):
        inside = [
            event for event in timeline.model
            if event.key.user_id == "ana" and event.timestamp.astimezone(zone).date() == first + timedelta(days=number)
        ]  # fmt: skip
        assert counted.totals[number] == len(inside)
        for kind in KINDS:
            assert counted.counts[kind][number] == sum(event.event_type == kind for event in inside)
    assert sum(counted.totals) == 18
    assert event_days(ANA, Scope(), spans, event_types=["visit"]).by_type == {"visit": 9}
    assert event_days(ANA, Scope("ben"), spans) == EventDays({})


def test_an_event_at_midnight_is_of_the_day_that_begins(timeline: Timeline) -> None:
    zone = ZoneInfo("Africa/Cairo")
    spans = day_spans(date(2025, 4, 24), date(2025, 4, 25), zone)
    edge = spans.edges[1]
    for number, at in enumerate((edge - timedelta(microseconds=1), edge)):
        timeline.record(draft(f"edge {number}", timestamp=at, event_type="edge"))
    assert event_days(ANA, Scope(), spans).counts["edge"] == [1, 1]
    timeline.archive()
    assert event_days(ANA, Scope(), spans).counts["edge"] == [1, 1]
    asked = EventQuery(start=spans.edges[0], end=edge - timedelta(microseconds=1))
    assert [event.content for event in timeline.query(start=asked.start, end=asked.end).events] == ["edge 0"]


def test_a_lock_that_is_free_is_not_waited_for(timeline: Timeline) -> None:
    with maintenance_lock():
        pass
    assert forget(1, 1, wait_seconds=0.0) == Forgotten(1)
    assert SYSTEM.bound == Scope()
