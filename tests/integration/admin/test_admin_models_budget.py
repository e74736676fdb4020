"""Budget and circuit breakers in the admin: what they show, and what an operator may do."""

import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from html import unescape
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.urls import reverse

from apps.audit.models import AuditEntry
from apps.core.domain.clock import SYSTEM_CLOCK, DeterministicClock, utcnow
from apps.llm.admin.budget import budget_page
from apps.llm.guards.rules import guard_rules
from apps.llm.models import Breaker, BudgetDay, BudgetReservation, TokenUse
from tests.hostile.support import stored
from tests.integration.admin.pages import address, text_of
from tests.integration.llm.configuring import FALLBACK, MODEL, NOON, breaker, call, configured, noon, price, spent
from tests.integration.llm.single_guards import budget_reserve

pytestmark = pytest.mark.django_db

HERE = reverse("admin:llm_budgetday_changelist")
WAIVE = reverse("admin:llm_budgetday_waive_today")
RESET = reverse("admin:llm_breaker_reset")
INDEX = reverse("admin:index")
CONFIRMED = {"_form_submitted": "True"}  # as the dialog sends it


@pytest.fixture
def now() -> datetime:
    return utcnow(SYSTEM_CLOCK)


@pytest.fixture
def clock() -> DeterministicClock:
    return noon()


@pytest.fixture
def both(settings: Any) -> Iterator[None]:
    """Two models with prices, and ten dollars a day."""
    price()
    price(provider="anthropic", model="claude-haiku-4-5")
    with configured(settings, MODEL, FALLBACK, budget="10"):
        yield


def words(text: str) -> str:
    """What a person reads on a page."""
    return " ".join(unescape(re.sub("<[^>]*>", " ", text)).split())


def shown(clock: DeterministicClock) -> dict[str, Any]:
    return budget_page(may_reset=True, clock=clock)


# --- without a model ----------------------------------------------------------------------------------


def test_without_chat_model_page_says_what_to_set(operator: Client) -> None:
    text = words(text_of(operator, HERE))
    assert "No chat model is configured" in text
    for name in ("PROVIDER", "MODEL", "API_KEY", "BASE_URL", "DAILY_BUDGET_USD"):
        assert f"MEMORYHUB_CHAT_{name}" in text
    assert "No budget is set" in text
    assert "Nothing was spent in these days." in text


@pytest.mark.usefixtures("both")
def test_with_chat_model_page_does_not_ask_for_one(operator: Client) -> None:
    assert "No chat model is configured" not in text_of(operator, HERE)


# --- today and the last days --------------------------------------------------------------------------


@pytest.mark.usefixtures("both")
def test_bar_says_what_is_spent_and_what_is_set_aside(operator: Client, now: datetime) -> None:
    spent("7.25", now.date(), warned=[70])
    budget_reserve(amount=Decimal("0.5"), rules=guard_rules())
    response = operator.get(HERE)
    share = response.context["today"]["share"]
    assert (share["percent"], [(part["title"], part["value"]) for part in share["parts"]]) == (
        "72",
        [("Spent", "72.50"), ("Reserved", "5.00")],
    )
    text = response.content.decode()
    assert "72% of today's budget is spent: $7.25 of $10.00" in unescape(text)
    assert "Left $2.25" in words(text)
    assert "Warned at 70%" in words(text)


@pytest.mark.usefixtures("both")
@pytest.mark.parametrize(
    ("amount", "tone"), [("6.99", "good"), ("7", "warn"), ("8.99", "warn"), ("9", "bad"), ("25", "bad")]
)
def test_bar_has_colour_of_its_thresholds(clock: DeterministicClock, amount: str, tone: str) -> None:
    spent(amount)
    part = shown(clock)["today"]["share"]["parts"][0]
    assert part["tone"] == f"mh-{tone}"
    assert float(part["value"]) <= 100


