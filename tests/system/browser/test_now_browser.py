"""*Now* and *Activity* in a real browser: parts that change without a reload, charts, and a telephone."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page
from pytest_django.live_server_helper import LiveServer

from apps.core.models import ProcessKind
from apps.core.processes import publish, withdraw
from apps.monitor.models import Sample
from apps.semantic.models import Memory
from tests.browser import browser_open
from tests.system.browser.test_admin_browser import PASSWORD, log_in, watch
from tests.system.hub import wait_for

pytestmark = pytest.mark.django_db(transaction=True)

# What live.js does when a topic has changed.
CHANGED = "document.querySelectorAll('[data-live]').forEach((part) => part.dispatchEvent(new CustomEvent('live')))"
DRAWN = "Chart.getChart(document.querySelector('#chart-requests canvas')).data.datasets[0].data"


def elsewhere(work: Callable[[], object]) -> None:
    """Write to the database while the browser is driven, which has the loop of this thread."""

    def run() -> None:
        work()
        connection.close()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(run).result()


def width(page: Page) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth"))


def test_a_new_problem_and_new_numbers_appear_without_a_reload(live_server: LiveServer) -> None:
    User.objects.create_superuser("operator", password=PASSWORD)
    publish(ProcessKind.WORKER, {}, {})
    with browser_open() as browser:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        complaints = watch(page)
        log_in(page, live_server.url)
        page.goto(f"{live_server.url}{reverse('cockpit_now')}?range=1h", wait_until="load")
        page.evaluate("window.isSamePage = true")
        page.click("#now-tables > summary")
        assert page.locator("#now-outlook", has_text="worker").count() == 0
        minute = timezone.now().replace(second=0, microsecond=0) - timedelta(minutes=2)
        elsewhere(lambda: (withdraw(ProcessKind.WORKER), Sample.objects.create(series="requests", at=minute, value=42)))
        page.evaluate(CHANGED)
        page.wait_for_selector("#now-outlook .mh-problem:has-text('worker')")
        page.wait_for_selector("#now-tables td:has-text('42')", state="visible")
        wait_for(lambda: page.evaluate(f"{DRAWN}.includes(42)"), "the number in its chart", patience=10)
        assert page.evaluate("window.isSamePage")
    assert complaints == []


def test_new_entries_wait_and_bars_narrow_the_stream_on_a_telephone(
    live_server: LiveServer, remember: Callable[..., Memory]
) -> None:
    User.objects.create_superuser("operator", password=PASSWORD)
    remember("Ana prefers tea")
    with browser_open() as browser:
        page = browser.new_page(viewport={"width": 320, "height": 640})
        complaints = watch(page)
        log_in(page, live_server.url)
        assert width(page) == 320
        page.goto(f"{live_server.url}{reverse('cockpit_activity')}?range=1h", wait_until="load")
        assert width(page) == 320
        elsewhere(lambda: remember("Ana swims on Mondays"))
        page.evaluate(CHANGED)
        page.wait_for_selector("#activity-new a:has-text('1 new')")
        assert page.locator(".mh-entry").count() == 2  # the memory, and the sign-in
        page.click("#activity-new a")
        page.wait_for_selector("text=saved 2 memories of ana")
        box = page.locator("#chart-activity canvas").bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + box["width"] - 8, box["y"] + box["height"] / 2)
        page.wait_for_url("**from=*to=*")
        page.wait_for_selector("text=Back to the newest")
    assert complaints == []
