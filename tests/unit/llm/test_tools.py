"""Tools: registered with a schema, checked before anything runs, answered and never raised (spec 000, DESIGN D1)."""

from collections.abc import Mapping
from typing import Any

import pytest
from jsonschema.exceptions import SchemaError

from apps.core.domain.errors import ForbiddenError, MemoryHubError, NotFoundError, UnavailableError
from apps.core.domain.scope import Access, Permission, Scope
from apps.llm.domain.protocol.results import Protocol, ToolRequest
from apps.llm.domain.tools import (
    MAX_ERRORS,
    InvalidParametersError,
    Tool,
    ToolError,
    ToolProblem,
    ToolRegistry,
    ToolResult,
    parse_vcp_parameters,
)

ANA = Access(Scope(user_id="ana"), Permission.WRITE, "key:ana")
READER = Access(Scope(user_id="ana"), Permission.READ, "key:reader")
SCHEMA = {
    "type": "object",
    "properties": {
        "content": {"type": "string", "maxLength": 20},
        "count": {"type": "integer", "minimum": 1},
        "words": {"type": "array", "items": {"type": "string"}},
        "sure": {"type": "boolean"},
        "inner": {"type": "object", "required": ["a"]},
    },
    "required": ["content"],
    "additionalProperties": False,
}


class Recorder:
    """A handler that keeps what it was called with, or fails."""

    def __init__(self, error: Exception | None = None) -> None:
        self.calls: list[tuple[Access, dict[str, Any]]] = []
        self.error = error

    def __call__(self, access: Access, parameters: Mapping[str, Any]) -> Any:
        self.calls.append((access, dict(parameters)))
        if self.error:
            raise self.error
        return {"saved": True}


def tool(handler: Any = None, **options: Any) -> Tool:
    given = {"name": "note", "description": "Note it.", "permission": Permission.WRITE, "parameters": SCHEMA, **options}
    return Tool(handler=handler or Recorder(), **given)


def run(handler: Any, parameters: dict[str, Any], access: Access = ANA, **request: Any) -> ToolResult:
    asked = {"protocol": Protocol.ABP, "name": "note", "parameters": parameters, "span": (0, 1), **request}
    return ToolRegistry([tool(handler)]).execute(access, ToolRequest(**asked))


def test_tool_runs_with_its_parameters_under_access_of_caller() -> None:
    handler = Recorder()
    result = run(handler, {"content": "tea"})
    assert (result.outcome, result.value, result.problems) == ("done", {"saved": True}, ())
    assert handler.calls == [(ANA, {"content": "tea"})]


@pytest.mark.parametrize(
    ("parameters", "problems"),
    [
        ({}, [("required", "content")]),
        ({"content": 1}, [("invalid", "content")]),
        ({"content": "x" * 21}, [("invalid", "content")]),
        ({"content": "tea", "count": 0}, [("invalid", "count")]),
        ({"content": "tea", "count": True}, [("invalid", "count")]),
        ({"content": "tea", "words": ["a", 1]}, [("invalid", "words.1")]),
        ({"content": "tea", "inner": {}}, [("required", "inner.a")]),
        ({"content": "tea", "b": 1, "a": 1}, [("unknown_parameter", "a"), ("unknown_parameter", "b")]),
        ({"count": 0}, [("required", "content"), ("invalid", "count")]),
    ],
)
def test_invalid_parameters_are_answered_before_anything_runs(
    parameters: dict[str, Any], problems: list[tuple[str, str]]
) -> None:
    handler = Recorder()
    result = run(handler, parameters)
    assert result.outcome == "invalid_parameters"
    assert [(problem.code, problem.attr) for problem in result.problems] == problems
    assert handler.calls == []


def test_problem_says_what_would_be_right_and_not_what_was_given() -> None:
    [problem] = run(Recorder(), {"content": "a very secret content indeed"}).problems
    assert problem.detail == "Must keep to maxLength: 20."


def test_of_many_problems_some_are_named() -> None:
    result = run(Recorder(), {"content": "tea", "words": [1] * 1_000})
    assert len(result.problems) == MAX_ERRORS


def test_unknown_tool_is_answered_with_nearest_one() -> None:
    result = run(Recorder(), {"content": "tea"}, name="Notes")
    assert result.outcome == "unknown_tool"
    assert result.problems[0].detail == "There is no tool called 'Notes'. Did you mean note?"