@pytest.mark.usefixtures("both")
def test_chart_has_bar_for_each_of_thirty_days_and_line_for_limit(clock: DeterministicClock) -> None:
    spent("5", NOON.date() - timedelta(days=1))
    spent("20", NOON.date() - timedelta(days=29))
    spent("9", NOON.date() - timedelta(days=30))
    chart = shown(clock)["spending"]
    assert (len(chart.labels), chart.labels[0], chart.labels[-1]) == (30, "Apr 11", "May 10")
    series = {one.label: one for one in chart.series}
    assert [one.tone for one in chart.series] == ["accent", "bad", "quiet"]
    assert (series["All of the budget"].values[0], series["Spent"].values[-2]) == (20.0, 5.0)
    assert set(series["Limit"].values) == {10.0}
    assert chart.title == "Spent in the last 30 days: $25.00"
    assert list(chart.rows())[1] == ("May 9", ["$5.00", "$0.00", "$10.00"])


@pytest.mark.usefixtures("both")
def test_what_was_waived_is_a_part_of_its_bar(clock: DeterministicClock) -> None:
    spent("8", waived_usd=Decimal(6), reset_by="admin:operator", reset_at=NOON)
    page = shown(clock)
    last = {one.label: one.values[-1] for one in page["spending"].series}
    assert last == {"Spent": 0.0, "70% of the budget and more": 2.0, "Spending reset": 6.0, "Limit": 10.0}
    assert ("Spending reset", "$6.00, by admin:operator at 2026-05-10 12:00:00 UTC") in page["today"]["facts"]


def test_days_are_listed_with_their_share_of_budget(operator: Client, now: datetime) -> None:
    spent("7.5", now.date(), warned=[70])
    text = words(text_of(operator, HERE))
    assert f"{now.date().isoformat()} $7.50 of $10.00 75% 70% -" in text


def test_page_of_day_tells_what_may_have_been_spent_unseen(operator: Client) -> None:
    day = spent("7.5")
    past = NOON - timedelta(hours=1)
    for _ in range(2):
        BudgetReservation.objects.create(day=day, amount_usd=Decimal("0.25"), reserved_at=past, expires_at=past)
    text = words(text_of(operator, address(BudgetDay, "change", day.pk)))
    assert "2 calls, at most $0.50" in text
    assert "$7.500000000" in text


# --- providers ----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("both")
def test_open_breaker_is_shown_with_since_when_and_why(clock: DeterministicClock) -> None:
    breaker("openai", "open", NOON - timedelta(seconds=10))
    for reason in ("timeout", "timeout", "bad_response"):
        call(outcome="failed", reason=reason, started_at=NOON - timedelta(seconds=30))
    openai, anthropic = shown(clock)["providers"]
    assert openai["models"] == ["gpt-5 (primary)"]
    assert openai["breaker"] == {
        "label": "Open",
        "colour": "danger",
        "meaning": "No calls go through.",
        "since": "2026-05-10 11:59:50 UTC, 10 s ago",
        "retry_at": "2026-05-10 12:00:20 UTC",
        "why": "10 calls failed within 60 s; calls ended with: timeout (2), bad response (1)",
    }
    assert (anthropic["breaker"]["label"], anthropic["breaker"]["why"]) == ("Closed", "no call failed lately")
    assert (anthropic["breaker"]["since"], anthropic["reset"]) == ("", None)


@pytest.mark.usefixtures("both")
def test_breaker_whose_pause_is_over_waits_for_next_call(clock: DeterministicClock) -> None:
    breaker("openai", "open", NOON - timedelta(minutes=5))
    card = shown(clock)["providers"][0]["breaker"]
    assert (card["meaning"], card["retry_at"]) == ("The next call may test whether it is back.", "")


@pytest.mark.usefixtures("both")
def test_closed_breaker_tells_how_near_it_is_to_opening(clock: DeterministicClock) -> None:
    breaker("openai", "closed", failures=3)
    why = shown(clock)["providers"][0]["breaker"]["why"]
    assert why == "3 calls failed within 60 s; it opens when 50% of the last 20 do"


@pytest.mark.usefixtures("both")
def test_provider_that_is_not_configured_any_more_is_still_shown(clock: DeterministicClock) -> None:
    breaker("openai@10.0.0.7:8000", "half_open")
    last = shown(clock)["providers"][-1]
    assert (last["name"], last["models"], last["tokens"]) == ("openai@10.0.0.7:8000", [], None)
    assert last["breaker"]["label"] == "Half-open"


