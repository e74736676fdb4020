"""The tools of MCP: what they do, how they answer, and whose they are."""

import json

import pytest

from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import Permission, Scope
from apps.llm.models import ToolRunDay
from apps.mcp.calls import mcp_tools
from apps.notes.domain.blocks import count_tokens
from apps.semantic.models import Memory
from tests.api import api_for
from tests.mcp import call, message, said

pytestmark = pytest.mark.django_db
ANA, BEN = Scope("ana"), Scope("ben")


def listed(api) -> list[dict]:
    return message(api, "tools/list").json()["result"]["tools"]


def test_tools_are_few_ordered_and_annotated() -> None:
    first, again = listed(api_for(ANA)), listed(api_for(ANA))
    assert first == again
    assert [tool["name"] for tool in first] == [tool.name for tool in mcp_tools()]
    assert count_tokens(json.dumps(first)) < 2_000
    hints = {tool["name"]: tool["annotations"] for tool in first}
    assert [name for name, hint in hints.items() if hint["readOnlyHint"]] == [
        tool.name for tool in mcp_tools() if not tool.writes
    ]
    assert [name for name, hint in hints.items() if hint["destructiveHint"]] == ["update"]
    for tool in first:
        assert not {"user_id", "household_id", "persona_id", "project"} & set(tool["inputSchema"]["properties"])


def test_a_key_is_offered_what_it_may_do() -> None:
    reads = [tool["name"] for tool in listed(api_for(ANA, Permission.READ))]
    assert reads == [tool.name for tool in mcp_tools() if not tool.writes]
    part = [tool["name"] for tool in listed(api_for(Scope("ana", "home")))]
    assert "save" in part
    assert "read_memory" not in part, "notes are of a whole person"
    refused = call(api_for(ANA, Permission.READ), "save", {"content": "Ana likes tea."})
    assert refused["isError"]
    assert "needs the permission write" in said(refused)


def test_a_memory_is_saved_found_corrected_and_forgotten() -> None:
    api = api_for(ANA)
    saved = call(api, "save", {"content": "Ana likes green tea.", "importance": "0.7", "keywords": "tea, drinks"})
    key = saved["structuredContent"]["id"]
    assert said(saved) == f"Saved as {key}."
    memory = Memory.objects.get(uuid=key)
    assert (memory.user_id, memory.importance, memory.keywords) == ("ana", 0.7, ["tea", "drinks"])
    again = call(api, "save", {"content": "Ana likes green tea."})
    assert said(again).startswith("Nothing changed")
    assert again["structuredContent"]["changed"] is False
    found = call(api, "query", {"query": "green tea", "from": "2020-01-01"})
    assert f"[{key}]" in said(found)
    corrected = call(api, "update", {"id": f"[{key}]", "action": "Correct", "content": "Ana likes black tea."})
    assert "Corrected" in said(corrected)
    assert "Nothing changed" in said(
        call(api, "update", {"id": key, "action": "correct", "content": "Ana likes black tea."})
    )
    assert "Forgotten" in said(call(api, "update", {"id": key, "action": "forget"}))
    gone = call(api, "update", {"id": key, "action": "forget"})
    assert gone["isError"]
    assert said(gone) == "There is no such memory. Nothing was changed."
    assert said(call(api, "query", {"query": "black tea"})).startswith("No memories found")


def test_context_is_of_the_person_and_the_project() -> None:
    api = api_for(ANA, origin=WriteOrigin.PERSON)
    assert said(call(api, "context")) == "Nothing is known of the user yet."
    api.save("Always answer in French.", importance=0.9)
    api.save("The boat of Ana lies in the harbour.", project="atlas")
    api.save("The boat of the film lies in the harbour.", project="film")
    api_for(BEN).save("The boat of Ben lies in the harbour.")
    found = call(api, "context", {"task": "Which boat lies in the harbour?"}, path="/mcp/p/atlas")
    items = found["structuredContent"]["items"]
    assert [(item["kind"], item["text"]) for item in items] == [
        ("wish", "Always answer in French."),
        ("memory", "The boat of Ana lies in the harbour."),
    ]
    assert said(found).index("French") < said(found).index("boat of Ana")
    assert "film" not in said(found)
    unknown = said(call(api, "context", {"message": "quantum chromodynamics lattice"}))
    assert unknown.endswith("Nothing is known of this; no need to search again.")
    for number in range(30):
        api.save(f"The boat number {number} in the harbour has {number} planks and {'very ' * 20}old sails.")
    short = call(api, "context", {"message": "the boat in the harbour", "max_tokens": "300"})
    assert count_tokens(said(short)) <= 320
    assert "more did not fit: raise max_tokens." in said(short)


