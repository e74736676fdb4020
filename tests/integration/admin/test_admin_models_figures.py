"""Figures over time on the page of budget and breakers, all over one span, and what helps against refusals."""

import re
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from html import unescape
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client
from django.urls import reverse

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.llm.admin.figures import SPANS
from apps.llm.domain.refusals import ADVICE, Help
from apps.llm.models import BreakerChange
from tests.integration.admin.pages import text_of
from tests.integration.llm.configuring import FALLBACK, MODEL, breaker, call, configured, price, spent

pytestmark = pytest.mark.django_db

HERE = reverse("admin:llm_budgetday_changelist")
WAIVE = reverse("admin:llm_budgetday_waive_today")
RESET = reverse("admin:llm_breaker_reset")
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def refuse(guard: str, reason: str) -> None:
    now = utcnow(SYSTEM_CLOCK)
    call(outcome="refused", guard=guard, reason=reason, provider="", model="", attempts=0, started_at=now)


def shown(client: Client, **query: str) -> dict[str, Any]:
    """What the page is made of."""
    response: Any = client.get(HERE, query)
    context: dict[str, Any] = response.context_data
    return context


@pytest.mark.parametrize("span", SPANS, ids=lambda span: span.name)
def test_all_figures_have_one_span(operator: Client, span: Any) -> None:
    call(started_at=utcnow(SYSTEM_CLOCK))
    page = shown(operator, range=span.name)
    assert [len(chart.labels) for chart in page["money"]] == [span.days] * 3
    assert len(page["latency"].labels) == span.days * 24 // span.hours
    assert f"The last {span.title}" in text_of(operator, HERE, range=span.name)


def test_span_is_no_filter_of_the_days(operator: Client) -> None:
    spent("1", utcnow(SYSTEM_CLOCK).date())
    page = shown(operator, range="90d")
    assert page["cl"].result_count == 1
    assert shown(operator, range="moon")["span"].name == "30d"


def test_money_is_stacked_by_largest_values_under_the_budget(operator: Client, settings: Any) -> None:
    now = utcnow(SYSTEM_CLOCK)
    for number in range(8):
        call(purpose=f"purpose {number}", cost_usd=Decimal(number + 1), started_at=now)
    with configured(settings, MODEL, budget="10"):
        purpose, model, key = shown(operator)["money"]
    assert [one.label for one in purpose.series] == [
        "purpose 7", "purpose 6", "purpose 5", "purpose 4", "purpose 3", "others (3)", "Budget",
    ]  # fmt: skip
    assert [one.values[-1] for one in purpose.series] == [8, 7, 6, 5, 4, 6, 10]
    assert ([one.label for one in model.series], [one.label for one in key.series]) == (
        ["gpt-5", "Budget"],
        ["key:app", "Budget"],
    )
    assert purpose.is_stacked


def test_latencies_are_lines_with_gaps(operator: Client) -> None:
    call(latency_ms=1_500, started_at=utcnow(SYSTEM_CLOCK))
    chart = shown(operator)["latency"]
    median, high = chart.series
    assert (median.label, high.label) == ("openai, median", "openai, 95th percentile")
    assert (median.values[-1], median.values[0], median.words[-1], median.words[0]) == (1.5, None, "1.5 s", "no call")


def test_forecast_needs_days_and_says_how_it_is_made(operator: Client, settings: Any) -> None:
    assert "None before there are 3 whole days" in text_of(operator, HERE)
    now = utcnow(SYSTEM_CLOCK)
    for ago in range(6):
        call(started_at=now - ago * DAY, cost_usd=Decimal(1))
    spent("12", now.date())
    with configured(settings, MODEL, budget="10"):
        page = shown(operator)
        text = unescape(text_of(operator, HERE))
    assert page["forecast"]["is_above"]
    assert "more than the budget" in text
    assert "From the last 4 whole days (UTC): today's spending so far, plus the average" in text


