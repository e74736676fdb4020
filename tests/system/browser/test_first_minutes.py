"""A newcomer's first minutes with a hub that was really started, and what its first page weighs."""

import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page

from tests.browser import browser_open
from tests.system.beside import Beside
from tests.system.browser.test_admin_browser import watch
from tests.system.hub import Hub, wait_for

pytestmark = pytest.mark.xdist_group("first minutes")

MAX_CLICKS, MAX_SECONDS, MAX_BYTES = 6, 90, 300_000
PATIENCE = 120_000  # milliseconds; the sample takes some seconds on a quiet machine
# The owner gets pages as well, with something on them.
PAGES_FOR_OWNER = """
from django.contrib.auth.models import User
from apps.accounts.services import account_set_person
account_set_person(login=User.objects.get(), person_id="admin")
"""


class Hand:
    """Clicks, and counts them."""

    def __init__(self) -> None:
        self.clicks = 0

    def click(self, what: Locator) -> None:
        self.clicks += 1
        what.click()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browser_open() as browser:
        yield browser


@pytest.fixture(scope="module")
def hub(make_place: Callable[[], Path]) -> Iterator[Hub]:
    hub = Hub(make_place() / "data")
    try:
        hub.make_cluster()
        hub.start()
        yield hub
    finally:
        hub.end()


@pytest.fixture(scope="module")
def owner(hub: Hub, browser: Browser) -> Page:
    """The window of the newcomer."""
    return browser.new_context(viewport={"width": 1440, "height": 900}).new_page()


def printed(hub: Hub, title: str) -> str:
    """What the first start printed behind a title."""
    [line] = [line for line in hub.said().splitlines() if title in line]
    return line.split()[-1]


def sign_in(page: Page, hub: Hub, hand: Hand) -> None:
    page.goto(printed(hub, "/admin/"))
    page.fill("[name=username]", printed(hub, "Admin user"))
    page.fill("[name=password]", printed(hub, "Admin password"))
    hand.click(page.get_by_role("button", name="Sign in", exact=True))


def test_the_sample_household_is_brought_in_and_removed(hub: Hub, browser: Browser) -> None:
    with browser.new_context(viewport={"width": 390, "height": 844}) as context:
        page = context.new_page()
        complaints = watch(page)
        sign_in(page, hub, Hand())
        page.get_by_role("button", name="Load the sample household").click()
        page.get_by_role("button", name="Remove it again").wait_for(timeout=PATIENCE)  # by the socket
        page.get_by_role("link", name="Look around").click()
        page.get_by_role("link", name="sample-ida").wait_for()
        page.goto(printed(hub, "/admin/"))
        page.get_by_role("button", name="Remove it again").click()
        page.get_by_role("button", name="Load the sample household").wait_for(timeout=PATIENCE)
    assert complaints == []


def test_from_the_readme_to_the_first_memory_found(hub: Hub, owner: Page) -> None:
    hand, began, complaints = Hand(), time.monotonic(), watch(owner)
    sign_in(owner, hub, hand)
    hand.click(owner.get_by_role("button", name="Make a key"))
    hand.click(owner.get_by_role("button", name="Copy curl"))
    waiting = owner.locator("#first-call", has_text="Waiting for the first call")
    waiting.wait_for()
    owner.evaluate("window.isSamePage = true")
    call = owner.input_value("#first-curl")
    subprocess.run(["bash", "-c", call], check=True, capture_output=True, timeout=60)
    owner.locator("#first-call.mh-done", has_text="The first call has arrived").wait_for()
    hand.click(owner.get_by_role("button", name="Search", exact=True))
    hand.click(owner.get_by_role("link", name="The heating is serviced in October"))
    owner.locator("h1", has_text="The heating is serviced in October").wait_for()
    seconds = time.monotonic() - began
    print(f"\nfrom the README to the first memory found: {hand.clicks} clicks, {seconds:.1f} s after ready")
    assert hand.clicks <= MAX_CLICKS
    assert seconds <= MAX_SECONDS
    assert complaints == []


def test_the_first_page_is_light(hub: Hub, browser: Browser) -> None:
    visitor = browser.new_page()
    sign_in(visitor, hub, Hand())
    visitor.wait_for_url("**/admin/")
    with Beside(hub) as beside:
        beside.run(PAGES_FOR_OWNER)
    address = f"http://127.0.0.1:{hub.port}/"
    with browser.new_context(storage_state=visitor.context.storage_state()) as context:
        page = context.new_page()
        devtools, loaded, asked = context.new_cdp_session(page), {}, {}
        devtools.on("Network.requestWillBeSent", lambda one: asked.update({one["requestId"]: one["request"]["url"]}))
        devtools.on("Network.loadingFinished", lambda one: loaded.update({one["requestId"]: one["encodedDataLength"]}))
        devtools.send("Network.enable")
        page.goto(address, wait_until="load")
        page.locator("h1", has_text="Home").wait_for()
        wait_for(lambda: page.locator("#live-state[data-state=live]").count(), "the socket", patience=20)
        weights = {asked.get(number, number): round(weight) for number, weight in loaded.items()}
    lines = "\n".join(f"{weight:8,} {url.removeprefix(address)}" for url, weight in weights.items())
    print(f"\nHome, from an empty cache:\n{lines}\n{sum(weights.values()):8,} bytes")
    assert len(weights) > 5
    assert sum(weights.values()) <= MAX_BYTES
