"""The admin in a real browser: its pages work, and nothing is refused or missing."""

import re
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page
from pytest_django.live_server_helper import LiveServer

from apps.core.models import ApiKey
from apps.semantic.models import Memory
from tests.browser import browser_open
from tests.integration.admin.pages import address

pytestmark = pytest.mark.django_db(transaction=True)

PASSWORD = "a long enough password"


def watch(page: Page) -> list[str]:
    """What a browser complains of: console errors, scripts that fail, answers of 400 and above."""
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("response", lambda answer: complaints.append(answer.url) if answer.status >= 400 else None)
    return complaints


def log_in(page: Page, base: str) -> None:
    page.goto(f"{base}/admin/login/?next=/admin/")
    page.fill("[name=username]", "operator")
    page.fill("[name=password]", PASSWORD)
    page.press("[name=password]", "Enter")
    page.wait_for_selector("text=Readiness")


def make_key(page: Page, base: str) -> str:
    page.goto(base + address(ApiKey, "add"))
    page.fill("[name=name]", "kitchen")
    page.fill("[name=user_id]", "ana")
    page.click("button:has-text('Save')")
    secret = page.input_value("#mh-secret")
    page.wait_for_url(re.compile(re.escape(address(ApiKey, "changelist")) + "$"))
    return secret


def test_the_admin_works_in_a_browser(live_server: LiveServer, remember: Callable[..., Memory]) -> None:
    memory = remember("Ana prefers tea")
    User.objects.create_superuser("operator", password=PASSWORD)
    base, path = live_server.url, address(Memory, "change", memory.pk)
    with browser_open() as browser:
        page = browser.new_page(viewport={"width": 390, "height": 844})
        complaints = watch(page)
        log_in(page, base)
        for url in (address(Memory, "changelist"), path):
            page.goto(base + url, wait_until="load")
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.set_viewport_size({"width": 1400, "height": 900})
        page.click("text=Delete")
        page.click("#dialog button[type=submit]")
        page.wait_for_selector("text=1 memory deleted.")
        secret = make_key(page, base)
        page.reload()
        assert secret.startswith("mh_")
        assert secret not in page.content()
    assert complaints == []
    memory.refresh_from_db()
    assert memory.status == "deleted"
