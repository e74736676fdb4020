"""The page about the API in a real browser: each operation with its summary, and an example that can be tried."""

from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright
from pytest_django.live_server_helper import LiveServer

from apps.core.domain.scope import Permission, Scope
from apps.semantic.models import Memory
from tests.api import api_for
from tests.integration.memoryhub.story import EXAMPLES, OPERATIONS
from tests.system.browser.test_admin_browser import BROWSER, FLAGS, watch

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(BROWSER is None, reason="no chromium, chromium-browser or google-chrome in PATH"),
]


def test_example_is_tried_on_the_page(live_server: LiveServer, timeline_dir: Path) -> None:
    key = api_for(Scope(), Permission.OPERATOR).key
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=FLAGS)
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        complaints = watch(page)
        page.goto(f"{live_server.url}/api/docs")
        expect(page.locator(".opblock")).to_have_count(len(OPERATIONS), timeout=30_000)
        summaries = page.locator(".opblock-summary-description").all_inner_texts()
        assert sorted(summaries) == sorted(example.summary for example in EXAMPLES.values())
        page.click("button.authorize")
        page.fill(".auth-container input", str(key))
        page.click(".auth-btn-wrapper button.authorize")
        page.click(".auth-btn-wrapper button.btn-done")
        block = page.locator(".opblock", has=page.get_by_text("Save a memory", exact=True))
        block.locator(".opblock-summary-control").click()
        expect(block.locator(".responses-wrapper")).to_contain_text(EXAMPLES["memories_save"].answer["memory"]["id"])
        block.locator(".try-out__btn").click()
        block.locator(".execute").click()
        expect(block.locator(".live-responses-table .response-col_status").nth(1)).to_contain_text("201")
        browser.close()
    assert complaints == []
    assert Memory.objects.get().content == EXAMPLES["memories_save"].body["content"]
