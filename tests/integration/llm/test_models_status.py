"""How the chat models are: breakers, budget, tokens, latencies and prices as guards and records hold them."""

from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest

from apps.core.domain.clock import DeterministicClock
from apps.core.domain.latency import SampleQuality
from apps.core.domain.scope import Access, Permission, Scope
from apps.llm.domain.breaker import Phase
from apps.llm.guards.breakers import CallResult, breaker_reset
from apps.llm.guards.budgets import budget_reset
from apps.llm.guards.calls import RECENT, SAMPLED_CALLS, failure_reasons, recent_latencies, spent_days
from apps.llm.guards.rates import TokenRequest
from apps.llm.guards.status import breaker_status, breaker_statuses, budget_status, open_breakers
from apps.llm.models import ModelCall
from apps.llm.pricing.prices import (
    COMES_WITH_THE_HUB,
    OLD_AFTER,
    USED_WITHIN,
    called_models,
    confirmed_on,
    find_prices,
    is_old,
    old_prices,
    prices_ensure,
    prices_in_force,
    tariff_of,
)
from apps.llm.providers.configured import ModelRole
from apps.llm.status import Availability, models_status
from tests.hostile.support import stored
from tests.integration.llm.configuring import FALLBACK, MODEL, NOON, breaker, call, configured, noon, price, spent
from tests.integration.llm.guards.rules import rules
from tests.integration.llm.single_guards import (
    breaker_admit,
    breaker_record,
    budget_reserve,
    budget_settle,
    tokens_reserve,
    tokens_settle,
)

pytestmark = pytest.mark.django_db

OPERATOR = Access(Scope(), Permission.OPERATOR, "test")
RULES = rules(10)


@pytest.fixture
def clock() -> DeterministicClock:
    return noon()


@pytest.fixture
def both(settings: Any) -> Iterator[None]:
    """Two models with prices, and ten dollars a day."""
    price(provider="openai", model="gpt-5")
    price(provider="anthropic", model="claude-haiku-4-5")
    with configured(settings, MODEL, FALLBACK, budget="10"):
        yield


# --- breakers -----------------------------------------------------------------------------------------


def test_provider_that_never_failed_is_closed_since_never(clock: DeterministicClock) -> None:
    status = breaker_status("openai", rules=RULES, clock=clock)
    assert (status.phase, status.since, status.retry_at, status.failures) == (Phase.CLOSED, None, None, 0)
    assert status.passes(NOON)


def test_open_breaker_tells_since_when_why_and_until_when(clock: DeterministicClock) -> None:
    for _ in range(10):
        ticket = breaker_admit(provider="openai", rules=RULES, clock=clock).ticket
        assert ticket is not None
        clock.advance(1_000)
        breaker_record(provider="openai", ticket=ticket, result=CallResult.FAILED, rules=RULES, clock=clock)
    clock.advance(5_000)
    status = breaker_status("openai", rules=RULES, clock=clock)
    opened = NOON + timedelta(seconds=10)
    assert (status.phase, status.since, status.failures) == (Phase.OPEN, opened, 10)
    assert status.retry_at == opened + timedelta(seconds=30)
    assert not status.passes(opened + timedelta(seconds=29))
    assert status.passes(opened + timedelta(seconds=30))


def test_failures_of_closed_breaker_are_those_that_still_count(clock: DeterministicClock) -> None:
    breaker(phase="closed", failures=4)
    clock.advance(58_500)
    assert breaker_status("openai", rules=RULES, clock=clock).failures == 2


def test_looking_at_a_breaker_does_not_change_it(clock: DeterministicClock) -> None:
    breaker()
    clock.advance(3_600_000)
    before = stored()
    assert breaker_status("openai", rules=RULES, clock=clock).phase is Phase.OPEN
    assert stored() == before


def test_breaker_that_was_reset_is_closed_since_then(clock: DeterministicClock) -> None:
    breaker()
    breaker_reset(provider="openai", actor="admin:operator", clock=clock)
    status = breaker_status("openai", rules=RULES, clock=clock)
    assert (status.phase, status.since, status.failures) == (Phase.CLOSED, NOON, 0)


