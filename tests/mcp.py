"""Calling MCP in tests as a client does, message by message."""

import json
from typing import Any

from django.http import HttpResponse

from tests.api import Api

REVISION = "2025-11-25"


def message(api: Api, method: str, params: Any = None, *, path: str = "/mcp", **headers: str) -> HttpResponse:
    """Send one message, and return the answer over HTTP."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}})
    sent = {
        "Authorization": f"Bearer {api.key}",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": REVISION,
        **headers,
    }
    return api.client.generic("POST", path, body, content_type="application/json", headers=sent)


def call(api: Api, name: str, arguments: Any = None, **options: Any) -> dict[str, Any]:
    """Call a tool, and return its result."""
    answer = message(api, "tools/call", {"name": name, "arguments": arguments or {}}, **options)
    assert answer.status_code == 200, answer.content
    result: dict[str, Any] = answer.json()["result"]
    return result


def said(result: dict[str, Any]) -> str:
    """Return what a result says to the model."""
    [content] = result["content"]
    text: str = content["text"]
    return text
