"""Whom memories come from, and what follows from it for duplicates, changes, merges and decisions (DESIGN D20)."""

from importlib import import_module
from typing import Any

import pytest
from django.db import connection

from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import Permission, Scope, system_access
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Memory
from apps.semantic.services import memory_save
from tests.api import MEMORIES, SEARCH, Api, api_for
from tests.integration.semantic.bridge_support import deliver, policy, saved, tell
from tests.integration.semantic.bridge_support import events_ingest as ingest

pytestmark = pytest.mark.django_db

ANA = Scope("ana")
CONFLICTS, RULES = "/api/semantic/conflicts", "/api/rules"
LISBON, NOT_LISBON = "Ana lives in Lisbon.", "Ana does not live in Lisbon."


@pytest.fixture
def person() -> Api:
    return api_for(ANA, origin=WriteOrigin.PERSON, name="person")


@pytest.fixture
def app() -> Api:
    return api_for(ANA, name="app")


def save(api: Api, content: str = LISBON, **fields: Any) -> dict[str, Any]:
    answer = api.post(MEMORIES, {"content": content, **fields})
    assert answer.status_code in {200, 201}, answer.content
    said: dict[str, Any] = answer.json()
    return said


def show(api: Api, memory: dict[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = api.get(f"{MEMORIES}/{memory['id']}").json()
    return shown


# Saving


def test_memory_has_the_origin_of_its_key(person: Api, app: Api) -> None:
    assert save(person)["memory"]["origin"] == "person"
    assert save(app, "Ana plays chess.")["memory"]["origin"] == "app"


def test_save_may_name_a_lower_origin(app: Api) -> None:
    assert save(app, origin="derived")["memory"]["origin"] == "derived"


def test_save_names_no_higher_origin(app: Api) -> None:
    answer = app.post(MEMORIES, {"content": LISBON, "origin": "person"})
    assert (answer.status_code, answer.json()["errors"][0]["attr"]) == (403, "origin")
    assert not Memory.objects.exists()


def test_item_of_a_batch_is_refused_alone(app: Api) -> None:
    items = [{"content": LISBON, "origin": "person"}, {"content": "Ana plays chess."}]
    results = app.post(f"{MEMORIES}/batch", {"memories": items}).json()["results"]
    assert [one["status"] for one in results] == [403, 201]


def test_search_says_and_filters_by_origin(person: Api, app: Api) -> None:
    save(person, "Ana plays chess on Mondays.")
    save(app, "Ana plays chess on Fridays.")
    found = app.post(SEARCH, {"query": "chess", "filter": {"origin": {"in": ["person"]}}}).json()["results"]
    assert [one["memory"]["origin"] for one in found] == ["person"]


# Duplicates


def test_lower_repetition_changes_nothing(person: Api, app: Api) -> None:
    memory = save(person, decay_policy="reinforceable", confidence=0.5, importance=0.3)["memory"]
    known = show(person, memory)
    said = save(app, confidence=1.0, importance=1.0, keywords=["Porto"], context="Obey.", metadata={"a": 1})
    assert (said["action"], said["reason"]) == ("skipped", "lower_origin")
    assert show(person, memory) == {**known, "confidence": show(person, memory)["confidence"]}


def test_higher_repetition_makes_it_its_own(person: Api, app: Api) -> None:
    planted = {"context": "Obey.", "metadata": {"a": 1}, "keywords": ["Porto"], "importance": 1.0, "confidence": 0.1}
    memory = save(app, decay_policy="contextual", **planted)["memory"]
    said = save(person)
    assert (said["action"], said["reason"], said["memory"]["id"]) == ("updated", "higher_origin", memory["id"])
    own = ("person", "", {}, [], 0.5, 1.0, "stable")
    names = ("origin", "context", "metadata", "keywords", "importance", "base_confidence", "decay_policy")
    assert tuple(said["memory"][name] for name in names) == own
    steps = person.get(f"{MEMORIES}/{memory['id']}/history").json()["results"]
    assert steps[-1]["changes"]["origin"] == ["app", "person"]


def test_repetition_after_a_lost_one_is_decided(person: Api, app: Api) -> None:
    moment = {"occurred_at": "2026-03-01T12:00:00Z"}
    save(app, **moment)
    save(app, NOT_LISBON, occurred_at="2026-03-02T12:00:00Z")
    said = save(person, **moment)
    assert (said["action"], said["memory"]["status"], said["memory"]["origin"]) == ("inserted", "active", "person")


# Decisions


def test_lower_contradiction_is_noticed_with_both(person: Api, app: Api) -> None:
    memory = save(person)["memory"]
    said = save(app, NOT_LISBON)
    assert (said["action"], said["reason"]) == ("inserted", "lower_origin")
    receipt = app.get(f"{CONFLICTS}/{said['conflict']}").json()
    assert (receipt["outcome"], receipt["strategy"], receipt["state"]) == ("noticed", "trust", "open")
    assert (receipt["candidate"]["origin"], receipt["existing"]["origin"]) == ("app", "person")
    assert "from app" in receipt["reason"]
    assert show(person, memory)["status"] == "active"


def test_lower_memory_suppresses_no_higher_one(person: Api, app: Api) -> None:
    save(app, NOT_LISBON, occurred_at="2031-01-01T00:00:00Z")
    said = save(person)
    assert (said["action"], said["memory"]["status"]) == ("inserted", "active")


def test_higher_statement_supersedes_a_lower_one(person: Api, app: Api) -> None:
    memory = save(app, context="Obey.")["memory"]
    said = save(person, NOT_LISBON)
    assert (said["action"], said["memory"]["context"]) == ("superseded_existing", "")
    assert show(person, memory)["status"] == "superseded"


def test_merge_has_the_lower_origin(app: Api) -> None:
    operator = api_for(Scope(), Permission.OPERATOR)
    nothing_first = {"priority_importance": False, "priority_recency": False, "priority_source": False}
    rule = {"arbitration": nothing_first, "detection": {"keyword_threshold": 0.5, "restate_threshold": 0.5}}
    assert operator.post(RULES, {"name": "mine", "priority": 5, **rule}).status_code == 201
    save(app, "Ana bakes rye bread with caraway seeds every Sunday.", origin="document")
    merged = save(app, "Ana bakes rye bread with caraway seeds every Sunday morning.", origin="document")
    assert (merged["action"], merged["memory"]["origin"]) == ("merged", "document")


def test_person_decides_what_was_noticed(person: Api, app: Api) -> None:
    memory = save(person)["memory"]
    path = f"{CONFLICTS}/{save(app, NOT_LISBON)['conflict']}/override"
    refused = app.post(path, {"winner": "candidate"})
    assert (refused.status_code, refused.json()["errors"][0]["code"]) == (403, "lower_origin")
    assert person.post(path, {"winner": "candidate"}).status_code == 200
    assert show(person, memory)["status"] == "superseded"


def test_operator_decides_what_was_noticed(person: Api, app: Api) -> None:
    save(person)
    path = f"{CONFLICTS}/{save(app, NOT_LISBON)['conflict']}/accept"
    assert api_for(Scope(), Permission.OPERATOR).post(path).status_code == 200


# Changes


def test_lower_key_changes_and_deletes_nothing(person: Api, app: Api) -> None:
    memory = save(person)["memory"]
    address = f"{MEMORIES}/{memory['id']}"
    refused = [
        app.patch(address, {"content": NOT_LISBON}),
        app.patch(address, {"importance": 0.0}),
        app.delete(address),
    ]
    assert [(one.status_code, one.json()["errors"][0]["code"]) for one in refused] == [(403, "lower_origin")] * 3
    counted = app.post(f"{MEMORIES}/delete", {"ids": [memory["id"]]}).json()
    assert (counted["matched"], counted["deleted"], counted["protected"]) == (0, 0, 1)
    assert show(person, memory)["version"] == memory["version"]


def test_stranger_is_told_nothing_of_origins(person: Api) -> None:
    address = f"{MEMORIES}/{save(person)['memory']['id']}"
    ben = api_for(Scope("ben"), name="ben")
    assert [ben.patch(address, {"importance": 0.0}).status_code, ben.delete(address).status_code] == [404, 404]


def test_correction_of_a_person_is_the_persons(person: Api, app: Api) -> None:
    planted = {"context": "Obey.", "metadata": {"a": 1}, "keywords": ["Porto"], "project": "atlas"}
    memory = save(app, **planted)["memory"]
    said = person.patch(f"{MEMORIES}/{memory['id']}", {"content": "Ana lives in Faro."}).json()["memory"]
    assert (said["origin"], said["context"], said["metadata"], said["keywords"]) == ("person", "", {}, [])
    assert said["project"] == "atlas"


def test_weight_alone_keeps_the_origin(person: Api, app: Api) -> None:
    memory = save(app)["memory"]
    said = person.patch(f"{MEMORIES}/{memory['id']}", {"importance": 0.9}).json()["memory"]
    assert said["origin"] == "app"


def test_words_of_an_operator_key_have_its_origin(person: Api) -> None:
    memory = save(person)["memory"]
    said = api_for(Scope(), Permission.OPERATOR).patch(f"{MEMORIES}/{memory['id']}", {"content": "Ana lives in Faro."})
    assert said.json()["memory"]["origin"] == "app"


# Derived


@pytest.mark.parametrize("origin", WriteOrigin)
def test_memory_of_an_event_has_its_origin(origin: WriteOrigin) -> None:
    policy()
    tell(saved(origin=origin))
    deliver()
    ingest()
    assert Memory.objects.get().origin == origin


def test_rows_from_before_are_known_by_their_writers() -> None:
    def stored(content: str, actor: str, **fields: Any) -> Memory:
        return memory_save(access=system_access(actor), draft=MemoryDraft(content, scope=ANA, **fields)).memory

    page, admin, key = (
        stored("Ana plays chess.", "person:ana"),
        stored("Ana has a cat.", "admin:root"),
        stored(LISBON, "key:app"),
    )
    changed, managed = stored("Ana drinks tea.", "person:ana"), stored("Use tabs.", "sync")
    stored("Ana drinks tea.", "key:app", keywords=("green",))
    Memory.objects.filter(pk=managed.pk).update(managed_by="sync:one")
    with connection.cursor() as cursor:
        cursor.execute(import_module("apps.semantic.migrations.0022_origin").KNOWN_ORIGINS)
    found = [Memory.objects.get(pk=one.pk).origin for one in (page, admin, key, changed, managed)]
    assert found == ["person", "person", "app", "app", "document"]
