"""Figures over time of calls to models: each from the records, in days of UTC."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from apps.core.domain.clock import DeterministicClock
from apps.llm.domain.breaker import Phase
from apps.llm.guards.breakers import breaker_reset
from apps.llm.guards.figures import (
    SHOWN_PROVIDERS,
    Buckets,
    Refusals,
    breaker_lines,
    latencies_over,
    past_days,
    refused_calls,
    spending_forecast,
    spent_on,
)
from apps.llm.guards.sweep import guards_sweep
from apps.llm.models import BreakerChange
from tests.integration.llm.configuring import NOON, breaker, call, noon, spent

pytestmark = pytest.mark.django_db

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
MIDNIGHT = NOON - 12 * HOUR
THREE_DAYS = Buckets(MIDNIGHT - 2 * DAY, DAY, 3)


@pytest.fixture
def clock() -> DeterministicClock:
    return noon()


def changed(phase: str, previous: str, at: datetime, provider: str = "openai") -> BreakerChange:
    return BreakerChange.objects.create(provider=provider, phase=phase, previous=previous, changed_at=at)


# --- money --------------------------------------------------------------------------------------------


def test_costs_are_added_up_by_day_and_dimension() -> None:
    call(purpose="extract", actor="key:app", cost_usd=Decimal(1), started_at=MIDNIGHT - timedelta(microseconds=1))
    call(purpose="extract", actor="key:app", cost_usd=Decimal(2), started_at=MIDNIGHT)
    call(purpose="judge", actor="system", model="gpt-5-mini", cost_usd=Decimal(4), started_at=NOON)
    found = spent_on(THREE_DAYS)
    assert found == {
        "purpose": {"extract": [0, 1, 2], "judge": [0, 0, 4]},
        "model": {"gpt-5": [0, 1, 2], "gpt-5-mini": [0, 0, 4]},
        "actor": {"key:app": [0, 1, 2], "system": [0, 0, 4]},
    }


def test_calls_outside_the_span_or_without_cost_are_left_out() -> None:
    call(started_at=THREE_DAYS.start - timedelta(seconds=1))
    call(started_at=THREE_DAYS.end)
    call(cost_usd=None)
    call(cost_usd=Decimal(0))
    assert spent_on(THREE_DAYS) == {"purpose": {}, "model": {}, "actor": {}}


# --- how long calls took ------------------------------------------------------------------------------


def test_percentiles_are_those_of_each_part() -> None:
    for number in range(1, 101):
        call(latency_ms=10 * number, started_at=NOON + timedelta(seconds=number))
    call(latency_ms=7, started_at=MIDNIGHT - DAY)
    call(latency_ms=9_999, outcome="failed", reason="timeout")
    [openai] = latencies_over(THREE_DAYS)
    assert (openai.provider, openai.calls) == ("openai", 101)
    assert (openai.median, openai.p95) == ([None, 7, 500], [None, 7, 950])


def test_only_providers_that_were_called_most_are_shown() -> None:
    for number in range(SHOWN_PROVIDERS + 1):
        for _ in range(number + 1):
            call(provider=f"p{number}")
    assert [one.provider for one in latencies_over(THREE_DAYS)] == ["p3", "p2", "p1"]


# --- breakers -----------------------------------------------------------------------------------------


def test_reset_is_kept_with_who_did_it(clock: DeterministicClock) -> None:
    breaker("openai", "open", NOON - HOUR)
    breaker_reset(provider="openai", actor="admin:operator", clock=clock)
    breaker_reset(provider="openai", actor="admin:operator", clock=clock)  # changes no phase
    [change] = BreakerChange.objects.all()
    assert (change.provider, change.previous, change.phase, change.actor) == (
        "openai", "open", "closed", "admin:operator",
    )  # fmt: skip
    assert change.changed_at == NOON


def test_line_of_breaker_is_made_of_its_changes() -> None:
    breaker("openai", "closed", NOON - HOUR)
    breaker("anthropic", "closed", NOON - 30 * DAY)
    changed("closed", "half_open", NOON - 5 * DAY)  # before the span
    changed("open", "closed", NOON - 2 * HOUR)
    changed("closed", "open", NOON - HOUR)
    lines = breaker_lines(MIDNIGHT, NOON)
    assert [(span.phase, span.start, span.end) for span in lines["openai"]] == [
        (Phase.CLOSED, MIDNIGHT, NOON - 2 * HOUR),
        (Phase.OPEN, NOON - 2 * HOUR, NOON - HOUR),
        (Phase.CLOSED, NOON - HOUR, NOON),
    ]
    assert [(span.phase, span.start) for span in lines["anthropic"]] == [(Phase.CLOSED, MIDNIGHT)]


def test_what_was_before_changes_were_kept_is_not_made_up() -> None:
    breaker("openai", "open", NOON - HOUR)
    [span] = breaker_lines(MIDNIGHT, NOON)["openai"]
    assert (span.phase, span.start, span.end) == (Phase.OPEN, NOON - HOUR, NOON)


def test_changes_are_removed_with_calls_of_their_time(clock: DeterministicClock, settings: object) -> None:
    changed("open", "closed", NOON - 31 * DAY)
    kept = changed("closed", "open", NOON - 29 * DAY)
    guards_sweep(clock=clock)
    assert list(BreakerChange.objects.all()) == [kept]


# --- refused calls ------------------------------------------------------------------------------------


def test_refused_calls_are_counted_by_reason() -> None:
    for seconds in range(3):
        at = NOON - timedelta(seconds=seconds)
        call(outcome="refused", guard="rate", reason="full", provider="", attempts=0, started_at=at)
    call(outcome="refused", guard="budget", reason="budget_exceeded", provider="", attempts=0, started_at=MIDNIGHT)
    call(outcome="refused", guard="budget", reason="budget_exceeded", attempts=0, started_at=MIDNIGHT - DAY)
    call(outcome="failed", reason="timeout")
    assert refused_calls(MIDNIGHT, NOON) == [
        Refusals("rate", "full", 3, NOON),
        Refusals("budget", "budget_exceeded", 1, MIDNIGHT),
    ]


# --- forecast -----------------------------------------------------------------------------------------


def test_past_days_are_whole_and_split_at_this_time_of_day() -> None:
    call(cost_usd=Decimal(9), started_at=MIDNIGHT - 4 * DAY + 23 * HOUR)  # the first call: its day is not whole
    call(cost_usd=Decimal(1), started_at=MIDNIGHT - 3 * DAY + 11 * HOUR)
    call(cost_usd=Decimal(2), started_at=MIDNIGHT - 3 * DAY + 13 * HOUR)
    call(cost_usd=None, started_at=MIDNIGHT - DAY)
    call(cost_usd=Decimal(5), started_at=NOON)  # today
    assert [(int(day.total), int(day.later)) for day in past_days(NOON)] == [(3, 2), (0, 0), (0, 0)]


def test_past_days_are_those_of_utc() -> None:
    east = datetime(2026, 5, 8, 1, tzinfo=UTC)
    call(started_at=MIDNIGHT - 10 * DAY, cost_usd=None)
    call(started_at=east, cost_usd=Decimal(1))
    assert [day.total for day in past_days(NOON)][-2:] == [1, 0]


def test_forecast_adds_what_is_spent_and_what_is_usual(clock: DeterministicClock) -> None:
    call(started_at=MIDNIGHT - 5 * DAY, cost_usd=None)
    for ago in range(1, 5):
        call(started_at=MIDNIGHT - ago * DAY + 18 * HOUR, cost_usd=Decimal(2))
        spent("2", (MIDNIGHT - ago * DAY).date())
    spent("3")
    found = spending_forecast(clock=clock)
    assert found is not None
    assert (found.day, found.days) == (Decimal(5), 4)
    assert found.month == Decimal(8) + Decimal(5) + 21 * Decimal(2)


def test_hub_without_calls_has_no_forecast(clock: DeterministicClock) -> None:
    assert spending_forecast(clock=clock) is None
