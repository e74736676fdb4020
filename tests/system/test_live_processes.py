"""Live pages on two real web processes: changes reach both, and a page finds the other one when its own is killed.

On a person's pages, what an assistant saves appears at once, and is taken back.
"""

import contextlib
import json
import re
import time
from collections.abc import Iterator
from typing import Any

import psutil
import pytest
from playwright.sync_api import Browser, Page, WebSocketRoute
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

from tests.browser import browser_open
from tests.nginx import Proxy
from tests.system.browser.test_admin_browser import watch
from tests.system.hub import Hub, wait_for
from tests.system.test_web_processes import ask
from tests.system.test_web_server import web_processes

pytestmark = pytest.mark.xdist_group("hub")

MEMORIES = "/api/semantic/memories"
# What a machine that is busy with other tests adds.
ROOM = 3.0
SIGN_IN = """
from django.contrib.auth.models import User
from django.test import Client
client = Client()
client.force_login(User.objects.create_superuser("operator"))
print(client.cookies["sessionid"].value)
"""
SIGN_IN_PERSONS = """
from django.test import Client
from apps.accounts.services import person_create
for name in ("cleo", "dora"):
    client = Client()
    client.force_login(person_create(username=name, person_id=name))
    print(client.cookies["sessionid"].value)
"""
# A part of a page, as the templates write it. Its answer is a document of the hub, whatever it says.
PART = """
() => {
  window.topics = [];
  document.addEventListener("mh:topic", (event) => topics.push(event.detail.topic));
  const attributes = 'data-live="memories" hx-get="/healthz" hx-trigger="live" hx-swap="innerHTML"';
  document.querySelector("#content").insertAdjacentHTML("beforeend", `<section id="part" ${attributes}>-</section>`);
  htmx.process(document.querySelector("#part"));
}
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
def session(hub: Hub) -> str:
    return hub.shell(SIGN_IN)


def save(hub: Hub) -> None:
    assert ask(hub, "POST", MEMORIES, {"content": f"tea {time.monotonic()}", "user_id": "ana"})[0] in {200, 201}


@contextlib.contextmanager
def socket_to(hub: Hub | Proxy, session: str) -> Iterator[ClientConnection]:
    origin = f"http://127.0.0.1:{hub.port}"
    headers = {"Origin": origin, "Cookie": f"sessionid={session}"}
    with connect(f"ws://127.0.0.1:{hub.port}/live", additional_headers=headers) as socket:
        yield socket


@contextlib.contextmanager
def socket_on_each(hub: Hub, session: str) -> Iterator[dict[int, ClientConnection]]:
    """A socket on each of both processes, by process id."""
    with contextlib.ExitStack() as stack:
        sockets: dict[int, ClientConnection] = {}

        def reaches_both() -> bool:
            with contextlib.suppress(InvalidStatus):  # of a process that only begins
                socket = stack.enter_context(socket_to(hub, session))
                sockets.setdefault(process_of(hub, socket), socket)
            return len(sockets) == 2

        wait_for(reaches_both, "a socket on each process", patience=60)
        yield sockets


def process_of(hub: Hub, socket: ClientConnection) -> int:
    """The web process at the other end."""
    port = socket.local_address[1]
    for process in web_processes(hub):
        if any(one.raddr and one.raddr.port == port for one in process.net_connections("tcp")):
            return process.pid
    raise AssertionError("no web process has this socket")


def wait_for_replacement(hub: Hub, session: str, pid: int) -> None:
    """Wait until another process serves in the place of a killed one."""
    wait_for(lambda: pid not in {process.pid for process in web_processes(hub)}, "another process", patience=60)
    with socket_on_each(hub, session) as sockets:
        assert pid not in sockets


def wait_for_memories(socket: ClientConnection, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while json.loads(socket.recv(max(0.0, deadline - time.monotonic())))["topic"] != "memories":
        pass


def test_a_change_reaches_sockets_on_both_processes(hub: Hub, session: str) -> None:
    with socket_on_each(hub, session) as sockets:
        began = time.monotonic()
        save(hub)
        for socket in sockets.values():
            wait_for_memories(socket, 2 + ROOM)
        assert time.monotonic() - began < 2 + ROOM


def test_without_a_session_there_is_no_socket(hub: Hub) -> None:
    with pytest.raises(InvalidStatus), socket_to(hub, "0123456789abcdef0123456789abcdef"):
        pass


@pytest.fixture(scope="module")
def browser(hub: Hub) -> Iterator[Browser]:
    with browser_open() as browser:
        yield browser


@pytest.fixture(scope="module")
def sessions(hub: Hub) -> dict[str, str]:
    return dict(zip(("cleo", "dora"), hub.shell(SIGN_IN_PERSONS).split(), strict=True))


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
    cleo, dora = (home_of(browser, hub, sessions[name]) for name in ("cleo", "dora"))
    complaints = watch(cleo)
    cleo.evaluate("window.isSamePage = true")
    time.sleep(1.5)  # what the first frames fetch
    dora.evaluate("topics.length = 0")
    began = time.monotonic()
    assert ask(hub, "POST", MEMORIES, {"content": "Cleo plays the cello", "user_id": "cleo"})[0] == 201
    cleo.wait_for_selector("#learned .said:has-text('Cleo plays the cello')", timeout=(2 + ROOM) * 1_000)
    print(f"shown after {time.monotonic() - began:.2f} s")
    assert cleo.evaluate("window.isSamePage"), "without a reload"
    cleo.wait_for_selector("#latest :text('one thing')")
    assert cleo.evaluate("document.documentElement.scrollWidth") == 390
    time.sleep(1)
    assert dora.evaluate("topics") == [], "another person hears nothing of it"
    cleo.click("#learned button:has-text('Undo')")
    cleo.wait_for_selector(".messages :text('Taken back')")
    assert cleo.locator("#learned .said").count() == 0
    _, found = ask(hub, "GET", f"{MEMORIES}?user_id=cleo", None)
    assert found["results"] == []
    assert complaints == []
    for page in (cleo, dora):
        page.context.close()


def test_a_phone_says_since_when_its_socket_is_closed(hub: Hub, browser: Browser, sessions: dict[str, str]) -> None:
    base = f"http://127.0.0.1:{hub.port}"
    context = browser.new_context(viewport={"width": 320, "height": 640})
    context.add_cookies([{"name": "sessionid", "value": sessions["cleo"], "url": base}])
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
    assert ask(hub, "POST", MEMORIES, {"content": "Cleo plays the viola", "user_id": "cleo"})[0] == 201
    page.wait_for_selector("#learned .said:has-text('Cleo plays the viola')", timeout=20_000)
    context.close()


@pytest.fixture(scope="module")
def page(hub: Hub, browser: Browser, session: str) -> Page:
    """An admin page that is live."""
    base = f"http://127.0.0.1:{hub.port}"
    context = browser.new_context()
    context.add_cookies([{"name": "sessionid", "value": session, "url": base}])
    page = context.new_page()
    page.goto(f"{base}/admin/", wait_until="load")
    page.evaluate(PART)
    return page


def is_live(page: Page) -> bool:
    return bool(page.evaluate("document.querySelector('#live-state').dataset.state === 'live'"))


def sees_a_change(hub: Hub, page: Page) -> None:
    """A part of the page is fetched again after a change."""
    page.evaluate("topics.length = 0; document.querySelector('#part').textContent = '-'")
    save(hub)
    wait_for(lambda: page.evaluate("topics.includes('memories')"), "the topic", patience=10)
    page.wait_for_selector("#part:has-text('ok')", timeout=10_000)


def test_a_page_is_live_and_fetches_what_changed(hub: Hub, page: Page) -> None:
    wait_for(lambda: is_live(page), "a live page", patience=20)
    sees_a_change(hub, page)
    assert page.evaluate("document.querySelector('#live-state [role=status]').textContent").startswith("Live")
    assert not page.evaluate("document.querySelector('.mh-live-banner').textContent")


def test_browsers_of_a_killed_process_find_the_other_one(hub: Hub, page: Page, session: str) -> None:
    pids = {process.pid for process in web_processes(hub)}
    for pid in pids:
        psutil.Process(pid).kill()
        time.sleep(0.3)  # so that the browser has noticed if it was its own
        wait_for(lambda: is_live(page), "a live page", patience=5 + ROOM)
        sees_a_change(hub, page)
        wait_for_replacement(hub, session, pid)


def test_a_page_says_that_the_database_is_away_and_comes_back(hub: Hub, page: Page) -> None:
    server = psutil.Process(hub.database.pid)
    everything = [server, *server.children(recursive=True)]
    for process in everything:
        process.suspend()
    try:
        page.wait_for_selector(".mh-live-banner:has-text('the database does not answer')", timeout=30_000)
        # A part that could not be fetched may have said so before the socket is closed.
        words = r"#live-state .mh-live-words:text-matches('^reconnecting, as of \\d\\d:\\d\\d:\\d\\d UTC$')"
        page.wait_for_selector(words, timeout=15_000)
        assert hub.get("/readyz") == 503
    finally:
        for process in everything:
            process.resume()
    wait_for(lambda: is_live(page), "a live page", patience=30)
    page.wait_for_selector(".mh-live-banner:empty", state="attached", timeout=20_000)
    wait_for(lambda: hub.get("/readyz") == 200, "readiness", patience=60)
    sees_a_change(hub, page)


def test_a_page_is_live_again_after_the_database_was_killed(hub: Hub, page: Page) -> None:
    psutil.Process(hub.database.pid).kill()
    wait_for(lambda: hub.get("/readyz") == 503, "the end of the database", patience=30)
    wait_for(lambda: hub.get("/readyz") == 200, "readiness", patience=90)
    wait_for(lambda: is_live(page), "a live page", patience=30)
    sees_a_change(hub, page)


def test_a_page_whose_session_has_ended_says_so(hub: Hub, page: Page, session: str) -> None:
    code = (
        "from django.contrib.sessions.models import Session; from django.contrib.auth.models import User\n"
        f"Session.objects.filter(pk='{session}').delete(); User.objects.update(first_name='Rita')"
    )
    hub.shell(code)
    page.wait_for_selector(".mh-live-banner:has-text('You are signed out')", timeout=20_000)
    assert page.inner_text("#live-state .mh-live-words").startswith("signed out, as of")
