"""The admin on a phone: names that can be read, short rows, buttons in sight, and targets that a finger hits."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page
from pytest_django.live_server_helper import LiveServer

from apps.core.domain.scope import Permission, Scope
from apps.core.models import ApiKey
from apps.core.services import key_create
from apps.episodic.models import Segment, TimelineEvent
from apps.semantic.models import Conflict, Memory
from tests.browser import browser_open
from tests.integration.admin import timeline
from tests.integration.admin.pages import address
from tests.system.browser.test_admin_browser import PASSWORD, log_in, watch

pytestmark = pytest.mark.django_db(transaction=True)

HIGHEST_ROW, SMALLEST_TARGET = 96, 24
WORDS = (
    "Ana prefers the window seat number {} on long flights, and one at the aisle on short ones, as she says each time"
)
ROWS = """() => [...document.querySelectorAll("#result_list .data-row, .mh-people tbody tr, .mh-audit tbody tr")]
  .map((row) => [row.getBoundingClientRect().height, row.innerText.replaceAll("\\n", " ").slice(0, 60)])"""
NAME = """() => { const name = document.querySelector("h1"), box = name.getBoundingClientRect();
  return [name.innerText, box.left >= 0 && box.right <= innerWidth && name.scrollWidth <= name.clientWidth]; }"""
# Of links within a sentence the standard asks nothing; a box to tick may be small where its label is the target.
SMALL = """(least) => [...document.querySelectorAll(
    "a[href], button, input:not([type=hidden]), select, textarea, summary")]
  .filter((one) => one.checkVisibility({visibilityProperty: true, opacityProperty: true}))
  .filter((one) => !one.closest(".mh-hidden, .mh-skip, dialog"))
  .filter((one) => !(one.matches("a") && getComputedStyle(one).display === "inline"))
  .map((one) => [one, one.getBoundingClientRect()])
  .filter(([one, box]) => box.width > 0 && box.right > 0 && box.left < innerWidth)
  .filter(([one, box]) => box.height < least - 0.5 || box.width < least - 0.5)
  .map(([one, box]) => [one.tagName, (one.innerText || one.name || one.className).slice(0, 40), box.width, box.height])
"""


def many(remember: Callable[..., Memory]) -> Memory:
    """Rows with long words in the lists that people use most. The last memory."""
    for number in range(4):
        memory = remember(WORDS.format(number), user="ana-of-the-house-with-a-long-name")
    remember("Ana lives in Lisbon.", user="ben")
    remember("Ana does not live in Lisbon.", user="ben")
    key_create(
        name="the assistant in the kitchen", scope=Scope(user_id="ana"), permission=Permission.READ, actor="test"
    )
    timeline.event(WORDS.format(9))
    return memory


def show(page: Page, url: str, width: int) -> None:
    """Open a page at a width, which it must not exceed, whose name can be read, and whose targets are large enough."""
    page.goto(url, wait_until="load")
    assert page.evaluate("document.documentElement.scrollWidth") <= width, url
    name, is_readable = page.evaluate(NAME)
    assert (name != "", is_readable) == (True, True), (url, name)
    assert page.evaluate(SMALL, SMALLEST_TARGET) == [], (url, width)


def is_in_sight(page: Page, words: str) -> bool:
    """Whether a button of the page can be pressed without opening anything."""
    return page.locator(".mh-page-actions a", has_text=words).is_visible()


def test_the_admin_fits_a_phone(live_server: LiveServer, remember: Callable[..., Memory], timeline_dir: Any) -> None:
    memory = many(remember)
    User.objects.create_superuser("operator", password=PASSWORD)
    base = live_server.url
    lists = [address(model, "changelist") for model in (Memory, Conflict, ApiKey, TimelineEvent, Segment, User)]
    receipt = Conflict.objects.latest("pk")
    with browser_open() as browser:
        page = browser.new_page(viewport={"width": 390, "height": 844})
        complaints = watch(page)
        log_in(page, base)
        for width in (390, 320):
            page.set_viewport_size({"width": width, "height": 844})
            for path in (*lists, "/admin/people/", "/admin/audit/"):
                show(page, base + path, width)
                rows = page.evaluate(ROWS)
                assert rows != [], path
                assert [row for row in rows if not 0 < row[0] <= HIGHEST_ROW] == [], (path, width)
            show(page, base + address(Memory, "change", memory.pk), width)
            assert page.evaluate(NAME)[0].startswith("Ana prefers the window seat number 3")
            assert is_in_sight(page, "Delete")
            show(page, base + address(Conflict, "change", receipt.pk), width)
            assert all(is_in_sight(page, words) for words in ("Accept", "Keep both", "Revert"))
        page.goto(base + lists[0])
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.innerText") == "Skip to the content"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "mh-main"
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.closest('#mh-main') !== null")
    assert complaints == []
