"""The queue of conflicts in a real browser: by keyboard, and on a small screen."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Page
from pytest_django.live_server_helper import LiveServer

from apps.semantic.models import Conflict, Memory
from tests.browser import browser_open
from tests.integration.admin.pages import address
from tests.system.browser.test_admin_browser import PASSWORD, log_in, watch

pytestmark = pytest.mark.django_db(transaction=True)
LISBON, NOT_LISBON = "Ana lives in Lisbon.", "Ana does not live in Lisbon."
SMALL, WIDE = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
MANY = reverse("admin:semantic_conflict_revert_many")


def is_cut_off(page: Page, selector: str) -> bool:
    """Whether an element has more in it than it shows."""
    return bool(page.eval_on_selector(selector, "cell => cell.scrollHeight > cell.clientHeight + 1"))


def press(page: Page, text: str) -> None:
    """Use a link or button without a mouse."""
    page.locator(f"a:visible:has-text('{text}')").first.focus()
    page.keyboard.press("Enter")


def test_decision_is_reverted_by_keyboard_and_read_on_small_screen(
    live_server: LiveServer, remember: Callable[..., Memory]
) -> None:
    remember(LISBON)
    remember(NOT_LISBON)
    receipt = Conflict.objects.get()
    User.objects.create_superuser("operator", password=PASSWORD)
    with browser_open() as browser:
        page = browser.new_page(viewport=SMALL)
        complaints = watch(page)
        log_in(page, live_server.url)
        for url in (address(Conflict, "change", receipt.pk), f"{MANY}?rule=:default", address(Conflict, "changelist")):
            page.goto(live_server.url + url, wait_until="load")
            assert page.evaluate("document.documentElement.scrollWidth") <= SMALL["width"]
        assert not is_cut_off(page, ".field-memories")
        page.set_viewport_size(WIDE)
        press(page, "Candidate")
        page.wait_for_selector("text=The candidate wins")
        press(page, "Revert")
        page.wait_for_selector("text=is active again, exactly as before")
        page.locator("#dialog button[type=submit]").focus()
        page.keyboard.press("Enter")
        page.wait_for_selector("text=1 decision reverted.")
    assert complaints == []
    assert list(Memory.objects.active().values_list("content", flat=True)) == [LISBON]


def choose_all(page: Page, action: str) -> None:
    """Choose every row of a list, and run an action on them."""
    page.wait_for_selector("#action-toggle")
    page.check("#action-toggle")
    page.select_option("select[name=action]", label=action)
    page.locator("button[name=index]:visible, #changelist-actions button[type=submit]:visible").first.click()


def test_reverting_and_deleting_many_asks_and_shows_contents(
    live_server: LiveServer, remember: Callable[..., Memory]
) -> None:
    for content in (LISBON, NOT_LISBON):
        remember(content)
    User.objects.create_superuser("operator", password=PASSWORD)
    with browser_open() as browser:
        page = browser.new_page(viewport=WIDE)
        complaints = watch(page)
        log_in(page, live_server.url)
        page.goto(live_server.url + address(Conflict, "changelist"), wait_until="load")
        choose_all(page, "Revert")
        page.wait_for_selector("text=Revert these decisions?")
        for words in (f"Candidate: {NOT_LISBON}", f"Existing: {LISBON}", "is active again, exactly as before"):
            assert words in page.inner_text("section.mh-question")
        page.click("section.mh-question button:has-text('Revert')")
        page.wait_for_selector("text=1 decision reverted.")
        page.goto(live_server.url + address(Memory, "changelist"), wait_until="load")
        choose_all(page, "Delete (can be restored)")
        page.wait_for_selector("text=Delete these memories?")
        assert LISBON in page.inner_text("section.mh-question")
        page.click("section.mh-question button:has-text('Delete')")
        page.wait_for_selector("text=memory deleted.")
        page.goto(f"{live_server.url}{MANY}?rule=:default", wait_until="load")
    assert complaints == []
    assert not Memory.objects.active().exists()
