from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest
from django.db import transaction

from apps.core.domain.clock import DeterministicClock
from apps.events.models import Event
from apps.llm import metrics
from apps.llm.domain.breaker import Phase
from apps.llm.domain.chat import Usage
from apps.llm.guards.attempts import (
    AttemptPlan,
    AttemptRefusal,
    AttemptSettlement,
    Permit,
    attempt_admit,
    attempt_settle,
)
from apps.llm.guards.breakers import CallResult, breaker_state
from apps.llm.guards.budgets import UnknownReservationError, budget_window
from apps.llm.guards.calls import CallContent, CallRecord
from apps.llm.guards.rates import TokenRequest, token_window
from apps.llm.guards.rules import GuardRules
from apps.llm.models import Breaker, BudgetReservation, CallGuard, CallOutcome, ModelCall, Price, TokenUse
from apps.llm.pricing.prices import price_save
from tests.integration.llm.guards.rules import NOON, noon, rules
from tests.integration.llm.single_guards import breaker_admit, breaker_record, tokens_reserve

pytestmark = pytest.mark.django_db

RULES = rules(tokens_per_minute={"own": 100_000})
PLAN = AttemptPlan(provider="own", model="llama", input_tokens=1_000, output_tokens=500)
USAGE = Usage(900, 100)


@pytest.fixture(autouse=True)
def priced() -> None:
    """A thousand tokens of input for a dollar, of output for two."""
    row = Price(provider="own", model="llama", input_per_million=1_000, output_per_million=2_000, source="the invoice")
    row.valid_from = date(2026, 1, 1)
    price_save(price=row, actor="operator")


def permitted(clock: DeterministicClock, plan: AttemptPlan = PLAN, ours: GuardRules = RULES) -> Permit:
    permit = attempt_admit(plan=plan, rules=ours, clock=clock).permit
    assert permit is not None
    return permit


def refused(clock: DeterministicClock, plan: AttemptPlan = PLAN, ours: GuardRules = RULES) -> AttemptRefusal:
    admission = attempt_admit(plan=plan, rules=ours, clock=clock)
    assert admission.permit is None
    assert admission.refusal is not None
    return admission.refusal


def settled(
    permit: Permit, clock: DeterministicClock, result: CallResult = CallResult.SUCCEEDED, usage: Usage | None = USAGE
) -> AttemptSettlement:
    return attempt_settle(permit=permit, result=result, usage=usage, rules=RULES, clock=clock)


def nothing_is_set_aside(clock: DeterministicClock) -> bool:
    return not (BudgetReservation.objects.exists() or TokenUse.objects.filter(settled_at=None).exists())


def open_circuit(clock: DeterministicClock) -> None:
    for _ in range(10):
        ticket = breaker_admit(provider="own", rules=RULES, clock=clock).ticket
        assert ticket is not None
        breaker_record(provider="own", ticket=ticket, result=CallResult.FAILED, rules=RULES, clock=clock)


def test_attempt_sets_aside_most_that_it_may_cost_and_use() -> None:
    clock = noon()
    permitted(clock)
    assert budget_window(clock=clock).reserved == 2
    assert token_window("own", rules=RULES, clock=clock).window_tokens_used == 1_500


def test_settling_records_what_was_used_and_gives_rest_back() -> None:
    clock = noon()
    settlement = settled(permitted(clock), clock)
    assert settlement == AttemptSettlement(Decimal("1.1"), Phase.CLOSED)
    window = budget_window(clock=clock)
    assert (window.spent, window.reserved) == (Decimal("1.1"), 0)
    assert token_window("own", rules=RULES, clock=clock).window_tokens_used == 1_000


def test_failed_attempt_that_used_nothing_costs_nothing_and_counts_as_failure() -> None:
    clock = noon()
    assert settled(permitted(clock), clock, CallResult.FAILED, usage=None).cost == 0
    assert budget_window(clock=clock).committed == 0
    assert nothing_is_set_aside(clock)
    assert [attempt.failed for attempt in breaker_state("own").attempts] == [True]


def test_a_failed_attempt_may_have_cost_something() -> None:
    clock = noon()
    assert settled(permitted(clock), clock, CallResult.FAILED).cost == Decimal("1.1")
    assert budget_window(clock=clock).spent == Decimal("1.1")


def test_attempt_that_was_not_made_leaves_nothing_behind() -> None:
    clock = noon()
    settled(permitted(clock), clock, CallResult.NOT_MADE, usage=None)
    assert nothing_is_set_aside(clock)
    assert not Breaker.objects.exists()


def test_a_permit_is_handed_back_once() -> None:
    clock = noon()
    permit = permitted(clock)
    settled(permit, clock)
    with pytest.raises(UnknownReservationError):
        settled(permit, clock)
    assert budget_window(clock=clock).spent == Decimal("1.1")


def test_the_budget_is_asked_first() -> None:
    clock = noon()
    open_circuit(clock)
    dear = replace(PLAN, output_tokens=5_000)
    assert refused(clock, dear) == AttemptRefusal(CallGuard.BUDGET, "budget_exceeded", None)


def test_the_rest_of_a_day_is_waited_for() -> None:
    clock = noon()
    for _ in range(5):
        permitted(clock)
    assert refused(clock) == AttemptRefusal(CallGuard.BUDGET, "budget_exceeded", 43_200_000)


