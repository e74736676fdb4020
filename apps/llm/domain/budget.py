"""What may be spent on models in a day of UTC (spec 002 section 6).

A call reserves the most that it can cost before it is made, and settles what it did cost afterwards. So callers at
once cannot spend together what none may spend alone, which asking first and recording later (the spec's `canSpend`
and `recordSpend`) does not ensure. A call is charged to the day in which it was reserved, even when it ends after
midnight: charged to the next one it would take what other calls have reserved there.

Money is `Decimal` dollars to the nano-dollar. `apps.llm.guards` keep windows and reservations in the database, where
reservations that are not settled expire (docs/decisions/0016).
"""

from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal

DAY_MS = 86_400_000
WARNING_THRESHOLDS = (70, 90, 100)
MONEY_PLACES = 9
MAX_AMOUNT = Decimal(2**53 - 1)
EXHAUSTS_WARNING = "This request will exactly exhaust the budget"
BUDGET_EXCEEDED = "budget_exceeded"

_NANO = Decimal(1).scaleb(-MONEY_PLACES)
_ZERO = Decimal(0)


class InvalidAmountError(ValueError):
    """An amount of money that cannot be one."""


def check_amount(amount: Decimal) -> Decimal:
    """Return `amount` to nine places, rounded up, so that spending is never understated.

    Raises InvalidAmountError unless it is a Decimal, finite, at least 0 and at most 2^53 - 1.
    """
    if not isinstance(amount, Decimal):
        raise InvalidAmountError(f"Money is a Decimal, not a {type(amount).__name__}.")
    if not amount.is_finite() or amount < 0:
        raise InvalidAmountError(f"Invalid amount: {amount}")
    if amount > MAX_AMOUNT:
        raise InvalidAmountError(f"Amount exceeds safe integer: {amount}")
    return amount.quantize(_NANO, ROUND_CEILING)


@dataclass(frozen=True)
class Budget:
    """usd: dollars a day; zero or less switches the budget off: everything is allowed and nothing is warned of."""

    usd: Decimal

    def __post_init__(self) -> None:
        check_amount(self.usd.copy_abs() if isinstance(self.usd, Decimal) else self.usd)

    @property
    def is_enforced(self) -> bool:
        """Return whether there is a limit."""
        return self.usd > 0

    def utilization_percent(self, spent: Decimal) -> Decimal:
        """Return `spent` as a percentage; 0 when the budget is switched off."""
        return spent * 100 / self.usd if self.is_enforced else _ZERO

    def is_reached(self, threshold: int, spent: Decimal) -> bool:
        """Return whether `spent` is at least `threshold` percent; compared without dividing, so exact."""
        return self.is_enforced and spent * 100 >= threshold * self.usd


@dataclass(frozen=True)
class BudgetWindow:
    """One day. start: its first millisecond. spent: settled. reserved: by calls under way. warned: thresholds."""

    start: int
    spent: Decimal = _ZERO
    reserved: Decimal = _ZERO
    warned: frozenset[int] = frozenset()

    @property
    def committed(self) -> Decimal:
        """Return what is spent or reserved."""
        return self.spent + self.reserved


def window_start(now: int) -> int:
    """Return the last midnight in UTC at or before `now`, both in milliseconds since the epoch."""
    return now - now % DAY_MS


def roll_window(window: BudgetWindow, now: int) -> BudgetWindow:
    """Return `window` while its day lasts, afterwards an empty one; a clock set back does not reopen a day."""
    start = window_start(now)
    return BudgetWindow(start) if start > window.start else window


@dataclass(frozen=True)
class Reservation:
    """Money set aside for one call in the day that begins at `window_start`."""

    window_start: int
    amount: Decimal


@dataclass(frozen=True)
class BudgetDecision:
    """Whether a call may be paid for; exactly the budget may be, the least bit more may not.

    reservation: exactly when allowed. warning: when nothing is left after it. reason, shortfall: why not, and by how
    much. retry_after_ms: when the next day begins; None when allowed, or when the call costs more than a whole day.
    """

    reservation: Reservation | None = None
    warning: str | None = None
    reason: str | None = None
    shortfall: Decimal = _ZERO
    retry_after_ms: int | None = None

    @property
    def allowed(self) -> bool:
        """Return whether the call may be made."""
        return self.reservation is not None


def reserve(window: BudgetWindow, estimated: Decimal, budget: Budget, now: int) -> tuple[BudgetWindow, BudgetDecision]:
    """Return the window of `now` after a request for `estimated`, the most a call can cost, and the answer.

    A budget that is switched off allows everything, and still adds up what is reserved and spent.
    """
    window, amount = roll_window(window, now), check_amount(estimated)
    if budget.is_enforced and window.committed + amount > budget.usd:
        return window, BudgetDecision(
            reason=BUDGET_EXCEEDED,
            shortfall=window.committed + amount - budget.usd,
            retry_after_ms=None if amount > budget.usd else window.start + DAY_MS - now,
        )
    window = replace(window, reserved=window.reserved + amount)
    exhausted = budget.is_enforced and window.committed == budget.usd
    warning = EXHAUSTS_WARNING if exhausted else None
    return window, BudgetDecision(Reservation(window.start, amount), warning=warning)


@dataclass(frozen=True)
class Settlement:
    """utilization_percent: of the budget by what is spent. alerts: thresholds reached for the first time that day."""

    utilization_percent: Decimal
    alerts: tuple[int, ...] = ()


def settle(
    window: BudgetWindow, reservation: Reservation, actual: Decimal, budget: Budget
) -> tuple[BudgetWindow, Settlement]:
    """Return the reservation's window after its call has cost `actual`, and the thresholds reached.

    More than was reserved is recorded all the same, since it is spent. Raises ValueError for another day's window.
    """
    return record_spend(release(window, reservation), actual, budget)


def release(window: BudgetWindow, reservation: Reservation) -> BudgetWindow:
    """Return the window when the call was certainly not made. Raises ValueError for another day's window."""
    if reservation.window_start != window.start:
        raise ValueError("The reservation is of another day than the window.")
    if reservation.amount > window.reserved:
        raise ValueError("More would be released than is reserved.")
    return replace(window, reserved=window.reserved - reservation.amount)


def record_spend(window: BudgetWindow, actual: Decimal, budget: Budget) -> tuple[BudgetWindow, Settlement]:
    """Return the window after `actual` was spent; each threshold alerts when it is reached, once in a day."""
    spent = window.spent + check_amount(actual)
    reached = [t for t in WARNING_THRESHOLDS if budget.is_reached(t, spent)]
    alerts = tuple(t for t in reached if t not in window.warned)
    window = replace(window, spent=spent, warned=window.warned.union(alerts))
    return window, Settlement(budget.utilization_percent(spent), alerts)
