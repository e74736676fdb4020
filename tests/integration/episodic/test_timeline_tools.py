"""What a model may do with the timeline, under the access of the caller it speaks to (DESIGN D1, spec 000)."""

import json
from typing import Any

import pytest

from apps.core.domain.scope import Access, Permission, Scope
from apps.episodic.models import TimelineEvent
from apps.episodic.schemas.events import EventInput
from apps.episodic.schemas.queries import EventQueryInput
from apps.llm.domain.protocol.parser import parse_output
from apps.llm.domain.tools import ToolResult
from apps.llm.tools.requests import tool_registry

pytestmark = pytest.mark.django_db

ANA = Access(Scope(user_id="ana"), Permission.WRITE, "key:ana")
BEN = Access(Scope(user_id="ben"), Permission.WRITE, "key:ben")
THEN = "2023-05-08T13:56:00Z"


def ask(access: Access, name: str, **parameters: Any) -> ToolResult:
    """What a model says, parsed and done."""
    [request] = parse_output(f"[[ABP_TOOL:{name}]]{json.dumps(parameters)}[[END_ABP_TOOL]]").requests
    return tool_registry().execute(access, request)


def record(access: Access, content: str = "Drank green tea.", **fields: Any) -> ToolResult:
    return ask(access, "event_record", **{"timestamp": THEN, "event_type": "visit", "content": content, **fields})


def test_an_event_is_recorded_for_the_caller() -> None:
    result = record(ANA, importance=0.9)
    assert (result.outcome, result.value["action"]) == ("done", "recorded")
    stored = TimelineEvent.objects.get()
    assert (stored.user_id, stored.content, stored.importance) == ("ana", "Drank green tea.", 0.9)
    assert record(ANA).value["action"] == "duplicate"


def test_event_whose_content_was_cut_is_not_recorded() -> None:
    text = f'[[ABP_TOOL:event_record]]{{"timestamp": "{THEN}", "event_type": "visit", "content": "Ate no pea'
    [request] = parse_output(text).requests
    result = tool_registry().execute(ANA, request)
    assert [(problem.code, problem.attr) for problem in result.problems] == [("truncated", "content")]
    assert not TimelineEvent.objects.exists()


def test_vcp_queries_too() -> None:
    record(ANA)
    text = (
        "<<<[TOOL_REQUEST]>>>\ntool_name:「始」event_query「末」,\n"
        'event_types:「始」["visit"]「末」,\ntop_k:「始」1「末」\n<<<[END_TOOL_REQUEST]>>>'
    )
    [request] = parse_output(text).requests
    assert tool_registry().execute(ANA, request).value["count"] == 1


def test_events_of_window_are_found_and_those_about_text() -> None:
    record(ANA)
    record(ANA, "A hut by the lake.", timestamp="2023-06-01T00:00:00Z")
    window = {"from": "2023-05-01T00:00:00Z", "to": "2023-05-31T00:00:00Z"}
    assert [event["content"] for event in ask(ANA, "event_query", **window).value["results"]] == ["Drank green tea."]
    found = ask(ANA, "event_query", query="lake", mode="keyword", explain=True).value
    assert [event["content"] for event in found["results"]] == ["A hut by the lake."]
    assert json.loads(json.dumps(found)) == found


def test_events_of_others_are_neither_recorded_nor_found() -> None:
    assert record(BEN, user_id="ana").outcome == "forbidden"
    record(BEN, "Hides the tea.")
    for parameters in ({}, {"user_id": "ben"}, {"query": "tea"}):
        found = ask(ANA, "event_query", **parameters).value
        assert (found["count"], found["diagnostics"]["considered_count"]) == (0, 0)


def test_a_key_that_may_only_read_records_nothing() -> None:
    reader = Access(Scope(user_id="ana"), Permission.READ, "key:reader")
    assert record(reader).outcome == "forbidden"
    assert ask(reader, "event_query").is_done


@pytest.mark.parametrize(
    ("name", "parameters", "attr"),
    [
        ("event_record", {"event_type": "visit", "content": "tea"}, "timestamp"),
        ("event_record", {"timestamp": "today", "event_type": "visit", "content": "tea"}, "timestamp"),
        ("event_record", {"timestamp": THEN, "event_type": "a visit", "content": "tea"}, "event_type"),
        ("event_record", {"timestamp": THEN, "event_type": "visit", "content": "\u200b"}, "content"),
        ("event_query", {"top_k": 0}, "top_k"),
        ("event_query", {"from": "soon"}, "from"),
        ("event_query", {"last_days": 1, "to": THEN}, "last_days"),
        ("event_query", {"from": THEN, "to": "2023-05-01T00:00:00Z"}, "from"),
        ("event_query", {"event_types": ["a visit"]}, "event_types.0"),
        ("event_query", {"mode": "vector"}, "query"),
        ("event_query", {"persona": "chef"}, "persona"),
    ],
)
def test_what_rest_refuses_a_tool_refuses_too(name: str, parameters: dict[str, Any], attr: str) -> None:
    result = ask(ANA, name, **parameters)
    assert (result.outcome, result.problems[0].attr) == ("invalid_parameters", attr)
    assert not TimelineEvent.objects.exists()


@pytest.mark.parametrize(("name", "serializer"), [("event_record", EventInput), ("event_query", EventQueryInput)])
def test_a_tool_offers_what_rest_takes(name: str, serializer: Any) -> None:
    [tool] = [tool for tool in tool_registry() if tool.name == name]
    assert set(tool.parameters["properties"]) == set(serializer().fields)