def test_breakers_of_configured_providers_come_first(clock: DeterministicClock) -> None:
    breaker("anthropic", "closed")
    breaker("gone")
    assert [one.provider for one in breaker_statuses(["openai", "anthropic"], rules=RULES, clock=clock)] == [
        "openai",
        "anthropic",
        "gone",
    ]
    assert open_breakers() == 1


# --- budget -------------------------------------------------------------------------------------------


def test_budget_tells_what_is_spent_reserved_and_left(clock: DeterministicClock) -> None:
    settled, open_one = (budget_reserve(amount=Decimal(4), rules=RULES, clock=clock) for _ in range(2))
    assert settled.reservation_id
    assert open_one.reservation_id
    budget_settle(reservation_id=settled.reservation_id, actual=Decimal("3.5"), rules=RULES, clock=clock)
    status = budget_status(rules=RULES, clock=clock)
    assert (status.day, status.limit) == (NOON.date(), 10)
    assert (status.spent, status.reserved, status.remaining) == (Decimal("3.5"), 4, Decimal("2.5"))
    assert (status.percent, status.reserved_percent) == (35.0, 40.0)
    assert status.resets_at.isoformat() == "2026-05-11T00:00:00+00:00"


def test_what_was_waived_is_told_with_who_did_it(clock: DeterministicClock) -> None:
    spent("8", warned=[70])
    budget_reset(actor="admin:operator", clock=clock)
    status = budget_status(rules=RULES, clock=clock)
    assert (status.spent, status.waived, status.warned) == (0, 8, ())
    assert (status.waived_by, status.waived_at) == ("admin:operator", NOON)


def test_without_budget_there_is_no_limit_and_no_share(clock: DeterministicClock) -> None:
    spent("8")
    status = budget_status(rules=rules(0), clock=clock)
    assert (status.limit, status.remaining, status.percent, status.reserved_percent) == (None, None, 0.0, 0.0)
    assert status.spent == 8


def test_overrun_budget_has_nothing_left_rather_than_less(clock: DeterministicClock) -> None:
    spent("12.5")
    status = budget_status(rules=RULES, clock=clock)
    assert (status.remaining, status.percent) == (0, 125.0)


def test_spending_is_told_for_every_day_of_a_span(clock: DeterministicClock) -> None:
    spent("4", waived_usd=Decimal(1), reset_by="x")
    spent("2.5", date(2026, 5, 8), limit_usd=None)
    spent("9", date(2026, 5, 7))
    days = spent_days(3, clock=clock)
    assert [(one.day.day, one.spent, one.waived, one.limit) for one in days] == [
        (8, Decimal("2.5"), 0, None),
        (9, 0, 0, None),
        (10, 4, 1, 10),
    ]


# --- latencies and failures ---------------------------------------------------------------------------


def test_latencies_are_those_of_recent_calls_that_succeeded_by_provider(clock: DeterministicClock) -> None:
    for number in range(40):
        call(latency_ms=number, started_at=NOON - timedelta(minutes=40 - number))
    call(latency_ms=99_999, outcome="failed")
    call(latency_ms=99_999, started_at=NOON - RECENT - timedelta(seconds=1))
    call(provider="anthropic", latency_ms=7)
    found = recent_latencies(clock=clock)
    openai = found["openai"]
    assert (openai.warmup, openai.quality, openai.summary.count) == (3, SampleQuality.SUFFICIENT, 37)
    assert (openai.summary.min, openai.summary.p50, openai.summary.max) == (3, 21, 39)
    assert (found["anthropic"].summary.count, found["anthropic"].quality) == (0, SampleQuality.INSUFFICIENT)
    assert set(found) == {"openai", "anthropic"}


def test_only_so_many_calls_are_read_and_newest_count(clock: DeterministicClock) -> None:
    rows = [
        ModelCall(
            actor="a", purpose="p", provider="openai", outcome="succeeded", latency_ms=number,
            started_at=NOON - timedelta(seconds=SAMPLED_CALLS + 10 - number),
        )
        for number in range(SAMPLED_CALLS + 10)
    ]  # fmt: skip
    ModelCall.objects.bulk_create(rows)
    measured = recent_latencies(clock=clock)["openai"]
    assert (measured.summary.min, measured.summary.count + measured.trimmed) == (13, SAMPLED_CALLS - 3)


