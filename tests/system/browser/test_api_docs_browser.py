"""The page for developers in a real browser: steps to copy, and each operation with an example that can be tried."""

from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from apps.core.domain.scope import Permission, Scope
from apps.semantic.models import Memory
from memoryhub.config.api import SECTIONS
from tests.api import api_for
from tests.browser import browser_open
from tests.integration.memoryhub.story import EXAMPLES
from tests.system.browser.test_admin_browser import watch

pytestmark = pytest.mark.django_db(transaction=True)


def authorize(page: Page, key: str) -> None:
    """Enter the key, as the page asks for it."""
    page.click("button.authorize")
    page.fill(".auth-container input", key)
    page.click(".auth-btn-wrapper button.authorize")
    page.click(".auth-btn-wrapper button.btn-done")


def try_save(page: Page) -> None:
    """Send the example of a save, as it is."""
    block = page.locator(".opblock", has=page.get_by_text("Save a memory", exact=True))
    block.locator(".opblock-summary-control").click()
    expect(block.locator(".responses-wrapper")).to_contain_text(EXAMPLES["memories_save"].answer["memory"]["id"])
    block.locator(".try-out__btn").click()
    block.locator(".execute").click()
    expect(block.locator(".live-responses-table .response-col_status").nth(1)).to_contain_text("201", timeout=30_000)


def background(page: Page) -> str:
    """The colour of the page."""
    return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))


def check_landing(page: Page) -> None:
    """Five steps, each copied by its button; sections in the order of their use."""
    assert page.locator("h1:visible").all_inner_texts() == ["Developer"]
    titles = [title.partition(". ") for title in page.locator(".dev-steps h2").all_inner_texts()]
    assert [number for number, _, _ in titles] == ["1", "2", "3", "4", "5"]
    page.locator("[data-copy=save-python]").press("Enter")
    expect(page.locator("[data-copy=save-python]")).to_contain_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == page.input_value("#save-python")
    sections = page.locator(".opblock-tag").evaluate_all("all => all.map((one) => one.dataset.tag)")
    assert sections == [section.name for section in SECTIONS]


def check_themes(page: Page) -> None:
    """The page is as dark as the system, unless another theme was chosen in the admin; it fits a telephone."""
    found = {}
    schemes: tuple[tuple[Literal["light", "dark"], str | None], ...]
    schemes = (("light", None), ("dark", None), ("dark", "light"), ("light", "dark"))
    for scheme, chosen in schemes:
        page.emulate_media(color_scheme=scheme)
        page.evaluate("(one) => localStorage.setItem('adminTheme', JSON.stringify(one || 'auto'))", chosen)
        page.reload()
        expect(page.locator(".opblock")).to_have_count(len(EXAMPLES), timeout=30_000)
        found[scheme, chosen] = background(page)
    light, dark = found["light", None], found["dark", None]
    assert (found["dark", "light"], found["light", "dark"]) == (light, dark)
    assert light != dark
    page.set_viewport_size({"width": 320, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_example_is_tried_on_the_page(live_server: LiveServer, timeline_dir: Path) -> None:
    key = api_for(Scope(), Permission.OPERATOR).key
    with browser_open() as browser:
        context = browser.new_context(viewport={"width": 1400, "height": 900})
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        page = context.new_page()
        complaints = watch(page)
        page.goto(f"{live_server.url}/api/docs")
        expect(page.locator(".opblock")).to_have_count(len(EXAMPLES), timeout=30_000)
        summaries = page.locator(".opblock-summary-description").all_inner_texts()
        assert sorted(summaries) == sorted(example.summary for example in EXAMPLES.values())
        check_landing(page)
        authorize(page, str(key))
        page.reload()  # the key is still known
        try_save(page)
        check_themes(page)
    assert complaints == []
    assert Memory.objects.get().content == EXAMPLES["memories_save"].body["content"]
