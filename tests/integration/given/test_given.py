"""What keys received: noted without a statement, and seen, exported and forgotten like what was given."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from apps.core.db.user_locks import lock_user
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Permission, Scope
from apps.given.domain.given import AnswerKind, Item, ItemKind, Place
from apps.given.models import GivenAnswer
from apps.given.personal.stores import GivenStore
from apps.given.recording import given_answers
from tests.api import Api, api_for, belong
from tests.integration.personal.hubs import empty_hub, exported, imported
from tests.mcp import call

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("notes_dir", "timeline_dir")]
ANA, BEN, HOME = Scope("ana"), Scope("ben"), Scope("ana", "home")
BOAT = "Where is the boat in the harbour?"


@pytest.fixture(autouse=True)
def nothing_waits() -> None:
    given_answers().drop()


def kept() -> list[dict[str, Any]]:
    given_answers().flush()
    return list(GivenAnswer.objects.order_by("pk").values())


def read(api: Api, uuid: str) -> tuple[int, Any]:
    response = api.call("GET", f"/api/context/{uuid}")
    return response.status_code, response.json()


def test_every_kind_of_answer_is_kept_with_its_run() -> None:
    ana = api_for(ANA, name="kitchen")
    memory = ana.save("Ana keeps her boat in Lisbon harbour.")["id"]
    event = {"timestamp": utcnow(SYSTEM_CLOCK).isoformat(), "event_type": "visit", "content": "The boat was painted."}
    event_id = ana.post("/api/episodic/events", event).json()["event"]["id"]
    ana.call("PUT", "/api/memory/main", {"text": "- the boat has a red mast in the harbour\n"})
    run = {"X-MemoryHub-Run": "run-1"}
    ana.call("POST", "/api/semantic/search", {"query": BOAT}, **run)
    ana.call("POST", "/api/episodic/query", {"last_days": 1}, **run)
    ana.call("GET", "/api/memory/search?q=boat", **run)
    call(ana, "query", {"query": BOAT}, **run)
    call(ana, "context", {"message": BOAT})
    answer = ana.post("/api/context", {"message": BOAT, "run_id": "run-2"}).json()
    given = [(row["asked"], row["run_id"], [*map(str, row["memories"])], [*map(str, row["events"])], row["notes"])
             for row in kept()]  # fmt: skip
    note = "MEMORY.md#L1-L1"
    assert given == [
        ("search", "run-1", [memory], [], []),
        ("events", "run-1", [], [event_id], []),
        ("notes", "run-1", [], [], [note]),
        ("search", "run-1", [memory], [], []),
        ("context", "", [memory], [event_id], [note]),
        ("context", "run-2", [memory], [event_id], [note]),
    ]
    assert {(row["app"], row["user_id"]) for row in kept()} == {("kitchen", "ana")}
    status, again = read(ana, answer["id"])
    assert (status, again["app"], again["run_id"], again["count"]) == (200, "kitchen", "run-2", 3)
    assert [item["id"] for item in again["items"]] == [memory, event_id, note]


def test_nobody_sees_more_of_an_answer_than_what_is_theirs() -> None:
    everybody = api_for(Scope(), name="hub")
    belong(HOME)
    mine = everybody.save("Ana keeps her boat in Lisbon harbour.", user_id="ana")["id"]
    shared = everybody.save("The boat of the home is in the harbour.", user_id="ana", household_id="home")["id"]
    theirs = everybody.save("Ben keeps his boat in Porto harbour.", user_id="ben")["id"]
    reader = api_for(BEN, Permission.READ, reads=["ana"])
    answer = reader.post("/api/context", {"message": BOAT, "include": ["ana"]}).json()
    assert answer["count"] == 3
    seen = {}
    for name, api in {
        "ana": api_for(ANA), "home": api_for(Scope(None, "home")), "ben": reader, "all": everybody,
        "cem": api_for(Scope("cem")), "stopped": api_for(Scope(without=("ana", "ben"))),
        "persona": api_for(Scope("ana", None, "work")),
    }.items():  # fmt: skip
        status, again = read(api, answer["id"])
        seen[name] = {item["id"] for item in again["items"]} if status == 200 else status
    assert seen == {
        "ana": {mine, shared}, "home": {shared}, "ben": {theirs}, "all": {mine, shared, theirs},
        "cem": 404, "stopped": 404, "persona": 404,
    }  # fmt: skip


def test_what_gave_nothing_and_what_people_did_is_not_kept() -> None:
    ana = api_for(ANA)
    ana.save("Ana keeps her boat in Lisbon harbour.")
    answer = ana.post("/api/context", {"message": "quantum chromodynamics lattice"}).json()
    api_for(Scope()).search("boat", user_id="nobody")
    given_answers().note("person:ana", AnswerKind.SEARCH, [Item(Place("ana"), ItemKind.MEMORY, uuid4())])
    assert kept() == []
    assert read(ana, answer["id"])[0] == 404


def test_they_are_kept_as_long_as_the_setting_says(settings: Any) -> None:
    ana = api_for(ANA)
    ana.save("Ana keeps her boat in Lisbon harbour.")
    for days, left in ((91, 1), (89, 2)):
        ana.search(BOAT)
        given_answers().flush()
        last = GivenAnswer.objects.order_by("-pk").first()
        GivenAnswer.objects.filter(pk=last.pk).update(at=last.at - timedelta(days=days))
        ana.search(BOAT)
        given_answers()._trimmed = None
        given_answers().flush()
        assert GivenAnswer.objects.count() == left + (days == 89)
    settings.MEMORYHUB = replace(settings.MEMORYHUB, given_days=0)
    ana.search(BOAT)
    given_answers()._trimmed = None
    assert kept() == []


def test_one_who_is_being_forgotten_is_left_out() -> None:
    for user in ("ana", "ben"):
        given_answers().note("key:x", AnswerKind.SEARCH, [Item(Place(user), ItemKind.MEMORY, uuid4())])
    lock_user("ana", utcnow(SYSTEM_CLOCK))
    assert [row["user_id"] for row in kept()] == ["ben"]


@pytest.mark.django_db(transaction=True)
def test_they_are_exported_loaded_and_forgotten() -> None:
    mine, theirs = uuid4(), uuid4()
    items = [Item(Place("ana", "home"), ItemKind.MEMORY, mine), Item(Place("ben"), ItemKind.MEMORY, theirs)]
    given_answers().note("key:kitchen", AnswerKind.SEARCH, items)
    given_answers().note("key:phone of ana", AnswerKind.SEARCH, items[1:])
    given_answers().flush()
    file = exported(ANA)
    [line] = [json.loads(one) for one in file.splitlines() if b'"kind":"given_answer"' in one]
    assert (line["memories"], line["app"], line["household_id"]) == ([str(mine)], "kitchen", "home")
    assert GivenStore().count("ana") == 2
    assert sum(GivenStore().forget("ana")) == 2
    assert list(GivenStore().find("ana")) == []
    assert list(GivenAnswer.objects.values_list("user_id", "app")) == [("ben", "kitchen")]
    empty_hub()
    assert [imported(file).new["given_answer"] for _ in range(2)] == [1, 0]
    assert exported(ANA) == file


@pytest.mark.django_db(transaction=True)
def test_an_older_export_with_counts_keeps_the_last_use() -> None:
    memory = api_for(ANA).save("Ana keeps her boat in Lisbon harbour.")["id"]
    lines = exported(ANA).splitlines(keepends=True)
    used = {"kind": "memory_use", "user_id": "ana", "app": "kitchen", "count": 3,
            "last_at": "2026-03-04T12:00:00+00:00", "memory": memory}  # fmt: skip
    end = json.loads(lines[-1])
    end["lines"]["memory_use"] = 1
    file = b"".join([*lines[:-1], json.dumps(used).encode() + b"\n", json.dumps(end).encode() + b"\n"])
    assert [imported(file).new.get("memory_use", 0) for _ in range(2)] == [1, 0]
    [row] = GivenAnswer.objects.all()
    assert (row.app, row.at.isoformat(), [*map(str, row.memories)]) == ("kitchen", used["last_at"], [memory])
