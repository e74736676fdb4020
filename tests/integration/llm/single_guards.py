"""One guard alone, each function in a transaction of its own; calls are guarded by all together (`attempts`)."""

from decimal import Decimal
from uuid import UUID

from django.db import transaction

from apps.core.db.statements import Statement, run
from apps.core.domain.clock import SYSTEM_CLOCK, Clock
from apps.llm.domain.breaker import Admission, Phase, Ticket
from apps.llm.domain.budget import Settlement, check_amount
from apps.llm.guards import breakers, budgets, rates
from apps.llm.guards.breakers import CallResult
from apps.llm.guards.budgets import BudgetGrant, UnknownReservationError
from apps.llm.guards.rates import TokenGrant, TokenRequest
from apps.llm.guards.rules import GuardRules
from apps.llm.models import BudgetReservation


def budget_reserve(*, amount: Decimal, rules: GuardRules, clock: Clock = SYSTEM_CLOCK) -> BudgetGrant:
    """Set aside the most that a call can cost, if today's budget has room for it.

    Raises InvalidAmountError for what cannot be an amount.
    """
    now, amount = clock.now(), check_amount(amount)
    with transaction.atomic(savepoint=False):
        grant, writes = budgets.grant_budget(
            budgets.parse_window(run(*budgets.lock_budget(now)), now), amount, rules, now
        )
        run(*writes)
    return grant


def budget_settle(
    *, reservation_id: UUID, actual: Decimal, rules: GuardRules, clock: Clock = SYSTEM_CLOCK
) -> Settlement:
    """Record what a call cost, in the day in which it was reserved; even when its reservation has expired.

    Raises UnknownReservationError for one that was settled or released before, InvalidAmountError.
    """
    statement = budgets.settle_sql(reservation_id, actual, rules)
    with transaction.atomic(savepoint=False):
        [result] = run(statement)
        settlement = budgets.apply_settlement(result, actual, rules, clock)
    budgets.observe(settlement)
    return settlement


def budget_release(*, reservation_id: UUID) -> None:
    """Give back what was set aside for a call that was certainly not made. Raises UnknownReservationError."""
    if not BudgetReservation.objects.filter(pk=reservation_id).delete()[0]:
        raise UnknownReservationError(f"There is no reservation {reservation_id} of money to release.")


def tokens_reserve(*, request: TokenRequest, rules: GuardRules, clock: Clock = SYSTEM_CLOCK) -> TokenGrant:
    """Set aside the most tokens that a call may use, if the provider's minute has room for them.

    For a provider without a limit the database is not asked.
    """
    limit, now = rules.rate_limit(request.provider), clock.now()
    if limit.tokens_per_minute is None:
        return rates.grant_tokens(request, [], rules, now)[0]
    with transaction.atomic(savepoint=False):
        grant, writes = rates.grant_tokens(request, run(*rates.lock_rate(request.provider, limit, now)), rules, now)
        run(*writes)
    return grant


def tokens_settle(*, reservation_id: UUID, total_tokens: int, clock: Clock = SYSTEM_CLOCK) -> None:
    """Record what a call used, which counts from now on for a minute. Raises UnknownReservationError.

    A call that used none leaves no row, as it says nothing about what a call uses.
    """
    [result] = run(rates.settle_sql(reservation_id, total_tokens, clock.now()))
    rates.require_settled(result)


def tokens_release(*, reservation_id: UUID) -> None:
    """Give back the tokens of a call that was not made. Raises UnknownReservationError."""
    [result] = run(Statement(rates.RELEASE_SQL, [reservation_id]))
    rates.require_settled(result)


def breaker_admit(*, provider: str, rules: GuardRules, clock: Clock = SYSTEM_CLOCK) -> Admission:
    """Decide whether a call to `provider` may be made now. Hand its ticket back to `breaker_record`."""
    now = clock.now()
    return breakers.change_breaker(
        provider, breakers.breaker_state(provider, clock=clock), breakers.admit_transition(rules, now), now
    )


def breaker_record(
    *, provider: str, ticket: Ticket, result: CallResult, rules: GuardRules, clock: Clock = SYSTEM_CLOCK
) -> Phase:
    """Hand a ticket back with the result of its call; return the phase since then.

    A ticket handed back twice decides nothing the second time, but counts as another attempt.
    """
    now = clock.now()
    transition = breakers.record_transition(ticket, result, rules, now)
    return breakers.change_breaker(provider, breakers.breaker_state(provider, clock=clock), transition, now)