def test_open_circuit_refuses_and_leaves_money() -> None:
    clock = noon()
    open_circuit(clock)
    assert refused(clock) == AttemptRefusal(CallGuard.BREAKER, "open", 30_000)
    assert nothing_is_set_aside(clock)


def test_token_rate_refuses_and_leaves_money_and_probe() -> None:
    clock = noon()
    open_circuit(clock)
    clock.advance(30_000)
    tokens_reserve(request=TokenRequest("own", "llama", 99_000), rules=RULES, clock=clock)
    events = Event.objects.count()
    assert refused(clock) == AttemptRefusal(CallGuard.RATE, "throttled", 1_000)
    assert BudgetReservation.objects.count() == 0
    assert breaker_state("own").phase is Phase.OPEN
    assert Event.objects.count() == events


def test_call_larger_than_any_minute_is_not_asked_again() -> None:
    large = replace(PLAN, model="llama", output_tokens=1, input_tokens=200_000)
    assert refused(noon(), large, rules(1_000, tokens_per_minute={"own": 100_000})) == AttemptRefusal(
        CallGuard.RATE, "too_large", None
    )


def test_half_open_as_many_attempts_pass_as_probes_are_missing() -> None:
    clock = noon()
    open_circuit(clock)
    clock.advance(30_000)
    probes = [permitted(clock) for _ in range(3)]
    assert refused(clock) == AttemptRefusal(CallGuard.BREAKER, "half_open", 1_000)
    phases = [settled(probe, clock).phase for probe in probes]
    assert phases == [Phase.HALF_OPEN, Phase.HALF_OPEN, Phase.CLOSED]


def test_model_without_price_is_refused_while_there_is_budget() -> None:
    assert refused(noon(), replace(PLAN, model="new")) == AttemptRefusal(CallGuard.BUDGET, "price_unknown", None)


def test_model_without_price_is_called_without_known_cost_while_there_is_no_budget() -> None:
    clock = noon()
    permit = permitted(clock, replace(PLAN, model="new"), rules(0, tokens_per_minute=RULES.tokens_per_minute))
    assert permit.cost(USAGE) is None
    assert settled(permit, clock).cost is None
    assert token_window("own", rules=RULES, clock=clock).window_tokens_used == 1_000
    assert budget_window(clock=clock).committed == 0


def test_change_of_price_during_call_does_not_change_its_cost() -> None:
    clock = noon()
    permit = permitted(clock)
    Price.objects.update(input_per_million=0, output_per_million=0)
    assert settled(permit, clock).cost == Decimal("1.1")


def test_last_attempt_that_budget_has_room_for_is_warned_about() -> None:
    clock = noon()
    warnings = [attempt_admit(plan=PLAN, rules=RULES, clock=clock).warning for _ in range(5)]
    assert warnings == [None] * 4 + ["This request will exactly exhaust the budget"]


def test_thresholds_that_call_reached_are_handed_on() -> None:
    clock = noon()
    permit = permitted(clock, replace(PLAN, output_tokens=4_500))
    assert settled(permit, clock, usage=Usage(1_000, 4_000)).alerts == (70, 90)


def test_metrics_count_what_was_used_and_refused() -> None:
    def counted() -> tuple[float, ...]:
        own = metrics.TOKENS.labels("own", "input"), metrics.TOKENS.labels("own", "output")
        others = metrics.SPEND.labels("own", "llama"), metrics.REFUSALS.labels("budget", "price_unknown")
        return tuple(metric._value.get() for metric in (*own, *others))

    clock, before = noon(), counted()
    settled(permitted(clock), clock)
    refused(clock, replace(PLAN, model="new"))
    assert [after - old for after, old in zip(counted(), before, strict=True)] == pytest.approx([900, 100, 1.1, 1])


def test_inside_another_transaction_nothing_is_asked_because_its_locks_would_last_as_long_as_call() -> None:
    permit = permitted(noon())
    with transaction.atomic():
        with pytest.raises(RuntimeError, match="cannot be nested"):
            permitted(noon())
        with pytest.raises(RuntimeError, match="cannot be nested"):
            settled(permit, noon())


def record(outcome: CallOutcome = CallOutcome.SUCCEEDED, **fields: object) -> CallRecord:
    given = {"actor": "key:app", "purpose": "extract", "latency_ms": 12.5, "started_at": NOON, **fields}
    return CallRecord(outcome=outcome, **given)  # type: ignore[arg-type]


def test_record_of_call_is_stored_with_its_last_attempt() -> None:
    clock = noon()
    permit = permitted(clock)
    told = record(
        provider="own",
        model="llama",
        usage=USAGE,
        cost_usd=permit.cost(USAGE),
        attempts=1,
        content=CallContent("a secret question", "a secret answer"),
    )
    attempt_settle(permit=permit, result=CallResult.SUCCEEDED, usage=USAGE, rules=RULES, record=told, clock=clock)
    call = ModelCall.objects.get()
    assert (call.actor, call.purpose, call.provider, call.model) == ("key:app", "extract", "own", "llama")
    assert (call.input_tokens, call.output_tokens, call.is_estimated, call.cost_usd) == (
        900,
        100,
        False,
        Decimal("1.1"),
    )
    assert (call.prompt, call.answer) == (None, None)
    assert "secret" not in repr(told)
