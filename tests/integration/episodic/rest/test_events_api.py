"""Recording events over REST."""

import json
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import Permission, Scope
from apps.episodic.models import TimelineEvent
from tests.api import Api, api_for, belong, error_attrs

pytestmark = pytest.mark.django_db

EVENTS = "/api/episodic/events"
BATCH = f"{EVENTS}/batch"


def event(content: str = "I like tea.", **fields: Any) -> dict[str, Any]:
    return {"timestamp": "2026-03-04T12:00:00+01:00", "event_type": "message", "content": content, **fields}


@pytest.fixture
def api() -> Api:
    """An application whose key is bound to the user ana."""
    return api_for(Scope(user_id="ana"))


# --- one ----------------------------------------------------------------------------------------------


def test_event_is_recorded_and_shown_as_it_is_kept(api: Api) -> None:
    belong(Scope("ana", "home", "chef"))
    fields = {"household_id": "home", "persona_id": "chef", "importance": 0.9, "source": "skill", "metadata": {"a": 1}}
    answer = api.post(EVENTS, event(**fields))
    assert answer.status_code == 201
    body = answer.json()
    assert body["action"] == "recorded"
    row = TimelineEvent.objects.get()
    assert body["event"] == {
        "id": str(row.uuid),
        "user_id": "ana",
        "household_id": "home",
        "persona_id": "chef",
        "timestamp": "2026-03-04T12:00:00+01:00",
        "event_type": "message",
        "content": "I like tea.",
        "importance": 0.9,
        "source": "skill",
        "origin": "app",
        "metadata": {"a": 1},
        "recorded_at": row.recorded_at.isoformat().replace("+00:00", "Z"),
    }
    assert set(body) == {"action", "event"}


def test_event_names_its_origin_or_a_lower_one(api: Api) -> None:
    assert api.post(EVENTS, event(origin="derived")).json()["event"]["origin"] == "derived"
    refused = api.post(EVENTS, event("I like coffee.", origin="person"))
    assert (refused.status_code, error_attrs(refused)) == (403, ["origin"])
    person = api_for(Scope(user_id="ana"), origin=WriteOrigin.PERSON, name="person")
    assert person.post(EVENTS, event("I like water.")).json()["event"]["origin"] == "person"
    found = api.get(f"{EVENTS}?filter={quote(json.dumps({'origin': 'person'}))}").json()["results"]
    assert [one["content"] for one in found] == ["I like water."]


def test_what_is_not_said_has_its_default(api: Api) -> None:
    shown = api.post(EVENTS, event(importance=None)).json()["event"]
    assert (shown["importance"], shown["source"], shown["metadata"]) == (0.5, "user", {})
    assert (shown["household_id"], shown["persona_id"]) == (None, None)


def test_same_event_again_answers_with_first_one(api: Api) -> None:
    first = api.post(EVENTS, event()).json()["event"]
    again = api.post(EVENTS, event(" i LIKE tea!", timestamp="2026-03-04T11:00:00Z", importance=1))
    assert again.status_code == 200
    assert again.json() == {"action": "duplicate", "event": first}


@pytest.mark.parametrize(
    ("fields", "attr"),
    [
        ({"timestamp": "2026-03-04T12:00:00"}, "timestamp"),
        ({"timestamp": 1_700_000_000}, "timestamp"),
        ({"timestamp": None}, "timestamp"),
        ({"timestamp": "9999-12-31T23:59:59Z"}, "timestamp"),
        ({"event_type": "two words"}, "event_type"),
        ({"event_type": "message\n"}, "event_type"),
        ({"event_type": ""}, "event_type"),
        ({"event_type": 7}, "event_type"),
        ({"event_type": "x" * 101}, "event_type"),
        ({"content": "\u200b"}, "content"),
        ({"content": "x" * 100_001}, "content"),
        ({"content": "a\x00b"}, "content"),
        ({"content": None}, "content"),
        ({"importance": 1.01}, "importance"),
        ({"importance": "0.5"}, "importance"),
        ({"source": "x" * 65}, "source"),
        ({"metadata": []}, "metadata"),
        ({"metadata": {"a": "x" * 20_001}}, "metadata"),
        ({"user_id": ""}, "user_id"),
        ({"persona_id": "x" * 201}, "persona_id"),
        ({"id": "mine"}, "id"),
        ({"segment_id": "mine"}, "segment_id"),
    ],
)
def test_bad_input_is_refused_with_its_field_named(api: Api, fields: dict[str, Any], attr: str) -> None:
    answer = api.post(EVENTS, event(**fields))
    assert answer.status_code == 400
    assert error_attrs(answer) == [attr]
    assert not TimelineEvent.objects.exists()


