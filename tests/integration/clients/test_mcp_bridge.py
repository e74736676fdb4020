"""`memoryhub mcp` as a process, called by the SDK's own client, against a hub with a real HTTP server."""

import asyncio
import os
import subprocess
import sys
import time

import psutil
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from memoryhub_client import Client

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_agent_without_http_saves_and_leaves_no_process(url: str, key: str) -> None:
    environment = {"MEMORYHUB_URL": url, "MEMORYHUB_KEY": key, "PATH": os.environ["PATH"]}
    code = "import sys; sys.argv[1:] = ['mcp']; from memoryhub_client.mcp import main; main()"
    server = StdioServerParameters(command=sys.executable, args=["-c", code], env=environment)

    async def work() -> tuple[float, set[str]]:
        began = time.monotonic()
        async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            took = time.monotonic() - began
            names = {tool.name for tool in (await session.list_tools()).tools}
            await session.call_tool("save", {"content": "Ana keeps four bees."})
            return took, names

    before = set(psutil.Process().children(recursive=True))
    took, names = asyncio.run(work())
    print(f"ready after {took:.2f} s")
    assert {"save", "update", "record"} <= names
    with Client(url, key) as hub:
        assert hub.search("bees")["count"] == 1
    left = set(psutil.Process().children(recursive=True)) - before
    assert [one for one in left if one.is_running() and "memoryhub_client.mcp" in " ".join(one.cmdline())] == []


def test_a_hub_that_is_down_is_said(key: str) -> None:
    code = "import sys; sys.argv[1:] = ['mcp']; from memoryhub_client.mcp import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        input=b'not json\n{"jsonrpc": "2.0", "id": 7, "method": "tools/list"}\n{"jsonrpc": "2.0", "method": "x"}\n',
        env={"MEMORYHUB_URL": "http://127.0.0.1:9", "MEMORYHUB_KEY": key},
        capture_output=True,
        timeout=30,
        check=True,
    )
    assert ran.stdout.count(b"\n") == 1
    assert b'"id": 7' in ran.stdout
    assert b"could not be reached" in ran.stdout
