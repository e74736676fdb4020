"""A person's pages on two real web processes: what an assistant saves appears at once, and is taken back."""

import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, WebSocketRoute, sync_playwright

from tests.system.browser.test_admin_browser import BROWSER, FLAGS, watch
from tests.system.hub import Hub, wait_for
from tests.system.test_live_processes import MEMORIES, ROOM
from tests.system.test_web_processes import ask

pytestmark = [
    pytest.mark.xdist_group("hub"),
    pytest.mark.skipif(BROWSER is None, reason="no chromium, chromium-browser or google-chrome in PATH"),
]

SIGN_IN = """
from django.test import Client
from apps.accounts.services import person_create
for name in ("ana", "ben"):
    client = Client()
    client.force_login(person_create(username=name, person_id=name))
    print(client.cookies["sessionid"].value)
"""


@pytest.fixture(scope="module")
def hub(make_place: Any) -> Iterator[Hub]:
    hub = Hub(make_place() / "hub", MEMORYHUB_WEB_PROCESSES="2")
    hub.make_cluster()
    hub.start()
    printed = re.search(r"Operator API key\s+(\S+)", hub.said())
    assert printed
    hub.key = printed[1]
    yield hub
    hub.end()


@pytest.fixture(scope="module")
def browser(hub: Hub) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=BROWSER, args=FLAGS)


@pytest.fixture(scope="module")
def sessions(hub: Hub) -> dict[str, str]:
    done = hub.command("shell", "-v", "0", "-c", SIGN_IN)
    assert done.returncode == 0, done.stderr
    return dict(zip(("ana", "ben"), done.stdout.split(), strict=True))


def home_of(browser: Browser, hub: Hub, session: str) -> Page:
    """Home on a phone, which counts what it fetches again."""
    base = f"http://127.0.0.1:{hub.port}"
    context = browser.new_context(viewport={"width": 390, "height": 844})
    context.add_cookies([{"name": "sessionid", "value": session, "url": base}])
    page = context.new_page()
    page.goto(base, wait_until="load")
    wait_for(lambda: page.get_attribute("#live-state", "data-state") == "live", "a live page", patience=20)
    page.evaluate(
        "window.topics = []; document.addEventListener('mh:topic', (event) => topics.push(event.detail.topic))"
    )
    return page


def test_what_an_assistant_saves_appears_and_is_taken_back(
    hub: Hub, browser: Browser, sessions: dict[str, str]
) -> None:
    ana, ben = (home_of(browser, hub, sessions[name]) for name in ("ana", "ben"))
    complaints = watch(ana)
    ana.evaluate("window.isSamePage = true")
    time.sleep(1.5)  # what the first frames fetch
    ben.evaluate("topics.length = 0")
    began = time.monotonic()
    assert ask(hub, "POST", MEMORIES, {"content": "Ana plays the cello", "user_id": "ana"})[0] == 201
    ana.wait_for_selector("#learned .said:has-text('Ana plays the cello')", timeout=(2 + ROOM) * 1_000)
    print(f"shown after {time.monotonic() - began:.2f} s")
    assert ana.evaluate("window.isSamePage"), "without a reload"
    ana.wait_for_selector("#latest :text('one thing')")
    assert ana.evaluate("document.documentElement.scrollWidth") == 390
    time.sleep(1)
    assert ben.evaluate("topics") == [], "another person hears nothing of it"
    ana.click("#learned button:has-text('Undo')")
    ana.wait_for_selector(".messages :text('Taken back')")
    assert ana.locator("#learned .said").count() == 0
    _, found = ask(hub, "GET", f"{MEMORIES}?user_id=ana", None)
    assert found["results"] == []
    assert complaints == []


def test_a_phone_says_since_when_its_socket_is_closed(hub: Hub, browser: Browser, sessions: dict[str, str]) -> None:
    base = f"http://127.0.0.1:{hub.port}"
    context = browser.new_context(viewport={"width": 320, "height": 640})
    context.add_cookies([{"name": "sessionid", "value": sessions["ana"], "url": base}])
    page = context.new_page()
    opened: list[WebSocketRoute] = []

    def meet(socket: WebSocketRoute) -> None:
        opened.append(socket)
        if len(opened) == 1:
            socket.connect_to_server()
        else:
            socket.close()

    page.route_web_socket(re.compile("/live"), meet)
    page.goto(base, wait_until="load")
    wait_for(lambda: page.get_attribute("#live-state", "data-state") == "live", "a live page", patience=20)
    opened[0].close()
    words = r"#live-state .mh-live-words:text-matches('^reconnecting, as of \\d\\d:\\d\\d:\\d\\d')"
    page.wait_for_selector(words, state="visible", timeout=15_000)
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    assert ask(hub, "POST", MEMORIES, {"content": "Ana plays the viola", "user_id": "ana"})[0] == 201
    page.wait_for_selector("#learned .said:has-text('Ana plays the viola')", timeout=20_000)
