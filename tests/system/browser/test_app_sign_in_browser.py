"""An app signs in to a whole hub: the SDK's own client of OAuth, a person in Chromium, and two web processes."""

import asyncio
import json
import os
import queue
import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from mcp.client.auth import OAuthClientProvider
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata
from playwright.sync_api import Browser, Page

from tests.browser import browser_open
from tests.system.beside import Beside
from tests.system.browser.test_admin_browser import watch
from tests.system.hub import Hub

pytestmark = pytest.mark.xdist_group("hub")
PASSWORD = "correct horse battery"
PEOPLE = f"""
from django.contrib.auth.models import User
from apps.accounts.services import person_create
for name in ("ana", "ben"):
    login = person_create(username=name, person_id=name)
    login.set_password("{PASSWORD}")
    login.save()
"""
PATIENCE = 60
FACT, FOREIGN = "The signed-in agent likes sencha.", "Ben's number is 4711."


class Kept:
    """Where the client keeps its tokens and its registration."""

    def __init__(self) -> None:
        self.tokens: Any = None
        self.client: Any = None

    async def get_tokens(self) -> Any:
        return self.tokens

    async def set_tokens(self, tokens: Any) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> Any:
        return self.client

    async def set_client_info(self, client_info: Any) -> None:
        self.client = client_info


class Agent:
    """An app of the SDK on the person's machine, with the address where it waits for them."""

    def __init__(self, hub: Hub, path: str = "/mcp") -> None:
        self.hub, self.address = hub, f"http://127.0.0.1:{hub.port}{path}"
        self.kept, self.asked, told = Kept(), queue.Queue[str](), queue.Queue[dict[str, list[str]]]()
        self.told, self.code = told, ""

        class Back(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                told.put(parse_qs(urlsplit(self.path).query))
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(b"<title>Back</title>You may close this window.")

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Back)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def provider(self) -> OAuthClientProvider:
        async def lead(url: str) -> None:
            self.asked.put(url)

        async def wait() -> AuthorizationCodeResult:
            told = await asyncio.to_thread(self.told.get, timeout=PATIENCE)
            self.code = told["code"][0]
            return AuthorizationCodeResult(code=told["code"][0], state=told["state"][0], iss=told["iss"][0])

        said = OAuthClientMetadata(
            client_name="Test agent",
            redirect_uris=[f"http://127.0.0.1:{self.server.server_port}/back"],
            token_endpoint_auth_method="none",
        )
        return OAuthClientProvider(self.address, said, self.kept, lead, wait)

    async def use(self) -> dict[str, Any]:
        """List the tools, save something and look for it, signing in where that is needed."""
        async with httpx2.AsyncClient(auth=self.provider(), timeout=PATIENCE) as http:
            transport = streamable_http_client(self.address, http_client=http)
            async with Client(transport, mode="2026-07-28") as client:
                tools = await client.list_tools()
                saved = await client.call_tool("save", {"content": FACT})
                found = await client.call_tool("query", {"query": FACT, "limit": 50})
                foreign = await client.call_tool("query", {"query": FOREIGN, "limit": 50})
                wrong = await client.call_tool("query", {"query": "tea", "user_id": "ben"})
                return {
                    "tools": [tool.name for tool in tools.tools],
                    "saved": saved.structured_content,
                    "found": found.content[0].text,
                    "foreign": foreign.content[0].text,
                    "wrong": wrong.is_error,
                }

    def run(self) -> "queue.Queue[Any]":
        """Begin in a thread of its own, and return where its answer will be."""
        answer: queue.Queue[Any] = queue.Queue()

        def work() -> None:
            try:
                answer.put(asyncio.run(self.use()))
            except BaseException as error:  # noqa: BLE001
                answer.put(error)

        threading.Thread(target=work, daemon=True).start()
        return answer

    def token(self, **said: str) -> httpx2.Response:
        """Ask for tokens as the app that the SDK registered."""
        sent = {"client_id": self.kept.client.client_id, **said}
        return httpx2.post(f"http://127.0.0.1:{self.hub.port}/oauth/token", data=sent)

    def status(self, token: str, path: str = "/mcp") -> int:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
        headers["MCP-Protocol-Version"] = "2025-11-25"
        return httpx2.post(f"http://127.0.0.1:{self.hub.port}{path}", json=message, headers=headers).status_code


@pytest.fixture(scope="module")
def hub(make_place: Callable[[], Path]) -> Iterator[Hub]:
    hub = Hub(make_place() / "hub", MEMORYHUB_WEB_PROCESSES="2")
    try:
        hub.make_cluster()
        hub.start()
        with Beside(hub) as beside:
            beside.run(PEOPLE)
        printed = re.search(r"Operator API key\s+(\S+)", hub.said())
        assert printed
        hub.key = printed[1]
        yield hub
    finally:
        hub.end()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browser_open() as browser:
        yield browser


