"""What a model may do with memories, under the access of the caller it speaks to (DESIGN D1, spec 000)."""

import json
from typing import Any
from uuid import UUID

import pytest

from apps.core.domain.scope import Access, Permission, Scope
from apps.llm.domain.protocol.parser import parse_output
from apps.llm.domain.tools import ToolResult
from apps.llm.tools.requests import tool_registry
from apps.semantic.domain.confidence import DecayPolicy
from apps.semantic.models import Memory
from apps.semantic.schemas.memories import MemoryInput
from apps.semantic.schemas.search import SearchInput

pytestmark = pytest.mark.django_db


def ask(access: Access, name: str, **parameters: Any) -> ToolResult:
    """What a model says, parsed and done."""
    [request] = parse_output(f"[[ABP_TOOL:{name}]]{json.dumps(parameters)}[[END_ABP_TOOL]]").requests
    return tool_registry().execute(access, request)


def test_a_memory_is_saved_for_the_caller(ana: Access) -> None:
    result = ask(ana, "memory_save", content="Likes green tea.", importance=0.9, occurred_at="2023-05-08T13:56:00Z")
    assert (result.outcome, result.value["action"]) == ("done", "inserted")
    stored = Memory.objects.get()
    assert (stored.user_id, stored.content, stored.importance) == ("ana", "Likes green tea.", 0.9)


def test_a_damaged_request_saves_what_it_says(ana: Access) -> None:
    [request] = parse_output("Noted.\n[[ABP_TOOL:memory_save]]\n{'content': 'Likes green tea.',").requests
    assert tool_registry().execute(ana, request).is_done
    assert Memory.objects.get().content == "Likes green tea."


def test_vcp_value_that_the_end_marker_cut_is_not_saved(ana: Access) -> None:
    text = "<<<[TOOL_REQUEST]>>>\ntool_name:「始」memory_save「末」,\ncontent:「始」Likes te\n<<<[END_TOOL_REQUEST]>>>"
    [request] = parse_output(text).requests
    result = tool_registry().execute(ana, request)
    assert [(problem.code, problem.attr) for problem in result.problems] == [("truncated", "content")]
    assert not Memory.objects.exists()


def test_vcp_saves_too(ana: Access) -> None:
    text = (
        "<<<[TOOL_REQUEST]>>>\ntool_name:「始」memory_save「末」,\ncontent:「始」Likes tea.「末」,\n"
        "importance:「始」0.7「末」\n<<<[END_TOOL_REQUEST]>>>"
    )
    [request] = parse_output(text).requests
    assert tool_registry().execute(ana, request).is_done
    assert Memory.objects.get().importance == 0.7


def test_a_memory_is_found_again(ana: Access) -> None:
    ask(ana, "memory_save", content="Likes green tea.")
    result = ask(ana, "memory_search", query="green tea", top_k=1)
    assert [item["memory"]["content"] for item in result.value["results"]] == ["Likes green tea."]


def test_a_memory_is_reinforced(ana: Access) -> None:
    saved = ask(ana, "memory_save", content="Runs daily.", decay_policy=DecayPolicy.REINFORCEABLE.value)
    result = ask(ana, "memory_reinforce", id=saved.value["memory"]["id"])
    assert result.value["last_reinforced_at"] is not None


def test_every_answer_is_json(ana: Access) -> None:
    saved = ask(ana, "memory_save", content="Likes tea.")
    found = ask(ana, "memory_search", query="tea", explain=True)
    assert json.loads(json.dumps([saved.value, found.value])) == [saved.value, found.value]


def test_memory_of_stable_policy_cannot_be_reinforced(ana: Access) -> None:
    saved = ask(ana, "memory_save", content="Runs daily.")
    result = ask(ana, "memory_reinforce", id=saved.value["memory"]["id"])
    assert (result.outcome, result.problems[0].code) == ("failed", "not_reinforceable")


def test_nothing_is_written_for_another_user(ana: Access) -> None:
    result = ask(ana, "memory_save", content="tea", user_id="ben")
    assert (result.outcome, result.problems[0].attr) == ("forbidden", "user_id")
    assert not Memory.objects.exists()


def test_memories_of_another_user_are_not_found(ana: Access) -> None:
    ben = Access(Scope(user_id="ben"), Permission.WRITE, "key:ben")
    saved = ask(ben, "memory_save", content="Hides the tea.", decay_policy="reinforceable").value["memory"]
    assert ask(ana, "memory_search", query="tea").value["count"] == 0
    assert ask(ana, "memory_search", query="tea", user_id="ben").value["count"] == 0
    assert ask(ana, "memory_reinforce", id=saved["id"]).problems[0].code == "not_found"
    assert Memory.objects.get(uuid=UUID(saved["id"])).last_reinforced_at is None


def test_a_key_that_may_only_read_saves_nothing() -> None:
    reader = Access(Scope(user_id="ana"), Permission.READ, "key:reader")
    assert ask(reader, "memory_save", content="tea").outcome == "forbidden"
    assert ask(reader, "memory_search", query="tea").is_done


@pytest.mark.parametrize(
    ("name", "parameters", "attr"),
    [
        ("memory_save", {}, "content"),
        ("memory_save", {"content": " \u200b"}, "content"),
        ("memory_save", {"content": "a\x00b"}, "content"),
        ("memory_save", {"content": "tea", "importance": 2}, "importance"),
        ("memory_save", {"content": "tea", "occurred_at": "2023-05-08T13:56:00"}, "occurred_at"),
        ("memory_save", {"content": "tea", "decay_policy": "never"}, "decay_policy"),
        ("memory_save", {"content": "tea", "status": "deleted"}, "status"),
        ("memory_save", {"content": "tea", "keywords": ["a", ""]}, "keywords.1"),
        ("memory_search", {}, "query"),
        ("memory_search", {"query": "tea", "top_k": 0}, "top_k"),
        ("memory_search", {"query": "tea", "time_window": {"from": "soon"}}, "time_window.from"),
        ("memory_search", {"query": "tea", "last_days": 1, "time_window": {"to": "2023-05-08T13:56:00Z"}}, "last_days"),
        ("memory_reinforce", {"id": "one"}, "id"),
    ],
)
def test_what_rest_refuses_a_tool_refuses_too(ana: Access, name: str, parameters: dict[str, Any], attr: str) -> None:
    result = ask(ana, name, **parameters)
    assert (result.outcome, result.problems[0].attr) == ("invalid_parameters", attr)
    assert not Memory.objects.exists()


@pytest.mark.parametrize(("name", "serializer"), [("memory_save", MemoryInput), ("memory_search", SearchInput)])
def test_tool_offers_what_rest_takes_but_vectors(name: str, serializer: Any) -> None:
    [tool] = [tool for tool in tool_registry() if tool.name == name]
    assert set(tool.parameters["properties"]) == set(serializer().fields) - {"embedding"}
