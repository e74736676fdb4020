"""A part of a page that its viewer may not see any more, and a session that has ended."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import pytest
from django.contrib.auth.models import Permission, User
from django.contrib.sessions.models import Session
from django.db import connection
from playwright.sync_api import Page
from pytest_django.live_server_helper import LiveServer

from tests.browser import browser_open
from tests.system.browser.test_admin_browser import PASSWORD, log_in

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = "/admin/access/"
ASK = "document.querySelector('#access-keys').dispatchEvent(new CustomEvent('live', {bubbles: false}))"


def elsewhere(work: Callable[..., object], **fields: object) -> None:
    """Write to the database while the browser is driven, which has the loop of this thread."""

    def run() -> None:
        work(**fields)
        connection.close()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(run).result()


def ask(page: Page) -> None:
    """Fetch the live part of the page again, and wait for the answer."""
    with page.expect_response(lambda answer: "/admin/access/keys/" in answer.url or "/login/" in answer.url):
        page.evaluate(ASK)


def test_a_refused_part_is_no_end_of_the_session(live_server: LiveServer) -> None:
    operator = User.objects.create_superuser("operator", password=PASSWORD)
    operator.user_permissions.set(Permission.objects.filter(codename="view_memory"))
    with browser_open() as browser:
        page = browser.new_page()
        log_in(page, live_server.url)
        page.goto(live_server.url + PAGE + "?of=1")
        elsewhere(User.objects.filter(pk=operator.pk).update, is_superuser=False)
        ask(page)
        page.wait_for_selector("[data-live] >> text=You cannot see this")
        assert "signed out" not in page.inner_text("body")
        elsewhere(User.objects.filter(pk=operator.pk).update, is_superuser=True)
        ask(page)
        page.wait_for_selector("text=You cannot see this", state="detached")
        elsewhere(Session.objects.all().delete)
        ask(page)
        link = page.wait_for_selector(".mh-live-banner >> text=Sign in again")
        assert link is not None
        assert link.get_attribute("href") == f"/accounts/login/?next={quote(PAGE + '?of=1', safe='')}"
