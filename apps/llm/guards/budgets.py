"""The budget in the database: one row for each day, one for each call under way (spec 002 section 6).

A reservation or settlement locks the row of the day, so spenders come one after another and none decides by what
another one is about to change. What is reserved is added up each time, from the rows that have not expired: expired
ones need no sweep to come back.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import F

from apps.core.db.statements import Result, Statement, run
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, to_datetime, utcnow
from apps.events.services import emit_many
from apps.llm import metrics
from apps.llm.domain import budget as decisions
from apps.llm.domain.budget import BudgetDecision, BudgetWindow, Settlement
from apps.llm.events import BudgetThresholdReached
from apps.llm.guards.moments import day_of, midnight
from apps.llm.guards.rules import GuardRules
from apps.llm.models import BudgetDay

ZERO = Decimal(0)
ENSURE_DAY_SQL = """
INSERT INTO llm_budgetday (day, spent_usd, waived_usd, warned, reset_by) VALUES (%s, 0, 0, '{}', '')
ON CONFLICT DO NOTHING
"""
DAY_SQL = "SELECT spent_usd, waived_usd, warned FROM llm_budgetday WHERE day = %s "
RESERVED_SQL = "SELECT coalesce(sum(amount_usd), 0) FROM llm_budgetreservation WHERE day_id = %s AND expires_at > %s"
RESERVE_SQL = """
INSERT INTO llm_budgetreservation (id, day_id, amount_usd, reserved_at, expires_at) VALUES (%s, %s, %s, %s, %s)
"""
# The statement that deletes the reservation adds what it cost, so it is added once.
SETTLE_SQL = """
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


def budget_reset(*, actor: str, clock: Clock = SYSTEM_CLOCK) -> Decimal:
    """Waive what was spent today, because an operator says so; return how much that is.

    What was spent stays on record. Warnings of thresholds begin again. What is reserved still counts.
    """
    now = clock.now()
    with transaction.atomic(savepoint=False):
        waived = parse_window(run(*lock_budget(now)), now).spent
        BudgetDay.objects.filter(day=day_of(now)).update(
            waived_usd=F("spent_usd"), warned=[], reset_by=actor, reset_at=to_datetime(now)
        )
    metrics.BUDGET_UTILIZATION.set(0)
    return waived


def budget_window(*, clock: Clock = SYSTEM_CLOCK) -> BudgetWindow:
    """Return what is spent and reserved today."""
    now = clock.now()
    return parse_window(run(*select_budget(now)), now)


def select_budget(now: int) -> tuple[Statement, Statement]:
    """Return the statements that read today's row and what is reserved."""
    return Statement(DAY_SQL, [day_of(now)]), Statement(RESERVED_SQL, [day_of(now), to_datetime(now)])


def lock_budget(now: int) -> list[Statement]:
    """Return the statements that lock today's row until the transaction ends, for `parse_window`.

    What is reserved is read by a statement of its own: only one that begins after the row was locked sees what the
    one that held it before has done.
    """
    day, reserved = select_budget(now)
    return [Statement(ENSURE_DAY_SQL, day.parameters), Statement(day.text + "FOR UPDATE", day.parameters), reserved]


def parse_window(results: Sequence[Result], now: int) -> BudgetWindow:
    """Return today's window, from the last two results."""
    day, reserved = results[-2:]
    spent, waived, warned = day.row or (ZERO, ZERO, ())
    return BudgetWindow(midnight(day_of(now)), spent - waived, reserved.rows[0][0], frozenset(warned))


def grant_budget(
    window: BudgetWindow, amount: Decimal, rules: GuardRules, now: int
) -> tuple[BudgetGrant, list[Statement]]:
    """Return the decision, and the statements that store it; none when it is refused."""
    _, decision = decisions.reserve(window, amount, rules.budget, now)
    if decision.reservation is None:
        return BudgetGrant(decision), []
    grant, expires_at = BudgetGrant(decision, uuid4()), to_datetime(now + rules.reservation_ms)
    parameters = [grant.reservation_id, day_of(now), decision.reservation.amount, to_datetime(now), expires_at]
    return grant, [Statement(RESERVE_SQL, parameters)]


def settle_sql(reservation_id: UUID, actual: Decimal, rules: GuardRules) -> Statement:
    """Return the statement whose result `apply_settlement` reads. Raises InvalidAmountError."""
    limit = rules.budget.usd if rules.budget.is_enforced else None
    return Statement(SETTLE_SQL, [reservation_id, decisions.check_amount(actual), limit])


def apply_settlement(result: Result, actual: Decimal, rules: GuardRules, clock: Clock) -> Settlement:
    """Return what settling reached; thresholds are stored and notified in the same transaction.

    Raises UnknownReservationError.
    """
    if result.row is None:
        raise UnknownReservationError("There is no such reservation of money to settle.")
    day, spent, waived, warned = result.row
    actual = decisions.check_amount(actual)
    before = BudgetWindow(midnight(day), spent - waived - actual, warned=frozenset(warned))
    after, settlement = decisions.record_spend(before, actual, rules.budget)
    if settlement.alerts:
        BudgetDay.objects.filter(day=day).update(warned=sorted(after.warned))
        at, spent_usd, budget_usd = utcnow(clock), str(after.spent), str(rules.budget.usd)
        emit_many(
            BudgetThresholdReached(
                threshold=threshold, day=day.isoformat(), spent_usd=spent_usd, budget_usd=budget_usd, at=at
            )
            for threshold in settlement.alerts
        )
    return settlement


def observe(settlement: Settlement) -> None:
    """Set the metrics of the budget after a settlement was committed."""
    metrics.BUDGET_UTILIZATION.set(float(settlement.utilization_percent))
    for threshold in settlement.alerts:
        metrics.BUDGET_ALERTS.labels(str(threshold)).inc()


def budget_observe(*, rules: GuardRules, clock: Clock = SYSTEM_CLOCK) -> None:
    """Set the metric of today's budget, which else says what was true at the last settlement."""
    spent = budget_window(clock=clock).spent
    metrics.BUDGET_UTILIZATION.set(float(rules.budget.utilization_percent(spent)))
