"""`memoryhub mcp`: an MCP server on standard input and output, for clients that speak no HTTP. The running hub answers.

One process without children: each message that is read is sent to `/mcp` of the hub, and its answer is written.
"""

from __future__ import annotations

import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TextIO
from urllib.parse import quote

import httpx2

from memoryhub_client.sending import Settings, failure

VERSION = "io.modelcontextprotocol/protocolVersion"
AT_ONCE = 8
INTERNAL_ERROR = -32603


class Bridge:
    """Passes messages to a hub, several at once, and writes answers one at a time."""

    def __init__(self, http: httpx2.Client, path: str, output: TextIO) -> None:
        self.http, self.path, self.output = http, path, output
        self.version: str | None = None
        self._writing = threading.Lock()

    def run(self, lines: TextIO) -> None:
        """Pass every line on until the input ends, and wait for what is under way."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for line in lines:
                try:
                    message = json.loads(line)
                except ValueError:
                    continue
                if not isinstance(message, dict):
                    continue
                # What follows depends on the version that the hub chooses.
                if message.get("method") == "initialize":
                    self.pass_on(message)
                else:
                    pool.submit(self.pass_on, message)

    def pass_on(self, message: dict[str, Any]) -> None:
        """Send a message to the hub, and write its answer; a request is always answered."""
        try:
            answer = self.http.post(self.path, json=message, headers=self.headers_of(message))
            body = answer.json() if answer.content else None
            if not isinstance(body, dict) or "jsonrpc" not in body:
                body = None if answer.is_success else error_of(message, refusal_of(answer.status_code, body))
        except httpx2.TransportError as lost:
            body = error_of(message, str(failure(lost)))
        except ValueError:
            body = error_of(message, "The hub's answer cannot be read.")
        if body is not None and "id" in message:
            if message.get("method") == "initialize":
                self.version = (body.get("result") or {}).get("protocolVersion")
            with self._writing:
                self.output.write(json.dumps(body) + "\n")
                self.output.flush()

    def headers_of(self, message: dict[str, Any]) -> dict[str, str]:
        """Return the headers that the protocol wants beside a message."""
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        meta = params.get("_meta")
        version = (meta.get(VERSION) if isinstance(meta, dict) else None) or self.version
        headers = {"Accept": "application/json, text/event-stream"}
        named = {
            "MCP-Protocol-Version": version,
            "Mcp-Method": message.get("method"),
            "Mcp-Name": params.get("name") or params.get("uri"),
        }
        return headers | {name: value for name, value in named.items() if isinstance(value, str) and value.isascii()}


def refusal_of(status: int, body: Any) -> str:
    """Return why the hub refused, in its own words where it has any."""
    errors = body.get("errors") if isinstance(body, dict) else None
    return str(errors[0].get("detail")) if errors else f"The hub answered {status}."


def error_of(message: dict[str, Any], text: str) -> dict[str, Any]:
    """Return the answer to a request that failed."""
    return {"jsonrpc": "2.0", "id": message.get("id"), "error": {"code": INTERNAL_ERROR, "message": text}}


def main() -> None:
    """Run `memoryhub mcp [PROJECT]`, with MEMORYHUB_URL and MEMORYHUB_KEY."""
    if len(sys.argv) not in {2, 3} or sys.argv[1] != "mcp":
        sys.exit("Usage: memoryhub mcp [PROJECT]. MEMORYHUB_URL and MEMORYHUB_KEY say which hub, and who.")
    path = f"/mcp/p/{quote(sys.argv[2], safe='')}" if len(sys.argv) == 3 else "/mcp"
    with httpx2.Client(**Settings(timeout=60).for_httpx()) as http:
        Bridge(http, path, sys.stdout).run(sys.stdin)
