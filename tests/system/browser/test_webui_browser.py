"""The pages of a person in a real browser, by keyboard on a small phone."""

import pytest
from django.conf import settings
from pytest_django.live_server_helper import LiveServer

from apps.semantic.models import Memory
from tests.browser import browser_open
from tests.integration.webui.person import ANA, browser_of, remember
from tests.system.browser.test_admin_browser import watch
from tests.system.browser.test_now_browser import width

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_person_asks_corrects_and_forgets_by_keyboard(live_server: LiveServer) -> None:
    remember(ANA, "Ana plays the cello")
    session = browser_of(ANA).cookies[settings.SESSION_COOKIE_NAME].value
    with browser_open() as browser:
        context = browser.new_context(viewport={"width": 320, "height": 640}, color_scheme="dark")
        context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}])
        page = context.new_page()
        complaints = watch(page)
        page.goto(live_server.url, wait_until="load")
        assert width(page) == 320
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.focus("#question")
        page.keyboard.type("which instrument does Ana play?")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=1 match")
        page.locator(".row").focus()
        page.keyboard.press("Enter")
        page.wait_for_selector(".sentence >> text=Ana plays the cello")
        assert width(page) == 320
        page.locator("main summary").focus()
        page.keyboard.press("Enter")
        page.fill("textarea", "Ana plays the viola")
        page.locator("button", has_text="Save").press("Enter")
        page.wait_for_selector("text=Corrected.")
        page.locator("button", has_text="Forget").press("Enter")
        page.wait_for_selector("text=Assistants no longer find it.")
        page.locator("button", has_text="Bring back").press("Enter")
        page.wait_for_selector("text=It is back")
    assert complaints == []
    assert Memory.objects.get().content == "Ana plays the viola"
