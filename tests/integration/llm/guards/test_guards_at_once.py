"""Guards in many threads, each with a connection of its own."""

from collections import Counter
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from uuid import UUID

import pytest
from django.db import connection

from apps.core.domain.clock import DeterministicClock
from apps.events.models import Event
from apps.llm.domain.breaker import Phase, Ticket
from apps.llm.domain.chat import Usage
from apps.llm.guards.attempts import AttemptPlan, attempt_admit, attempt_settle
from apps.llm.guards.breakers import CallResult, breaker_state
from apps.llm.guards.budgets import budget_window
from apps.llm.guards.rates import TokenRequest, token_window
from apps.llm.models import Breaker, BudgetDay, BudgetReservation, Price, TokenUse
from apps.llm.pricing.prices import price_save
from tests.integration.llm.guards.rules import CENT, DAY, MIDNIGHT, noon, rules
from tests.integration.llm.single_guards import (
    breaker_admit,
    breaker_record,
    budget_reserve,
    budget_settle,
    tokens_reserve,
    tokens_settle,
)
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)

THREADS = 16
TOKENS = {"own": 1_000}
RULES = rules("0.90", tokens_per_minute=TOKENS)


def warned() -> list[int]:
    events = Event.objects.filter(name="llm:budget:threshold_reached").order_by("id")
    return [payload["threshold"] for payload in events.values_list("payload", flat=True)]


def fail(times: int, clock: DeterministicClock, provider: str = "own") -> None:
    for _ in range(times):
        ticket = breaker_admit(provider=provider, rules=RULES, clock=clock).ticket
        assert ticket is not None
        breaker_record(provider=provider, ticket=ticket, result=CallResult.FAILED, rules=RULES, clock=clock)


def test_16_spenders_at_once_spend_exactly_budget_and_not_one_cent_more() -> None:
    clock = noon()

    def spend() -> int:
        allowed = 0
        for _ in range(8):
            reservation = budget_reserve(amount=CENT, rules=RULES, clock=clock).reservation_id
            if reservation is not None:
                allowed += 1
                budget_settle(reservation_id=reservation, actual=CENT, rules=RULES, clock=clock)
        return allowed

    assert sum(at_once(*[spend] * THREADS)) == 90
    day = BudgetDay.objects.get()
    assert (day.spent_usd, day.warned) == (Decimal("0.90"), [70, 90, 100])
    assert warned() == [70, 90, 100]
    assert not BudgetReservation.objects.exists()


def test_16_reservations_at_once_take_exactly_what_is_left_before_any_is_settled() -> None:
    clock = noon()

    def reserve() -> UUID | None:
        return budget_reserve(amount=Decimal("0.10"), rules=RULES, clock=clock).reservation_id

    reservations = [found for found in at_once(*[reserve] * THREADS) if found is not None]
    assert len(reservations) == 9
    assert budget_window(clock=clock).reserved == Decimal("0.90")

    def settle(reservation: UUID) -> Callable[[], object]:
        return lambda: budget_settle(reservation_id=reservation, actual=CENT, rules=RULES, clock=clock)

    at_once(*[settle(reservation) for reservation in reservations])
    assert budget_window(clock=clock).committed == Decimal("0.09")


def test_first_callers_of_day_make_one_row_of_it() -> None:
    days = [DeterministicClock(MIDNIGHT + number * DAY) for number in range(2)]

    def reserve(clock: DeterministicClock) -> Callable[[], object]:
        return lambda: budget_reserve(amount=CENT, rules=RULES, clock=clock)

    at_once(*[reserve(clock) for clock in days * 4])
    assert BudgetDay.objects.count() == 2
    assert [budget_window(clock=clock).reserved for clock in days] == [Decimal("0.04")] * 2


def test_reservation_settled_by_many_at_once_is_settled_by_one() -> None:
    clock = noon()
    reservation = budget_reserve(amount=CENT, rules=RULES, clock=clock).reservation_id
    assert reservation is not None

    def settle() -> bool:
        try:
            budget_settle(reservation_id=reservation, actual=CENT, rules=RULES, clock=clock)
        except LookupError:
            return False
        return True

    assert sum(at_once(*[settle] * 8)) == 1
    assert budget_window(clock=clock).spent == CENT


def test_16_callers_at_once_never_use_more_tokens_than_minute_takes() -> None:
    clock = noon()

    def use() -> int:
        used = 0
        for _ in range(4):
            request = TokenRequest("own", "m", 60)
            reservation = tokens_reserve(request=request, rules=RULES, clock=clock).reservation_id
            if reservation is not None:
                used += 60
                tokens_settle(reservation_id=reservation, total_tokens=60, clock=clock)
        return used

    used = sum(at_once(*[use] * THREADS))
    # The projection holds calls back above 80 percent: with 12 uses of 60, one more would make 780, and with 13, 840.
    assert used == 13 * 60
    assert token_window("own", rules=RULES, clock=clock).window_tokens_used == used


