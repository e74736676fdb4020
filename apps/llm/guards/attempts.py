"""All guards around one attempt to call a model: a short transaction before it, another one after it.

    admission = attempt_admit(plan=plan, rules=rules)
    if admission.permit is None: ...                    # admission.refusal says which guard, why, and when to ask again
    call the model                                      # without any transaction, so without a connection that waits
    attempt_settle(permit=admission.permit, result=..., usage=..., rules=rules)

Each of the two is one transaction, in which the guards take their locks in the same order, budget, breaker, rate, so no
two wait for each other. They are refused inside another transaction: it would hold those locks during the call.
"""

from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction

from apps.core.domain.clock import SYSTEM_CLOCK, Clock
from apps.llm import metrics
from apps.llm.domain.breaker import Phase, Ticket
from apps.llm.domain.budget import BudgetDecision
from apps.llm.domain.chat import Usage
from apps.llm.domain.pricing import Tariff
from apps.llm.guards.breakers import CallResult, breaker_admit, breaker_record
from apps.llm.guards.budgets import BudgetGrant, budget_release, budget_reserve, budget_settle
from apps.llm.guards.calls import NOTHING_USED, CallRecord, call_record
from apps.llm.guards.rules import GuardRules
from apps.llm.guards.token_rates import tokens_release, tokens_reserve, tokens_settle
from apps.llm.models import CallGuard
from apps.llm.prices import tariff_of

PRICE_UNKNOWN = "price_unknown"


@dataclass(frozen=True, kw_only=True)
class AttemptPlan:
    """What is about to be called. input_tokens, output_tokens: the most that it is expected to use."""

    provider: str
    model: str
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True)
class Permit:
    """An attempt that may be made, to be handed to `attempt_settle` whatever becomes of it.

    tariff: None when the price is unknown. money, tokens: the reservations, where there are any.
    """

    plan: AttemptPlan
    ticket: Ticket
    tariff: Tariff | None = None
    money: int | None = None
    tokens: int | None = None

    def cost(self, usage: Usage | None) -> Decimal | None:
        """What `usage` costs; None when the price is unknown."""
        used = usage or NOTHING_USED
        return None if self.tariff is None else self.tariff.cost(used.input_tokens, used.output_tokens)


@dataclass(frozen=True)
class Refusal:
    """Which guard refused an attempt, and why.

    reason: `budget_exceeded` or `price_unknown`, `open` or `half_open`, `throttled`, `full` or `too_large`.
    retry_after_ms: when to ask again; None when that would be of no use.
    """

    guard: CallGuard
    reason: str
    retry_after_ms: int | None = None


@dataclass(frozen=True)
class AttemptAdmission:
    """Either a permit or a refusal. warning: with a permit, when nothing of the budget is left after it."""

    permit: Permit | None = None
    refusal: Refusal | None = None
    warning: str | None = None


@dataclass(frozen=True)
class AttemptSettlement:
    """cost: of the attempt; None when the price is unknown. phase: of the breaker since. alerts: in percent."""

    cost: Decimal | None
    phase: Phase
    alerts: tuple[int, ...] = ()


class _RefusedError(Exception):
    """Rolls back what the guards before the one that refused had already set aside."""

    def __init__(self, guard: CallGuard, reason: str, retry_after_ms: int | None) -> None:
        super().__init__(reason)
        self.refusal = Refusal(guard, reason, retry_after_ms)


def attempt_admit(
    *, plan: AttemptPlan, rules: GuardRules, queue_depth: int = 1, clock: Clock = SYSTEM_CLOCK
) -> AttemptAdmission:
    """Ask budget, breaker and rate, in this order; if all agree, everything is set aside, else nothing.

    queue_depth: calls that wait for this provider, this one among them.
    """
    try:
        tariff = tariff_of(plan.provider, plan.model, clock=clock)
        if tariff is None and rules.budget.is_enforced:
            raise _RefusedError(CallGuard.BUDGET, PRICE_UNKNOWN, None)
        with transaction.atomic(durable=True):
            return _admitted(plan, tariff, rules, queue_depth, clock)
    except _RefusedError as refused:
        metrics.REFUSALS.labels(refused.refusal.guard.value, refused.refusal.reason).inc()
        return AttemptAdmission(refusal=refused.refusal)


