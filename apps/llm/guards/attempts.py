"""All guards around one attempt to call a model: a short transaction before it, another one after it.

    admission = attempt_admit(plan=plan, rules=rules)
    if admission.permit is None: ...                    # admission.refusal says which guard, why, and when to ask again
    call the model                                      # without any transaction, so without a connection that waits
    attempt_settle(permit=admission.permit, result=..., usage=..., rules=rules)

Each of the two is one transaction of three or four round trips. The locks are always taken in the same order, of the
day, the provider's rate, and its breaker only if that changes, so no two callers wait for each other. Both are refused
inside another transaction: it would hold those locks during the call.
"""

from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from django.db import transaction

from apps.core.db.statements import Result, Statement, run, run_groups
from apps.core.domain.clock import SYSTEM_CLOCK, Clock
from apps.llm import metrics
from apps.llm.domain.breaker import Admission, BreakerState, Phase, Ticket, admit
from apps.llm.domain.budget import BudgetDecision
from apps.llm.domain.chat import Usage
from apps.llm.domain.pricing import Tariff
from apps.llm.guards import breakers, budgets, calls, rates
from apps.llm.guards.breakers import CallResult
from apps.llm.guards.budgets import BudgetGrant
from apps.llm.guards.calls import NOTHING_USED, CallRecord
from apps.llm.guards.rates import TokenGrant, TokenRequest
from apps.llm.guards.rules import GuardRules
from apps.llm.models import CallGuard
from apps.llm.pricing import prices

PRICE_UNKNOWN = "price_unknown"
# A reservation matters as long as its caller lives. If the server's machine dies in the second after it, most likely
# the caller died as well; what was spent is waited for, in `attempt_settle`, until it is on the disk.
_COMMIT_WITHOUT_WAITING = Statement("SET LOCAL synchronous_commit = off")
Found = dict[str, list[Result]]
Writes = list[Statement]


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
    money: UUID | None = None
    tokens: UUID | None = None

    def cost(self, usage: Usage) -> Decimal | None:
        """What `usage` costs; None when the price is unknown."""
        return None if self.tariff is None else self.tariff.cost(usage.input_tokens, usage.output_tokens)


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
    """Rolls back what has been done until a guard refused."""

    def __init__(self, guard: CallGuard, reason: str | None, retry_after_ms: int | None) -> None:
        super().__init__(reason)
        self.refusal = Refusal(guard, reason or guard.value, retry_after_ms)


def attempt_admit(
    *, plan: AttemptPlan, rules: GuardRules, queue_depth: int = 1, clock: Clock = SYSTEM_CLOCK
) -> AttemptAdmission:
    """Ask budget, breaker and rate, in this order; if all agree, everything is set aside, else nothing.

    queue_depth: calls that wait for this provider, this one among them.
    """
    tokens = TokenRequest(plan.provider, plan.model, plan.input_tokens + plan.output_tokens, queue_depth)
    try:
        with transaction.atomic(durable=True):
            return _admitted(plan, tokens, rules, clock)
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
    Raises UnknownReservationError, and changes nothing, for a permit that had set something aside and was handed back
    before.
    """
    used, now, provider = usage or NOTHING_USED, clock.now(), permit.plan.provider
    cost = permit.cost(used)
    with transaction.atomic(durable=True):
        found = run_groups(_settling(permit, used, cost, record, rules, now))
        spent = [budgets.settlement_of(row, cost, rules, clock) for row in found["budget"] if cost is not None]
        for row in found["rate"]:
            rates.require_settled(row)
        recording = breakers.recording(permit.ticket, result, rules, now)
        phase = breakers.apply(provider, breakers.state_of(found["breaker"][0], now), recording, now)
    for settlement in spent:
        budgets.show(settlement)
    _show(permit.plan, used, cost, record)
    return AttemptSettlement(cost, phase, spent[0].alerts if spent else ())


def _admitted(plan: AttemptPlan, asking: TokenRequest, rules: GuardRules, clock: Clock) -> AttemptAdmission:
    """Everything is read in one round trip, under the locks, and written in another one."""
    now, provider = clock.now(), plan.provider
    groups = {
        "settings": [_COMMIT_WITHOUT_WAITING],
        "price": [prices.question(provider, plan.model, clock=clock)],
        "budget": budgets.holding(now),
        "breaker": [breakers.question(provider)],
        "rate": rates.holding(provider, rules.rate_limit(provider), now),
    }
    found = run_groups(groups)
    tariff = prices.tariff_in(found["price"][0], plan.model)
    money, money_writes = _money(plan, tariff, found, rules, now)
    seen = breakers.state_of(found["breaker"][0], now)
    _require_breaker(admit(seen, now, rules.circuit)[1])
    tokens, token_writes = _tokens(asking, found, rules, now)
    ticket = _ticket(provider, seen, rules, now)
    run(*money_writes, *token_writes)
    permit = Permit(plan, ticket, tariff, money.reservation_id, tokens.reservation_id)
    return AttemptAdmission(permit, warning=money.decision.warning)


def _money(
    plan: AttemptPlan, tariff: Tariff | None, found: Found, rules: GuardRules, now: int
) -> tuple[BudgetGrant, Writes]:
    if tariff is None and rules.budget.is_enforced:
        raise _RefusedError(CallGuard.BUDGET, PRICE_UNKNOWN, None)
    if tariff is None:
        return BudgetGrant(BudgetDecision()), []
    cost = tariff.cost(plan.input_tokens, plan.output_tokens)
    grant, writes = budgets.grant_of(budgets.window_of(found["budget"], now), cost, rules, now)
    if grant.reservation_id is None:
        raise _RefusedError(CallGuard.BUDGET, grant.decision.reason, grant.decision.retry_after_ms)
    return grant, writes


def _tokens(asking: TokenRequest, found: Found, rules: GuardRules, now: int) -> tuple[TokenGrant, Writes]:
    grant, writes = rates.grant_of(asking, found["rate"], rules, now)
    if not grant.decision.allowed:
        raise _RefusedError(CallGuard.RATE, grant.decision.verdict.value, grant.decision.retry_after_ms)
    return grant, writes


def _ticket(provider: str, seen: BreakerState, rules: GuardRules, now: int) -> Ticket:
    """Asked for last, because a probe that is taken is a change; another caller may have taken the last one since."""
    return _require_breaker(breakers.apply(provider, seen, breakers.admitting(rules, now), now))


def _require_breaker(admission: Admission) -> Ticket:
    if admission.ticket is None:
        raise _RefusedError(CallGuard.BREAKER, admission.phase.value, admission.retry_after_ms)
    return admission.ticket


def _settling(
    permit: Permit, used: Usage, cost: Decimal | None, record: CallRecord | None, rules: GuardRules, now: int
) -> dict[str, Writes]:
    money, tokens = permit.money, permit.tokens
    return {
        "budget": [] if money is None or cost is None else [budgets.settling(money, cost, rules)],
        "rate": [] if tokens is None else [rates.settling(tokens, used.total_tokens, now)],
        "record": [] if record is None else [calls.storing(record, rules)[1]],
        "breaker": [breakers.question(permit.plan.provider)],
    }


def _show(plan: AttemptPlan, used: Usage, cost: Decimal | None, record: CallRecord | None) -> None:
    metrics.TOKENS.labels(plan.provider, "input").inc(used.input_tokens)
    metrics.TOKENS.labels(plan.provider, "output").inc(used.output_tokens)
    metrics.SPEND.labels(plan.provider, plan.model).inc(float(cost or 0))
    if record is not None:
        calls.show(record)
