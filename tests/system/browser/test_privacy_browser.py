"""A person downloads everything and has it forgotten in a real browser; then the database and the disk are searched."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from django.contrib.auth.models import User
from django.db import connections
from playwright.sync_api import Page
from pytest_django.live_server_helper import LiveServer

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.people.models import PlannedErasure
from apps.people.tasks import erase, make_downloads
from tests.browser import browser_open
from tests.integration.episodic.timeline import Timeline
from tests.integration.people.person import PERSON, WORD, fill, traces
from tests.integration.webui.person import browser_of
from tests.system.browser.test_admin_browser import watch
from tests.system.browser.test_now_browser import width

pytestmark = pytest.mark.django_db(transaction=True)
NAME = f"{PERSON}-signs-in"


def aside(work: Callable[[], Any]) -> Any:
    """Do something with the database, as the worker does: not in the thread of the browser."""

    def done() -> Any:
        try:
            return work()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(done).result()


def picture(page: Page, name: str) -> None:
    """Keep a picture for people to look at, where they ask for it."""
    if folder := os.environ.get("WALK_PICTURES"):
        page.screenshot(path=Path(folder) / f"privacy-{name}.png", full_page=True)


def test_a_person_takes_everything_along_and_leaves(
    live_server: LiveServer, settings: Any, tmp_path: Path, timeline_dir: Path, downloads_dir: Path
) -> None:
    settings.SEMANTIC_INDEX_DIR = tmp_path / "semantic-index"
    fill(PERSON, WORD, archive=Timeline())
    session = browser_of(PERSON).cookies[settings.SESSION_COOKIE_NAME].value
    cookie: Any = {"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}
    with browser_open() as browser:
        context = browser.new_context(viewport={"width": 320, "height": 640}, color_scheme="dark")
        context.add_cookies([cookie])
        page = context.new_page()
        complaints = watch(page)
        page.goto(f"{live_server.url}/privacy/", wait_until="load")
        assert width(page) == 320
        page.locator("button", has_text="Make my file").press("Enter")
        page.wait_for_selector("text=Your file is waiting to be made")
        picture(page, "waiting")
        aside(make_downloads)
        page.wait_for_selector("text=is ready")  # by itself
        picture(page, "ready")
        with page.expect_download() as taken:
            page.locator("a.button", has_text="Download").click()
        archive = ZipFile(taken.value.path())
        archive.extractall(tmp_path / "taken")
        offline = browser.new_context(offline=True)
        reader = offline.new_page()
        seen = watch(reader)
        reader.goto((tmp_path / "taken" / "index.html").as_uri())
        picture(reader, "file")
        reader.locator("a", has_text="memories-1.html").click()
        reader.wait_for_selector(f"text={WORD} likes tea number 0")
        picture(reader, "file-memories")
        assert seen == []
        page.locator("a", has_text="See what would be forgotten").click()
        page.wait_for_selector("text=Memories, with their history")
        assert width(page) == 320
        picture(page, "forget")
        page.get_by_label("It is removed with everything else.").check()
        page.fill("#id_typed", NAME)
        page.locator("button", has_text="Forget everything").press("Enter")
        page.wait_for_selector("text=Noted. Until then")
        picture(page, "planned")
        page.locator("button", has_text="Take it back").press("Enter")
        page.wait_for_selector("text=Nothing was forgotten.")
        assert not aside(PlannedErasure.objects.exists)
        page.goto(f"{live_server.url}/privacy/forget/", wait_until="load")
        page.get_by_label("It is removed with everything else.").check()
        page.fill("#id_typed", NAME)
        page.locator("button", has_text="Forget everything").press("Enter")
        page.locator("a", has_text="/forgotten/").click()
        page.wait_for_selector("text=Everything will be removed on")
        assert width(page) == 320
        aside(lambda: PlannedErasure.objects.update(due_at=utcnow(SYSTEM_CLOCK)))
        aside(erase)
        page.wait_for_selector("text=Everything was removed on")  # by itself, and without an account
        picture(page, "receipt")
        assert width(page) == 320
        page.goto(live_server.url, wait_until="load")
        page.wait_for_selector("text=Sign in")
    assert complaints == []
    assert traces(PERSON, WORD) == []
    assert list(downloads_dir.iterdir()) == []
    assert not User.objects.exists() or set(User.objects.values_list("username", flat=True)) == {"operator"}