def test_why_calls_failed_is_told_for_minutes_before(clock: DeterministicClock) -> None:
    for reason, ago in (("timeout", 1), ("timeout", 2), ("connection", 3), ("auth", 11)):
        call(outcome="failed", reason=reason, started_at=NOON - timedelta(minutes=ago))
    call(outcome="failed", reason="of another", provider="anthropic")
    call(outcome="refused", guard="breaker", reason="open")
    assert failure_reasons("openai", NOON) == [("timeout", 2), ("connection", 1)]


# --- prices -------------------------------------------------------------------------------------------


def test_the_newest_valid_prices_hold(clock: DeterministicClock) -> None:
    price(valid_from=date(2025, 1, 1))
    newest = price(valid_from=date(2026, 5, 10))
    longer = price(valid_from=date(2026, 5, 10), above_input_tokens=1_000)
    price(valid_from=date(2026, 5, 11))
    assert prices_in_force(clock=clock) == {("openai", "gpt-5"): (newest, longer)}


def test_day_without_price_for_short_prompts_is_none(clock: DeterministicClock) -> None:
    older = price()
    price(valid_from=date(2026, 5, 1), above_input_tokens=1_000)
    price(model="other", above_input_tokens=1_000)
    assert prices_in_force(clock=clock) == {("openai", "gpt-5"): (older,)}


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("openai", "gpt-5"),
        ("openai", "gpt-5-2025-08-07"),
        ("openai", "gpt-5.4"),
        ("openai", "unheard-of"),
        ("anthropic", "claude-haiku-4-5-20251001"),
        ("anthropic", "claude-haiku-5-5"),
        ("openai@127.0.0.1:11434", "whatever"),
        ("openai@127.0.0.1:11434", "gpt-5"),
    ],
)
def test_people_read_prices_that_calls_are_charged(provider: str, model: str) -> None:
    prices_ensure()
    price(provider="openai@127.0.0.1:11434", model="*", input_per_million=0, output_per_million=0)
    price(valid_from=date(2026, 2, 1), input_per_million=Decimal("1.1"))
    tariff = tariff_of(provider, model)
    shown = find_prices(prices_in_force(), provider, model)
    charged = [] if tariff is None else [
        (one.above_input_tokens, one.input_per_million, one.output_per_million) for one in tariff.prices
    ]  # fmt: skip
    assert [(one.above_input_tokens, one.input_per_million, one.output_per_million) for one in shown] == charged


def test_price_is_old_when_nobody_looked_at_it_for_half_year() -> None:
    today = NOON.date()
    listed = price(edited_by=COMES_WITH_THE_HUB, valid_from=today - OLD_AFTER)
    assert (confirmed_on(listed), is_old(listed, today)) == (today - OLD_AFTER, False)
    assert is_old(listed, today + timedelta(days=1))
    edited = price(model="b", valid_from=date(2020, 1, 1))
    assert (confirmed_on(edited), is_old(edited, today)) == (today, False)
    ahead = price(model="c", valid_from=date(2027, 1, 1))
    assert not is_old(ahead, today)


def test_only_prices_that_hold_and_are_used_grow_old(clock: DeterministicClock) -> None:
    price(edited_by=COMES_WITH_THE_HUB, valid_from=date(2024, 1, 1))
    price(valid_from=date(2026, 5, 1))
    old = price(model="b", edited_by=COMES_WITH_THE_HUB, valid_from=date(2024, 1, 1))
    table, used = prices_in_force(clock=clock), [("openai", "gpt-5"), ("openai", "b"), ("openai", "no price")]
    assert list(old_prices(table, used, NOON.date())) == [old]
    assert list(old_prices(table, used[:1], NOON.date())) == []


def test_model_is_in_use_for_a_month_after_its_call(clock: DeterministicClock) -> None:
    call(model="lately", started_at=NOON - USED_WITHIN)
    call(model="before", started_at=NOON - USED_WITHIN - timedelta(seconds=1))
    call(model="refused", outcome="refused", guard="rate", reason="full", attempts=0)
    assert called_models(clock=clock) == {("openai", "lately")}


