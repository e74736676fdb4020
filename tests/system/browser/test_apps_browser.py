"""A person pauses, stops an app, forgets what it learnt and connects another in a real browser.

Each is then tried as the app would, over real HTTP, and looked up in the database and on the disk.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Browser, Page
from pytest_django.live_server_helper import LiveServer

from apps.core.domain.scope import Permission, Scope
from apps.core.models import ApiKey
from apps.core.services import key_create
from apps.episodic.models import TimelineEvent
from apps.people.tasks import forget_learnt
from apps.semantic.models import Memory
from tests.api import MEMORIES
from tests.browser import browser_open
from tests.integration.episodic.timeline import Timeline
from tests.integration.webui.person import ANA, BEN, browser_of
from tests.system.browser.test_admin_browser import watch
from tests.system.browser.test_now_browser import width
from tests.system.browser.test_privacy_browser import aside

pytestmark = pytest.mark.django_db(transaction=True)
EVENTS = "/api/episodic/events"
SEARCH = "/api/semantic/search"


@dataclass
class App:
    """A program elsewhere, which knows the address of the hub and its key."""

    base: str
    key: str = ""

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Return the status and the answer of a request over the network."""
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {self.key}"} if self.key else {})
        data = None if body is None else json.dumps(body).encode()
        try:
            with urlopen(Request(self.base + path, data, headers, method=method), timeout=60) as answer:
                return answer.status, json.load(answer)
        except HTTPError as refusal:
            return refusal.code, json.load(refusal)

    def learn(self, content: str, user: str = ANA) -> tuple[int, str]:
        """Save a memory; return the status, and the code of a refusal."""
        status, answer = self.call("POST", MEMORIES, {"content": content, "user_id": user})
        return status, code_of(answer)

    def see(self, content: str, user: str = ANA) -> int:
        """Record an event; return the status."""
        event = {"user_id": user, "event_type": "said", "content": content, "timestamp": "2026-03-05T12:00:00Z"}
        return self.call("POST", EVENTS, event)[0]

    def knows(self, user: str | None = None) -> tuple[int, list[str]]:
        """Search, over everyone or of one user; return the status and what was found."""
        whose = {} if user is None else {"user_id": user}
        status, answer = self.call("POST", SEARCH, {"query": "what do they like?", **whose})
        return status, sorted(one["memory"]["content"] for one in answer.get("results", []))


def code_of(answer: Any) -> str:
    """Return the code of a refusal, or nothing."""
    return str(answer["errors"][0]["code"]) if "errors" in answer else ""


@pytest.fixture
def kitchen(live_server: LiveServer) -> App:
    """An app of the house whose key sees everyone."""
    _, secret = key_create(name="kitchen", scope=Scope(), permission=Permission.WRITE, actor="test")
    return App(live_server.url, secret)


@pytest.fixture
def browser() -> Iterator[Browser]:
    with browser_open() as browser:
        yield browser


def phone(browser: Browser, base: str, cookie: str) -> Page:
    """Open the pages of Ana on a small phone."""
    context = browser.new_context(viewport={"width": 320, "height": 640}, color_scheme="dark")
    context.add_cookies([{"name": "sessionid", "value": cookie, "url": base}])
    page = context.new_page()
    page.goto(base, wait_until="load")
    return page


@pytest.fixture
def cookie(settings: Any) -> str:
    """The session of Ana, made before the browser runs."""
    assert settings.SESSION_COOKIE_NAME == "sessionid"
    return browser_of(ANA).cookies["sessionid"].value


def active(user: str) -> set[str]:
    return set(Memory.objects.filter(user_id=user, status="active").values_list("content", flat=True))


def test_a_pause_refuses_what_apps_save_until_it_ends(
    cookie: str, kitchen: App, browser: Browser, live_server: LiveServer
) -> None:
    assert kitchen.learn("likes tea") == (201, "")
    page = phone(browser, live_server.url, cookie)
    complaints = watch(page)
    page.locator("summary", has_text="Pause remembering").press("Enter")
    page.locator("button", has_text="Pause").press("Enter")
    page.wait_for_selector("button >> text=Resume")
    assert width(page) == 320
    assert kitchen.learn("likes milk") == (409, "saving_paused")
    assert kitchen.learn("likes milk", BEN) == (201, "")
    assert kitchen.see("drank milk") == 409
    assert kitchen.knows(ANA) == (200, ["likes tea"])
    assert aside(lambda: active(ANA)) == {"likes tea"}
    assert not aside(TimelineEvent.objects.exists)
    page.locator("button", has_text="Resume").press("Enter")
    page.wait_for_selector("summary >> text=Pause remembering")
    assert kitchen.learn("likes milk") == (201, "")
    assert aside(lambda: active(ANA)) == {"likes tea", "likes milk"}
    assert complaints == []


