"""The budget in the database: one row for each day, one for each call under way (spec 002 section 6).

Who reserves or settles holds the row of the day, so spenders come one after another and none decides by what another
one is about to change. What is reserved is added up anew each time, out of the rows that have not expired: expired ones
need no sweep to come back.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import F

from apps.core.db.statements import Result, Statement, run
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, to_datetime, utcnow
from apps.events.services import emit_many
from apps.llm import metrics
from apps.llm.domain import budget as decisions
from apps.llm.domain.budget import Budget, BudgetDecision, BudgetWindow, Settlement
from apps.llm.events import BudgetThresholdReached
from apps.llm.guards.moments import day_of, midnight
from apps.llm.guards.rules import GuardRules
from apps.llm.models import BudgetDay, BudgetReservation

ZERO = Decimal(0)
_ENSURE_DAY = """
INSERT INTO llm_budgetday (day, spent_usd, waived_usd, warned, reset_by) VALUES (%s, 0, 0, '{}', '')
ON CONFLICT DO NOTHING
"""
_DAY = "SELECT spent_usd, waived_usd, warned FROM llm_budgetday WHERE day = %s "
_RESERVED = "SELECT coalesce(sum(amount_usd), 0) FROM llm_budgetreservation WHERE day_id = %s AND expires_at > %s"
_RESERVE = """
INSERT INTO llm_budgetreservation (id, day_id, amount_usd, reserved_at, expires_at) VALUES (%s, %s, %s, %s, %s)
"""
# Whoever deletes the reservation adds what it cost, so it is added once.
_SETTLE = """
WITH taken AS (DELETE FROM llm_budgetreservation WHERE id = %s RETURNING day_id)
UPDATE llm_budgetday SET spent_usd = spent_usd + %s, limit_usd = %s FROM taken WHERE day = taken.day_id
RETURNING day, spent_usd, waived_usd, warned
"""


class UnknownReservationError(LookupError):
    """A reservation was settled or released before, or never made."""


@dataclass(frozen=True)
class BudgetGrant:
    """The decision about a call. reservation_id: exactly when it is allowed, to be settled or released."""

    decision: BudgetDecision
    reservation_id: UUID | None = None


def budget_reserve(*, amount: Decimal, rules: GuardRules, clock: Clock = SYSTEM_CLOCK) -> BudgetGrant:
    """Set aside the most that a call can cost, if today's budget has room for it.

    Raises InvalidAmountError for what cannot be an amount.
    """
    now, amount = clock.now(), decisions.check_amount(amount)
    with transaction.atomic(savepoint=False):
        held = window_of(run(*holding(now)), now)
        grant, writes = grant_of(held, amount, rules, now)
        run(*writes)
    return grant


def budget_settle(
    *, reservation_id: UUID, actual: Decimal, rules: GuardRules, clock: Clock = SYSTEM_CLOCK
) -> Settlement:
    """Record what a call cost, in the day in which it was reserved; even when its reservation has expired.

    Raises UnknownReservationError for one that was settled or released before, InvalidAmountError.
    """
    statement = settling(reservation_id, actual, rules)
    with transaction.atomic(savepoint=False):
        [result] = run(statement)
        settlement = settlement_of(result, actual, rules, clock)
    show(settlement)
    return settlement


def budget_release(*, reservation_id: UUID) -> None:
    """Give back what was set aside for a call that was certainly not made. Raises UnknownReservationError."""
    if not BudgetReservation.objects.filter(pk=reservation_id).delete()[0]:
        raise UnknownReservationError(f"There is no reservation {reservation_id} of money to release.")


def budget_reset(*, actor: str, clock: Clock = SYSTEM_CLOCK) -> Decimal:
    """Have what was spent today not count any more, because an operator says so; gives how much that is.

    What was spent stays on record. Thresholds are warned of anew. What is reserved still counts.
    """
    now = clock.now()
    with transaction.atomic(savepoint=False):
        waived = window_of(run(*holding(now)), now).spent
        BudgetDay.objects.filter(day=day_of(now)).update(
            waived_usd=F("spent_usd"), warned=[], reset_by=actor, reset_at=to_datetime(now)
        )
    metrics.BUDGET_UTILIZATION.set(0)
    return waived


def budget_window(*, clock: Clock = SYSTEM_CLOCK) -> BudgetWindow:
    """What is spent and reserved today."""
    now = clock.now()
    return window_of(run(*_looking(now)), now)


def holding(now: int) -> list[Statement]:
    """Statements that hold today's row until the transaction ends, for `window_of`.

    What is reserved is asked for in a statement of its own: only one that begins after the row was got sees what the
    holder before has done.
    """
    day, reserved = _looking(now)
    return [Statement(_ENSURE_DAY, day.parameters), Statement(day.text + "FOR UPDATE", day.parameters), reserved]


def window_of(results: Sequence[Result], now: int) -> BudgetWindow:
    """Today's window, out of the last two results."""
    day, reserved = results[-2:]
    spent, waived, warned = day.row or (ZERO, ZERO, ())
    return BudgetWindow(midnight(day_of(now)), spent - waived, reserved.rows[0][0], frozenset(warned))


