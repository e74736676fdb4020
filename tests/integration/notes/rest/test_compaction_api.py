"""Compactions over REST, from the button to the undo, with a model behind a real server (spec 001, compaction)."""

from dataclasses import replace
from typing import Any

import pytest

from apps.core.domain.scope import Permission, Scope
from apps.notes.tasks import compact
from tests.api import Api, api_for
from tests.integration.llm.chat_server import Reply, running_chat_server
from tests.integration.llm.configuring import MODEL as CONFIGURED
from tests.integration.llm.configuring import configured
from tests.integration.notes.compactions import MODEL, SHORTER, TEXT, answer, memory, settings_of, written

pytestmark = pytest.mark.django_db
AUTO = "/api/auto-memory"


@pytest.fixture
def ana() -> Api:
    """A caller with a key of ana's."""
    memory()
    return api_for(Scope("ana"))


def drafted(ana: Api, settings: Any, said: str) -> dict[str, Any]:
    """Ask for a compaction, and let the worker do it."""
    asked = ana.post(f"{AUTO}/compact", {})
    assert asked.status_code == 202, asked.content
    with (
        running_chat_server() as server,
        configured(settings, replace(CONFIGURED, model=MODEL, base_url=server.base_url("openai"))),
    ):
        server.say(Reply(chunks=(said,)))
        compact(asked.json()["id"])
    found: dict[str, Any] = ana.get(f"{AUTO}/compactions/{asked.json()['id']}").json()
    return found


def test_compaction_by_hand_is_drafted_shown_applied_and_undone(ana, settings):
    found = drafted(ana, settings, answer())
    assert (found["state"], found["is_current"], found["text"], written()) == ("drafted", True, SHORTER, TEXT)
    assert found["counts"] == {"kept": 2, "shortened": 0, "merged": 4, "dropped": 0}
    lines = found["diff"].splitlines()
    assert lines[:2] == ["--- MEMORY.md", "+++ draft"]
    assert [line for line in lines[2:] if line.startswith(("+", "-"))] == [
        "-- Ana likes green tea.",
        "-* Ana has 2 cats.",
    ]
    address = f"{AUTO}/compactions/{found['id']}"
    applied = ana.post(f"{address}/apply")
    assert (applied.status_code, applied.json()["state"], written()) == (200, "applied", SHORTER)
    assert ana.post(f"{address}/discard").json()["errors"][0]["code"] == "compaction_state"
    undone = ana.post(f"{address}/undo")
    assert (undone.status_code, undone.json()["state"], written()) == (200, "undone", TEXT)
    listed = ana.get(f"{AUTO}/compactions").json()["results"]
    assert [each["id"] for each in listed] == [found["id"]]
    assert "text" not in listed[0]


def test_manual_compaction_runs_although_the_automatic_one_is_off(ana, settings):
    settings_of(llmCompactionEnabled=False)
    assert drafted(ana, settings, answer())["automatic"] is False


def test_draft_that_is_stale_says_what_to_do(ana, settings):
    found = drafted(ana, settings, answer())
    ana.post("/api/memory/main/entries", {"entry": "Ana rows."})
    assert ana.get(f"{AUTO}/compactions/{found['id']}").json()["is_current"] is False
    refused = ana.post(f"{AUTO}/compactions/{found['id']}/apply")
    [error] = refused.json()["errors"]
    assert (refused.status_code, error["code"]) == (409, "compaction_stale")
    assert "new compaction" in error["detail"]


def test_undo_after_later_changes_names_the_version_to_restore(ana, settings):
    found = drafted(ana, settings, answer())
    ana.post(f"{AUTO}/compactions/{found['id']}/apply")
    ana.post("/api/memory/main/entries", {"entry": "Ana rows."})
    refused = ana.post(f"{AUTO}/compactions/{found['id']}/undo")
    [error] = refused.json()["errors"]
    assert (refused.status_code, error["code"]) == (409, "changed_since")
    assert ana.post(f"/api/memory/versions/{error['current']}/restore").status_code == 200
    assert written() == TEXT


def test_twice_the_button_is_one_compaction(ana):
    first, second = (ana.post(f"{AUTO}/compact", {}).json() for _ in range(2))
    assert (second["id"], second["state"]) == (first["id"], "asked")


def test_others_see_and_change_nothing_of_it(ana, settings):
    found = drafted(ana, settings, answer())
    address = f"{AUTO}/compactions/{found['id']}"
    for other in (api_for(Scope("ben")), api_for(Scope("ana", "home"))):
        assert other.get(address).status_code == 404
        assert [other.post(f"{address}/{what}").status_code for what in ("apply", "discard", "undo")] == [404] * 3
    assert api_for(Scope("ben")).post(f"{AUTO}/compact", {"user_id": "ana"}).status_code == 403
    reader = api_for(Scope("ana"), Permission.READ)
    assert (reader.get(address).status_code, reader.post(f"{address}/apply").status_code) == (200, 403)
    assert written() == TEXT


def test_without_a_model_it_says_so(ana):
    asked = ana.post(f"{AUTO}/compact", {}).json()
    compact(asked["id"])
    found = ana.get(f"{AUTO}/compactions/{asked['id']}").json()
    assert (found["state"], found["code"], found["model"]["asked"]) == ("failed", "model_not_available", MODEL)
    assert (found["text"], found["diff"], found["facts"]) == (None, None, [])


def test_list_of_one_user_has_none_of_another() -> None:
    memory()
    mine = api_for(Scope("ana")).post(f"{AUTO}/compact", {}).json()["id"]
    operator = api_for(Scope(), Permission.OPERATOR)
    for user, expected in (("ana", [mine]), ("ben", [])):
        listed = operator.get(f"{AUTO}/compactions?user_id={user}").json()["results"]
        assert [each["id"] for each in listed] == expected
