"""A person brings a file in a real browser: chosen, looked at, brought in and undone, by keyboard on a phone."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page
from pytest_django.live_server_helper import LiveServer

from apps.imports.tasks import bring
from tests.integration.imports.exports import TALK, zipped
from tests.system.browser.persons import pages_of
from tests.system.browser.test_admin_browser import watch
from tests.system.browser.test_now_browser import width
from tests.system.browser.test_privacy_browser import aside

pytestmark = pytest.mark.django_db(transaction=True)


def picture(page: Page, name: str) -> None:
    """Keep pictures for people to look at, where they ask for them."""
    if folder := os.environ.get("WALK_PICTURES"):
        size: Any = page.viewport_size
        for wide in (size["width"], 390, 1280):
            page.set_viewport_size({"width": wide, "height": 800})
            page.screenshot(path=Path(folder) / f"bring-{name}-{wide}.png", full_page=True)
        page.set_viewport_size(size)


def test_a_file_is_brought_in_and_undone(
    live_server: LiveServer, tmp_path: Path, timeline_dir: Path, uploads_dir: Path, settings: Any
) -> None:
    settings.SEMANTIC_INDEX_DIR = tmp_path / "semantic-index"
    wrong, export = tmp_path / "wrong.json", zipped(tmp_path / "export.zip", {"conversations.json": [TALK]})
    wrong.write_text(json.dumps([{"text": "nothing that any program has"}]))
    large = tmp_path / "large.json"
    large.write_bytes(b"[" + b" " * (65 * 1024 * 1024))
    with pages_of("ana", live_server.url) as page:
        complaints = watch(page)
        page.goto(f"{live_server.url}/memories/", wait_until="load")
        page.locator("a", has_text="Bring what you have in other programs").press("Enter")
        page.wait_for_selector("text=Where to get the file")
        picture(page, "empty")
        page.set_input_files("#id_file", large)
        page.wait_for_selector("#too-large:visible")
        page.locator("button", has_text="See what would be kept").press("Enter")
        assert page.url.endswith("/bring/")
        page.set_input_files("#id_file", wrong)
        assert not page.locator("#too-large").is_visible()
        page.locator("button", has_text="See what would be kept").press("Enter")
        page.wait_for_selector("text=Your file is being read")
        picture(page, "waiting")
        aside(bring)
        page.wait_for_selector("text=This file cannot be brought in")  # by itself
        picture(page, "refused")
        page.locator("a", has_text="Choose another file").press("Enter")
        page.set_input_files("#id_file", export)
        page.locator("button", has_text="See what would be kept").press("Enter")
        page.wait_for_selector("text=Your file is being read")
        aside(bring)
        page.wait_for_selector("text=This is what would be kept")
        page.locator("summary", has_text="Some of them").click()
        assert width(page) == 320
        picture(page, "looked")
        page.locator("button", has_text="Bring it in").press("Enter")
        page.wait_for_selector("text=Being brought in")
        picture(page, "running")
        aside(bring)
        page.wait_for_selector("text=It is brought in")
        assert width(page) == 320
        picture(page, "done")
        page.locator("a", has_text="Undo…").press("Enter")
        page.wait_for_selector("text=removed from your days for good")
        picture(page, "undo")
        page.locator("button", has_text="Undo it").press("Enter")
        page.wait_for_selector("text=Being undone")
        aside(bring)
        page.wait_for_selector("text=It is undone")
        picture(page, "undone")
        page.locator("a", has_text="All imports").press("Enter")
        page.wait_for_selector("text=What you brought")
        assert width(page) == 320
        picture(page, "list")
    assert complaints == []
    assert list(uploads_dir.iterdir()) == []
