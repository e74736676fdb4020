"""MCP over HTTP: who is let in, what is refused, and what a client may keep."""

import json
import logging

import pytest

from apps.core.domain.scope import Permission, Scope
from apps.core.key_usage import key_usage
from apps.core.models import KeyDay
from apps.mcp.calls import NO_ONE
from tests.api import Api, api_for
from tests.mcp import call, message, said

pytestmark = pytest.mark.django_db
ANA = Scope("ana")
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def test_a_key_is_needed() -> None:
    for api in (Api("mh_wrong"), Api(api_for(ANA).key + "x")):
        answer = message(api, "tools/list")
        assert answer.status_code == 401
        assert answer["WWW-Authenticate"].startswith('Bearer realm="MemoryHub", resource_metadata="')
    assert Api().client.post("/mcp").status_code == 401


def test_a_key_acts_for_one_person(settings) -> None:
    unbound = api_for(Scope(), Permission.OPERATOR)
    refused = message(unbound, "tools/list")
    assert (refused.status_code, refused.json()["errors"][0]["detail"]) == (403, NO_ONE)
    api_for(Scope("ben")).save("Ben's number is 4711.")
    settings.MEMORYHUB = settings.MEMORYHUB.__class__(**{**vars(settings.MEMORYHUB), "default_user": "ana"})
    unbound.save("Ana's number is 12.", user_id="ana")
    assert [row["content"] for row in call(unbound, "query", {"query": "number"})["structuredContent"]["results"]] == [
        "Ana's number is 12."
    ]


def test_pages_of_other_hosts_and_other_hosts_are_refused() -> None:
    api = api_for(ANA)
    for origin in ("https://evil.example", "null", "http://[::", "file://"):
        assert message(api, "ping", Origin=origin).status_code == 403
    for origin in ("http://localhost:6274", "http://testserver"):
        assert message(api, "ping", Origin=origin).status_code == 200
    assert message(api, "ping", Host="evil.example").status_code == 400


def test_only_messages_are_taken() -> None:
    api = api_for(ANA)
    for method in ("GET", "DELETE", "PUT"):
        assert api.call(method, "/mcp").status_code == 405
    # How Claude Code asks whether there is a stream of events.
    asked = api.call("GET", "/mcp", Accept="text/event-stream")
    assert (asked.status_code, asked["Allow"]) == (405, "POST, OPTIONS")
    for body in ("{", "[]", '"x"', "{}", '{"jsonrpc": "2.0"}', "NaN", "[" * 5_000, '{"a": 1, "a": 2}'):
        answer = api.post("/mcp", body)
        assert answer.status_code in {400, 406}, (body[:20], answer.content)
    assert api.post("/mcp", "x" * 3_000_000).status_code in {400, 413}


def test_lists_of_a_key_are_private() -> None:
    api = api_for(ANA)
    for method, params in (("tools/list", {}), ("resources/read", {"uri": "memoryhub://profile"})):
        headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
        if "uri" in params:
            headers["Mcp-Name"] = params["uri"]
        answer = message(api, method, {**params, "_meta": MODERN}, **headers)
        assert answer.status_code == 200, answer.content
        assert answer.json()["result"]["cacheScope"] == "private"


def test_the_use_of_a_key_is_counted() -> None:
    message(api_for(ANA), "ping")
    key_usage().flush()
    assert [(day.used, day.refused) for day in KeyDay.objects.all()] == [(1, 0)]


def test_a_fault_is_told_without_its_text(monkeypatch, caplog) -> None:
    def fail(*_args, **_options):
        raise RuntimeError("of a secret")

    monkeypatch.setattr("apps.mcp.calls.tool_run", fail)
    with caplog.at_level(logging.ERROR):
        result = call(api_for(ANA), "query", {"query": "tea"})
    assert result["isError"]
    assert "secret" not in json.dumps(result)
    assert said(result).startswith("Something went wrong.")


def test_the_prompt_and_the_resource_are_listed() -> None:
    api = api_for(ANA)
    assert [one["uri"] for one in message(api, "resources/list").json()["result"]["resources"]] == [
        "memoryhub://profile"
    ]
    [prompt] = message(api, "prompts/list").json()["result"]["prompts"]
    [text] = message(api, "prompts/get", {"name": prompt["name"]}).json()["result"]["messages"]
    assert "Call save once for each" in text["content"]["text"]
    assert message(api, "resources/read", {"uri": "memoryhub://other"}).json()["error"]["code"] == -32002
