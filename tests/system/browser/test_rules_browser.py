"""The editor of a rule in a real browser, by keyboard alone: add a setting, see the rehearsal, try it, save it."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from apps.core.domain.scope import Scope, system_access
from apps.rules import selectors
from apps.rules.domain.documents.rule import BUILT_IN
from apps.rules.models import MergeRule, RegistryVersion
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.services import memory_save_many
from tests.browser import browser_open
from tests.system.browser.test_admin_browser import PASSWORD, log_in, watch

pytestmark = pytest.mark.django_db(transaction=True)
SYSTEM = system_access("test")
MANY = 4
PATIENCE = 20_000
MAX_TABS = 200
DONE = "#rule-rehearsal-result[data-state=done]"
# Whatever the rehearsal has ever shown.
RECORD = """() => {
  const panel = document.getElementById("rule-rehearsal");
  window.shown = [];
  new MutationObserver(() => window.shown.push(panel.innerText)).observe(panel, { childList: true, subtree: true });
}"""
ADD, RESULT, SAVE = "#rule-add-words", "#rule-rehearsal-result", "button[name=_save]"


def decide() -> None:
    for content in ("Ana lives in Lisbon.", "Ana does not live in Lisbon."):
        memory_save_many(access=SYSTEM, drafts=[MemoryDraft(content, scope=Scope(f"user {n}")) for n in range(MANY)])


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until an element has the focus."""
    for _ in range(MAX_TABS):
        if page.evaluate("wanted => document.activeElement.matches(wanted)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{selector} cannot be reached by Tab")


def add_setting(page: Page, words: str, value: str) -> None:
    tab_to(page, ADD)
    page.keyboard.type(words)
    page.keyboard.press("Enter")
    page.keyboard.type(value)


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.name || document.activeElement.id"))


def keep_default() -> None:
    """Have the built-in rules, which an earlier test that commits may have emptied."""
    now = timezone.now()
    for name, document in BUILT_IN.items():
        values = {"document": document, "version": 0, "created_at": now, "updated_at": now, "updated_by": "built in"}
        MergeRule.objects.get_or_create(name=name, defaults=values)
    RegistryVersion.objects.get_or_create(pk=1)


def test_a_rule_is_edited_by_keyboard_alone(live_server: LiveServer) -> None:
    keep_default()
    decide()
    User.objects.create_superuser("operator", password=PASSWORD)
    held: list[Route] = []
    with browser_open() as browser:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        complaints = watch(page)
        log_in(page, live_server.url)
        page.goto(live_server.url + reverse("admin:rules_mergerule_changelist"), wait_until="load")
        tab_to(page, "[aria-labelledby=rules-last] .rule-name a")
        page.keyboard.press("Enter")
        page.wait_for_selector(f"{ADD}:visible")

        # The answer to the first edit is late, and never shown: that to the last one is.
        page.evaluate(RECORD)
        page.route("**/rehearsal/", lambda route: held.append(route) if not held else route.continue_())
        add_setting(page, "boost am", "0.3")
        page.wait_for_selector("#setting-merge__boost_amount.rule-is-changed")
        assert focused(page) == "merge__boost_amount"
        page.wait_for_selector(f"{SAVE}:has-text('Save without rehearsal')")
        page.wait_for_timeout(1_000)
        assert len(held) == 1
        add_setting(page, "what conflicts texts contradict", "1")
        assert focused(page) == ADD.removeprefix("#")  # no setting has all of these words
        page.keyboard.press("Control+A")
        add_setting(page, "contradiction thr", "1")
        add_setting(page, "keyword thr", "1")
        page.wait_for_timeout(1_000)
        held[0].continue_()
        page.wait_for_selector(DONE, timeout=PATIENCE)
        assert not any(f"0 of {MANY}" in text for text in page.evaluate("window.shown"))
        assert f"{MANY} of {MANY} would differ" in page.inner_text(RESULT)
        assert "because of Detection, contradiction threshold" in page.inner_text(RESULT)
        assert page.inner_text(SAVE).strip() == "Save"
        assert "Merge, boost amount: 0.3, was as in the defaults (0.1)." in page.inner_text("#rule-preview")

        # A difference is dropped, which is an edit as well.
        tab_to(page, "#setting-merge__boost_amount [data-inherit]")
        page.keyboard.press("Enter")
        assert focused(page) == ADD.removeprefix("#")
        page.wait_for_selector(f"{SAVE}:has-text('Save without rehearsal')")
        page.wait_for_selector("#rule-rehearsed[data-state=done]", timeout=PATIENCE)
        expect(page.locator("#rule-preview")).not_to_contain_text("boost", timeout=PATIENCE)

        tab_to(page, "#rule-try summary")
        page.keyboard.press("Enter")
        for name, words in (("existing", "Ana lives in Lisbon."), ("candidate", "Ana does not live in Lisbon.")):
            tab_to(page, f"[name=trial-{name}]")
            page.keyboard.type(words)
        tab_to(page, "#rule-try-button")
        page.keyboard.press("Enter")
        page.wait_for_selector("#trial-result:has-text('They do not conflict')")

        for width in (320, 390, 1440):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width

        tab_to(page, SAVE)
        page.keyboard.press("Enter")
        page.wait_for_selector("#rules-flow")
        assert "without a rehearsal" not in page.content()
    assert complaints == []
    assert selectors.rule_get(SYSTEM, "default")["detection"] == {"contradiction_threshold": 1, "keyword_threshold": 1}
    assert "merge" not in selectors.rule_get(SYSTEM, "default")