def test_phases_of_breaker_are_line_and_table(operator: Client) -> None:
    now = utcnow(SYSTEM_CLOCK)
    breaker("openai", "closed", now - HOUR)
    BreakerChange.objects.create(provider="openai", phase="open", previous="closed", changed_at=now - 2 * HOUR)
    BreakerChange.objects.create(provider="openai", phase="closed", previous="open", changed_at=now - HOUR)
    [line] = shown(operator, range="7d")["lines"]
    assert (line["says"], [part["tone"] for part in line["parts"]]) == ("open once", ["good", "bad", "good"])
    assert all(part["x"] >= 0 and part["x"] + part["width"] <= 1_004 for part in line["parts"])
    assert [row[1:] for row in line["rows"]][1] == ("Open", "1 h")
    text = unescape(text_of(operator, HERE, range="7d"))
    assert "openai: open once in the last 7 days" in text
    assert re.search(r"<td>Open</td><td>1 h</td>", text)


@pytest.mark.parametrize(("guard", "reason"), ADVICE)
def test_refused_calls_name_the_setting_and_what_helps(operator: Client, guard: str, reason: str) -> None:
    refuse(guard, reason)
    [refused] = shown(operator)["refused"]
    advice = ADVICE[guard, reason]
    assert (refused["count"], refused["setting"], refused["remedy"]) == ("1 call", advice.setting, advice.remedy)
    text = unescape(text_of(operator, HERE).partition('id="mh-refused"')[2])
    assert advice.what in text
    assert (advice.setting in text) is bool(advice.setting) or advice.setting == ""


@pytest.mark.parametrize(
    ("reason", "label", "link"),
    [
        (("budget", "budget_exceeded"), "Reset today's spending", WAIVE),
        (("breaker", "open"), "Reset the breaker of openai", f"{RESET}?provider=openai"),
        (("breaker", "half_open"), "Reset the breaker of openai", f"{RESET}?provider=openai"),
        (
            ("budget", "price_unknown"),
            "Add a price for gpt-5",
            f"{reverse('admin:llm_price_add')}?provider=openai&model=gpt-5",
        ),
    ],
)
def test_button_is_the_one_that_helps(
    operator: Client, staff: Callable[..., Client], settings: Any, reason: tuple[str, str], label: str, link: str
) -> None:
    now = utcnow(SYSTEM_CLOCK)
    spent("9", now.date())
    breaker("openai", "open", now)
    refuse(*reason)
    with configured(settings, MODEL, budget="10"):
        [refused] = shown(operator)["refused"]
        assert (refused["button"].label, refused["button"].link) == (label, link)
        assert operator.get(link).status_code == 200
        [looked] = shown(staff("view_budgetday", "view_modelcall"))["refused"]
        assert looked["button"] is None


@pytest.mark.parametrize("reason", ADVICE)
def test_nothing_is_offered_that_changes_nothing(operator: Client, settings: Any, reason: tuple[str, str]) -> None:
    price()
    breaker("openai", "closed", utcnow(SYSTEM_CLOCK))
    refuse(*reason)
    with configured(settings, MODEL, budget="10"):
        [refused] = shown(operator)["refused"]
    assert refused["button"] is None


def test_setting_has_no_button() -> None:
    assert {advice.help for (guard, _), advice in ADVICE.items() if guard == "rate"} == {Help.SETTING}


def test_who_may_not_view_calls_sees_no_figures_of_them(staff: Callable[..., Client]) -> None:
    call(purpose="secret purpose", started_at=utcnow(SYSTEM_CLOCK))
    refuse("rate", "full")
    client = staff("view_budgetday")
    text = text_of(client, HERE)
    assert "secret purpose" not in text
    assert "Refused calls" not in text
    assert "money" not in shown(client)


def test_names_in_figures_are_escaped(operator: Client) -> None:
    script, now = "</script><script>alert(1)</script>", utcnow(SYSTEM_CLOCK)
    call(purpose=script, actor=script, model=script, provider=script, started_at=now)
    breaker(script, "open", now)
    text = text_of(operator, HERE)
    assert "<script>alert(1)" not in text
    assert quote(script) in text or "&lt;script&gt;alert(1)" in text


def test_page_takes_no_more_queries_for_more_calls(
    operator: Client, django_assert_max_num_queries: Any, settings: Any
) -> None:
    now = utcnow(SYSTEM_CLOCK)
    for ago in range(30):
        call(purpose=f"p{ago}", model=f"m{ago}", provider=f"q{ago}", started_at=now - ago * DAY)
    with configured(settings, MODEL, FALLBACK, budget="10"):
        text_of(operator, HERE)
        with django_assert_max_num_queries(32):
            text_of(operator, HERE)