def test_an_event_is_recorded_once_and_found() -> None:
    api = api_for(ANA)
    event = {"content": "Met Ben.", "timestamp": "2026-03-04T10:00:00Z", "event_type": "meeting"}
    assert said(call(api, "record", event)).startswith("Recorded as")
    assert said(call(api, "record", event)).startswith("Nothing changed")
    found = call(api, "query", {"what": "events", "from": "2026-03-04", "to": "2026-03-05"})
    assert [row["content"] for row in found["structuredContent"]["results"]] == ["Met Ben."]
    assert call(api, "record", {"content": "Went home."})["structuredContent"]["event_type"] == "note"


def test_notes_are_read_added_to_and_searched() -> None:
    api = api_for(ANA)
    assert said(call(api, "append_memory", {"content": "Likes tea."})) == "Added to MEMORY.md."
    assert "Likes tea." in said(call(api, "read_memory"))
    assert "MEMORY.md" in said(call(api, "search_memory", {"q": "tea"}))
    assert call(api, "append_daily_log", {"entry": "Came to the third chapter."})["structuredContent"]["changed"]
    profile = message(api, "resources/read", {"uri": "memoryhub://profile"}).json()["result"]["contents"]
    assert "Likes tea." in profile[0]["text"]


def test_an_answer_is_as_long_as_the_model_has_room_for() -> None:
    api = api_for(ANA)
    for number in range(8):
        api.save(f"Ana's tea number {number} is {'very ' * 60}good.")
    found = call(api, "query", {"query": "tea", "max_tokens": "300"})
    assert count_tokens(said(found)) <= 340
    count, left = (found["structuredContent"][name] for name in ("count", "left_out"))
    assert (count + left, left > 0) == (8, True)
    assert f"{left} more match" in said(found)


def test_mistakes_are_answered_with_what_would_be_right() -> None:
    api = api_for(ANA)
    cases = {
        "save": [({}, "content: This parameter is required."), ({"content": "x", "importance": "7"}, "importance")],
        "update": [
            ({"id": "the one about tea", "action": "forget"}, "Not an id"),
            ({"id": "1", "action": "delete"}, "correct"),
            ({"id": "00000000-0000-4000-8000-000000000000", "action": "correct"}, "whole new text"),
        ],
        "query": [({}, "Say in query"), ({"query": "tea", "max_tokens": 1}, "minimum")],
        "record": [({"content": "x", "timestamp": "yesterday"}, "timestamp")],
        "svae": [({}, "Did you mean save?")],
    }
    for name, calls in cases.items():
        for arguments, hint in calls:
            result = call(api, name, arguments)
            assert result["isError"]
            assert hint in said(result), said(result)


def test_no_argument_names_another_scope() -> None:
    api, ben = api_for(ANA), api_for(BEN)
    foreign = ben.save("Ben's secret is the number 4711.")
    for name in ("user_id", "household_id", "persona_id", "include", "project", "scope", "owner"):
        for tool in mcp_tools():
            sent = dict.fromkeys(tool.parameters["required"], "secret number") | {name: "ben"}
            result = call(api, tool.name, sent)
            assert result["isError"]
            assert f"{name}: Unknown parameter." in said(result)
    for action in ("correct", "forget", "reinforce"):
        content = {"content": "Ana's now."} if action == "correct" else {}
        result = call(api, "update", {"id": foreign["id"], "action": action, **content})
        assert said(result) == "There is no such memory. Nothing was changed."
    assert "4711" not in said(call(api, "query", {"query": "Ben's secret is the number 4711."}))
    assert Memory.objects.get(uuid=foreign["id"]).content == "Ben's secret is the number 4711."


def test_the_address_names_the_project() -> None:
    api = api_for(ANA)
    saved = call(api, "save", {"content": "We indent with tabs."}, path="/mcp/p/atlas")
    assert Memory.objects.get(uuid=saved["structuredContent"]["id"]).project == "atlas"
    headed = call(api, "save", {"content": "We deploy on Mondays."}, **{"X-MemoryHub-Project": "garden%20shed"})
    assert Memory.objects.get(uuid=headed["structuredContent"]["id"]).project == "garden shed"
    found = call(api, "query", {"query": "indent deploy"}, path="/mcp/p/atlas")
    assert [row["content"] for row in found["structuredContent"]["results"]] == ["We indent with tabs."]


def test_runs_are_counted_as_those_of_other_protocols() -> None:
    call(api_for(ANA), "query", {"query": "tea"})
    counted = ToolRunDay.objects.filter(protocol="mcp").values_list("tool", "outcome", "runs")
    assert list(counted) == [("query", "done", 1)]
