"""The budget in the database: one row for each day, one for each call under way (spec 002 section 6).

Who reserves or settles holds the row of the day, so spenders come one after another and none decides by what another
one is about to change. What is reserved is added up anew each time, out of the rows that have not expired: expired ones
need no sweep to come back.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from django.db import transaction
from django.db.models import F, Sum

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, to_datetime, utcnow
from apps.events.services import emit_many
from apps.llm import metrics
from apps.llm.domain import budget as decisions
from apps.llm.domain.budget import Budget, BudgetDecision, BudgetWindow, Settlement
from apps.llm.events import BudgetThresholdReached
from apps.llm.guards.rules import GuardRules
from apps.llm.models import BudgetDay, BudgetReservation

ZERO = Decimal(0)


class UnknownReservationError(LookupError):
    """A reservation was settled or released before, or never made."""


@dataclass(frozen=True)
class BudgetGrant:
    """The decision about a call. reservation_id: exactly when it is allowed, to be settled or released."""

    decision: BudgetDecision
    reservation_id: int | None = None


def budget_reserve(*, amount: Decimal, rules: GuardRules, clock: Clock = SYSTEM_CLOCK) -> BudgetGrant:
    """Set aside the most that a call can cost, if today's budget has room for it.

    Raises InvalidAmountError for what cannot be an amount.
    """
    now, amount = clock.now(), decisions.checked_amount(amount)
    with transaction.atomic(savepoint=False):
        day = _locked_day(to_datetime(now).date())
        _, decision = decisions.reserve(_window(day, _reserved(day, now)), amount, rules.budget, now)
        if decision.reservation is None:
            return BudgetGrant(decision)
        row = BudgetReservation.objects.create(
            day=day,
            amount_usd=decision.reservation.amount,
            reserved_at=to_datetime(now),
            expires_at=to_datetime(now + rules.reservation_ms),
        )
    return BudgetGrant(decision, row.pk)


def budget_settle(
    *, reservation_id: int, actual: Decimal, rules: GuardRules, clock: Clock = SYSTEM_CLOCK
) -> Settlement:
    """Record what a call cost, in the day in which it was reserved; even when its reservation has expired.

    Raises UnknownReservationError for one that was settled or released before, InvalidAmountError.
    """
    actual = decisions.checked_amount(actual)
    with transaction.atomic(savepoint=False):
        day = _locked_day(_taken(reservation_id))
        before = _window(day)
        after, settlement = decisions.record_spend(before, actual, rules.budget)
        BudgetDay.objects.filter(pk=day.pk).update(
            spent_usd=F("spent_usd") + after.spent - before.spent,
            warned=sorted(after.warned),
            limit_usd=rules.budget.usd if rules.budget.is_enforced else None,
        )
        _warn(day, after, settlement.alerts, rules.budget, utcnow(clock))
    metrics.BUDGET_UTILIZATION.set(float(settlement.utilization_percent))
    for threshold in settlement.alerts:
        metrics.BUDGET_ALERTS.labels(str(threshold)).inc()
    return settlement


def budget_release(*, reservation_id: int) -> None:
    """Give back what was set aside for a call that was certainly not made. Raises UnknownReservationError."""
    _taken(reservation_id)


def budget_reset(*, actor: str, clock: Clock = SYSTEM_CLOCK) -> Decimal:
    """Have what was spent today not count any more, because an operator says so; gives how much that is.

    What was spent stays on record. Thresholds are warned of anew. What is reserved still counts.
    """
    with transaction.atomic(savepoint=False):
        now = utcnow(clock)
        day = _locked_day(now.date())
        waived = day.spent_usd - day.waived_usd
        BudgetDay.objects.filter(pk=day.pk).update(waived_usd=F("spent_usd"), warned=[], reset_by=actor, reset_at=now)
    metrics.BUDGET_UTILIZATION.set(0)
    return waived


def budget_window(*, clock: Clock = SYSTEM_CLOCK) -> BudgetWindow:
    """What is spent and reserved today."""
    now = clock.now()
    day = BudgetDay(day=to_datetime(now).date())
    day = BudgetDay.objects.filter(pk=day.pk).first() or day
    return _window(day, _reserved(day, now))


def _locked_day(day: date) -> BudgetDay:
    """The row of a day, held until the transaction ends; made by the first who asks."""
    rows = BudgetDay.objects.select_for_update().filter(pk=day)
    row = rows.first()
    if row is None:
        BudgetDay.objects.bulk_create([BudgetDay(day=day)], ignore_conflicts=True)
        row = rows.get()
    return row


def _reserved(day: BudgetDay, now: int) -> Decimal:
    open_rows = BudgetReservation.objects.filter(day_id=day.pk, expires_at__gt=to_datetime(now))
    return open_rows.aggregate(total=Sum("amount_usd"))["total"] or ZERO


def _window(day: BudgetDay, reserved: Decimal = ZERO) -> BudgetWindow:
    midnight = datetime(day.day.year, day.day.month, day.day.day, tzinfo=UTC)
    start = (midnight - to_datetime(0)) // timedelta(milliseconds=1)
    return BudgetWindow(start, Decimal(day.spent_usd) - day.waived_usd, reserved, frozenset(day.warned))


def _taken(reservation_id: int) -> date:
    """Take a reservation away, as nobody else can then; gives its day."""
    rows = BudgetReservation.objects.filter(pk=reservation_id)
    day: date | None = rows.values_list("day_id", flat=True).first()
    if day is None or not rows.delete()[0]:
        raise UnknownReservationError(f"There is no reservation {reservation_id} of money to settle.")
    return day


def _warn(day: BudgetDay, window: BudgetWindow, alerts: Sequence[int], budget: Budget, at: datetime) -> None:
    emit_many(
        BudgetThresholdReached(
            threshold=threshold,
            day=day.day.isoformat(),
            spent_usd=str(window.spent),
            budget_usd=str(budget.usd),
            at=at,
        )
        for threshold in alerts
    )
