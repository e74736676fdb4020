"""Receipts over REST (DESIGN section 5)."""

from typing import Any
from uuid import uuid4

import pytest

from apps.core.domain.scope import Permission, Scope
from tests.api import MEMORIES, Api, api_for, error_attrs

pytestmark = pytest.mark.django_db

CONFLICTS = "/api/semantic/conflicts"
LISBON, NOT_LISBON = "Ana lives in Lisbon.", "Ana does not live in Lisbon."


@pytest.fixture
def decided(api: Api) -> dict[str, Any]:
    """The answer to saving a memory that superseded another one."""
    api.save(LISBON)
    response = api.post(MEMORIES, {"content": NOT_LISBON})
    assert response.status_code == 200
    answer: dict[str, Any] = response.json()
    return answer


def active(api: Api) -> list[str]:
    return [item["content"] for item in api.get(MEMORIES).json()["results"]]


def test_save_that_decided_answers_what_was_done_and_receipt(decided: dict[str, Any]) -> None:
    assert (decided["action"], decided["reason"]) == ("superseded_existing", "recency")
    assert decided["memory"]["content"] == NOT_LISBON
    assert decided["conflict"] is not None


def test_a_receipt_explains_the_decision(api: Api, decided: dict[str, Any]) -> None:
    receipt = api.get(f"{CONFLICTS}/{decided['conflict']}").json()
    assert (receipt["outcome"], receipt["action"], receipt["winner"], receipt["loser"]) == (
        "superseded_existing",
        "keep",
        "candidate",
        "existing",
    )
    assert receipt["candidate"]["content"] == NOT_LISBON
    assert (receipt["existing"]["content"], receipt["existing"]["status"]) == (LISBON, "superseded")
    assert receipt["existing"]["superseded_by"] == receipt["result"] == decided["memory"]["id"]
    assert {signal["type"] for signal in receipt["signals"]} >= {"contradiction", "time"}
    assert receipt["rule"] == "default"
    assert receipt["state"] == "open"
    assert [step["after"]["status"] for step in receipt["transitions"]] == ["active", "superseded"]


def test_history_of_memory_leads_to_receipt(api: Api, decided: dict[str, Any]) -> None:
    loser = api.get(f"{CONFLICTS}/{decided['conflict']}").json()["existing"]["id"]
    steps = api.get(f"{MEMORIES}/{loser}/history").json()["results"]
    assert [(step["action"], step["conflict"]) for step in steps] == [
        ("created", None),
        ("superseded", decided["conflict"]),
    ]


def test_reverting_answers_its_own_receipt_and_brings_loser_back(api: Api, decided: dict[str, Any]) -> None:
    response = api.post(f"{CONFLICTS}/{decided['conflict']}/revert")
    answer = response.json()
    assert response.status_code == 200
    assert (answer["outcome"], answer["about"]) == ("reverted", decided["conflict"])
    assert answer["existing"]["status"] == "active"
    assert active(api) == [LISBON]
    assert api.get(f"{CONFLICTS}/{decided['conflict']}").json()["state"] == "reverted"


def test_reverting_twice_is_conflict_that_names_receipt(api: Api, decided: dict[str, Any]) -> None:
    first = api.post(f"{CONFLICTS}/{decided['conflict']}/revert").json()
    second = api.post(f"{CONFLICTS}/{decided['conflict']}/revert")
    assert second.status_code == 409
    assert second.json()["errors"][0]["code"] == "already_reverted"
    assert first["id"] in second.json()["errors"][0]["detail"]


def test_overriding_lets_both_stand(api: Api, decided: dict[str, Any]) -> None:
    response = api.post(f"{CONFLICTS}/{decided['conflict']}/override", {"winner": "both"})
    assert (response.status_code, response.json()["outcome"]) == (200, "kept_both")
    assert active(api) == [NOT_LISBON, LISBON]


def test_overriding_needs_a_winner_that_there_is(api: Api, decided: dict[str, Any]) -> None:
    for body in ({}, {"winner": "none"}, {"winner": None}, {"winner": "both", "more": 1}):
        response = api.post(f"{CONFLICTS}/{decided['conflict']}/override", body)
        assert response.status_code == 400
        assert set(error_attrs(response)) <= {"winner", "more"}
    assert active(api) == [NOT_LISBON]


def test_accepting_takes_it_out_of_list_of_open_ones(api: Api, decided: dict[str, Any]) -> None:
    assert api.post(f"{CONFLICTS}/{decided['conflict']}/accept").json()["state"] == "accepted"
    assert api.get(f"{CONFLICTS}?state=open").json()["results"] == []
    assert len(api.get(f"{CONFLICTS}?state=accepted").json()["results"]) == 1


def test_the_list_can_be_narrowed(api: Api, decided: dict[str, Any]) -> None:
    receipt = api.get(f"{CONFLICTS}/{decided['conflict']}").json()
    for query, count in (
        ("outcome=superseded_existing", 1),
        ("outcome=merged", 0),
        ("rule=default", 1),
        ("rule=inferred", 0),
        (f"memory={receipt['existing']['id']}", 1),
        (f"memory={uuid4()}", 0),
        ("origin=save", 1),
        ("from=2020-01-01T00:00:00Z", 1),
        ("to=2020-01-01T00:00:00Z", 0),
        ("user_id=ana", 1),
    ):
        assert len(api.get(f"{CONFLICTS}?{query}").json()["results"]) == count, query


def test_pages_of_receipts_hold_together(api: Api) -> None:
    api.save("Ana owns 1 postcards.")
    for count in range(2, 6):
        api.save(f"Ana owns {count} postcards.")
    first = api.get(f"{CONFLICTS}?limit=3").json()
    second = api.get(first["next"]).json()
    ids = [item["id"] for item in first["results"] + second["results"]]
    assert len(first["results"]) == 3
    assert len(set(ids)) == len(ids) == len(api.get(CONFLICTS).json()["results"]) > 3


def test_a_reader_may_look_and_not_decide(decided: dict[str, Any]) -> None:
    reader = api_for(Scope(user_id="ana"), Permission.READ)
    assert reader.get(f"{CONFLICTS}/{decided['conflict']}").status_code == 200
    for action, body in (("revert", None), ("accept", None), ("override", {"winner": "both"})):
        assert reader.post(f"{CONFLICTS}/{decided['conflict']}/{action}", body).status_code == 403


def test_version_of_registry_is_for_keys_without_bound(decided: dict[str, Any], api: Api) -> None:
    address = f"{CONFLICTS}/{decided['conflict']}"
    assert api.get(address).json()["rule_version"] is None
    assert api_for(Scope()).get(address).json()["rule_version"] == 0


def test_batch_answers_each_decision_in_its_place(api: Api) -> None:
    items = [{"content": text} for text in (LISBON, "Ben has two dogs.", NOT_LISBON)]
    results = api.post(f"{MEMORIES}/batch", {"memories": items}).json()["results"]
    assert [(item["status"], item["action"]) for item in results] == [
        (201, "inserted"),
        (201, "inserted"),
        (200, "superseded_existing"),
    ]
    assert results[2]["conflict"] is not None