def test_unknown_tool_is_answered_with_those_that_caller_may_use() -> None:
    registry = ToolRegistry([tool(), tool(name="look", permission=Permission.READ)])
    result = registry.execute(READER, ToolRequest(Protocol.ABP, "zzz", {}, (0, 1)))
    assert result.problems[0].detail == "There is no tool called 'zzz'. Known are: look."


def test_a_tool_needs_its_permission() -> None:
    handler = Recorder()
    result = run(handler, {"content": "tea"}, access=READER)
    assert (result.outcome, handler.calls) == ("forbidden", [])


@pytest.mark.parametrize(
    ("error", "outcome", "code", "retry_after"),
    [
        (NotFoundError("No such memory."), "failed", "not_found", None),
        (ForbiddenError("Not for another user.", attr="user_id"), "forbidden", "permission_denied", None),
        (UnavailableError("No model.", retry_after=7), "failed", "unavailable", 7),
        (InvalidParametersError([ToolProblem("naive", "Needs an offset.", "at")]), "invalid_parameters", "naive", None),
    ],
)
def test_what_a_tool_cannot_do_is_answered(
    error: MemoryHubError, outcome: str, code: str, retry_after: int | None
) -> None:
    result = run(Recorder(error), {"content": "tea"})
    assert (result.outcome, result.problems[0].code, result.retry_after) == (outcome, code, retry_after)
    assert result.retryable is (retry_after is not None)


def test_a_bug_in_a_tool_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        run(Recorder(ZeroDivisionError()), {"content": "tea"})


def test_vcp_values_become_what_schema_asks_for() -> None:
    handler = Recorder()
    written = {"content": "12", "count": "3", "words": '["a"]', "sure": "true", "inner": '{"a": null}'}
    run(handler, written, protocol=Protocol.VCP)
    assert handler.calls[0][1] == {"content": "12", "count": 3, "words": ["a"], "sure": True, "inner": {"a": None}}


@pytest.mark.parametrize("value", ["three", "", "[" * 100_000])
def test_vcp_value_that_is_none_of_its_kind_stays_text(value: str) -> None:
    assert parse_vcp_parameters({"count": value}, SCHEMA) == {"count": value}


def test_text_for_a_number_is_refused_in_abp() -> None:
    assert run(Recorder(), {"content": "tea", "count": "3"}).outcome == "invalid_parameters"


# --- registration ---------------------------------------------------------------------------------------------------


def test_a_name_occurs_once() -> None:
    with pytest.raises(ToolError, match="two tools called 'note'"):
        ToolRegistry([tool(), tool()])


@pytest.mark.parametrize("name", ["", "Note", "note it", "1note", "n" * 65])
def test_a_tool_has_a_plain_name(name: str) -> None:
    with pytest.raises(ToolError, match="no name for a tool"):
        tool(name=name)


def test_the_parameters_of_a_tool_are_an_object() -> None:
    with pytest.raises(ToolError, match="must be that of an object"):
        tool(parameters={"type": "string"})


def test_the_schema_of_a_tool_is_a_schema() -> None:
    with pytest.raises(SchemaError):
        tool(parameters={"type": "object", "properties": {"a": {"type": "nothing"}}})


def test_a_caller_is_shown_the_tools_it_may_use() -> None:
    registry = ToolRegistry([tool(), tool(name="look", permission=Permission.READ)])
    assert [each.name for each in registry.allowed(READER)] == ["look"]
    assert [each.name for each in registry.allowed(ANA)] == ["note", "look"]


# --- parameters that were cut


def test_tool_that_writes_takes_no_parameter_that_was_cut() -> None:
    handler = Recorder()
    result = run(handler, {"content": "Ana is allergic to pea"}, truncated=("content",))
    assert (result.outcome, handler.calls) == ("invalid_parameters", [])
    assert [(problem.code, problem.attr) for problem in result.problems] == [("truncated", "content")]


def test_tool_that_reads_takes_parameter_that_was_cut() -> None:
    handler = Recorder()
    reading = ToolRegistry([tool(handler, permission=Permission.READ)])
    request = ToolRequest(Protocol.ABP, "note", {"content": "pea"}, (0, 1), truncated=("content",))
    assert reading.execute(READER, request).is_done