def let_in(page: Page, url: str, picture: str = "") -> None:
    """Sign in as the person, and let the app in, with the keyboard alone."""
    page.goto(url)
    page.fill("[name=username]", "ana")
    page.fill("[name=password]", PASSWORD)
    page.keyboard.press("Enter")
    page.locator("h1", has_text="Let this app in?").wait_for()
    if picture:
        page.screenshot(path=picture, full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    button = page.get_by_role("button", name="Let it read and write")
    for _ in range(40):
        page.keyboard.press("Tab")
        if button.evaluate("one => one === document.activeElement"):
            break
    page.keyboard.press("Enter")
    page.wait_for_url("http://127.0.0.1:*/back?*")


def test_client_of_the_sdk_signs_in_and_out(hub: Hub, browser: Browser) -> None:
    foreign = {"content": FOREIGN, "user_id": "ben"}
    with httpx2.Client(base_url=f"http://127.0.0.1:{hub.port}", headers={"Authorization": f"Bearer {hub.key}"}) as api:
        assert api.post("/api/semantic/memories", json=foreign).status_code == 201
    agent = Agent(hub)
    answer = agent.run()
    with browser.new_context(viewport={"width": 360, "height": 740}) as context:
        page = context.new_page()
        complaints = watch(page)
        let_in(page, agent.asked.get(timeout=PATIENCE), os.environ.get("SIGN_IN_PICTURE", ""))
        seen = answer.get(timeout=PATIENCE)
        if isinstance(seen, BaseException):
            raise seen
        assert "save" in seen["tools"]
        assert seen["saved"]["changed"]
        assert FACT in seen["found"]
        assert "4711" not in json.dumps(seen)
        assert seen["wrong"]
        token = agent.kept.tokens.access_token
        assert [agent.status(token, path) for path in ("/mcp", "/mcp/p/atlas", "/api/semantic/search")] == [
            200,
            200,
            401,
        ]
        # What it holds works again, without asking; then its person stops it.
        assert agent.run().get(timeout=PATIENCE)["saved"]["changed"] is False
        page.goto(f"http://127.0.0.1:{hub.port}/apps/")
        page.get_by_role("link", name="Test agent").first.click()
        page.get_by_role("button", name=re.compile("Stop")).click()
        page.get_by_text("You stopped it").wait_for()
        assert agent.status(token) == 403
        assert complaints == []


def test_over_http_what_is_over_or_comes_again_is_refused(hub: Hub, browser: Browser) -> None:
    agents = [Agent(hub), Agent(hub, "/mcp/p/atlas")]
    with browser.new_context() as context:
        page = context.new_page()
        for number, agent in enumerate(agents):
            answer, url = agent.run(), agent.asked.get(timeout=PATIENCE)
            if number == 0:
                let_in(page, url)
            else:
                page.goto(url)
                page.get_by_text("belongs to the project atlas").wait_for()
                page.get_by_role("button", name="Let it read and write").click()
                page.wait_for_url("http://127.0.0.1:*/back?*")
            seen = answer.get(timeout=PATIENCE)
            assert isinstance(seen, dict), seen
    everywhere, atlas = agents
    first = everywhere.kept.tokens
    with Beside(hub) as beside:
        beside.run(
            "from apps.core.models import ApiKey\n"
            "from django.db.models import F\n"
            "ApiKey.objects.exclude(resource='').filter(resource__endswith='/mcp').update(secret_until=F('created_at'))"
        )
    assert everywhere.status(first.access_token) == 401  # expired
    refreshed = everywhere.token(grant_type="refresh_token", refresh_token=first.refresh_token)
    second = refreshed.json()
    assert everywhere.status(second["access_token"]) == 200
    again = everywhere.token(grant_type="refresh_token", refresh_token=first.refresh_token)
    assert (again.status_code, again.json()["error"]) == (400, "invalid_grant")  # used before
    assert everywhere.status(second["access_token"]) == 401
    token = atlas.kept.tokens.access_token
    assert [atlas.status(token, path) for path in ("/mcp/p/atlas", "/mcp", "/mcp/p/other")] == [200, 401, 401]
    replayed = atlas.token(grant_type="authorization_code", code=atlas.code, code_verifier="v" * 64)
    assert (replayed.status_code, replayed.json()["error"]) == (400, "invalid_grant")
    assert atlas.status(token, "/mcp/p/atlas") == 401
