"""Circuit breakers in the database: one row for each provider that ever failed (spec 002 section 4).

The row is read without a lock first. Usually nothing would change, and that was all; only where something does is the
row locked, read again and written. So a provider that works costs one small query.
"""

import json
from collections.abc import Callable
from enum import StrEnum
from typing import TypeVar

from django.db import transaction

from apps.core.db.statements import Result, Statement, run
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, to_datetime
from apps.events.services import emit
from apps.llm import metrics
from apps.llm.domain import breaker
from apps.llm.domain.breaker import Admission, Attempt, BreakerState, Phase, Probe, Ticket
from apps.llm.events import BreakerChanged
from apps.llm.guards.moments import milliseconds
from apps.llm.guards.rules import GuardRules
from apps.llm.models import Breaker, BreakerChange

T = TypeVar("T")
Transition = Callable[[BreakerState], tuple[BreakerState, T]]
READ_SQL = """
SELECT phase, changed_at, term, attempts, successful_probes, probes, last_probe FROM llm_breaker WHERE provider = %s
"""


class CallResult(StrEnum):
    """What a call says about its provider. NOT_MADE: nothing; so does a call that was wrong itself."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    NOT_MADE = "not_made"


def breaker_reset(*, provider: str, actor: str, clock: Clock = SYSTEM_CLOCK) -> None:
    """Close the circuit and forget what failed, because an operator says so."""
    now = clock.now()
    with transaction.atomic(savepoint=False):
        before = lock_breaker(provider, now)
        write_breaker(provider, before, breaker.reset(before, now), now, actor)
    observe(provider, Phase.CLOSED)


def breaker_state(provider: str, *, clock: Clock = SYSTEM_CLOCK) -> BreakerState:
    """Return what is remembered of a provider; a provider that never failed is closed."""
    [result] = run(select_breaker(provider))
    return parse_breaker(result, clock.now())


def select_breaker(provider: str, lock: str = "") -> Statement:
    """Return the statement whose result `parse_breaker` reads."""
    return Statement(READ_SQL + lock, [provider])


def parse_breaker(result: Result, now: int) -> BreakerState:
    """Return the state in a row; a new one when there is none."""
    if result.row is None:
        return BreakerState(changed_at=now)
    phase, changed_at, term, attempts, successful_probes, probes, last_probe = result.row
    return BreakerState(
        changed_at=milliseconds(changed_at),
        phase=Phase(phase),
        term=term,
        attempts=tuple(Attempt(*attempt) for attempt in json.loads(attempts)),
        successful_probes=successful_probes,
        probes=tuple(Probe(*probe) for probe in json.loads(probes)),
        last_probe=last_probe,
    )


def admit_transition(rules: GuardRules, now: int) -> Transition[Admission]:
    """Return the transition of a call that asks to be let through."""
    return lambda state: breaker.admit(state, now, rules.circuit)


def record_transition(ticket: Ticket, result: CallResult, rules: GuardRules, now: int) -> Transition[Phase]:
    """Return the transition of a ticket that is handed back."""

    def transition(state: BreakerState) -> tuple[BreakerState, Phase]:
        if result is CallResult.SUCCEEDED:
            after = breaker.record_success(state, ticket, now, rules.circuit)
        elif result is CallResult.FAILED:
            after = breaker.record_failure(state, ticket, now, rules.circuit)
        else:
            after = breaker.release(state, ticket)
        return after, after.phase

    return transition


def change_breaker(provider: str, seen: BreakerState, transition: Transition[T], now: int) -> T:
    """Make a transition of the state that was `seen` without a lock, and store it if it changes anything."""
    after, answer = transition(seen)
    if after is not seen:
        with transaction.atomic(savepoint=False):
            before = lock_breaker(provider, now)
            after, answer = transition(before)
            if after is not before:
                write_breaker(provider, before, after, now)
    observe(provider, after.phase)
    return answer


def lock_breaker(provider: str, now: int) -> BreakerState:
    """Return the state, locked until the transaction ends. Its row is created at the first failure of a provider."""
    [result] = run(select_breaker(provider, "FOR UPDATE"))
    if result.row is None:
        Breaker.objects.bulk_create([Breaker(provider=provider, changed_at=to_datetime(now))], ignore_conflicts=True)
        [result] = run(select_breaker(provider, "FOR UPDATE"))
    return parse_breaker(result, now)


def write_breaker(provider: str, before: BreakerState, after: BreakerState, now: int, actor: str | None = None) -> None:
    """Store a state, and keep and notify of a change of phase."""
    Breaker.objects.filter(provider=provider).update(
        phase=after.phase.value,
        changed_at=to_datetime(after.changed_at),
        term=after.term,
        attempts=after.attempts,
        successful_probes=after.successful_probes,
        probes=after.probes,
        last_probe=after.last_probe,
    )
    if after.phase is not before.phase:
        at = to_datetime(now)
        BreakerChange.objects.create(
            provider=provider, phase=after.phase, previous=before.phase, actor=actor or "", changed_at=at
        )
        emit(BreakerChanged(provider=provider, phase=after.phase, previous=before.phase, actor=actor, at=at))


def observe(provider: str, phase: Phase) -> None:
    """Set the metric of a breaker."""
    metrics.CIRCUIT_STATE.labels(provider).set(phase.metric_value)
