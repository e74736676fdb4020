"""The guards in the database beside the pure breaker and budget of one process, and a plain list of token uses.

Whatever is asked, settled, given up or left lying in whatever order, both answer the same.
"""

from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

import pytest
from django.db import connection
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from apps.events.models import Event
from apps.llm.domain.breaker import CircuitConfig, Ticket
from apps.llm.domain.budget import Reservation
from apps.llm.domain.rate import TokenUsage, decide_rate
from apps.llm.guards.breakers import CallResult, breaker_state
from apps.llm.guards.budgets import budget_window
from apps.llm.guards.rates import TokenRequest
from tests.effort import examples
from tests.guards import BudgetTracker, CircuitBreaker
from tests.integration.llm.guards.rules import DAY, MINUTE, noon, rules
from tests.integration.llm.single_guards import (
    breaker_admit,
    breaker_record,
    budget_release,
    budget_reserve,
    budget_settle,
    tokens_release,
    tokens_reserve,
    tokens_settle,
)

pytestmark = pytest.mark.django_db

# A small window, so that few steps open the circuit. Reservations that outlive several days never expire here.
RULES = rules(circuit=CircuitConfig(window_size=4), tokens_per_minute={"own": 1_000}, reservation_ms=30 * DAY)
SHORT_LIVED = rules(reservation_ms=10 * MINUTE, tokens_per_minute={"own": 1_000})
QUICK = settings(max_examples=examples(30), stateful_step_count=25, deadline=None)
pauses = st.sampled_from([1, 10_000, 30_000, MINUTE, 2 * MINUTE, DAY // 3, DAY])


def empty() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM llm_budgetreservation; DELETE FROM llm_budgetday; DELETE FROM llm_breaker;"
            "DELETE FROM llm_tokenuse; DELETE FROM events_event"
        )


def told(name: str, field: str) -> list[object]:
    return [
        payload[field] for payload in Event.objects.filter(name=name).order_by("id").values_list("payload", flat=True)
    ]


@dataclass
class Call:
    """A call under way, as the database and as the model know it."""

    stored: Ticket
    ours: Ticket


class Breaking(RuleBasedStateMachine):
    """Calls that overlap, through the breaker of the database and through that of one process."""

    @initialize()
    def begin(self) -> None:
        empty()
        self.clock = noon()
        self.phases: list[str] = []
        self.model = CircuitBreaker(self.clock, RULES.circuit, lambda phase: self.phases.append(phase.value))
        self.calls: list[Call] = []

    @rule()
    def ask(self) -> None:
        stored, ours = breaker_admit(provider="own", rules=RULES, clock=self.clock), self.model.admit()
        assert stored == ours
        if stored.ticket and ours.ticket:
            self.calls.append(Call(stored.ticket, ours.ticket))

    @precondition(lambda self: self.calls)
    @rule(data=st.data(), result=st.sampled_from([CallResult.FAILED, CallResult.FAILED, *CallResult]))
    def finish(self, data: st.DataObject, result: CallResult) -> None:
        call = self.calls.pop(data.draw(st.integers(0, len(self.calls) - 1)))
        breaker_record(provider="own", ticket=call.stored, result=result, rules=RULES, clock=self.clock)
        {
            CallResult.SUCCEEDED: self.model.record_success,
            CallResult.FAILED: self.model.record_failure,
            CallResult.NOT_MADE: self.model.release,
        }[result](call.ours)

    @rule(milliseconds=pauses)
    def wait(self, milliseconds: int) -> None:
        self.clock.advance(milliseconds)

    @invariant()
    def both_remember_the_same(self) -> None:
        stored, ours = breaker_state("own", clock=self.clock), self.model.state
        assert (stored.phase, stored.term, stored.attempts) == (ours.phase, ours.term, ours.attempts)
        assert (stored.probes, stored.successful_probes, stored.last_probe) == (
            ours.probes,
            ours.successful_probes,
            ours.last_probe,
        )
        assert stored.changed_at == ours.changed_at or stored.term == 0

    @invariant()
    def each_change_is_told_once(self) -> None:
        assert told("llm:breaker:changed", "phase") == self.phases


class Spending(RuleBasedStateMachine):
    """Spenders that overlap, over several days, through the budget of the database and through that of one process."""

    @initialize()
    def begin(self) -> None:
        empty()
        self.clock = noon()
        self.alerts: list[int] = []
        self.model = BudgetTracker(RULES.budget, self.clock, lambda threshold, _: self.alerts.append(threshold))
        self.under_way: list[tuple[UUID, Reservation]] = []

    @rule(amount=st.decimals(min_value=0, max_value=11, places=2))
    def ask(self, amount: Decimal) -> None:
        stored = budget_reserve(amount=amount, rules=RULES, clock=self.clock)
        ours = self.model.reserve(amount)
        assert stored.decision == ours
        if stored.reservation_id is not None and ours.reservation is not None:
            self.under_way.append((stored.reservation_id, ours.reservation))

    @precondition(lambda self: self.under_way)
    @rule(data=st.data(), percent=st.sampled_from([0, 1, 50, 100, 120]))
    def settle(self, data: st.DataObject, percent: int) -> None:
        stored, ours = self.under_way.pop(data.draw(st.integers(0, len(self.under_way) - 1)))
        actual = ours.amount * percent / 100
        settlement = budget_settle(reservation_id=stored, actual=actual, rules=RULES, clock=self.clock)
        assert settlement == self.model.settle(ours, actual)

    @precondition(lambda self: self.under_way)
    @rule()
    def give_up(self) -> None:
        stored, ours = self.under_way.pop()
        budget_release(reservation_id=stored)
        self.model.release(ours)

    @rule(milliseconds=pauses)
    def wait(self, milliseconds: int) -> None:
        self.clock.advance(milliseconds)

    @invariant()
    def both_have_the_same_day(self) -> None:
        assert budget_window(clock=self.clock) == self.model.window

    @invariant()
    def each_threshold_is_told_once(self) -> None:
        assert told("llm:budget:threshold_reached", "threshold") == self.alerts


class Using(RuleBasedStateMachine):
    """Calls that use tokens, some of which die under way, beside lists of what counts."""

    @initialize()
    def begin(self) -> None:
        empty()
        self.clock = noon()
        self.settled: list[TokenUsage] = []
        self.under_way: dict[UUID, TokenUsage] = {}

    def counting(self) -> list[TokenUsage]:
        alive = self.clock.now() - SHORT_LIVED.reservation_ms
        return [use for use in self.under_way.values() if use.timestamp > alive]

    @rule(tokens=st.integers(0, 500), waiting=st.integers(1, 3))
    def ask(self, tokens: int, waiting: int) -> None:
        now, limit = self.clock.now(), SHORT_LIVED.rate_limit("own")
        request = TokenRequest("own", "m", tokens, waiting)
        expected = decide_rate(self.settled, self.counting(), tokens, limit, now, waiting)
        grant = tokens_reserve(request=request, rules=SHORT_LIVED, clock=self.clock)
        assert grant.decision == expected
        if grant.reservation_id is not None:
            self.under_way[grant.reservation_id] = TokenUsage(now, tokens)

    @precondition(lambda self: self.under_way)
    @rule(data=st.data(), tokens=st.integers(0, 500))
    def settle(self, data: st.DataObject, tokens: int) -> None:
        reservation = data.draw(
            st.sampled_from(sorted(self.under_way, key=lambda found: self.under_way[found].timestamp))
        )
        del self.under_way[reservation]
        tokens_settle(reservation_id=reservation, total_tokens=tokens, clock=self.clock)
        self.settled += [TokenUsage(self.clock.now(), tokens)] if tokens else []

    @precondition(lambda self: self.under_way)
    @rule()
    def give_up(self) -> None:
        reservation, _ = self.under_way.popitem()
        tokens_release(reservation_id=reservation)

    @rule(milliseconds=pauses)
    def wait(self, milliseconds: int) -> None:
        self.clock.advance(milliseconds)


@pytest.mark.parametrize("machine", [Breaking, Spending, Using])
def test_what_database_answers_is_what_model_answers(machine: type[RuleBasedStateMachine]) -> None:
    run_state_machine_as_test(machine, settings=QUICK)
