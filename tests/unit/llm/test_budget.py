"""The budget of a day: spec 002 section 6."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from apps.core.domain.clock import DeterministicClock, to_datetime
from apps.llm.domain.budget import (
    EXHAUSTS_WARNING,
    MAX_AMOUNT,
    WARNING_THRESHOLDS,
    Budget,
    BudgetWindow,
    InvalidAmountError,
    Reservation,
    check_amount,
    record_spend,
    release,
    reserve,
    roll_window,
    settle,
    window_start,
)
from tests.effort import examples
from tests.guards import BudgetTracker


def moment(*when: int) -> int:
    return int(datetime(*when, tzinfo=UTC).timestamp() * 1_000)


MIDNIGHT = moment(2025, 1, 1)
NOON = moment(2025, 1, 1, 12)
DAY = 86_400_000
CENT = Decimal("0.01")
TEN = Budget(Decimal(10))
OFF = Budget(Decimal(0))
EMPTY = BudgetWindow(MIDNIGHT)


def spent(amount: str) -> BudgetWindow:
    return BudgetWindow(MIDNIGHT, spent=Decimal(amount))


def test_a_day_begins_at_midnight_in_utc() -> None:
    last = moment(2025, 1, 1, 23, 59, 59)
    assert window_start(last) == MIDNIGHT
    assert window_start(last + 999) == MIDNIGHT
    assert window_start(last + 1_000) == moment(2025, 1, 2)


@given(st.integers(-(10**13), 10**14))
def test_every_day_begins_at_its_own_midnight(now: int) -> None:
    midnight = to_datetime(now).replace(hour=0, minute=0, second=0, microsecond=0)
    assert to_datetime(window_start(now)) == midnight


def test_new_day_begins_empty_and_may_warn_again() -> None:
    full = BudgetWindow(MIDNIGHT, Decimal(10), Decimal(1), frozenset({70, 90, 100}))
    assert roll_window(full, MIDNIGHT + DAY - 1) is full
    assert roll_window(full, MIDNIGHT + DAY) == BudgetWindow(MIDNIGHT + DAY)


def test_clock_that_goes_back_does_not_bring_day_back() -> None:
    assert roll_window(EMPTY, MIDNIGHT - 1) is EMPTY


def test_exactly_budget_is_allowed_with_warning() -> None:
    window, decision = reserve(spent("9.50"), Decimal("0.50"), TEN, NOON)
    assert decision.allowed
    assert decision.warning == EXHAUSTS_WARNING == "This request will exactly exhaust the budget"
    assert window.committed == 10


def test_one_cent_more_is_not() -> None:
    window, decision = reserve(spent("9.50"), Decimal("0.51"), TEN, NOON)
    assert (decision.allowed, decision.reason, decision.shortfall) == (False, "budget_exceeded", CENT)
    assert window == spent("9.50")


def test_nor_is_a_nano_dollar_more() -> None:
    assert not reserve(spent("9.50"), Decimal("0.500000001"), TEN, NOON)[1].allowed


def test_sums_are_exact_where_floats_are_not() -> None:
    window, budget = EMPTY, Budget(Decimal("0.3"))
    for _ in range(3):
        window, decision = reserve(window, Decimal("0.1"), budget, NOON)
        assert decision.allowed
    assert not reserve(window, Decimal("0.000000001"), budget, NOON)[1].allowed


def test_what_is_below_budget_is_allowed_without_warning() -> None:
    decision = reserve(spent("9.50"), Decimal("0.49"), TEN, NOON)[1]
    assert (decision.allowed, decision.warning, decision.reason) == (True, None, None)


def test_refused_call_may_ask_again_when_next_day_begins() -> None:
    assert reserve(spent("9.50"), Decimal(1), TEN, NOON)[1].retry_after_ms == DAY // 2


def test_call_above_whole_budget_need_not_ask_again() -> None:
    assert reserve(EMPTY, Decimal("10.01"), TEN, NOON)[1].retry_after_ms is None
    assert reserve(spent("1"), Decimal(10), TEN, NOON)[1].retry_after_ms == DAY // 2


def test_a_budget_spent_yesterday_is_there_again() -> None:
    window, decision = reserve(spent("10"), Decimal(10), TEN, MIDNIGHT + DAY)
    assert decision.reservation == Reservation(MIDNIGHT + DAY, Decimal(10))
    assert window == BudgetWindow(MIDNIGHT + DAY, reserved=Decimal(10))


@pytest.mark.parametrize("usd", ["0", "-1"])
def test_budget_of_zero_or_less_allows_everything_and_warns_of_nothing(usd: str) -> None:
    budget = Budget(Decimal(usd))
    window, decision = reserve(spent("1000"), Decimal(5), budget, NOON)
    assert decision.allowed
    assert decision.warning is None
    assert decision.reservation is not None
    window, settlement = settle(window, decision.reservation, Decimal(5), budget)
    assert (settlement.utilization_percent, settlement.alerts, window.spent) == (0, (), 1005)


def test_the_thresholds_are_the_spec_s() -> None:
    assert WARNING_THRESHOLDS == (70, 90, 100)


@pytest.mark.parametrize(
    ("amount", "alerts"),
    [("6.999999999", ()), ("7", (70,)), ("8.99", (70,)), ("9", (70, 90)), ("10", (70, 90, 100)), ("11", (70, 90, 100))],
)
def test_threshold_alerts_as_soon_as_it_is_reached(amount: str, alerts: tuple[int, ...]) -> None:
    assert record_spend(EMPTY, Decimal(amount), TEN)[1].alerts == alerts


def test_threshold_of_budget_that_no_float_holds_is_exact() -> None:
    third = Budget(Decimal("0.333333333"))
    assert record_spend(EMPTY, Decimal("0.333333332"), third)[1].alerts == (70, 90)


def test_each_threshold_alerts_once_in_a_day() -> None:
    window, alerts = EMPTY, []
    for _ in range(12):
        window, settlement = record_spend(window, Decimal(1), TEN)
        alerts.append(settlement.alerts)
    assert alerts == [*[()] * 6, (70,), (), (90,), (100,), (), ()]


def test_utilization_is_percentage_of_what_is_spent() -> None:
    assert record_spend(spent("2"), Decimal("0.5"), TEN)[1].utilization_percent == 25


def test_what_is_not_used_of_reservation_is_free_again() -> None:
    window, decision = reserve(EMPTY, Decimal(10), TEN, NOON)
    assert decision.reservation is not None
    window, _ = settle(window, decision.reservation, Decimal(4), TEN)
    assert (window.spent, window.reserved) == (4, 0)
    assert reserve(window, Decimal(6), TEN, NOON)[1].allowed


def test_call_that_cost_more_than_it_reserved_is_recorded_all_same() -> None:
    window, decision = reserve(EMPTY, Decimal(9), TEN, NOON)
    assert decision.reservation is not None
    window, settlement = settle(window, decision.reservation, Decimal(12), TEN)
    assert (window.spent, settlement.utilization_percent) == (12, 120)
    assert not reserve(window, Decimal(0), TEN, NOON)[1].allowed


def test_a_call_that_was_not_made_costs_nothing() -> None:
    window, decision = reserve(EMPTY, Decimal(9), TEN, NOON)
    assert decision.reservation is not None
    assert release(window, decision.reservation) == EMPTY


def test_reservation_is_not_settled_in_another_day_s_window() -> None:
    with pytest.raises(ValueError, match="another day"):
        settle(BudgetWindow(MIDNIGHT + DAY), Reservation(MIDNIGHT, CENT), CENT, TEN)


def test_a_reservation_is_not_given_back_twice() -> None:
    window, decision = reserve(EMPTY, Decimal(9), TEN, NOON)
    assert decision.reservation is not None
    with pytest.raises(ValueError, match="More would be released"):
        release(release(window, decision.reservation), decision.reservation)


@pytest.mark.parametrize("amount", ["-0.01", "NaN", "sNaN", "Infinity", "-Infinity", "9007199254740991.000000001"])
def test_what_cannot_be_an_amount_is_refused(amount: str) -> None:
    with pytest.raises(InvalidAmountError):
        check_amount(Decimal(amount))
    with pytest.raises(InvalidAmountError):
        reserve(EMPTY, Decimal(amount), TEN, NOON)
    with pytest.raises(InvalidAmountError):
        record_spend(EMPTY, Decimal(amount), TEN)


@pytest.mark.parametrize("amount", [0.1, 1, "1", None])
def test_money_is_a_decimal(amount: object) -> None:
    with pytest.raises(InvalidAmountError, match="Money is a Decimal"):
        check_amount(amount)  # type: ignore[arg-type]
    with pytest.raises(InvalidAmountError, match="Money is a Decimal"):
        Budget(amount)  # type: ignore[arg-type]


@pytest.mark.parametrize("usd", ["NaN", "sNaN", "Infinity", "-Infinity"])
def test_a_budget_is_a_finite_number(usd: str) -> None:
    with pytest.raises(InvalidAmountError):
        Budget(Decimal(usd))


def test_largest_amount_is_largest_safe_integer() -> None:
    assert check_amount(MAX_AMOUNT) == MAX_AMOUNT == 9_007_199_254_740_991


def test_amount_is_rounded_up_to_nano_dollar() -> None:
    assert check_amount(Decimal("0.0000000375")) == Decimal("0.000000038")
    assert check_amount(Decimal("1E-40")) == Decimal("0.000000001")
    assert check_amount(Decimal("0.1")) == Decimal("0.1")


amounts = st.decimals(min_value=0, max_value=11, places=2)


class Spending(RuleBasedStateMachine):
    """Spenders that overlap, over several days, beside a model that keeps every amount of every day."""

    @initialize()
    def begin(self) -> None:
        self.clock = DeterministicClock(NOON)
        self.alerts: list[tuple[int, int]] = []
        self.tracker = BudgetTracker(TEN, self.clock, lambda t, window: self.alerts.append((window.start, t)))
        self.under_way: list[Reservation] = []
        self.spent: dict[int, Decimal] = {}
        self.days: list[int] = [MIDNIGHT]

    def committed(self, day: int) -> Decimal:
        return self.spent.get(day, Decimal(0)) + sum(r.amount for r in self.under_way if r.window_start == day)

    @rule(amount=amounts)
    def ask(self, amount: Decimal) -> None:
        today = self.days[-1]
        decision = self.tracker.reserve(amount)
        assert decision.allowed == (self.committed(today) + amount <= 10)
        if decision.reservation:
            assert decision.reservation == Reservation(today, amount)
            self.under_way.append(decision.reservation)
            assert (decision.warning is not None) == (self.committed(today) == 10)
        else:
            assert decision.shortfall == self.committed(today) + amount - 10

    @precondition(lambda self: self.under_way)
    @rule(data=st.data(), share=st.sampled_from([0, 1, 50, 99, 100]))
    def settle(self, data: st.DataObject, share: int) -> None:
        reservation = self.under_way.pop(data.draw(st.integers(0, len(self.under_way) - 1)))
        actual = reservation.amount * share / 100
        day = reservation.window_start
        before, after = self.spent.get(day, Decimal(0)), self.spent.get(day, Decimal(0)) + actual
        settlement = self.tracker.settle(reservation, actual)
        self.spent[day] = after
        assert settlement.utilization_percent == after * 10
        assert settlement.alerts == tuple(t for t in (70, 90, 100) if before * 10 < t <= after * 10)

    @precondition(lambda self: self.under_way)
    @rule()
    def give_up(self) -> None:
        self.tracker.release(self.under_way.pop())

    @rule(milliseconds=st.sampled_from([1, DAY // 2 - 1, DAY // 2, DAY, 3 * DAY]))
    def wait(self, milliseconds: int) -> None:
        self.clock.advance(milliseconds)
        today = self.clock.now() // DAY * DAY
        if today != self.days[-1]:
            self.days.append(today)

    @invariant()
    def no_day_is_overrun(self) -> None:
        assert all(self.committed(day) <= 10 for day in self.days)
        window = self.tracker.window
        assert (window.start, window.spent) == (self.days[-1], self.spent.get(self.days[-1], 0))
        assert window.committed == self.committed(self.days[-1])

    @invariant()
    def each_threshold_was_warned_of_once_a_day(self) -> None:
        reached = {(day, t) for day, total in self.spent.items() for t in (70, 90, 100) if total * 10 >= t}
        assert len(self.alerts) == len(set(self.alerts))
        assert set(self.alerts) == reached


TestSpending = Spending.TestCase
TestSpending.settings = settings(max_examples=examples(40), stateful_step_count=25, deadline=None)


def test_many_threads_at_once_spend_exactly_budget_and_no_cent_more() -> None:
    alerts: list[int] = []
    tracker = BudgetTracker(TEN, DeterministicClock(NOON), lambda threshold, _: alerts.append(threshold))

    def spend(_: int) -> bool:
        decision = tracker.reserve(CENT)
        if decision.reservation:
            tracker.settle(decision.reservation, CENT)
        return decision.allowed

    with ThreadPoolExecutor(16) as pool:
        allowed = sum(pool.map(spend, range(1_100)))
    assert allowed == 1_000
    assert tracker.window.spent == 10
    assert alerts == [70, 90, 100]
