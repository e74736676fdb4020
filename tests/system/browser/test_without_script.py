"""A person's pages in a browser that runs no script: everything that matters works by links and forms."""

import pytest
from playwright.sync_api import Page
from pytest_django.live_server_helper import LiveServer

from apps.accounts.services import person_create
from apps.core.models import Pause
from apps.semantic.models import Memory
from tests.browser import browser_open
from tests.integration.webui.person import ANA, remember
from tests.system.browser.test_admin_browser import PASSWORD, watch
from tests.system.browser.test_now_browser import elsewhere
from tests.system.browser.test_rules_browser import keep_default

pytestmark = pytest.mark.django_db(transaction=True)
OLD, NEW = "Ana spent $12 on postcards.", "Ana spent $15 on postcards."


def sign_in(page: Page, base: str) -> None:
    page.goto(base)
    page.get_by_role("link", name="Sign in", exact=True).click()
    page.fill("[name=username]", "ana-signs-in")
    page.fill("[name=password]", PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url(f"{base}/")


def ask(page: Page, question: str) -> None:
    page.fill("#question", question)
    page.get_by_role("button", name="Ask").click()


def press(page: Page, name: str, then: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()
    page.wait_for_selector(f"text={then}")


def follow(page: Page, name: str) -> None:
    page.locator("a", has_text=name).first.click()


def standing() -> list[str]:
    found: list[str] = []
    elsewhere(lambda: found.extend(Memory.objects.filter(status="active").values_list("content", flat=True)))
    return sorted(found)


def test_a_person_reads_asks_forgets_and_clears_up_without_script(live_server: LiveServer) -> None:
    keep_default()
    login = person_create(username="ana-signs-in", person_id=ANA)
    login.set_password(PASSWORD)
    login.save()
    with browser_open() as browser:
        page = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 844}).new_page()
        complaints = watch(page)
        sign_in(page, live_server.url)

        page.fill("[name=content]", "Ana plays the cello")
        press(page, "Save", "Saved.")
        ask(page, "which instrument does Ana play?")
        follow(page, "Ana plays the cello")
        press(page, "Forget", "Assistants no longer find it.")
        assert standing() == []
        page.get_by_role("link", name="Home").click()
        ask(page, "which instrument does Ana play?")
        page.wait_for_selector("text=Your assistants know nothing that answers this.")
        page.go_back()
        page.go_back()
        press(page, "Bring back", "It is back")
        page.locator("summary", has_text="Correct it").click()
        page.fill("textarea", "Ana plays the viola")
        press(page, "Save", "Corrected.")
        assert standing() == ["Ana plays the viola"]

        elsewhere(lambda: [remember(ANA, content) for content in (OLD, NEW)])
        page.get_by_role("link", name="Home").click()
        follow(page, "thing to clear up")
        page.locator("button.side", has_text=NEW).click()
        page.wait_for_selector(".undo")
        assert standing() == ["Ana plays the viola", NEW]
        press(page, "Undo", "Which is right?")
        assert OLD in standing()

        page.get_by_role("link", name="Home").click()
        page.locator("summary", has_text="Pause remembering").click()
        press(page, "Pause", "Nothing is remembered until")
        press(page, "Resume now", "can remember again")

        follow(page, "ana-signs-in")
        press(page, "Sign out", "Sign in")
        page.goto(f"{live_server.url}/ask/")
        assert "/accounts/login/" in page.url
    assert complaints == []
    assert not Pause.objects.exists()
