"""The queue of decisions in a real browser: 50 decisions by counted key presses, and a phone."""

import os

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Page
from pytest_django.live_server_helper import LiveServer

from apps.core.domain.scope import Scope, system_access
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Conflict
from apps.semantic.services import memory_save_many
from tests.browser import browser_open
from tests.system.browser.test_admin_browser import PASSWORD, log_in, watch
from tests.system.hub import wait_for

pytestmark = pytest.mark.django_db(transaction=True)
DECISIONS = reverse("cockpit_decisions")
MANY = 50
# Besides one press for each decision: moving, undoing, selecting.
MAX_PRESSES = 60
WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
MAX_ROW_PIXELS = 96
PATIENCE = 20_000
SECONDS = PATIENCE / 1_000
WIDTH = "document.documentElement.scrollWidth"
# Whether the decision that the list marks is the one that is shown.
SHOWS = """() => {
  const row = document.querySelector(".queue-row[aria-current]");
  return row !== null && row.dataset.key === document.querySelector(".queue-body")?.dataset.key;
}"""


class Keyboard:
    """A person at the keyboard, whose presses are counted, and who reads each decision before the next press."""

    def __init__(self, page: Page) -> None:
        self.page, self.presses = page, 0

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)
        self.presses += 1

    def read(self) -> str:
        """Wait until the decision that the list marks is shown; return its key."""
        wait_for(lambda: self.page.evaluate(SHOWS), "the decision that the list marks", SECONDS)
        return str(self.page.eval_on_selector(".queue-body", "body => body.dataset.key"))


def decide_many(count: int) -> list[int]:
    """Make open decisions about memories of as many users; return their keys, the newest first."""
    for content in ("Ana lives in Lisbon.", "Ana does not live in Lisbon."):
        drafts = [MemoryDraft(content, scope=Scope(f"user {number:02}", "home")) for number in range(count)]
        memory_save_many(access=system_access("test"), drafts=drafts)
    keys = list(Conflict.objects.filter(state="open").order_by("-id").values_list("pk", flat=True))
    assert len(keys) == count
    return keys


def shoot(page: Page, name: str) -> None:
    if shots := os.environ.get("SHOTS"):
        page.wait_for_timeout(500)
        page.screenshot(path=f"{shots}/{name}.png")


def open_queue(page: Page, base: str) -> None:
    log_in(page, base)
    page.goto(base + DECISIONS, wait_until="load")
    page.wait_for_selector(".queue-row[aria-current]")


def test_fifty_decisions_take_at_most_sixty_key_presses(live_server: LiveServer) -> None:
    keys = decide_many(MANY)
    User.objects.create_superuser("operator", password=PASSWORD)
    with browser_open() as browser:
        page = browser.new_page(viewport=WIDE)
        complaints = watch(page)
        open_queue(page, live_server.url)
        shoot(page, "wide")
        person = Keyboard(page)
        person.read()
        person.press("2")
        person.read()
        person.press("u")
        page.wait_for_selector(f".queue-body[data-key='{keys[0]}']", timeout=PATIENCE)
        for number in range(MANY):
            person.read()
            person.press("a23r"[number % 4])
        page.wait_for_selector("text=Nothing left here", timeout=PATIENCE)
        page.wait_for_selector("#queue:not([aria-busy])", timeout=PATIENCE)
    assert complaints == []
    assert Conflict.objects.filter(pk__in=keys, state="open").count() == 0
    assert person.presses <= MAX_PRESSES


def test_queue_on_a_phone_and_keys_while_typing(live_server: LiveServer) -> None:
    keys = decide_many(6)
    User.objects.create_superuser("operator", password=PASSWORD)
    with browser_open() as browser:
        page = browser.new_page(viewport=PHONE)
        complaints = watch(page)
        open_queue(page, live_server.url)
        heights = page.eval_on_selector_all(".queue-row", "rows => rows.map((row) => row.offsetHeight)")
        assert len(heights) == 6
        assert max(heights) <= MAX_ROW_PIXELS
        assert page.evaluate(WIDTH) <= PHONE["width"]
        shoot(page, "phone-list")
        page.fill("#queue-words", "")
        page.type("#queue-words", "a1r")
        assert page.input_value("#queue-words") == "a1r"
        page.click(f"#queue-row-{keys[0]} .queue-link")
        page.wait_for_selector(".queue-steps")
        assert page.evaluate(WIDTH) <= PHONE["width"]
        bar = page.locator(".queue-act").bounding_box()
        assert bar is not None
        assert bar["y"] + bar["height"] <= PHONE["height"] + 1
        shoot(page, "phone-decision")
        page.click("button[data-step=accept]")
        page.wait_for_selector("#queue-undo:not([hidden])")
        shoot(page, "phone-undo")
        page.click("[data-undo-last]")
        page.wait_for_selector("#queue-undo", state="hidden")
        page.wait_for_selector("#queue:not([aria-busy])")
    assert complaints == []
    assert Conflict.objects.filter(state="open").count() == 6
