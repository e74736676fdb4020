"""The pages about models in a real browser: readable on a telephone, usable by keyboard, and they do what they say."""

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Page
from pytest_django.live_server_helper import LiveServer

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.llm.domain.protocol.statistics import ProtocolStatistics
from apps.llm.models import Breaker, BreakerChange, BudgetDay, ModelCall, Price, ToolRunDay
from apps.llm.pricing.prices import prices_ensure
from apps.llm.tools.counts import output_count
from tests.browser import browser_open
from tests.integration.admin.pages import address
from tests.integration.llm.configuring import FALLBACK, MODEL, breaker, call, configured, spent
from tests.system.browser.test_admin_browser import PASSWORD, log_in, watch
from tests.system.hub import wait_for

pytestmark = pytest.mark.django_db(transaction=True)

HERE = reverse("admin:llm_budgetday_changelist")
LONG = "qwen3-235b-a22b-instruct-2507-fp8-with-a-very-long-name-that-goes-on-and-on"


@pytest.fixture
def used(settings: Any) -> Iterator[None]:
    """A hub whose models were used for a month, and whose primary one fails."""
    User.objects.create_superuser("operator", password=PASSWORD)
    prices_ensure()
    now = utcnow(SYSTEM_CLOCK)
    with configured(settings, MODEL, FALLBACK, budget="10"):
        for ago in range(30):
            spent(str(Decimal(ago) / 3), now.date() - timedelta(days=ago))
        BudgetDay.objects.filter(day=now.date()).update(spent_usd=Decimal("9.5"), warned=[70, 90])
        breaker("openai", "open", now)
        breaker(f"openai@{LONG}:8000", "half_open", now)
        call(model=LONG, provider=f"openai@{LONG}:8000", started_at=now, cost_usd=None)
        BreakerChange.objects.create(provider="openai", phase="open", previous="closed", changed_at=now)
        call(outcome="refused", guard="breaker", reason="open", provider="", model="", attempts=0, started_at=now)
        call(outcome="refused", guard="budget", reason="budget_exceeded", provider="", model="", started_at=now)
        output_count(statistics=ProtocolStatistics(outputs=10, abp=6, vcp=2, text=2, fallback_to_vcp=2))
        ToolRunDay.objects.create(day=now.date(), tool="memory_save", protocol="abp", outcome="done", runs=6)
        yield


def pages() -> list[str]:
    lists = [address(model, "changelist") for model in (BudgetDay, ModelCall, Price, ToolRunDay)]
    models = (BudgetDay, ModelCall, Price, ToolRunDay)
    rows = [address(model, "change", model._default_manager.order_by("pk")[0].pk) for model in models]
    return [*lists, *rows, f"{reverse('admin:llm_breaker_reset')}?provider=openai"]


def check_figures(page: Page) -> None:
    """Each chart is drawn from the numbers of its table; the span is chosen by keyboard and holds for all."""
    drawn = page.locator("#figures canvas.chart").evaluate_all(
        "all => all.map((one) => Chart.getChart(one).data.labels.length)"
    )
    assert drawn == [30, 30, 30, 30]
    rows = page.locator("#figures .mh-table-box[data-chart=latency] tbody tr")
    assert rows.count() == 30
    assert page.locator(".mh-state-line .mh-state-bad").count() >= 1
    page.locator("#figures nav a", has_text="7 days").press("Enter")
    page.wait_for_url("**range=7d**")
    page.wait_for_selector("h2:has-text('The last 7 days')")
    points = "Chart.getChart(document.querySelector('#chart-latency canvas'))?.data.labels.length"
    wait_for(lambda: page.evaluate(points) == 28, "the points of seven days")


def press_until(page: Page, name: str) -> None:
    """Move by Tab to the link or button of that name."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if name in page.evaluate("document.activeElement.textContent"):
            return
    raise AssertionError(f"{name} cannot be reached by keyboard.")


@pytest.mark.usefixtures("used")
def test_the_pages_about_models_work_in_a_browser(live_server: LiveServer) -> None:
    addresses = pages()
    with browser_open() as browser:
        page = browser.new_page(viewport={"width": 390, "height": 844})
        complaints = watch(page)
        log_in(page, live_server.url)
        wide = []
        for url in addresses:
            page.goto(live_server.url + url, wait_until="load")
            if page.evaluate("document.documentElement.scrollWidth") > 390:
                wide.append(url)
        page.set_viewport_size({"width": 320, "height": 900})
        page.goto(live_server.url + HERE)
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        page.set_viewport_size({"width": 1280, "height": 900})
        page.goto(live_server.url + HERE)
        check_figures(page)
        press_until(page, "Reset today's spending")
        page.keyboard.press("Enter")
        page.click("#dialog button[type=submit]")
        page.wait_for_selector("text=$9.50 of today's spending no longer counts.")
        press_until(page, "Reset breaker of openai")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=Reset the circuit breaker of")
        press_until(page, "Reset")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=The breaker of openai is closed.")
    assert wide == []
    assert complaints == []
    assert Breaker.objects.get(pk="openai").phase == "closed"
    assert BudgetDay.objects.latest("day").waived_usd == Decimal("9.5")