def grant_of(held: BudgetWindow, amount: Decimal, rules: GuardRules, now: int) -> tuple[BudgetGrant, list[Statement]]:
    """The decision, and the statements that make it hold; none when it is refused."""
    _, decision = decisions.reserve(held, amount, rules.budget, now)
    if decision.reservation is None:
        return BudgetGrant(decision), []
    grant, expires_at = BudgetGrant(decision, uuid4()), to_datetime(now + rules.reservation_ms)
    parameters = [grant.reservation_id, day_of(now), decision.reservation.amount, to_datetime(now), expires_at]
    return grant, [Statement(_RESERVE, parameters)]


def settling(reservation_id: UUID, actual: Decimal, rules: GuardRules) -> Statement:
    """The statement whose result `settlement_of` reads. Raises InvalidAmountError."""
    limit = rules.budget.usd if rules.budget.is_enforced else None
    return Statement(_SETTLE, [reservation_id, decisions.check_amount(actual), limit])


def settlement_of(result: Result, actual: Decimal, rules: GuardRules, clock: Clock) -> Settlement:
    """What settling reached, which is told to others in the same transaction. Raises UnknownReservationError."""
    if result.row is None:
        raise UnknownReservationError("There is no such reservation of money to settle.")
    day, spent, waived, warned = result.row
    actual = decisions.check_amount(actual)
    before = BudgetWindow(midnight(day), spent - waived - actual, warned=frozenset(warned))
    after, settlement = decisions.record_spend(before, actual, rules.budget)
    if settlement.alerts:
        BudgetDay.objects.filter(day=day).update(warned=sorted(after.warned))
        _warn(day, after, settlement.alerts, rules.budget, utcnow(clock))
    return settlement


def show(settlement: Settlement) -> None:
    """Put a settlement that was committed into the metrics."""
    metrics.BUDGET_UTILIZATION.set(float(settlement.utilization_percent))
    for threshold in settlement.alerts:
        metrics.BUDGET_ALERTS.labels(str(threshold)).inc()


def budget_show(*, rules: GuardRules, clock: Clock = SYSTEM_CLOCK) -> None:
    """Put today into the metrics, which else say what was true when somebody last spent something."""
    spent = budget_window(clock=clock).spent
    metrics.BUDGET_UTILIZATION.set(float(rules.budget.utilization_percent(spent)))


def _looking(now: int) -> tuple[Statement, Statement]:
    return Statement(_DAY, [day_of(now)]), Statement(_RESERVED, [day_of(now), to_datetime(now)])


def _warn(day: date, window: BudgetWindow, alerts: Sequence[int], budget: Budget, at: datetime) -> None:
    spent, limit = str(window.spent), str(budget.usd)
    emit_many(
        BudgetThresholdReached(threshold=threshold, day=day.isoformat(), spent_usd=spent, budget_usd=limit, at=at)
        for threshold in alerts
    )
