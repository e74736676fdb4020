"""Scenario: Warm restart. Until a process knows the archived events, it says so and answers no query in part."""

import importlib
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from apps.core.domain.scope import Scope
from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.segment_file.reader import SegmentFile
from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.store import file_cache as module
from apps.episodic.store.archived_segments import ListedSegment
from apps.episodic.store.file_cache import ArchiveCache, TimelineLoadingError, archive_cache, reset_archive_cache
from tests.api import Api, api_for
from tests.integration.episodic.records import NOW
from tests.integration.episodic.timeline import Timeline, draft, segments
from tests.threads import PATIENCE

pytestmark = pytest.mark.django_db(transaction=True)

QUERY = "/api/episodic/query"
SEGMENTS = 4
HOUR = timedelta(hours=1)


class Gate:
    """Holds every thread that opens a file, until the gate is opened. `reached`: one is waiting."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.opened = threading.Event()
        self.original = module.open_archived

    def open_archived(self, segment: ListedSegment) -> SegmentFile:
        self.reached.set()
        assert self.opened.wait(PATIENCE)
        return self.original(segment)


@pytest.fixture
def timeline(monkeypatch: pytest.MonkeyPatch) -> Timeline:
    """SEGMENTS archived segments, more than are loaded while a caller waits, and an event that is a row."""
    monkeypatch.setattr(module, "LOAD_IN_REQUEST", SEGMENTS - 1)
    timeline = Timeline()
    for number in range(SEGMENTS):
        timeline.record(draft(f"event {number}", timestamp=NOW - HOUR * (SEGMENTS - number)))
        timeline.archive()
    timeline.record(draft("the last one"))
    return timeline


@pytest.fixture
def gate(timeline: Timeline, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    """A process that has just started, in which loading is held up."""
    gate = Gate()
    monkeypatch.setattr(module, "open_archived", gate.open_archived)
    reset_archive_cache()
    yield gate
    gate.opened.set()
    finish_loading()


@pytest.fixture
def api(timeline: Timeline) -> Api:
    return api_for(Scope("ana"))


def finish_loading() -> None:
    thread = archive_cache()._thread
    if thread is not None:
        thread.join(PATIENCE)
        assert not thread.is_alive()


@pytest.fixture(autouse=True)
def only_this_process(settings: Any) -> None:
    """Without a worker, which makes no difference to a timeline that loads."""
    settings.READINESS_CHECKS = {"timeline": settings.READINESS_CHECKS["timeline"]}


def ready() -> Any:
    return Client().get("/readyz")


def test_warm_restart(gate: Gate, api: Api) -> None:
    refused = api.post(QUERY, {})
    assert refused.status_code == 503
    assert refused["Retry-After"] == "2"
    assert [error["code"] for error in refused.json()["errors"]] == ["timeline_loading"]
    assert gate.reached.wait(PATIENCE)
    unready = ready()
    assert unready.status_code == 503
    assert unready.json()["checks"]["timeline"] == f"loading segment 1 of {SEGMENTS}"
    assert api.post(QUERY, {}).status_code == 503

    gate.opened.set()
    finish_loading()
    assert ready().json()["checks"]["timeline"] == "ok"
    answer = api.post(QUERY, {})
    assert answer.status_code == 200
    assert answer.json()["diagnostics"]["considered_count"] == answer.json()["count"] == SEGMENTS + 1


def test_asking_whether_it_is_ready_begins_to_load(gate: Gate) -> None:
    assert ready().json()["checks"]["timeline"] in {"beginning to load", f"loading segment 1 of {SEGMENTS}"}
    assert gate.reached.wait(PATIENCE)
    gate.opened.set()
    finish_loading()
    assert ready().status_code == 200


def test_key_with_bound_does_not_learn_how_many_segments_there_are(gate: Gate, api: Api) -> None:
    assert str(SEGMENTS) not in api.post(QUERY, {}).content.decode()


def test_outside_bound_nothing_is_answered_earlier(gate: Gate, api: Api) -> None:
    assert api.post(QUERY, {"user_id": "ben"}).status_code == 503


def test_few_files_are_loaded_while_caller_waits(timeline: Timeline, api: Api) -> None:
    timeline.merge(segments(SegmentState.ARCHIVED)[:2])
    reset_archive_cache()
    answer = api.post(QUERY, {})
    assert answer.status_code == 200
    assert answer.json()["count"] == SEGMENTS + 1


def test_process_that_knew_most_files_goes_on_answering(timeline: Timeline, api: Api) -> None:
    archive_cache().refresh(wait=True)
    timeline.record(draft("one more"))
    timeline.archive()
    assert api.post(QUERY, {}).json()["count"] == SEGMENTS + 2


def test_process_that_was_ready_stays_so_however_many_files_are_new(timeline: Timeline, api: Api) -> None:
    assert ready().status_code == 503
    finish_loading()
    assert ready().status_code == 200
    archive_one_by_one(timeline, 5 * SEGMENTS)
    assert ready().json()["checks"]["timeline"] == "ok"
    archive_one_by_one(timeline, 5 * SEGMENTS)
    answer = api.post(QUERY, {"top_k": 100})
    assert answer.status_code == 200
    expected = [str(event.uuid) for event in newest_first(timeline.model)]
    assert [event["id"] for event in answer.json()["results"]] == expected
    assert len(archive_cache()._view.listing.segments) == len(segments(SegmentState.ARCHIVED)) > 10 * SEGMENTS


def test_process_that_was_ready_goes_on_answering_when_all_its_files_are_replaced(
    timeline: Timeline, timeline_dir: Path, api: Api
) -> None:
    archive_one_by_one(timeline, 9 * SEGMENTS)
    archive_cache().refresh(wait=True)
    old = segments(SegmentState.ARCHIVED)
    for number in range(0, len(old), 2):
        timeline.merge(old[number : number + 2])
    for segment in old:
        (timeline_dir / segment.file_name).unlink()
    answer = api.post(QUERY, {"top_k": 100})
    assert (answer.status_code, answer.json()["count"]) == (200, len(timeline.model))
    assert ready().status_code == 200


def archive_one_by_one(timeline: Timeline, count: int) -> None:
    """Have new events archived, each in a segment of its own."""
    for _ in range(count):
        timeline.record(draft(f"event {len(timeline.model)}", timestamp=NOW + timedelta(minutes=len(timeline.model))))
        timeline.archive()


def test_events_after_all_archived_ones_can_be_recorded(gate: Gate, timeline: Timeline) -> None:
    assert len(timeline.record(draft("new", timestamp=NOW + HOUR))) == 1
    assert not gate.reached.is_set()


def test_what_may_be_archived_already_is_refused_until_that_is_known(gate: Gate, timeline: Timeline) -> None:
    again = draft("event 0", timestamp=NOW - HOUR * SEGMENTS)
    with pytest.raises(TimelineLoadingError):
        timeline.record(again)
    gate.opened.set()
    finish_loading()
    assert timeline.record(again) == []


def test_loading_that_failed_is_said_and_tried_again(timeline: Timeline, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(segment: ListedSegment) -> SegmentFile:
        raise PermissionError

    reset_archive_cache()
    with monkeypatch.context() as patch:
        patch.setattr(module, "open_archived", refuse)
        ready()
        finish_loading()
        assert "PermissionError" in ready().json()["checks"]["timeline"]
        finish_loading()
    ready()
    finish_loading()
    assert ready().status_code == 200


def test_damaged_file_does_not_keep_process_from_becoming_ready(timeline: Timeline, timeline_dir: Any) -> None:
    (timeline_dir / segments(SegmentState.ARCHIVED)[0].file_name).write_bytes(b"nonsense")
    reset_archive_cache()
    ready()
    finish_loading()
    assert ready().status_code == 200
    assert len(timeline.query().events) == SEGMENTS
    assert len(segments(SegmentState.QUARANTINED)) == 1


def test_files_that_are_merged_while_they_are_loaded_are_no_damage(
    gate: Gate, timeline: Timeline, timeline_dir: Any
) -> None:
    ready()
    assert gate.reached.wait(PATIENCE)
    old = segments(SegmentState.ARCHIVED)
    timeline.merge()
    for segment in old:
        (timeline_dir / segment.file_name).unlink()
    gate.opened.set()
    finish_loading()
    assert timeline.query().events == tuple(newest_first(timeline.model))
    assert segments(SegmentState.QUARANTINED) == []


def newest_first(events: list[EventRecord]) -> list[EventRecord]:
    return sorted(events, key=lambda event: event.order, reverse=True)


def test_web_process_begins_to_load_without_being_asked(
    monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path
) -> None:
    begun: list[ArchiveCache] = []
    settings.STATIC_ROOT = tmp_path
    monkeypatch.setattr(ArchiveCache, "warm_up", lambda self: begun.append(self))
    # What else begins there is tested where it belongs, and must not go on behind the tests that follow.
    monkeypatch.setattr("apps.semantic.services.start_index", lambda: None)
    monkeypatch.setattr("apps.notes.services.start_notes_watch", lambda: None)
    monkeypatch.setattr("apps.llm.services.warm_up_chat_providers", lambda: None)
    monkeypatch.setattr("apps.monitor.services.begin_problem_watch", lambda: None)
    monkeypatch.setattr("apps.core.health.begin_web_process", lambda: None)
    monkeypatch.setattr("apps.core.db.watch.DatabaseWatch.begin", lambda self: None)
    monkeypatch.delitem(sys.modules, "memoryhub.asgi", raising=False)
    threads = set(threading.enumerate())
    importlib.import_module("memoryhub.asgi")
    del sys.modules["memoryhub.asgi"]
    assert begun == [archive_cache()]
    assert set(threading.enumerate()) <= threads