def test_an_app_is_stopped_and_what_it_learnt_is_forgotten(
    cookie: str, kitchen: App, browser: Browser, live_server: LiveServer, timeline_dir: Path
) -> None:
    for user, content in ((ANA, "likes tea"), (ANA, "likes walks"), (BEN, "likes coffee")):
        assert kitchen.learn(content, user) == (201, "")
        assert kitchen.see(f"said {content}", user) == 201
    aside(lambda: Timeline().archive())
    assert kitchen.see("said goodbye") == 201
    page = phone(browser, live_server.url, cookie)
    complaints = watch(page)
    page.goto(f"{live_server.url}/apps/", wait_until="load")
    assert width(page) == 320
    page.locator("button", has_text="Stop access").press("Enter")
    page.wait_for_selector("text=Let it in again")
    assert kitchen.knows(ANA)[0] == 403
    assert kitchen.knows() == (200, ["likes coffee"])
    assert kitchen.learn("likes jam") == (403, "access_stopped")
    assert kitchen.see("said jam") == 403
    page.wait_for_selector("text=It recorded 3 events.")
    page.locator("a", has_text="Forget everything it learnt").press("Enter")
    page.wait_for_selector("text=2 memories that it made.")
    page.wait_for_selector("text=3 events that it recorded.")
    assert width(page) == 320
    page.locator("button", has_text="Forget all of this").press("Enter")
    aside(forget_learnt)
    page.wait_for_selector("text=Forgotten. This is the receipt.")  # by itself
    assert width(page) == 320
    assert aside(lambda: (active(ANA), active(BEN))) == (set(), {"likes coffee"})
    assert not aside(TimelineEvent.objects.filter(user_id=ANA).exists)
    left = aside(lambda: [event.content for event in Timeline().query().events])
    assert left == ["said likes coffee"]
    page.locator("button", has_text="bring all memories back").press("Enter")
    aside(forget_learnt)
    page.wait_for_selector("text=Its memories are back.")
    assert aside(lambda: active(ANA)) == {"likes tea", "likes walks"}
    page.goto(f"{live_server.url}/apps/", wait_until="load")
    page.locator("button", has_text="Let it in again").press("Enter")
    page.wait_for_selector("button >> text=Stop access")
    assert kitchen.knows(ANA) == (200, ["likes tea", "likes walks"])
    assert complaints == []


def test_an_app_gets_its_key_by_a_code(cookie: str, browser: Browser, live_server: LiveServer) -> None:
    app = App(live_server.url)
    status, asked = app.call("POST", "/api/connect", {"name": "Garden <b>helper</b>", "permission": "write"})
    assert status == 200
    waiting = {"device_code": asked["device_code"]}
    page = phone(browser, live_server.url, cookie)
    complaints = watch(page)
    page.goto(asked["verification_uri"], wait_until="load")
    page.fill("[name=code]", "BCDF-GHJK")
    page.locator("button", has_text="Continue").press("Enter")
    page.wait_for_selector("[role=alert]")
    page.fill("[name=code]", asked["user_code"].lower())
    page.locator("button", has_text="Continue").press("Enter")
    page.wait_for_selector("text=Garden <b>helper</b>")
    assert width(page) == 320
    page.locator("button", has_text="Let it only read").press("Enter")
    page.wait_for_selector("text=Garden <b>helper</b> is getting its key and will appear here")
    status, answer = app.call("POST", "/api/connect/token", waiting)
    assert status == 200
    app.key = answer["key"]
    assert app.knows(ANA) == (200, [])
    assert app.learn("likes jam") == (403, "permission_denied")
    assert app.knows(BEN)[1] == []
    assert code_of(app.call("POST", "/api/connect/token", waiting)[1]) == "expired_token"
    key = aside(ApiKey.objects.get)
    page.reload(wait_until="load")
    page.wait_for_selector("h2 >> text=Garden <b>helper</b>")
    assert (key.user_id, key.permission) == (ANA, Permission.READ)
    assert app.key not in str(aside(lambda: list(ApiKey.objects.values())))
    assert complaints == []
