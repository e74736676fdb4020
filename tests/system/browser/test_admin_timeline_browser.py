"""The pages of the timeline in a real browser: on a small screen, by keyboard, and work that is watched to its end."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page
from pytest_django.live_server_helper import LiveServer

from apps.episodic.models import RetentionPolicy, Segment, TimelineEvent, TimelineWarning
from tests.browser import browser_open
from tests.integration.admin import timeline
from tests.integration.admin.pages import address
from tests.integration.episodic.upkeep import a_sealed_segment, an_archived_segment, record
from tests.integration.episodic.workers import work_off
from tests.system.browser.test_admin_browser import PASSWORD, log_in, watch

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("timeline_dir"),
]
SMALL, WIDE = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
SEARCH = reverse("admin:episodic_timelineevent_query")
LONG = "a-rather-long-identifier-of-a-user-from-a-provider-of-identities@example.org"


def aside(work: Callable[[], Any]) -> Any:
    """Do something with the database while a browser is there, which occupies this thread."""

    def closing() -> Any:
        try:
            return work()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(closing).result()


def press(page: Page, text: str) -> None:
    """Use a link or button without a mouse."""
    page.locator(f":is(a, button):visible:has-text('{text}')").first.focus()
    page.keyboard.press("Enter")


def confirm(page: Page) -> None:
    """Press the button of the dialog."""
    page.locator("#dialog button[type=submit]").focus()
    page.keyboard.press("Enter")


def is_cut_off(page: Page, selector: str) -> bool:
    """Whether an element has more in it than it shows."""
    return bool(page.eval_on_selector(selector, "cell => cell.scrollHeight > cell.clientHeight + 1"))


def every_page(segment: Segment, event: TimelineEvent) -> list[str]:
    # A test that commits empties the tables after it, the prepared policy's too.
    policy, _ = RetentionPolicy.objects.get_or_create(household_id="", defaults={"days": 90})
    warning = TimelineWarning.objects.get()
    return [
        reverse("admin:index"),
        *(address(model, "changelist") for model in (TimelineEvent, Segment, RetentionPolicy, TimelineWarning)),
        *(address(type(one), "change", one.pk) for one in (event, segment, policy, warning)),
        reverse("admin:episodic_segment_inside", args=[segment.pk]),
        reverse("admin:episodic_retentionpolicy_preview", args=[policy.pk]),
        f"{SEARCH}?user_id={LONG}&household_id=home",
    ]


def test_timeline_is_looked_after_by_keyboard_and_read_on_small_screen(live_server: LiveServer) -> None:
    segment = an_archived_segment(range(60), event_type="a.type.with.a.long.name.that.somebody.thought.of")
    a_sealed_segment([70])
    record([71])
    event = timeline.event("word " * 80, user_id=LONG, household_id="home", recorded_at=timezone.now())
    timeline.warning(detail="Something is wrong with something that has a long name. " * 3)
    pages, policy = every_page(segment, event), RetentionPolicy.objects.get()
    User.objects.create_superuser("operator", password=PASSWORD)
    with browser_open() as browser:
        page = browser.new_page(viewport=SMALL)
        complaints = watch(page)
        log_in(page, live_server.url)
        for url in pages:
            page.goto(live_server.url + url, wait_until="load")
            assert page.evaluate("document.documentElement.scrollWidth") <= SMALL["width"], url
        page.goto(live_server.url + address(TimelineEvent, "changelist"), wait_until="load")
        assert not any(is_cut_off(page, cell) for cell in (".field-event", ".field-whose", ".field-when"))

        page.set_viewport_size(WIDE)
        page.goto(live_server.url + address(Segment, "changelist"), wait_until="load")
        press(page, "Check")
        page.wait_for_selector("text=Check the whole timeline?")
        confirm(page)
        page.wait_for_selector("text=Waiting for a worker")
        aside(work_off)
        page.wait_for_selector("text=Checking the timeline: done")
        assert "2 segments are sound: 61 events" in page.inner_text("#mh-progress")

        page.goto(live_server.url + SEARCH, wait_until="load")
        page.fill("[name=user_id]", "user-1")
        page.fill("[name=text]", "event 4")
        page.press("[name=text]", "Enter")
        page.wait_for_selector("text=best first")
        page.locator(".mh-events summary").first.focus()
        page.keyboard.press("Enter")
        assert page.locator(".mh-events details[open]").count() == 1

        page.goto(live_server.url + address(RetentionPolicy, "change", policy.pk))
        page.fill("[name=days]", "1")
        page.locator("[name=is_enabled]").focus()
        page.keyboard.press("Space")
        press(page, "Save")
        page.wait_for_selector("text=The next run would delete")
        assert not aside(RetentionPolicy.objects.get).is_enabled
        press(page, "Save, and delete them")
        page.wait_for_selector("text=was changed successfully")
    assert complaints == []
    assert RetentionPolicy.objects.get().is_enabled
