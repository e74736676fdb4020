"""Circuit breakers in the database: one row for each provider that ever failed (spec 002 section 4).

The row is read without a lock first. Usually nothing would change, and that was all; only where something does is the
row locked, read again and written. So a provider that is well costs one small query.
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
from apps.llm.domain.breaker import Admission, Attempt, BreakerState, CircuitConfig, Phase, Probe, Ticket
from apps.llm.events import BreakerChanged
from apps.llm.guards.moments import milliseconds
from apps.llm.guards.rules import GuardRules
from apps.llm.models import Breaker

T = TypeVar("T")
Transition = Callable[[BreakerState], tuple[BreakerState, T]]
_READ = """
SELECT phase, changed_at, term, attempts, successful_probes, probes, last_probe FROM llm_breaker WHERE provider = %s
"""


class CallResult(StrEnum):
    """What a call says about its provider. NOT_MADE: nothing; so does a call that was wrong itself."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    NOT_MADE = "not_made"


def breaker_admit(*, provider: str, rules: GuardRules, clock: Clock = SYSTEM_CLOCK) -> Admission:
    """Whether a call to `provider` may be made now. A ticket must be handed back to `breaker_record`."""
    now = clock.now()
    return apply(provider, _read(provider, now), admitting(rules, now), now)


def breaker_record(
    *, provider: str, ticket: Ticket, result: CallResult, rules: GuardRules, clock: Clock = SYSTEM_CLOCK
) -> Phase:
    """Hand a ticket back with what became of its call; gives the phase since then.

    A ticket handed back twice decides nothing the second time, but counts as another attempt.
    """
    now = clock.now()
    return apply(provider, _read(provider, now), recording(ticket, result, rules, now), now)


def breaker_reset(*, provider: str, actor: str, clock: Clock = SYSTEM_CLOCK) -> None:
    """Close the circuit and forget what failed, because an operator says so."""
    now = clock.now()
    with transaction.atomic(savepoint=False):
        before = _locked(provider, now)
        _write(provider, before, breaker.reset(before, now), now, actor)
    _show(provider, Phase.CLOSED)


def breaker_state(provider: str, *, clock: Clock = SYSTEM_CLOCK) -> BreakerState:
    """What is remembered of a provider; of one that never failed, that it is closed."""
    return _read(provider, clock.now())


def question(provider: str, lock: str = "") -> Statement:
    """The statement whose result `state_of` reads."""
    return Statement(_READ + lock, [provider])


def state_of(result: Result, now: int) -> BreakerState:
    """The state in a row; a new one when there is none."""
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


def admitting(rules: GuardRules, now: int) -> Transition[Admission]:
    """Asking to be let through."""
    return lambda state: breaker.admit(state, now, rules.circuit)


def recording(ticket: Ticket, result: CallResult, rules: GuardRules, now: int) -> Transition[Phase]:
    """Handing back a ticket."""

    def recorded(state: BreakerState) -> tuple[BreakerState, Phase]:
        after = _recorded(state, ticket, result, now, rules.circuit)
        return after, after.phase

    return recorded


def apply(provider: str, seen: BreakerState, transition: Transition[T], now: int) -> T:
    """Make a transition of the state that was `seen` without a lock, and store it if it changes anything."""
    after, answer = transition(seen)
    if after is not seen:
        with transaction.atomic(savepoint=False):
            before = _locked(provider, now)
            after, answer = transition(before)
            if after is not before:
                _write(provider, before, after, now)
    _show(provider, after.phase)
    return answer


def _recorded(state: BreakerState, ticket: Ticket, result: CallResult, now: int, config: CircuitConfig) -> BreakerState:
    if result is CallResult.SUCCEEDED:
        return breaker.record_success(state, ticket, now, config)
    if result is CallResult.FAILED:
        return breaker.record_failure(state, ticket, now, config)
    return breaker.release(state, ticket)


def _read(provider: str, now: int) -> BreakerState:
    [result] = run(question(provider))
    return state_of(result, now)


def _locked(provider: str, now: int) -> BreakerState:
    """The state, held until the transaction ends. Its row is made at the first failure of a provider."""
    [result] = run(question(provider, "FOR UPDATE"))
    if result.row is None:
        Breaker.objects.bulk_create([Breaker(provider=provider, changed_at=to_datetime(now))], ignore_conflicts=True)
        [result] = run(question(provider, "FOR UPDATE"))
    return state_of(result, now)


def _write(provider: str, before: BreakerState, after: BreakerState, now: int, actor: str | None = None) -> None:
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
        emit(BreakerChanged(provider=provider, phase=after.phase, previous=before.phase, actor=actor, at=at))


def _show(provider: str, phase: Phase) -> None:
    metrics.CIRCUIT_STATE.labels(provider).set(phase.metric_value)
