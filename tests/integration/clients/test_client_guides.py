"""What the guides print for clients: each configuration is read as its client reads it, and called by the SDK."""

import ast
import asyncio
import json
import re
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from django.conf import settings
from django.urls import Resolver404, resolve
from mcp.client.client import Client as McpClient
from mcp.client.streamable_http import streamable_http_client

from memoryhub_client import Client

GUIDES = Path(settings.BASE_DIR) / "docs" / "guides"
PLUGIN = Path(settings.BASE_DIR) / "integrations" / "claude-code" / ".mcp.json"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
HOSTS = r"(?:127\.0\.0\.1:8000|localhost:8000|hub\.example\.org|host\.docker\.internal:8000)"
ADDRESS = re.compile(rf"https?://{HOSTS}(/[\w/.$-]*)?")
SOME_ID = "00000000-0000-4000-8000-000000000000"
COMMAND = re.compile(r'claude mcp add --transport http memoryhub (\S+) --header "([^"]+)"')
VARIABLE = re.compile(r"\$\{?(?:env:|input:)?([\w-]+)(?::-([^}]*))?\}?")
PAGES = sorted(GUIDES.glob("*.md"))


def blocks(page: Path, language: str) -> list[str]:
    return [text for kind, text in BLOCK.findall(page.read_text("utf-8")) if kind == language]


def servers() -> list[Any]:
    """Return the servers that the page of clients and the plugin configure, by their clients' files."""
    page = GUIDES / "clients.md"
    read = [json.loads(text) for text in [*blocks(page, "json"), PLUGIN.read_text()]]
    read += [tomllib.loads(text) for text in blocks(page, "toml")]
    kinds = ("mcpServers", "servers", "mcp_servers")
    found = [one[kind]["memoryhub"] for one in read for kind in kinds if kind in one]
    [(url, header)] = COMMAND.findall(page.read_text())
    return [*found, {"url": url, "headers": dict([header.split(": ")])}]


def address_and_headers(server: Any, key: str) -> tuple[str, dict[str, str]]:
    """Return what a client makes of a server. Only names of variables for the key are known."""
    if "bearer_token_env_var" in server:
        assert server["bearer_token_env_var"] == "MEMORYHUB_KEY"
        return server["url"], {"Authorization": f"Bearer {key}"}
    known = {"MEMORYHUB_KEY": key, "memoryhub-key": key}
    url, headers = server.get("url"), server.get("headers", {})
    if "command" in server:
        command, _, url, flag, header = server["args"]
        assert (server["command"], command, flag) == ("npx", "-y", "--header")
        headers, known = (
            dict([header.split(":")]),
            {"AUTHORIZATION": server["env"]["AUTHORIZATION"].replace("mh_...", key)},
        )

    def put_in(text: str) -> str:
        return VARIABLE.sub(lambda one: known.get(one[1]) or one[2], text)

    return put_in(url), {name: put_in(value) for name, value in headers.items()}


@pytest.mark.django_db(transaction=True)
def test_each_configuration_reaches_the_tools(url: str, key: str) -> None:
    async def tools_of(address: str, headers: dict[str, str]) -> set[str]:
        async with (
            httpx2.AsyncClient(headers=headers, timeout=30) as http,
            McpClient(streamable_http_client(address, http_client=http), mode="legacy") as client,
        ):
            return {tool.name for tool in (await client.list_tools()).tools}

    async def all_of_them() -> list[set[str]]:
        return [await tools_of(url + urlsplit(address).path, headers) for address, headers in configured]

    configured = [address_and_headers(server, key) for server in servers()]
    assert len(configured) == 7
    assert {urlsplit(address).netloc for address, _ in configured} == {"127.0.0.1:8000"}
    named = set(re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", (GUIDES / "mcp.md").read_text(), re.MULTILINE))
    tools = {name for cell in named for name in re.findall(r"`(\w+)`", cell)}
    for offered in asyncio.run(all_of_them()):
        assert offered == tools


@pytest.mark.django_db(transaction=True)
def test_python_and_bodies_of_the_page_of_clients_work(url: str, key: str, monkeypatch: Any, capsys: Any) -> None:
    page = GUIDES / "clients.md"
    monkeypatch.setenv("MEMORYHUB_KEY", key)
    [code] = blocks(page, "python")
    exec(compile(code.replace("http://127.0.0.1:8000", url), "clients.md", "exec"), {})
    assert "Ana moors the boat in Horta." in capsys.readouterr().out
    bodies = [body for body in map(json.loads, blocks(page, "json")) if {"message", "content"} & body.keys()]
    assert len(bodies) == 2
    with httpx2.Client(headers={"Authorization": f"Bearer {key}"}, timeout=30) as http:
        for body in bodies:
            path = "/api/context" if "message" in body else "/api/semantic/memories"
            assert path in page.read_text()
            assert http.post(url + path, json=body).is_success
    with Client(url, key) as hub:
        assert hub.search("boat")["count"] == 1


def unknown_address(path: str) -> bool:
    """Return whether the hub has no such address. path: with variables of a shell for ids."""
    try:
        resolve(re.sub(r"\$\w+", SOME_ID, path).rstrip(".") or "/")
    except Resolver404:
        return True
    return False


def test_addresses_on_guides_exist_and_their_python_is_read() -> None:
    named = {path for page in PAGES for path in ADDRESS.findall(page.read_text("utf-8"))}
    assert len(named) > 20
    assert {path for path in named if unknown_address(path)} == set()
    for page in PAGES:
        for code in blocks(page, "python"):
            compile(code, page.name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
