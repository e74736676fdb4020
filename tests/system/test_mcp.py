"""MCP on a whole hub with two web processes: the SDK's own client in each revision, and the hub's end with the loop."""

import asyncio
import os
import re
import shlex
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.mcp_front import Front
from tests.system.hub import PROJECT, Hub, free_port

pytestmark = [pytest.mark.xdist_group("another hub"), pytest.mark.deep]
REVISIONS = ("2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26")
# Of different matters: of two alike, search puts the newer one first.
FACTS = (
    "The bakery opens at seven.",
    "Ana sold her cello in May.",
    "Tea is cheaper than coffee here.",
    "Our tent has a hole near the door.",
    "Nobody in the team likes long meetings.",
    "Two screws are missing on the gate.",
)


@pytest.fixture(scope="module")
def hub(make_place):
    hub = Hub(make_place() / "hub", MEMORYHUB_WEB_PROCESSES="2", MEMORYHUB_DEFAULT_USER="ana")
    hub.make_cluster()
    hub.start()
    printed = re.search(r"Operator API key\s+(\S+)", hub.said())
    assert printed
    hub.key = printed[1]
    yield hub
    hub.end()


async def walk(hub: Hub, revision: str, fact: str) -> dict[str, Any]:
    """Do with the SDK's client what an agent does, and return what it saw. fact: its own, forgotten at the end."""
    mode = revision if revision == "2026-07-28" else "legacy"
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {hub.key}"}, timeout=30) as http:
        transport = streamable_http_client(f"http://127.0.0.1:{hub.port}/mcp/p/atlas", http_client=http)
        async with Client(transport, mode=mode) as client:
            tools = await client.list_tools()
            saved = await client.call_tool("save", {"content": fact})
            again = await client.call_tool("save", {"content": fact})
            known = await client.call_tool("context", {"task": fact, "max_tokens": "800"})
            found = await client.call_tool("query", {"query": fact, "limit": "3"})
            wrong = await client.call_tool("query", {"query": "harbour", "user_id": "ben"})
            recorded = await client.call_tool("record", {"content": f"Walked {revision}."})
            profile = await client.read_resource("memoryhub://profile")
            prompts = await client.list_prompts()
            forgot = await client.call_tool("update", {"id": saved.structured_content["id"], "action": "forget"})
            return {
                "version": client.session.protocol_version,
                "tools": [tool.name for tool in tools.tools],
                "saved": saved.structured_content,
                "again": again.structured_content,
                "known": [item["text"] for item in known.structured_content["items"]],
                "found": fact in found.content[0].text,
                "wrong": (wrong.is_error, wrong.content[0].text),
                "recorded": recorded.structured_content["changed"],
                "profile": profile.contents[0].mime_type,
                "prompts": len(prompts.prompts),
                "forgot": forgot.is_error,
            }


@pytest.mark.parametrize("revision", REVISIONS)
def test_client_of_the_sdk_in_each_revision(hub: Hub, revision: str, monkeypatch) -> None:
    if revision != "2026-07-28":
        monkeypatch.setattr("mcp.client.session.LATEST_HANDSHAKE_VERSION", revision)
    seen = asyncio.run(walk(hub, revision, f"The harbour opens at {revision[-2:]} o'clock."))
    assert seen["version"] == revision
    assert seen["tools"][:3] == ["context", "save", "update"]
    assert f"The harbour opens at {revision[-2:]} o'clock." in seen["known"]
    assert seen["saved"]["changed"]
    assert not seen["again"]["changed"]
    assert seen["found"]
    assert seen["wrong"][0]
    assert "user_id: Unknown parameter." in seen["wrong"][1]
    assert seen["recorded"]
    assert (seen["profile"], seen["prompts"], seen["forgot"]) == ("text/markdown", 1, False)


def test_library_of_the_protocol_is_not_loaded_at_the_start(hub: Hub) -> None:
    loaded = "import sys; from django.urls import resolve; resolve('/mcp'); print('mcp.server' in sys.modules)"
    assert hub.command("shell", "-v", "0", "-c", loaded).stdout.split() == ["False"]


def test_many_clients_at_once(hub: Hub) -> None:
    async def all_of_them() -> list[dict[str, Any]]:
        return await asyncio.gather(*(walk(hub, "2026-07-28", fact) for fact in FACTS))

    began = time.monotonic()
    for seen in asyncio.run(all_of_them()):
        assert seen["found"]
    assert time.monotonic() - began < 60


@pytest.mark.skipif("MCP_CONFORMANCE" not in os.environ, reason="MCP_CONFORMANCE names no command (needs Node 22)")
@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_conformance_suite_finds_what_is_expected(hub: Hub, revision: str, tmp_path: Path) -> None:
    front = Front(free_port(), f"http://127.0.0.1:{hub.port}", hub.key)
    threading.Thread(target=front.serve_forever, daemon=True).start()
    url, expected = (
        f"http://127.0.0.1:{front.server_port}/mcp",
        PROJECT / f"tests/mcp_expected_failures_{revision}.yaml",
    )
    options = ["--url", url, "--requirements", revision, "--expected-failures", str(expected), "-o", str(tmp_path)]
    command = [*shlex.split(os.environ["MCP_CONFORMANCE"]), "server", *options]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    finally:
        front.shutdown()
    assert ran.returncode == 0, ran.stdout[-3_000:] + ran.stderr[-1_000:]


def test_hub_with_a_loop_ends_in_time(hub: Hub) -> None:
    began = time.monotonic()
    hub.process.terminate()
    assert hub.process.wait(20) == 0
    assert time.monotonic() - began < 15
    assert "Traceback" not in hub.said()
