"""One event over REST: shown and removed, whether it is a row or a line of a segment file."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django_q.models import OrmQ

from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import Permission, Scope, system_access
from apps.episodic.domain.segment_file.reader import SegmentFile
from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.maintenance.runner import MaintenanceRunningError, maintenance_lock
from apps.episodic.models import Segment, TimelineEvent
from apps.episodic.retention.purge import event_delete
from apps.episodic.store.file_cache import reset_archive_cache
from apps.episodic.store.files import segment_place
from apps.events.models import Event
from apps.events.services import drain
from apps.semantic import tasks
from tests.api import MEMORIES, Api, api_for, belong
from tests.integration.episodic.timeline import Timeline, segments
from tests.integration.semantic.bridge_support import active, policy
from tests.segments import segment_path
from tests.threads import at_once

SYSTEM = system_access("test")
pytestmark = pytest.mark.django_db(transaction=True)

EVENTS = "/api/episodic/events"
NOWHERE = "00000000-0000-4000-8000-000000000000"


def record(api: Api, content: str = "Ana drinks tea", **fields: Any) -> dict[str, Any]:
    body = {"timestamp": "2026-03-04T12:00:00Z", "event_type": "message", "content": content, **fields}
    answer = api.post(EVENTS, body)
    assert answer.status_code == 201
    shown: dict[str, Any] = answer.json()["event"]
    assert answer.headers["Location"] == f"{EVENTS}/{shown['id']}"
    return shown


def path_of(event: dict[str, Any]) -> str:
    return f"{EVENTS}/{event['id']}"


@pytest.fixture
def api() -> Api:
    return api_for(Scope(user_id="ana"))


PLACES: dict[str, Callable[[Timeline], None]] = {
    "a row": lambda line: None,
    "a row of a sealed segment": lambda line: (line.close(), line.seal())[0],
    "a file whose rows are leaving": lambda line: (line.close(), line.seal(), line.flip())[0],
    "a file": Timeline.archive,
}
EACH_PLACE = pytest.mark.parametrize("settle", PLACES.values(), ids=PLACES.keys())


@EACH_PLACE
def test_event_is_shown_as_it_was_recorded_wherever_it_is(api: Api, settle: Callable[[Timeline], None]) -> None:
    belong(Scope("ana", "home"))
    shown = record(api, metadata={"page": 3}, household_id="home")
    record(api, f"not {shown['id']}")
    settle(Timeline())
    assert api.get(path_of(shown)).json() == shown


@EACH_PLACE
def test_event_keeps_its_origin_wherever_it_is(api: Api, settle: Callable[[Timeline], None]) -> None:
    person = api_for(Scope(user_id="ana"), origin=WriteOrigin.PERSON, name="person")
    said = [record(person), record(api, "milk"), record(api, "bread", origin="derived")]
    settle(Timeline())
    assert [api.get(path_of(one)).json()["origin"] for one in said] == ["person", "app", "derived"]


@EACH_PLACE
def test_key_removes_no_event_of_a_higher_origin(api: Api, settle: Callable[[Timeline], None]) -> None:
    person = api_for(Scope(user_id="ana"), origin=WriteOrigin.PERSON, name="person")
    said = record(person)
    settle(Timeline())
    answer = api.delete(path_of(said))
    assert (answer.status_code, answer.json()["errors"][0]["code"]) == (403, "lower_origin")
    assert person.delete(path_of(said)).status_code == 204


@EACH_PLACE
def test_event_of_another_user_is_neither_shown_nor_removed(api: Api, settle: Callable[[Timeline], None]) -> None:
    foreign = record(api_for(Scope(user_id="ben")))
    record(api)
    settle(Timeline())
    for method in ("GET", "DELETE"):
        answer = api.call(method, path_of(foreign))
        assert (answer.status_code, answer.content) == (404, api.call(method, f"{EVENTS}/{NOWHERE}").content)
    assert api_for(Scope(user_id="ben")).get(path_of(foreign)).json() == foreign


@EACH_PLACE
def test_removed_event_is_nowhere_and_all_others_stay(api: Api, settle: Callable[[Timeline], None]) -> None:
    gone, kept = record(api, "the secret kettle"), record(api, "tea")
    foreign = record(api_for(Scope(user_id="ben")), "milk")
    settle(Timeline())
    answer = api.delete(path_of(gone))
    assert (answer.status_code, answer.content) == (204, b"")
    assert api.get(path_of(gone)).status_code == api.delete(path_of(gone)).status_code == 404
    assert [one["content"] for one in api.post("/api/episodic/query", {}).json()["results"]] == ["tea"]
    assert api.get(path_of(kept)).json() == kept
    assert api_for(Scope()).get(path_of(foreign)).json() == foreign
    assert not TimelineEvent.objects.filter(uuid=gone["id"]).exists()
    pruned = Event.objects.get(name="memory:episodic:pruned").payload
    assert (pruned["event_ids"], pruned["reason"], pruned["user_id"]) == ([gone["id"]], "manual", "ana")
    assert pruned["actor"].startswith("key:")
    outbox = Event.objects.filter(name="memory:episodic:saved")
    assert [one.payload["content"] for one in outbox.order_by("id")] == ["", "tea", "milk"]
    active_files = segments(SegmentState.ARCHIVED, SegmentState.SEALED)
    texts = b"".join(b"".join(line.content.encode() for line in events_of(segment)) for segment in active_files)
    assert b"kettle" not in texts


def events_of(segment: Segment) -> list[Any]:
    return list(SegmentFile.open(segment_place(segment.file_name), segment.uuid).events())


def test_last_event_of_file_ends_its_segment(api: Api) -> None:
    gone = record(api)
    Timeline().archive()
    assert api.delete(path_of(gone)).status_code == 204
    assert segments(SegmentState.ARCHIVED) == []
    assert api.post("/api/episodic/query", {}).json()["count"] == 0
    assert record(api)["id"] != gone["id"], "it can be recorded again"


def test_memory_that_was_made_of_it_follows(api: Api) -> None:
    policy(event_types=["message"])
    event = record(api, importance=0.9)
    work()
    assert active() == ["Ana drinks tea"]
    before = api.get(MEMORIES).json()["results"][0]
    assert api.delete(path_of(event)).status_code == 204
    work()
    [after] = api.get(MEMORIES).json()["results"]
    assert after["importance"] < before["importance"]
    [*_, step] = api.get(f"{MEMORIES}/{after['id']}/history").json()["results"]
    assert (step["reason"], step["actor"]) == ("episodic_pruned", "bridge")


def work() -> None:
    """Run the tasks that are asked for, as a worker does."""
    run = {f"apps.semantic.tasks.{name}": getattr(tasks, name) for name in ("ingest_events", "reconcile_events")}
    run["apps.events.tasks.drain"] = drain
    while asked := OrmQ.objects.order_by("pk").first():
        function = asked.task["func"]
        asked.delete()
        if function in run:
            run[function]()


def test_key_that_only_reads_removes_nothing(api: Api) -> None:
    event = record(api)
    reader = api_for(Scope(user_id="ana"), Permission.READ)
    assert reader.delete(path_of(event)).status_code == 403
    assert reader.get(path_of(event)).status_code == 200


def test_while_maintenance_is_at_work_the_caller_is_asked_to_try_again(api: Api) -> None:
    event = record(api)
    with maintenance_lock():
        [refusal] = at_once(lambda: event_delete(access=SYSTEM, uuid=UUID(event["id"]), wait_seconds=0), refusals=True)
    assert isinstance(refusal, MaintenanceRunningError)
    assert refusal.retry_after > 0
    assert api.delete(path_of(event)).status_code == 204


def test_event_in_damaged_file_is_not_found_and_that_is_said_to_keys_without_a_bound(api: Api) -> None:
    event = record(api)
    Timeline().archive()
    [segment] = segments(SegmentState.ARCHIVED)
    path = segment_path(segment.file_name)
    path.write_bytes(path.read_bytes()[:100] + b"x" * 50 + path.read_bytes()[150:])
    reset_archive_cache()
    for method in ("GET", "DELETE"):
        for key, is_said in ((api, False), (api_for(Scope()), True)):
            answer = key.call(method, path_of(event))
            assert answer.status_code == 404
            assert ("damaged" in answer.json()["errors"][0]["detail"]) is is_said


def test_event_is_found_at_every_moment_while_it_is_archived(api: Api) -> None:
    event = record(api)

    def archive() -> None:
        Timeline().archive()

    [_, *answers] = at_once(archive, *[lambda: [api.get(path_of(event)).json() for _ in range(15)]] * 3)
    assert [one for answer in answers for one in answer] == [event] * 45