@pytest.mark.usefixtures("both")
def test_tokens_of_last_minute_are_shown_beside_limit(clock: DeterministicClock) -> None:
    for seconds, tokens in ((5, 36_000), (61, 50_000)):
        moment = NOON - timedelta(seconds=seconds)
        TokenUse.objects.create(
            provider="anthropic", model="m", tokens=tokens, reserved_at=moment, settled_at=moment, expires_at=NOON
        )
    openai, anthropic = shown(clock)["providers"]
    assert (openai["tokens"]["used"], openai["tokens"]["limit"]) == ("0", "90,000")
    assert anthropic["tokens"] == {
        "is_limited": True, "used": "36,000", "limit": "40,000", "share": "90.0", "tone": "warn", "throttle": 80,
    }  # fmt: skip


def test_a_provider_without_a_limit_says_so(operator: Client, settings: Any) -> None:
    with configured(settings, MODEL, tokens={"openai": 0}):
        assert "no limit, so they are not counted" in text_of(operator, HERE)


@pytest.mark.parametrize(("budget", "is_warned"), [("10", True), ("0", False)])
def test_missing_price_is_named_where_it_stops_calls(
    operator: Client, settings: Any, budget: str, is_warned: bool
) -> None:
    with configured(settings, MODEL, budget=budget):
        assert ("gpt-5 has no price" in text_of(operator, HERE)) is is_warned


# --- waiving ------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("both")
def test_an_operator_waives_what_was_spent_today(operator: Client, now: datetime) -> None:
    spent("9.5", now.date(), warned=[70, 90])
    response = operator.post(WAIVE, CONFIRMED, follow=True)
    assert "$9.50 of today's spending no longer counts." in unescape(response.content.decode())
    day = BudgetDay.objects.get(day=now.date())
    assert (day.spent_usd, day.waived_usd, day.reset_by) == (Decimal("9.5"), Decimal("9.5"), "admin:operator")
    assert AuditEntry.objects.latest("pk").detail["said"] == "Waived $9.50."


def test_waiving_asks_first(operator: Client, now: datetime) -> None:
    spent("9.5", now.date())
    before = stored()
    question = operator.get(WAIVE, headers={"HX-Request": "true"}).content.decode()
    assert "Reset today's spending?" in unescape(question)
    assert stored() == before


def test_who_may_only_look_waives_and_resets_nothing(staff: Callable[..., Client], now: datetime) -> None:
    spent("9.5", now.date())
    breaker(changed_at=now)
    client = staff("view_budgetday")
    before = stored()
    text = text_of(client, HERE)
    assert WAIVE not in text
    assert RESET not in text
    assert client.post(WAIVE, CONFIRMED).status_code == 403
    assert client.post(f"{RESET}?provider=openai").status_code == 403
    assert client.get(f"{RESET}?provider=openai").status_code == 403
    assert stored() == before


def test_who_may_change_days_may_waive_and_no_more(staff: Callable[..., Client], now: datetime) -> None:
    spent("9.5", now.date())
    client = staff("view_budgetday", "change_budgetday")
    assert client.post(WAIVE, CONFIRMED, follow=True).status_code == 200
    assert BudgetDay.objects.get().reset_by == "admin:colleague"
    assert client.post(f"{RESET}?provider=openai").status_code == 403
    assert client.get(address(BudgetDay, "delete", BudgetDay.objects.get().pk)).status_code == 403


# --- resetting ----------------------------------------------------------------------------------------


def test_operator_resets_breaker_after_question(operator: Client, now: datetime) -> None:
    breaker(changed_at=now)
    link = f"{RESET}?provider=openai"
    assert f'href="{link}"' in text_of(operator, HERE)
    before = stored()
    assert "Reset the circuit breaker of openai" in words(text_of(operator, link))
    assert stored() == before
    response = operator.post(link, follow=True)
    assert "The breaker of openai is closed." in words(response.content.decode())
    row = Breaker.objects.get()
    assert (row.phase, row.attempts, row.term) == ("closed", [], 2)
    assert AuditEntry.objects.latest("pk").detail["said"] == "Reset."