@pytest.mark.parametrize("field", ["timestamp", "event_type", "content"])
def test_what_happened_when_and_of_what_kind_must_be_said(api: Api, field: str) -> None:
    body = {name: value for name, value in event().items() if name != field}
    assert error_attrs(api.post(EVENTS, body)) == [field]


def test_clock_that_is_hour_ahead_does_no_harm(api: Api) -> None:
    ahead = utcnow(SYSTEM_CLOCK) + timedelta(hours=1)
    assert api.post(EVENTS, event(timestamp=ahead.isoformat())).status_code == 201


def test_a_key_records_within_its_bound_only(api: Api) -> None:
    answer = api.post(EVENTS, event(user_id="ben"))
    assert answer.status_code == 403
    assert error_attrs(answer) == ["user_id"]
    assert not TimelineEvent.objects.exists()


def test_a_key_without_a_user_must_name_one() -> None:
    api = api_for(Scope(household_id="home"))
    assert error_attrs(api.post(EVENTS, event())) == ["user_id"]
    assert api.post(EVENTS, event(user_id="ben")).json()["event"]["household_id"] == "home"


def test_a_key_that_may_only_read_records_nothing() -> None:
    api = api_for(Scope(user_id="ana"), Permission.READ)
    for path, body in ((EVENTS, event()), (BATCH, {"events": [event()]})):
        assert api.post(path, body).status_code == 403
    assert not TimelineEvent.objects.exists()


# --- many ---------------------------------------------------------------------------------------------


def test_batch_gives_each_item_its_answer_in_order(api: Api) -> None:
    items = [
        event("a"),
        event("b", event_type="two words"),
        event("A!"),
        event("c", user_id="ben"),
        "an event",
        event("d", timestamp="2999-01-01T00:00:00Z"),
        event("e"),
    ]
    answer = api.post(BATCH, {"events": items})
    assert answer.status_code == 200
    body = answer.json()
    assert body["count"] == 7
    assert [item["status"] for item in body["results"]] == [201, 400, 200, 403, 400, 400, 201]
    first, bad, again, foreign, text, future, last = body["results"]
    assert (first["action"], again["action"], last["action"]) == ("recorded", "duplicate", "recorded")
    assert first["event"] == again["event"]
    errors = [(item["type"], item["errors"][0]["code"], item["errors"][0]["attr"]) for item in (bad, foreign, text)]
    assert errors == [
        ("validation_error", "invalid", "event_type"),
        ("client_error", "permission_denied", "user_id"),
        ("validation_error", "invalid", "non_field_errors"),
    ]
    assert [(error["code"], error["attr"]) for error in future["errors"]] == [("in_the_future", "timestamp")]
    assert list(TimelineEvent.objects.order_by("id").values_list("content", flat=True)) == ["a", "e"]


@pytest.mark.parametrize("body", [{}, {"events": []}, {"events": {}}, {"events": None}, {"events": [event()] * 1_001}])
def test_a_batch_is_one_to_a_thousand_events(api: Api, body: dict[str, Any]) -> None:
    answer = api.post(BATCH, body)
    assert answer.status_code == 400
    assert error_attrs(answer) == ["events"]


def test_thousand_events_are_recorded_in_their_order(api: Api) -> None:
    answer = api.post(BATCH, {"events": [event(f"number {number}") for number in range(1_000)]}).json()
    assert {item["status"] for item in answer["results"]} == {201}
    rows = list(TimelineEvent.objects.order_by("id").values_list("content", flat=True))
    assert rows == [f"number {number}" for number in range(1_000)]
