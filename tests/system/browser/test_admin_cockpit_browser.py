"""Asking, and finding by Ctrl+K, in a real browser, by keyboard alone."""

import re
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from playwright.sync_api import BrowserContext, Page
from pytest_django.live_server_helper import LiveServer

from apps.semantic.models import Memory
from tests.browser import browser_open
from tests.integration.admin.pages import address
from tests.system.browser.test_admin_browser import watch

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("timeline_dir"),
]
HOSTILE = "Ana drinks tea <img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>"


def session_of(user: User) -> str:
    """The cookie of a person who is signed in."""
    client = Client()
    client.force_login(user)
    return client.cookies["sessionid"].value


def open_page(context: BrowserContext, base: str, session: str) -> Page:
    context.add_cookies([{"name": "sessionid", "value": session, "url": base}])
    return context.new_page()


def test_question_is_asked_by_keyboard_and_answered_in_place(
    live_server: LiveServer, remember: Callable[..., Memory]
) -> None:
    remember(HOSTILE)
    session = session_of(User.objects.create_superuser("operator"))
    with browser_open() as browser:
        page = open_page(browser.new_context(viewport={"width": 320, "height": 700}), live_server.url, session)
        complaints = watch(page)
        page.goto(live_server.url + reverse("cockpit_ask"))
        page.focus("[name=question]")
        page.keyboard.type("Who drinks tea?")
        page.focus("form button[type=submit]:has-text('Ask')")
        page.keyboard.press("Enter")
        page.wait_for_selector("#mh-found")
        assert page.inner_text(".mh-results mark >> nth=0") == "drinks"
        assert page.input_value("[name=question]") == "Who drinks tea?"
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        assert page.title().startswith("Ask")
    assert complaints == []


def test_ctrl_k_finds_a_memory_and_opens_it(live_server: LiveServer, remember: Callable[..., Memory]) -> None:
    memory = remember(HOSTILE)
    session = session_of(User.objects.create_superuser("operator"))
    with browser_open() as browser:
        page = open_page(browser.new_context(viewport={"width": 1400, "height": 900}), live_server.url, session)
        complaints = watch(page)
        page.goto(live_server.url + reverse("cockpit_people"))
        page.focus("#mh-people-q")
        page.keyboard.press("Control+k")
        page.keyboard.type("drinks tea")
        option = page.get_by_role("option", name=re.compile("Ana drinks tea"))
        option.first.wait_for()
        combobox = page.get_by_role("combobox", name=re.compile("Find"))
        assert combobox.get_attribute("aria-expanded") == "true"
        active = combobox.get_attribute("aria-activedescendant")
        assert page.get_attribute(f"#{active}", "aria-selected") == "true"
        page.keyboard.press("Escape")
        assert page.evaluate("document.activeElement.id") == "mh-people-q"
        page.click("button.mh-find")
        page.keyboard.type("drinks tea")
        option.first.wait_for()
        page.keyboard.press("Enter")
        page.wait_for_url("**" + address(Memory, "change", memory.pk))
        assert page.title() != "run"
    assert complaints == []