def attempt_settle(
    *,
    permit: Permit,
    result: CallResult,
    usage: Usage | None,
    rules: GuardRules,
    record: CallRecord | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> AttemptSettlement:
    """Hand a permit back: what it set aside is released, and what was used is recorded.

    usage: of this attempt; None when nothing can have been used. record: of the whole call, with its last attempt.
    Raises UnknownReservationError for a permit that was handed back before.
    """
    plan, cost, used = permit.plan, permit.cost(usage), usage is not None and usage.total_tokens > 0
    with transaction.atomic(durable=True):
        alerts = _settle_money(permit, cost, rules, clock) if used else _release_money(permit)
        phase = breaker_record(provider=plan.provider, ticket=permit.ticket, result=result, rules=rules, clock=clock)
        if permit.tokens is not None and usage is not None and used:
            tokens_settle(reservation_id=permit.tokens, total_tokens=usage.total_tokens, clock=clock)
        elif permit.tokens is not None:
            tokens_release(reservation_id=permit.tokens)
        if record is not None:
            call_record(record=record, rules=rules)
    _count(plan, usage, cost)
    return AttemptSettlement(cost, phase, alerts)


def _admitted(
    plan: AttemptPlan, tariff: Tariff | None, rules: GuardRules, queue_depth: int, clock: Clock
) -> AttemptAdmission:
    grant = _reserve_money(plan, tariff, rules, clock)
    admission = breaker_admit(provider=plan.provider, rules=rules, clock=clock)
    if admission.ticket is None:
        raise _RefusedError(CallGuard.BREAKER, admission.phase.value, admission.retry_after_ms)
    tokens = tokens_reserve(
        provider=plan.provider,
        model=plan.model,
        estimated_tokens=plan.input_tokens + plan.output_tokens,
        rules=rules,
        queue_depth=queue_depth,
        clock=clock,
    )
    if not tokens.decision.allowed:
        raise _RefusedError(CallGuard.RATE, tokens.decision.verdict.value, tokens.decision.retry_after_ms)
    permit = Permit(plan, admission.ticket, tariff, grant.reservation_id, tokens.reservation_id)
    return AttemptAdmission(permit, warning=grant.decision.warning)


def _reserve_money(plan: AttemptPlan, tariff: Tariff | None, rules: GuardRules, clock: Clock) -> BudgetGrant:
    """What costs nobody knows how much, which is only asked for without a budget, reserves nothing."""
    if tariff is None:
        return BudgetGrant(BudgetDecision())
    grant = budget_reserve(amount=tariff.cost(plan.input_tokens, plan.output_tokens), rules=rules, clock=clock)
    if grant.reservation_id is None:
        raise _RefusedError(CallGuard.BUDGET, grant.decision.reason or "", grant.decision.retry_after_ms)
    return grant


def _settle_money(permit: Permit, cost: Decimal | None, rules: GuardRules, clock: Clock) -> tuple[int, ...]:
    if permit.money is None or cost is None:
        return ()
    return budget_settle(reservation_id=permit.money, actual=cost, rules=rules, clock=clock).alerts


def _release_money(permit: Permit) -> tuple[int, ...]:
    if permit.money is not None:
        budget_release(reservation_id=permit.money)
    return ()


def _count(plan: AttemptPlan, usage: Usage | None, cost: Decimal | None) -> None:
    if usage is not None:
        metrics.TOKENS.labels(plan.provider, "input").inc(usage.input_tokens)
        metrics.TOKENS.labels(plan.provider, "output").inc(usage.output_tokens)
    if cost:
        metrics.SPEND.labels(plan.provider, plan.model).inc(float(cost))
