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

from apps.core.db.statements import Statement, run, run_groups
from apps.core.domain.clock import SYSTEM_CLOCK, Clock
from apps.llm import metrics
from apps.llm.domain.breaker import Admission, Phase, Ticket, admit
from apps.llm.domain.budget import BudgetDecision
from apps.llm.domain.chat import Usage
from apps.llm.domain.pricing import Tariff
from apps.llm.domain.refusals import PRICE_UNKNOWN
from apps.llm.guards import breakers, budgets, calls, rates
from apps.llm.guards.breakers import CallResult
from apps.llm.guards.budgets import BudgetGrant
from apps.llm.guards.calls import NOTHING_USED, CallRecord
from apps.llm.guards.rates import TokenRequest
from apps.llm.guards.rules import GuardRules
from apps.llm.models import CallGuard
from apps.llm.pricing import prices

# A reservation matters as long as its caller lives. If the server's machine dies in the second after it, most likely
# the caller died as well; what was spent is waited for, in `attempt_settle`, until it is on the disk.
COMMIT_WITHOUT_WAITING = Statement("SET LOCAL synchronous_commit = off")


@dataclass(frozen=True, kw_only=True)
class AttemptPlan:
    """A call that is about to be made. input_tokens, output_tokens: the most that it is expected to use."""

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
        """Return what `usage` costs; None when the price is unknown."""
        return None if self.tariff is None else self.tariff.cost(usage.input_tokens, usage.output_tokens)


@dataclass(frozen=True)
class AttemptRefusal:
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
    refusal: AttemptRefusal | None = None
    warning: str | None = None


@dataclass(frozen=True)
class AttemptSettlement:
    """cost: of the attempt; None when the price is unknown. phase: of the breaker since. alerts: in percent."""

    cost: Decimal | None
    phase: Phase
    alerts: tuple[int, ...] = ()


class AttemptRefusedError(Exception):
    """Rolls back what has been done until a guard refused."""

    def __init__(self, guard: CallGuard, reason: str | None, retry_after_ms: int | None) -> None:
        super().__init__(reason)
        self.refusal = AttemptRefusal(guard, reason or guard.value, retry_after_ms)


def attempt_admit(
    *, plan: AttemptPlan, rules: GuardRules, queue_depth: int = 1, clock: Clock = SYSTEM_CLOCK
) -> AttemptAdmission:
    """Ask budget, breaker and rate, in this order; if all agree, everything is set aside, else nothing.

    queue_depth: calls that wait for this provider, this one among them.
    """
    try:
        with transaction.atomic(durable=True):
            return _reserve(plan, rules, queue_depth, clock)
    except AttemptRefusedError as refused:
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
    """Hand a permit back: release what it set aside, and record what was used.

    usage: of this attempt; None when nothing can have been used. record: of the whole call, with its last attempt.
    Raises UnknownReservationError, and changes nothing, for a permit that had set something aside and was handed back
    before.
    """
    used, now, plan = usage or NOTHING_USED, clock.now(), permit.plan
    cost = permit.cost(used)
    statements = {
        "budget": [budgets.settle_sql(permit.money, cost, rules)] if permit.money and cost is not None else [],
        "rate": [rates.settle_sql(permit.tokens, used.total_tokens, now)] if permit.tokens is not None else [],
        "record": calls.record_sql(record, rules)[1] if record is not None else [],
        "breaker": [breakers.select_breaker(plan.provider)],
    }
    with transaction.atomic(durable=True):
        found = run_groups(statements)
        spent = [budgets.apply_settlement(row, cost, rules, clock) for row in found["budget"] if cost is not None]
        for row in found["rate"]:
            rates.require_settled(row)
        seen = breakers.parse_breaker(found["breaker"][0], now)
        recording = breakers.record_transition(permit.ticket, result, rules, now)
        phase = breakers.change_breaker(plan.provider, seen, recording, now)
    for settlement in spent:
        budgets.observe(settlement)
    metrics.TOKENS.labels(plan.provider, "input").inc(used.input_tokens)
    metrics.TOKENS.labels(plan.provider, "output").inc(used.output_tokens)
    metrics.SPEND.labels(plan.provider, plan.model).inc(float(cost or 0))
    if record is not None:
        calls.observe(record)
    return AttemptSettlement(cost, phase, spent[0].alerts if spent else ())


def _reserve(plan: AttemptPlan, rules: GuardRules, queue_depth: int, clock: Clock) -> AttemptAdmission:
    """Read everything in one round trip, under the locks, and write it in another one."""
    now, provider = clock.now(), plan.provider
    found = run_groups(
        {
            "settings": [COMMIT_WITHOUT_WAITING],
            "price": [prices.select_prices(provider, plan.model, clock=clock)],
            "budget": budgets.lock_budget(now),
            "breaker": [breakers.select_breaker(provider)],
            "rate": rates.lock_rate(provider, rules.rate_limit(provider), now),
        }
    )
    tariff = prices.parse_tariff(found["price"][0], plan.model)
    if tariff is None and rules.budget.is_enforced:
        raise AttemptRefusedError(CallGuard.BUDGET, PRICE_UNKNOWN, None)
    money, money_writes = BudgetGrant(BudgetDecision()), list[Statement]()
    if tariff is not None:
        cost = tariff.cost(plan.input_tokens, plan.output_tokens)
        money, money_writes = budgets.grant_budget(budgets.parse_window(found["budget"], now), cost, rules, now)
        if money.reservation_id is None:
            raise AttemptRefusedError(CallGuard.BUDGET, money.decision.reason, money.decision.retry_after_ms)
    seen = breakers.parse_breaker(found["breaker"][0], now)
    _require_ticket(admit(seen, now, rules.circuit)[1])
    asking = TokenRequest(provider, plan.model, plan.input_tokens + plan.output_tokens, queue_depth)
    tokens, token_writes = rates.grant_tokens(asking, found["rate"], rules, now)
    if not tokens.decision.allowed:
        raise AttemptRefusedError(CallGuard.RATE, tokens.decision.verdict.value, tokens.decision.retry_after_ms)
    # Last, because taking a probe is a change; another caller may have taken the last one since.
    admission = breakers.change_breaker(provider, seen, breakers.admit_transition(rules, now), now)
    ticket = _require_ticket(admission)
    run(*money_writes, *token_writes)
    permit = Permit(plan, ticket, tariff, money.reservation_id, tokens.reservation_id)
    return AttemptAdmission(permit, warning=money.decision.warning)


def _require_ticket(admission: Admission) -> Ticket:
    if admission.ticket is None:
        raise AttemptRefusedError(CallGuard.BREAKER, admission.phase.value, admission.retry_after_ms)
    return admission.ticket
