"""A hub full of hostile texts in a real browser: nothing runs, nothing asks another host, long lines fit.

The first walk is without the policy of contents, so that escaping alone keeps every text from running.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from django.conf import settings as hub
from django.contrib import admin
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Browser, BrowserContext, Page, Request
from pytest_django.live_server_helper import LiveServer

from apps.accounts.services import person_create
from apps.cockpit.table import PAGES
from apps.core.pages.texts import SHOWN_CHARS
from apps.notes.files.owner import folder_of
from apps.semantic.models import Conflict, Memory
from tests.browser import browser_open
from tests.hostile.contents import HOOK, MARKER, contents_of
from tests.hostile.filled import fill_hub
from tests.integration.admin.pages import address
from tests.system.browser.test_admin_cockpit_browser import session_of

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("timeline_dir"),
]

WATCH = f"""
window.found = [];
window.{HOOK} = (what) => window.found.push(`ran ${{what}}`);
addEventListener("securitypolicyviolation", (event) => window.found.push(`refused ${{event.blockedURI}}`));
"""
# Attributes that a text made: their names have a marker, or their values where no text of people belongs.
MADE = """() => [...document.querySelectorAll("main *, dialog *")].flatMap((one) => [...one.attributes]
  .filter((each) => /^(on|x-|@|:|hx-(on|vals|vars)|style$|srcdoc$|class$|id$)/.test(each.name)
      && /zq[a-z]+\\d+qz/.test(each.value)
    || /zq[a-z]+\\d+qz/.test(each.name)
    || /^(href|src|action|formaction)$/.test(each.name) && /^\\s*(javascript|vbscript|data):/i.test(each.value))
  .map((each) => `<${one.tagName} ${each.name}=${each.value.slice(0, 60)}>`))"""
# The innermost elements that stick out at the right.
WIDE = """() => [...document.querySelectorAll("body *")]
  .filter((one) => one.getBoundingClientRect().right > innerWidth + 1).slice(-3)
  .map((one) => `${one.tagName}.${one.className}`)"""
PHONE = {"width": 390, "height": 844}


@pytest.fixture
def filled(notes_dir: Path, timeline_dir: Path) -> None:
    """A hub full of hostile texts."""
    fill_hub()


def context_of(browser: Browser, base: str, session: str, **options: Any) -> BrowserContext:
    """A browser in which an account is signed in, and what runs is noted."""
    context = browser.new_context(viewport=PHONE, **options)
    context.add_cookies([{"name": hub.SESSION_COOKIE_NAME, "value": session, "url": base}])
    context.add_init_script(WATCH)
    return context


class Walk:
    """A walk over pages; complaints: what ran, was asked of other hosts, or became a part of a page."""

    def __init__(self, context: BrowserContext, base: str) -> None:
        self.page, self.base = context.new_page(), base
        self.complaints: list[str] = []
        self.shown: set[str] = set()
        self.page.on("dialog", self._dialog)
        self.page.on("request", self._request)

    def _dialog(self, dialog: Any) -> None:
        self.complaints.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def _request(self, request: Request) -> None:
        if not request.url.startswith((self.base, "data:", "blob:", self.base.replace("http", "ws"))):
            self.complaints.append(f"asked {request.url}")

    def look_at(self, path: str) -> Page:
        """Open a page, point at what shows more, and note what happened."""
        self.page.goto(self.base + path, wait_until="load")
        self.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
        self.complaints += [f"{path}: {one}" for one in self.page.evaluate("window.found || []")]
        self.complaints += [f"{path}: {one}" for one in self.page.evaluate(MADE)]
        if self.page.evaluate("document.documentElement.scrollWidth") > PHONE["width"]:
            self.complaints.append(f"{path}: scrolls sideways for {self.page.evaluate(WIDE)}")
        self.shown |= set(MARKER.findall(self.page.inner_text("body")))
        return self.page


def operator_pages() -> Iterator[str]:
    """The pages of the admin with lists, and of some objects of each kind."""
    yield from (f"/admin/{page.path}" for page in PAGES if page.title)
    for model in admin.site._registry:
        yield address(model, "changelist")
    for receipt in Conflict.objects.order_by("pk")[35:41:5]:
        yield address(Conflict, "change", receipt.pk)
    for memory in Memory.objects.order_by("pk")[0:60:20]:
        yield address(Memory, "change", memory.pk)
        yield f"{reverse('cockpit_person')}?{urlencode({'user_id': memory.user_id})}"


def test_nothing_stored_runs_for_an_operator(live_server: LiveServer, filled: None) -> None:
    session = session_of(User.objects.create_superuser("operator"))
    paths = list(operator_pages())
    with browser_open() as browser:
        walk = Walk(context_of(browser, live_server.url, session, bypass_csp=True), live_server.url)
        for path in paths:
            walk.look_at(path)
        kept = Walk(context_of(browser, live_server.url, session), live_server.url)
        for path in paths[::4]:
            kept.look_at(path)
    assert walk.complaints + kept.complaints == []
    assert len(walk.shown) > 500


def test_nothing_stored_runs_for_a_person(live_server: LiveServer, filled: None) -> None:
    session = session_of(person_create(username="ana-signs-in", person_id="ana"))
    memories = list(Memory.objects.filter(user_id="ana").order_by("pk"))
    long = max(memories, key=lambda memory: len(memory.content))
    notes = [reverse(f"webui:{name}", args=["MEMORY.md"]) for name in ("note", "note_edit", "note_versions")]
    notes += [reverse("webui:notes"), reverse("webui:memory_settings")]
    folder_of("ana").path.joinpath("MEMORY.md").write_text("\n\n".join(one.text for one in contents_of("markdown")))
    with browser_open() as browser:
        walk = Walk(context_of(browser, live_server.url, session, bypass_csp=True), live_server.url)
        for path in (reverse("webui:home"), *(reverse("webui:memory", args=[one.uuid]) for one in memories[::10])):
            walk.look_at(path)
        for path in notes:
            walk.look_at(path)
        walk.page.goto(live_server.url + reverse("webui:memory", args=[long.uuid]), wait_until="load")
        assert len(walk.page.inner_text("main")) < 2 * SHOWN_CHARS
        assert walk.page.evaluate("document.documentElement.scrollHeight") < 20_000
        walk.page.get_by_text("Show all 100,000 characters").click()
        assert walk.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        assert len(walk.page.inner_text("main")) > 100_000
    assert walk.complaints == []
    assert len(walk.shown) > 10
    assert len([one for one in walk.shown if one.startswith("zqmarkdown")]) > 90
