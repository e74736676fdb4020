"""Pages by keyboard alone: all is reached and shows it, dialogs give the focus back, and each job can be done."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page

from apps.core.models import ApiKey
from tests.integration.admin.pages import address
from tests.system.browser.test_admin_browser import watch
from tests.system.browser.walk.filled import FilledHub
from tests.system.browser.walk.keyboard import Keyboard

pytestmark = pytest.mark.xdist_group("walk")
MAIN = (
    "cockpit_now", "cockpit_activity", "cockpit_ask", "cockpit_people", "cockpit_person", "cockpit_decisions",
    "cockpit_work", "cockpit_index", "cockpit_access", "cockpit_audit", "admin:semantic_memory_changelist",
    "admin:semantic_memory_change", "admin:core_apikey_add", "admin:rules_mergerule_change",
    "admin:llm_budgetday_changelist", "admin:episodic_timelineevent_changelist", "account_change_password",
    "usersessions_list", "webui:home", "webui:memory",
)  # fmt: skip


@pytest.fixture
def page(filled: FilledHub, browser: Browser) -> Iterator[Page]:
    """A tab in which the owner is signed in, without complaints until its end."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, accept_downloads=True)
    context.add_cookies(filled.cookies("owner"))
    tab = context.new_page()
    complaints = watch(tab)
    yield tab
    context.close()
    assert complaints == []


def test_tab_reaches_everything_and_shows_where_it_is(filled: FilledHub, page: Page) -> None:
    found, seen = [], set()
    for one in filled.pages:
        if one.name in MAIN and one.name not in seen:
            seen.add(one.name)
            page.goto(filled.base + one.path, wait_until="load")
            found += [f"{one.name}: {fault}" for fault in Keyboard(page).round()]
    assert seen == set(MAIN)
    assert "\n".join(found) == ""


def test_dialogs_keep_the_focus_and_give_it_back(filled: FilledHub, page: Page) -> None:
    person = Keyboard(page)
    page.goto(filled.base + filled.path("admin:semantic_memory_change", "active"), wait_until="load")
    person.choose("Delete")
    page.wait_for_selector("#modal-content #dialog")
    page.wait_for_selector("#modal-content :focus, #modal-content:focus")
    for _ in range(8):
        person.press("Tab")
        assert page.evaluate("document.querySelector('#modal-content').contains(document.activeElement)")
    person.press("Escape")
    page.wait_for_selector("#modal-content", state="hidden")
    page.wait_for_selector(":focus:has-text('Delete')")
    person.press("Control+k")
    page.wait_for_selector("#mh-palette[open]")
    person.press("Escape")
    page.wait_for_selector("#mh-palette[open]", state="detached")
    assert "Delete" in person.names()


def test_memory_is_found_with_ctrl_k(filled: FilledHub, page: Page) -> None:
    person = Keyboard(page)
    page.goto(filled.base + reverse("cockpit_now"), wait_until="load")
    person.press("Control+k")
    person.type("ana has read book 7")
    page.get_by_role("option", name=re.compile("read book 7")).first.wait_for()
    person.press("Enter")
    page.wait_for_url("**/admin/semantic/memory/*/change/")
    assert "Ana has read book 7." in page.inner_text("body")


def test_decision_is_made_and_undone_in_activity(filled: FilledHub, page: Page) -> None:
    person = Keyboard(page)
    page.goto(filled.base + reverse("cockpit_decisions"), wait_until="load")
    page.wait_for_selector(".queue-row[aria-current]")
    page.wait_for_selector(".queue-steps")
    person.choose("Accept")
    page.wait_for_selector("#queue-undo:not([hidden])")
    page.goto(filled.base + reverse("cockpit_activity"), wait_until="load")
    person.choose("Undo the decision")
    page.wait_for_url("**/admin/semantic/conflict/**")
    person.choose("Revert")
    page.wait_for_selector("#modal-content #dialog")
    person.choose("Revert")
    page.wait_for_selector("#modal-content", state="hidden")
    page.wait_for_selector("text=reverted")


def test_failed_job_is_run_again(filled: FilledHub, page: Page) -> None:
    person = Keyboard(page)
    page.goto(filled.base + reverse("cockpit_work"), wait_until="load")
    person.choose("Run all again")
    page.wait_for_selector("text=2 tasks are queued again.")


def test_key_is_made_and_revoked(filled: FilledHub, page: Page) -> None:
    person = Keyboard(page)
    page.goto(filled.base + address(ApiKey, "add"), wait_until="load")
    person.reach("id_name")
    person.type("by keyboard")
    person.reach("id_user_id")
    person.type("ana")
    person.choose("Save")
    page.wait_for_selector("text=Waiting for its first call")
    page.goto(f"{filled.base}{address(ApiKey, 'changelist')}?q=by+keyboard", wait_until="load")
    person.choose("by keyboard")
    page.wait_for_url("**/change/**")
    person.choose("Revoke")
    page.wait_for_selector("#modal-content #dialog")
    person.choose("Revoke")
    page.wait_for_selector("text=The key is revoked")


def test_person_is_exported(filled: FilledHub, page: Page, tmp_path: Path) -> None:
    person = Keyboard(page)
    page.goto(filled.base + reverse("cockpit_people"), wait_until="load")
    person.choose("ana")
    page.wait_for_url("**/people/person/**")
    with page.expect_download() as download:
        person.choose("Export")
    download.value.save_as(tmp_path / "export")
    kinds = [json.loads(line)["kind"] for line in (tmp_path / "export").read_text().splitlines()]
    assert (kinds[0], kinds[-1]) == ("header", "end")
    assert "memory" in kinds