@pytest.mark.parametrize("provider", ["", "gone", "open\x00ai", "x" * 5_000, "<script>"])
def test_breaker_that_is_not_there_cannot_be_reset(operator: Client, provider: str) -> None:
    breaker("anthropic")
    for method in (operator.get, operator.post):
        assert method(RESET, query_params={"provider": provider}).status_code == 404


def test_who_may_change_breakers_may_reset_them(staff: Callable[..., Client], now: datetime) -> None:
    breaker(changed_at=now)
    client = staff("view_budgetday", "change_breaker")
    assert client.post(f"{RESET}?provider=openai", follow=True).status_code == 200
    assert Breaker.objects.get().phase == "closed"
    assert client.post(WAIVE, CONFIRMED).status_code == 403


# --- in the frame and on the first page ---------------------------------------------------------------


@pytest.mark.usefixtures("both")
def test_breakers_that_are_not_closed_are_marked_in_navigation(operator: Client) -> None:
    for provider, phase in (("a", "open"), ("b", "half_open"), ("c", "closed")):
        breaker(provider, phase)
    items = [item for group in operator.get(INDEX).context["sidebar_navigation"] for item in group["items"]]
    assert [(item["title"], item["badge"]) for item in items if item.get("title") == "Models"] == [("Models", 2)]


def test_first_page_says_nothing_of_models_without_one(operator: Client) -> None:
    assert "Spent on models today" not in text_of(operator, INDEX)


@pytest.mark.usefixtures("both")
@pytest.mark.parametrize(
    ("amount", "note", "tone"),
    [("1", "10% of $10.00", ""), ("7", "70% of $10.00", "warn"), ("9", "90% of $10.00", "bad")],
)
def test_the_first_page_tells_what_is_spent_today(
    operator: Client, now: datetime, amount: str, note: str, tone: str
) -> None:
    spent(amount, now.date())
    [tile] = [one for one in operator.get(INDEX).context["tiles"] if one.label == "Spent on models today"]
    assert (tile.value, tile.note, tile.tone) == (f"${amount}.00", note, tone)


@pytest.mark.usefixtures("both")
def test_first_page_tells_that_calls_do_not_get_through(operator: Client) -> None:
    breaker("anthropic", "half_open")
    [tile] = [one for one in operator.get(INDEX).context["tiles"] if one.label == "Spent on models today"]
    assert (tile.note, tile.tone) == ("the breaker of anthropic is not closed", "bad")


def test_first_page_tells_that_price_is_missing(operator: Client, settings: Any) -> None:
    with configured(settings, MODEL, budget="10"):
        [tile] = [one for one in operator.get(INDEX).context["tiles"] if one.label == "Spent on models today"]
    assert (tile.note, tile.tone) == ("gpt-5 has no price, so it is not called", "bad")


def test_who_may_not_see_the_budget_gets_no_tile(staff: Callable[..., Client], settings: Any) -> None:
    with configured(settings, MODEL):
        assert "Spent on models today" not in text_of(staff("view_memory"), INDEX)


# --- hostile names ------------------------------------------------------------------------------------


def test_names_of_providers_and_reasons_are_escaped(operator: Client, now: datetime) -> None:
    script = "<script>alert(1)</script>"
    breaker(script, "open", now)
    call(provider=script, outcome="failed", reason=script, started_at=now - timedelta(seconds=5))
    spent("1", now.date(), waived_usd=Decimal(1), reset_by=script, reset_at=now)
    for query in ({}, {"provider": script}):
        text = text_of(operator, RESET if query else HERE, **query)
        assert "<script>alert(1)" not in text
        assert "&lt;script&gt;alert(1)" in text
    answer = operator.post(f"{RESET}?{urlencode({'provider': script})}", follow=True).content.decode()
    assert "<script>alert(1)" not in answer


@pytest.mark.usefixtures("both")
def test_page_takes_no_more_queries_for_more_days(
    operator: Client, now: datetime, django_assert_max_num_queries: Any
) -> None:
    for ago in range(60):
        spent("1", now.date() - timedelta(days=ago))
    text_of(operator, HERE)
    with django_assert_max_num_queries(30):
        text_of(operator, HERE)
