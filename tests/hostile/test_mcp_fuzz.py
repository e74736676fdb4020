"""Calls of MCP that no client would send: none is a fault of the hub, none hangs, none tells what is another's.

MCP_FUZZED says how many are sent; the gate sends a few hundred.
"""

import json
import logging
import os
import random
import time
from typing import Any

import pytest

from apps.core.domain.scope import Scope
from apps.mcp.calls import mcp_tools
from tests.api import Api, api_for
from tests.mcp import REVISION

pytestmark = pytest.mark.django_db

COUNT = int(os.environ.get("MCP_FUZZED", "300"))
SECRET = "sentinel4711"
METHODS = (
    "tools/call", "tools/call", "tools/call", "tools/call", "tools/list", "resources/read", "prompts/get", "initialize",
    "ping", "server/discover", "notifications/cancelled", "subscriptions/listen", "completion/complete", "no/such",
)  # fmt: skip
REVISIONS = (REVISION, "2025-06-18", "2025-03-26", "2026-07-28", "1999-01-01", "", "x" * 300)
TEXTS = (
    "", " ", "tea", "ben", SECRET[:-1], "\x00", "\ud800", "‮", "🍵" * 50, "a" * 20_000, "{}", "[[1]", "null", "-0",
    "1e999", "NaN", "2026-02-30", "9999-12-31T23:59:59+23:59", "0001-01-01", "' OR 1=1 --", "%00", "../../etc/passwd",
)  # fmt: skip
KEYS = (
    "content", "query", "user_id", "household_id", "id", "action", "limit", "from", "to", "last_days", "include",
    "max_tokens", "importance", "keywords", "timestamp", "expires_at", "what", "name", "_meta", "__class__", "",
)  # fmt: skip
IDS = (1, 2, 3, "a", "b", 7, None, -1, 10**30, [])
ODD_HEADERS = ("Mcp-Method", "Mcp-Name", "Mcp-Session-Id", "Accept")


def any_value(rng: random.Random, depth: int = 0) -> Any:
    """Return a value of JSON, of any kind."""
    kind = rng.randrange(9 if depth < 3 else 7)
    if kind < 3:
        return rng.choice(TEXTS)
    if kind == 3:
        return rng.choice([0, -1, 1, 10**15, 10**400, -(2**63), 0.5, 1e308, 5])
    if kind < 6:
        return rng.choice([True, False, None])
    if kind == 6:
        return rng.choice(["correct", "forget", "reinforce", "memories", "events", "5", "0.7", "tea, milk"])
    if kind == 7:
        return [any_value(rng, depth + 1) for _ in range(rng.randrange(6))]
    return {rng.choice(KEYS): any_value(rng, depth + 1) for _ in range(rng.randrange(5))}


def any_message(rng: random.Random, known: str) -> Any:
    """Return a message: mostly a call of a tool with arguments of which some are wrong."""
    method = rng.choice(METHODS)
    tool = rng.choice(list(mcp_tools()))
    names = [*tool.parameters["properties"], rng.choice(KEYS)]
    arguments: Any = {name: any_value(rng) for name in names if rng.random() < 0.5}
    for name in tool.parameters["required"]:
        if rng.random() < 0.8:
            arguments[name] = {"id": known, "action": rng.choice(["forget", "correct"])}.get(name, "tea with " + known)
    if rng.random() < 0.1:
        arguments = any_value(rng)
    params: Any = {"name": tool.name if rng.random() < 0.9 else rng.choice(TEXTS), "arguments": arguments}
    if method == "resources/read":
        params = {"uri": rng.choice([*TEXTS, "memoryhub://profile", "file:///etc/passwd"])}
    message: Any = {
        "jsonrpc": "2.0",
        "id": rng.choice(IDS),
        "method": method,
        "params": params,
    }
    if rng.random() < 0.1:
        message = any_value(rng)
    elif rng.random() < 0.1:
        message[rng.choice(["jsonrpc", "id", "method", "params", "extra"])] = any_value(rng)
    return message


def send(api: Api, rng: random.Random, message: Any) -> tuple[int, str]:
    """Send a message, sometimes cut or with odd headers, and return status and answer."""
    body = json.dumps(message).encode()
    if rng.random() < 0.03:
        body = body[: rng.randrange(len(body) + 1)] + rng.choice([b"", b"\xff", b"]", b"\x00"])
    revision = rng.choice(REVISIONS) if rng.random() < 0.2 else REVISION
    headers = {"Authorization": f"Bearer {api.key}", "Accept": "application/json, text/event-stream"}
    if revision:
        headers["MCP-Protocol-Version"] = revision
    if rng.random() < 0.1:
        headers[rng.choice(ODD_HEADERS)] = rng.choice(["tools/call", "x", "*/*"])
    path = rng.choice(["/mcp", "/mcp", "/mcp/p/atlas", f"/mcp/p/{'x' * (300 if rng.random() < 0.2 else 20)}"])
    answer = api.client.generic("POST", path, body, content_type="application/json", headers=headers)
    return answer.status_code, answer.content.decode()


def test_no_call_is_a_fault_or_tells_of_others(caplog) -> None:
    foreign = api_for(Scope("ben")).save(f"Ben's tea is {SECRET}.")
    api, rng = api_for(Scope("ana")), random.Random(4711)
    seen: dict[int, int] = {}
    slowest = 0.0
    with caplog.at_level(logging.ERROR):
        for number in range(COUNT):
            message = any_message(rng, foreign["id"])
            began = time.monotonic()
            status, answer = send(api, rng, message)
            slowest = max(slowest, time.monotonic() - began)
            where = f"number {number}: {json.dumps(message)[:2_000]}"
            assert status < 500, (where, answer[:500])
            assert SECRET not in answer, where
            assert "Traceback" not in answer, where
            assert "Something went wrong" not in answer, (where, [record.exc_text for record in caplog.records])
            seen[status] = seen.get(status, 0) + 1
    assert api_for(Scope("ben")).get(f"/api/semantic/memories/{foreign['id']}").json()["content"].endswith(f"{SECRET}.")
    assert seen.get(200, 0) > COUNT / 3, seen
    assert slowest < 10
    print(f"{COUNT} calls: {dict(sorted(seen.items()))}, the slowest {slowest:.2f} s")
