"""*Timeline* in a real browser: a range by pointer and by keys, lanes, new events, and the slider of retention."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page
from pytest_django.live_server_helper import LiveServer

from apps.core.domain.scope import Scope
from apps.episodic.models import RetentionPolicy
from tests.browser import browser_open
from tests.integration.admin import timeline
from tests.integration.episodic.upkeep import a_sealed_segment, an_archived_segment
from tests.system.browser.test_admin_browser import PASSWORD, log_in, watch
from tests.system.browser.test_admin_timeline_browser import aside
from tests.system.hub import wait_for

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("timeline_dir"),
]
HERE = reverse("admin:episodic_timelineevent_timeline")
RETENTION = reverse("admin:episodic_retentionpolicy_changelist")
SIZES = [{"width": 390, "height": 844}, {"width": 1440, "height": 900}]
CHANGED = "document.querySelectorAll('[data-live]').forEach((part) => part.dispatchEvent(new CustomEvent('live')))"
RANGE = "#timeline-plot .mh-plot-bar.is-in"
AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text()
RUN_AXE = """async () => {
  const levels = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
  const found = await axe.run(document, { runOnly: { type: "tag", values: levels }, preload: false });
  return found.violations.flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.html.slice(0, 200)}`));
}"""
# A folder for pictures, for those who want to look at them.
PICTURES = os.environ.get("TIMELINE_PICTURES")


def fill() -> None:
    """Events of half a year: in files, and as rows of the last days, of ten types."""
    now = timezone.now()
    an_archived_segment(range(40), event_type="message", scope=Scope("ana", "home"))
    a_sealed_segment(range(40, 50), event_type="visit")
    for number in range(160):
        long = "Ben asked when the boiler was serviced, and by whom; the answer was in a letter of last winter. "
        timeline.event(
            f"{number}: {long * (number % 3) or 'Ana came home.'}",
            timestamp=now - timedelta(minutes=61 * number * (1 + number % 5)),
            event_type=f"{('door', 'conversation', 'kitchen.appliance')[number % 3]}.{number % 4}",
            user_id=("ana", "ben", "a-rather-long-identifier-of-a-user@example.org")[number % 3],
            household_id="home",
            recorded_at=now - timedelta(hours=2),
        )


def findings(page: Page) -> Iterator[str]:
    """What axe finds on a page, in both themes."""
    page.evaluate(AXE)
    for is_dark in (True, False):
        page.evaluate("(dark) => document.documentElement.classList.toggle('dark', dark)", is_dark)
        yield from page.evaluate(RUN_AXE)


def picture(page: Page, name: str) -> None:
    if PICTURES:
        for theme in ("light", "dark"):
            page.evaluate("(dark) => document.documentElement.classList.toggle('dark', dark)", theme == "dark")
            width = page.viewport_size and page.viewport_size["width"]
            page.screenshot(path=Path(PICTURES) / f"{name}-{width}-{theme}.png", full_page=True)
        page.evaluate("document.documentElement.classList.remove('dark')")


# Whether the number above the list is that of the bars of the range, or without one of all bars.
IS_SETTLED = """() => {
  const bars = [...document.querySelectorAll("#timeline-plot .mh-plot-bar")];
  const range = bars.filter((bar) => bar.classList.contains("is-in"));
  const count = (range.length ? range : bars).reduce((sum, bar) => sum + Number(bar.dataset.count), 0);
  const said = document.querySelector("#timeline-list").innerText.match(/^[\\d,]+/)[0];
  return Number(said.replaceAll(",", "")) === count;
}"""


def in_range(page: Page) -> int:
    """How many events the bars of the range count."""
    return sum(int(bar.get_attribute("data-count") or 0) for bar in page.locator(RANGE).all())


def check_range(page: Page, base: str) -> None:
    page.goto(f"{base}{HERE}?range=month", wait_until="load")
    picture(page, "timeline")
    page.evaluate("window.isSamePage = true")
    plot, whole = page.locator("#timeline-plot"), page.inner_text("#timeline-list")
    plot.focus()
    page.keyboard.press("ArrowLeft")  # the last bar, and from there on
    for key in (
        "ArrowUp",
        "ArrowUp",
        "ArrowLeft",
        "ArrowLeft",
        "ArrowDown",
        "Home",
        "End",
        "PageUp",
        "ArrowUp",
        "ArrowUp",
        "ArrowUp",
    ):
        page.keyboard.press(key)
    wait_for(lambda: page.evaluate(IS_SETTLED), "the number of the range")
    assert page.locator(RANGE).count() > 1
    assert 0 < in_range(page) < int(whole.split()[0])
    assert plot.get_attribute("role") == "slider"
    assert f"{in_range(page)} events" in (plot.get_attribute("aria-valuetext") or "")
    assert plot.evaluate("(plot) => plot === document.activeElement")
    page.keyboard.press("Escape")
    wait_for(lambda: page.evaluate(IS_SETTLED), "the number of the range")
    assert page.locator(RANGE).count() == 0
    wait_for(lambda: "from=" not in page.url, "an address without a range")

    plot.scroll_into_view_if_needed()
    box = page.locator("#timeline-plot .mh-plot-bars").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.75, box["y"] + 30, steps=4)
    page.mouse.move(box["x"] + box["width"] - 2, box["y"] + 30)
    page.mouse.up()
    wait_for(lambda: page.evaluate(IS_SETTLED), "the number of the range")
    assert 0 < in_range(page) < int(whole.split()[0])
    picture(page, "timeline-range")
    assert page.evaluate("window.isSamePage")

    start = page.input_value("[name=from]")
    lane = page.locator(".mh-lane a").first
    name = lane.locator(".mh-mono").inner_text()
    lane.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".mh-lane.is-current")
    assert page.input_value("[name=from]") == start
    assert set(page.locator(".mh-happened .mh-mono").all_inner_texts()) == {name}
    assert page.locator(RANGE).count() > 10
    picture(page, "timeline-type")


def check_new(page: Page, base: str, number: int) -> None:
    page.goto(f"{base}{HERE}?range=day", wait_until="load")
    shown = page.locator(".mh-happened .mh-entry").count()
    aside(lambda: timeline.event(f"new {number}", timestamp=timezone.now(), recorded_at=timezone.now()))
    page.evaluate(CHANGED)
    page.wait_for_selector("#timeline-new a:has-text('1 new')")
    assert page.locator(".mh-happened .mh-entry").count() == shown
    page.click("#timeline-new a")
    page.wait_for_selector(f".mh-happened .mh-entry:has-text('new {number}')")
    page.click(f".mh-event-link:has-text('new {number}')")
    page.wait_for_selector(".mh-event-words")
    assert list(findings(page)) == []
    picture(page, "event")


def check_retention(page: Page, base: str) -> None:
    page.goto(f"{base}{RETENTION}?days=1000", wait_until="load")
    assert page.locator("#retention-plot .is-going").count() == 0
    slider = page.locator("[data-retention] [type=range]")
    slider.focus()
    for _ in range(30):
        page.keyboard.press("PageDown")
    days = int(page.input_value("[name=days]"))
    assert days < 60
    assert (slider.get_attribute("aria-valuetext") or "") == f"{days} days"
    shaded = page.locator("#retention-plot .is-going").count()
    assert shaded > 1
    wait_for(lambda: page.input_value("#retention-going [name=days]") == str(days), "the number of the slider")
    assert "would be deleted" in page.inner_text("#retention-going")
    assert page.locator(".mh-going li").count() >= 1
    picture(page, "retention")
    # The hub shades the same bars as the slider.
    page.reload(wait_until="load")
    assert abs(page.locator("#retention-plot .is-going").count() - shaded) <= 1
    page.locator("#retention-going button").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("text=The next run would delete")
    assert not aside(lambda: RetentionPolicy.objects.filter(is_enabled=True).exists())


def test_the_timeline_is_brushed_narrowed_and_pruned(live_server: LiveServer) -> None:
    fill()
    RetentionPolicy.objects.get_or_create(household_id="", defaults={"days": 90})
    User.objects.create_superuser("operator", password=PASSWORD)
    with browser_open() as browser:
        page = browser.new_page(viewport=SIZES[0])
        complaints = watch(page)
        log_in(page, live_server.url)
        for number, size in enumerate(SIZES):
            page.set_viewport_size(size)
            for url in (HERE, f"{HERE}?range=all&q=boiler", RETENTION, reverse("admin:episodic_segment_changelist")):
                page.goto(live_server.url + url, wait_until="load")
                assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], url
                assert number or list(findings(page)) == [], url
            picture(page, "segments")
            check_range(page, live_server.url)
            check_new(page, live_server.url, number)
            check_retention(page, live_server.url)
        page.set_viewport_size({"width": 320, "height": 640})
        for url in (HERE, RETENTION):
            page.goto(live_server.url + url, wait_until="load")
            assert page.evaluate("document.documentElement.scrollWidth") <= 320, url
    assert complaints == []


def test_the_timeline_works_without_scripts(live_server: LiveServer) -> None:
    """Ranges by the form and by the table, days by a field."""
    fill()
    RetentionPolicy.objects.get_or_create(household_id="", defaults={"days": 90})
    User.objects.create_superuser("operator", password=PASSWORD)
    with browser_open() as browser:
        page = browser.new_page(viewport=SIZES[0])
        log_in(page, live_server.url)
        kept = page.context.storage_state()
        plain = browser.new_context(java_script_enabled=False, storage_state=kept).new_page()
        plain.goto(f"{live_server.url}{HERE}?range=month", wait_until="load")
        day = datetime.now(UTC) - timedelta(days=2)
        plain.locator("[name=from]").fill(day.strftime("%Y-%m-%dT00:00"))
        plain.locator("[name=user]").fill("ben")
        plain.locator(".mh-timeline-form button").click()
        plain.wait_for_url("**user=ben**", wait_until="load")
        assert plain.locator(".mh-happened .mh-entry").count() > 0
        assert "of ben" in plain.locator("#timeline-list").inner_text()
        assert plain.locator(RANGE).count() > 0
        plain.locator("details:has-text('as a table') summary").click()
        day_link = plain.locator("details .mh-table a").first
        where = day_link.get_attribute("href")
        day_link.click()
        plain.wait_for_url(f"**{where}", wait_until="load")
        assert plain.locator(RANGE).count() == 1
        plain.goto(f"{live_server.url}{RETENTION}", wait_until="load")
        plain.locator("[data-retention] [name=days]").fill("3")
        plain.locator("[data-retention] button").click()
        plain.wait_for_url("**days=3**", wait_until="load")
        assert plain.locator("#retention-plot .is-going").count() > 1
        assert not plain.locator("[data-retention] [type=range]").is_visible()