# --- all together -------------------------------------------------------------------------------------


def test_without_a_chat_model_everything_is_calm(clock: DeterministicClock) -> None:
    status = models_status(OPERATOR, clock=clock)
    assert (status.availability, status.configured) == (Availability.NOT_CONFIGURED, ())
    assert status.figures is not None
    assert (status.figures.tokens, status.figures.latencies) == ({}, {})


@pytest.mark.usefixtures("both")
def test_models_whose_calls_get_through_are_ready(clock: DeterministicClock) -> None:
    status = models_status(OPERATOR, clock=clock)
    assert status.availability is Availability.READY
    assert [(one.role, one.provider, one.model, one.passes) for one in status.configured] == [
        (ModelRole.PRIMARY, "openai", "gpt-5", True),
        (ModelRole.FALLBACK, "anthropic", "claude-haiku-4-5", True),
    ]


@pytest.mark.usefixtures("both")
@pytest.mark.parametrize(
    ("phases", "availability"),
    [
        ({"openai": "open"}, Availability.DEGRADED),
        ({"anthropic": "open"}, Availability.DEGRADED),
        ({"openai": "half_open"}, Availability.DEGRADED),
        ({"openai": "closed"}, Availability.READY),
        ({"openai": "open", "anthropic": "open"}, Availability.UNAVAILABLE),
        ({"somebody else": "open"}, Availability.READY),
    ],
)
def test_breakers_decide_whether_calls_get_through(
    clock: DeterministicClock, phases: dict[str, str], availability: Availability
) -> None:
    for provider, phase in phases.items():
        breaker(provider, phase)
    assert models_status(OPERATOR, clock=clock).availability is availability


@pytest.mark.usefixtures("both")
def test_a_spent_budget_lets_no_call_through(clock: DeterministicClock) -> None:
    day = spent("9.99")
    assert models_status(OPERATOR, clock=clock).availability is Availability.READY
    day.spent_usd = Decimal(10)
    day.save()
    assert models_status(OPERATOR, clock=clock).availability is Availability.UNAVAILABLE


@pytest.mark.parametrize(("budget", "passes"), [("10", False), ("0", True)])
def test_model_without_price_passes_only_without_budget(
    clock: DeterministicClock, settings: Any, budget: str, passes: bool
) -> None:
    with configured(settings, MODEL, budget=budget):
        status = models_status(OPERATOR, clock=clock)
    assert (status.configured[0].is_priced, status.configured[0].passes) == (False, passes)
    assert status.availability is (Availability.READY if passes else Availability.UNAVAILABLE)


@pytest.mark.usefixtures("both")
def test_the_tokens_of_each_provider_are_told(clock: DeterministicClock) -> None:
    request = TokenRequest("openai", "gpt-5", 9_000)
    grant = tokens_reserve(request=request, rules=RULES, clock=clock)
    assert grant.reservation_id
    tokens_settle(reservation_id=grant.reservation_id, total_tokens=4_500, clock=clock)
    figures = models_status(OPERATOR, clock=clock).figures
    assert figures is not None
    assert (figures.tokens["openai"].window_tokens_used, figures.tokens["openai"].window_limit) == (4_500, 90_000)
    assert figures.tokens["openai"].utilization_percent == 5.0
    assert figures.tokens["anthropic"].window_limit == 40_000


@pytest.mark.usefixtures("both")
@pytest.mark.parametrize("bound", [Scope(user_id="ana"), Scope(household_id="home"), Scope(persona_id="chef")])
def test_a_caller_with_a_bound_is_told_no_figures(clock: DeterministicClock, bound: Scope) -> None:
    assert models_status(Access(bound, Permission.READ, "test"), clock=clock).figures is None


@pytest.mark.usefixtures("both")
def test_asking_how_models_are_changes_nothing(clock: DeterministicClock) -> None:
    breaker()
    before = stored()
    models_status(OPERATOR, clock=clock)
    assert stored() == before