def test_failures_seen_by_many_at_once_are_all_counted_and_open_circuit_once() -> None:
    clock = noon()
    at_once(*[lambda: fail(1, clock)] * 9)
    assert len(breaker_state("own").attempts) == 9
    assert breaker_state("own").phase is Phase.CLOSED
    fail(1, clock)
    assert breaker_state("own").phase is Phase.OPEN
    assert Event.objects.filter(name="llm:breaker:changed").count() == 1


def test_half_open_exactly_probes_that_are_missing_pass_at_once() -> None:
    clock = noon()
    fail(10, clock)
    clock.advance(30_000)

    def ask() -> Ticket | None:
        return breaker_admit(provider="own", rules=RULES, clock=clock).ticket

    tickets = [found for found in at_once(*[ask] * THREADS) if found is not None]
    assert sorted(ticket.probe or 0 for ticket in tickets) == [1, 2, 3]

    def succeed(ticket: Ticket) -> Callable[[], Phase]:
        result = CallResult.SUCCEEDED
        return lambda: breaker_record(provider="own", ticket=ticket, result=result, rules=RULES, clock=clock)

    assert Counter(at_once(*[succeed(ticket) for ticket in tickets])) == {Phase.HALF_OPEN: 2, Phase.CLOSED: 1}
    phases = Event.objects.order_by("id").values_list("payload__phase", flat=True)
    assert list(phases) == ["open", "half_open", "closed"]


def test_what_guards_remember_survives_connection_that_wrote_it() -> None:
    clock = noon()
    fail(10, clock)
    reservation = budget_reserve(amount=CENT, rules=RULES, clock=clock).reservation_id
    assert reservation is not None
    tokens = tokens_reserve(request=TokenRequest("own", "m", 60), rules=RULES, clock=clock).reservation_id
    assert tokens is not None
    connection.close()
    assert breaker_admit(provider="own", rules=RULES, clock=clock).phase is Phase.OPEN
    budget_settle(reservation_id=reservation, actual=CENT, rules=RULES, clock=clock)
    tokens_settle(reservation_id=tokens, total_tokens=60, clock=clock)
    connection.close()
    assert budget_window(clock=clock).spent == CENT
    assert token_window("own", rules=RULES, clock=clock).window_tokens_used == 60


def priced() -> AttemptPlan:
    """An attempt that costs a cent."""
    price = Price(provider="own", model="m", input_per_million=1_000, output_per_million=0, source="the invoice")
    price.valid_from = date(2026, 1, 1)
    price_save(price=price, actor="operator")
    return AttemptPlan(provider="own", model="m", input_tokens=10, output_tokens=0)


def test_16_attempts_at_once_take_exactly_budget_and_not_one_cent_more() -> None:
    clock, ours, plan = noon(), rules("0.20"), priced()

    def attempt() -> int:
        return sum(attempt_admit(plan=plan, rules=ours, clock=clock).permit is not None for _ in range(3))

    assert sum(at_once(*[attempt] * THREADS)) == 20
    assert budget_window(clock=clock).reserved == Decimal("0.20")


def test_half_open_exactly_missing_probes_pass_among_whole_attempts_at_once() -> None:
    clock, plan = noon(), priced()
    fail(10, clock)
    clock.advance(30_000)

    def attempt() -> str:
        admission = attempt_admit(plan=plan, rules=RULES, clock=clock)
        return admission.refusal.reason if admission.refusal else "permitted"

    assert Counter(at_once(*[attempt] * THREADS)) == {"permitted": 3, "half_open": 13}
    assert budget_window(clock=clock).reserved == Decimal("0.03")
    assert token_window("own", rules=RULES, clock=clock).window_tokens_used == 30


def test_whole_attempts_at_once_neither_wait_for_each_other_for_ever_nor_overrun_anything() -> None:
    clock, ours, plan = noon(), rules("0.50"), priced()
    results = [CallResult.SUCCEEDED, CallResult.FAILED, CallResult.NOT_MADE]

    def attempt(number: int) -> Callable[[], Decimal]:
        def run() -> Decimal:
            spent = Decimal(0)
            for turn in range(6):
                permit = attempt_admit(plan=plan, rules=ours, clock=clock).permit
                if permit is not None:
                    result = results[(number + turn) % 3]
                    usage = None if result is CallResult.NOT_MADE else Usage(10, 0)
                    spent += attempt_settle(
                        permit=permit, result=result, usage=usage, rules=ours, clock=clock
                    ).cost or Decimal(0)
            return spent

        return run

    spent = sum(at_once(*[attempt(number) for number in range(THREADS)]))
    assert 0 < spent <= Decimal("0.50")
    assert budget_window(clock=clock).spent == spent
    assert not BudgetReservation.objects.exists()
    assert not TokenUse.objects.exists()
    assert Breaker.objects.count() == 1
