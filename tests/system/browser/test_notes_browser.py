"""The notes of a person in a real browser: written by keyboard on a small phone, beside an editor on the disk."""

from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Page
from pytest_django.live_server_helper import LiveServer

from tests.integration.webui.person import ANA
from tests.integration.webui.test_notes import on_disk, write
from tests.system.browser.persons import pages_of
from tests.system.browser.test_admin_browser import watch
from tests.system.browser.test_now_browser import width
from tests.system.hub import wait_for

pytestmark = pytest.mark.django_db(transaction=True)

TEXT = "# Memory\n\n- tea\n- figs\n"
EDIT = reverse("webui:note_edit", args=["MEMORY.md"])


def test_a_note_is_written_by_keyboard_with_a_preview(live_server: LiveServer) -> None:
    write(ANA, TEXT)
    with pages_of(ANA, live_server.url) as phone:
        write_by_keyboard(phone, live_server.url)


def write_by_keyboard(phone: Page, base: str) -> None:
    """Write a note, look at its preview, stay although it is not saved, save, and undo that."""
    complaints, asked = watch(phone), list[str]()
    phone.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    phone.goto(base, wait_until="load")
    in_menu = phone.locator("nav").get_by_role("link", name="Notes")
    assert not in_menu.is_visible()
    phone.locator("summary", has_text="More").press("Enter")
    in_menu.press("Enter")
    phone.get_by_role("link", name="MEMORY.md").wait_for()
    assert width(phone) == 320
    phone.get_by_role("link", name="MEMORY.md").press("Enter")
    phone.get_by_role("link", name="Edit", exact=True).press("Enter")
    field = phone.get_by_label("Markdown text")
    field.wait_for()
    phone.get_by_role("button", name="Preview").wait_for(state="hidden")
    field.focus()
    phone.keyboard.press("Control+End")
    phone.keyboard.type("- **rice** <img src=x onerror=alert(1)>")
    phone.wait_for_selector("#preview strong >> text=rice")
    assert phone.locator("#preview img").count() == 0
    assert phone.locator("[data-size]").inner_text() == "62 bytes"
    assert width(phone) == 320
    phone.get_by_role("link", name="Cancel").press("Enter")
    wait_for(lambda: phone.evaluate("1") and asked, "the question about what is not saved", patience=10)
    assert asked == ["beforeunload"]
    assert phone.url.endswith(EDIT)
    field.focus()
    phone.keyboard.press("Control+s")
    phone.wait_for_selector("text=Saved. What it was before is kept")
    assert on_disk(ANA) == TEXT + "- **rice** <img src=x onerror=alert(1)>"
    phone.get_by_role("button", name="Undo").press("Enter")
    phone.wait_for_selector("article li >> text=figs")
    assert on_disk(ANA) == TEXT
    assert (complaints, len(asked)) == ([], 1)


def test_both_texts_are_shown_when_the_file_was_changed_elsewhere(live_server: LiveServer) -> None:
    path = write(ANA, TEXT)
    with pages_of(ANA, live_server.url) as phone:
        settle_a_conflict(phone, live_server.url, path)


def settle_a_conflict(phone: Page, base: str, path: Path) -> None:
    """Save over a change of an editor on the disk, take both in one, and compare versions."""
    complaints = watch(phone)
    phone.goto(base + EDIT, wait_until="load")
    path.write_text(TEXT + "- plums\n")
    phone.get_by_label("Markdown text").fill(TEXT.replace("tea", "green tea"))
    phone.keyboard.press("Control+s")
    phone.wait_for_selector("h1 >> text=was changed elsewhere")
    assert width(phone) == 320
    assert "plums" in phone.get_by_role("region", name="What is there now").inner_text()
    assert "green tea" in phone.get_by_role("region", name="Yours").inner_text()
    assert phone.locator(".diff-removed").all_inner_texts() == ["−- tea", "−- plums"]
    assert phone.get_by_label("Markdown text").input_value() == TEXT.replace("tea", "green tea") + "- plums\n"
    phone.get_by_role("button", name="Save the merged text").press("Enter")
    phone.wait_for_selector("text=Saved. What it was before is kept")
    assert path.read_text() == TEXT.replace("tea", "green tea") + "- plums\n"
    phone.get_by_role("link", name="Versions").press("Enter")
    phone.wait_for_selector("text=Kept aside, because something else was saved first")
    phone.get_by_label("Compare from version 1").check()
    phone.get_by_role("button", name="Compare").press("Enter")
    phone.wait_for_selector("text=From version 1 to version")
    assert phone.locator(".diff-added").all_inner_texts() == ["+- green tea", "+- plums"]
    assert width(phone) == 320
    assert complaints == []
