from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from django.db import IntegrityError, transaction

from apps.core.domain.clock import DeterministicClock
from apps.events.models import Event
from apps.llm import metrics
from apps.llm.domain.budget import BUDGET_EXCEEDED, EXHAUSTS_WARNING, InvalidAmountError
from apps.llm.guards.budgets import BudgetGrant, UnknownReservationError, budget_observe, budget_reset, budget_window
from apps.llm.models import BudgetDay, BudgetReservation
from tests.integration.llm.guards.rules import CENT, DAY, MIDNIGHT, MINUTE, NOON, noon, rules
from tests.integration.llm.single_guards import budget_release, budget_reserve, budget_settle

pytestmark = pytest.mark.django_db

RULES = rules()


def reserve(amount: int | str, clock: DeterministicClock) -> BudgetGrant:
    return budget_reserve(amount=Decimal(amount), rules=RULES, clock=clock)


def spend(amount: int | str, clock: DeterministicClock) -> tuple[int, ...]:
    reservation = reserve(amount, clock).reservation_id
    assert reservation is not None
    return budget_settle(reservation_id=reservation, actual=Decimal(amount), rules=RULES, clock=clock).alerts


def warnings() -> list[tuple[str, int, str, str]]:
    payloads = Event.objects.order_by("id").values_list("payload", flat=True)
    return [(found["day"], found["threshold"], found["spent_usd"], found["budget_usd"]) for found in payloads]


def test_exactly_budget_may_be_spent_and_one_cent_more_may_not() -> None:
    clock = noon()
    spend("9.99", clock)
    refused = reserve("0.02", clock)
    assert refused.reservation_id is None
    assert (refused.decision.reason, refused.decision.shortfall) == (BUDGET_EXCEEDED, CENT)
    assert refused.decision.retry_after_ms == DAY // 2
    last = reserve(CENT, clock)
    assert last.decision.warning == EXHAUSTS_WARNING
    assert reserve("0.000000001", clock).reservation_id is None


def test_what_is_reserved_counts_until_it_is_settled_for_less() -> None:
    clock = noon()
    first = reserve(8, clock).reservation_id
    assert first is not None
    assert reserve(3, clock).reservation_id is None
    budget_settle(reservation_id=first, actual=Decimal(7), rules=RULES, clock=clock)
    assert reserve(3, clock).reservation_id is not None
    window = budget_window(clock=clock)
    assert (window.spent, window.reserved) == (7, 3)


def test_a_call_that_was_not_made_costs_nothing() -> None:
    clock = noon()
    first = reserve(10, clock).reservation_id
    assert first is not None
    budget_release(reservation_id=first)
    assert budget_window(clock=clock).committed == 0


def test_reservation_is_settled_or_released_once() -> None:
    clock = noon()
    first = reserve(1, clock).reservation_id
    assert first is not None
    budget_settle(reservation_id=first, actual=CENT, rules=RULES, clock=clock)
    with pytest.raises(UnknownReservationError), transaction.atomic():
        budget_settle(reservation_id=first, actual=CENT, rules=RULES, clock=clock)
    with pytest.raises(UnknownReservationError):
        budget_release(reservation_id=first)
    assert budget_window(clock=clock).spent == CENT


def test_more_than_was_reserved_is_recorded_all_same() -> None:
    clock = noon()
    first = reserve(1, clock).reservation_id
    assert first is not None
    budget_settle(reservation_id=first, actual=Decimal(12), rules=RULES, clock=clock)
    assert budget_window(clock=clock).spent == 12
    assert reserve("0.01", clock).decision.shortfall == Decimal("2.01")


def test_expired_reservation_comes_back_by_itself() -> None:
    clock = noon()
    reserve(10, clock)
    clock.advance(RULES.reservation_ms - 1)
    assert reserve(10, clock).reservation_id is None
    clock.advance(1)
    assert budget_window(clock=clock).reserved == 0
    assert reserve(10, clock).reservation_id is not None


def test_expired_reservation_can_still_be_settled_once() -> None:
    clock = noon()
    late = reserve(6, clock).reservation_id
    assert late is not None
    clock.advance(RULES.reservation_ms)
    reserve(6, clock)
    budget_settle(reservation_id=late, actual=Decimal(6), rules=RULES, clock=clock)
    assert budget_window(clock=clock).committed == 12
    with pytest.raises(UnknownReservationError), transaction.atomic():
        budget_settle(reservation_id=late, actual=Decimal(6), rules=RULES, clock=clock)


def test_budget_starts_anew_at_midnight_in_utc() -> None:
    clock = DeterministicClock(MIDNIGHT + DAY - 1)
    spend(10, clock)
    assert reserve(CENT, clock).reservation_id is None
    clock.advance(1)
    assert spend(10, clock) == (70, 90, 100)
    assert list(BudgetDay.objects.order_by("day").values_list("day", "spent_usd", "warned")) == [
        (date(2026, 11, 21), 10, [70, 90, 100]),
        (date(2026, 11, 22), 10, [70, 90, 100]),
    ]


def test_call_over_midnight_is_charged_to_day_in_which_it_was_reserved() -> None:
    clock = DeterministicClock(MIDNIGHT + DAY - MINUTE)
    over_midnight = reserve(9, clock).reservation_id
    assert over_midnight is not None
    clock.advance(2 * MINUTE)
    assert reserve(10, clock).reservation_id is not None
    budget_settle(reservation_id=over_midnight, actual=Decimal(9), rules=RULES, clock=clock)
    assert BudgetDay.objects.get(day=date(2026, 11, 21)).spent_usd == 9
    assert BudgetDay.objects.get(day=date(2026, 11, 22)).spent_usd == 0


def test_each_threshold_is_told_of_once_day_at_exactly_its_percentage() -> None:
    clock = noon()
    assert spend("6.99", clock) == ()
    assert spend(CENT, clock) == (70,)
    assert spend("1.5", clock) == ()
    assert spend("1.5", clock) == (90, 100)
    assert warnings() == [
        ("2026-11-21", 70, "7.000000000", "10"),
        ("2026-11-21", 90, "10.000000000", "10"),
        ("2026-11-21", 100, "10.000000000", "10"),
    ]


def test_the_metrics_show_utilisation_and_alerts() -> None:
    before = metrics.BUDGET_ALERTS.labels("70")._value.get()
    spend("7.5", noon())
    assert metrics.BUDGET_UTILIZATION._value.get() == 75
    assert metrics.BUDGET_ALERTS.labels("70")._value.get() == before + 1


def test_metrics_show_new_day_although_nobody_spends_anything() -> None:
    clock = noon()
    spend("7.5", clock)
    clock.advance(DAY)
    budget_observe(rules=RULES, clock=clock)
    assert metrics.BUDGET_UTILIZATION._value.get() == 0


def test_without_budget_everything_is_allowed_and_still_added_up() -> None:
    clock, free = noon(), rules(0)
    for amount in (1_000, 2_000):
        grant = budget_reserve(amount=Decimal(amount), rules=free, clock=clock)
        assert grant.reservation_id is not None
        settled = budget_settle(reservation_id=grant.reservation_id, actual=Decimal(amount), rules=free, clock=clock)
        assert (settled.alerts, settled.utilization_percent) == ((), 0)
    day = BudgetDay.objects.get()
    assert (day.spent_usd, day.limit_usd, day.warned) == (3_000, None, [])


def test_operator_resets_budget_and_what_was_spent_stays_on_record() -> None:
    clock = noon()
    spend(8, clock)
    open_call = reserve(2, clock).reservation_id
    assert open_call is not None
    assert budget_reset(actor="operator", clock=clock) == 8
    day = BudgetDay.objects.get()
    assert (day.spent_usd, day.waived_usd, day.reset_by, day.reset_at) == (
        8,
        8,
        "operator",
        datetime(2026, 11, 21, 12, tzinfo=UTC),
    )
    assert (budget_window(clock=clock).spent, budget_window(clock=clock).reserved) == (0, 2)
    assert reserve("8.01", clock).reservation_id is None
    assert spend(8, clock) == (70,)
    assert BudgetDay.objects.get().spent_usd == 16


def test_nano_dollars_are_kept() -> None:
    clock = noon()
    for _ in range(3):
        spend("0.000000001", clock)
    assert budget_window(clock=clock).spent == Decimal("0.000000003")
    spend("0.0000000001", clock)
    assert budget_window(clock=clock).spent == Decimal("0.000000004")


@pytest.mark.parametrize("amount", ["-0.01", "NaN", "Infinity"])
def test_what_cannot_be_an_amount_changes_nothing(amount: str) -> None:
    clock = noon()
    first = reserve(1, clock).reservation_id
    assert first is not None
    with pytest.raises(InvalidAmountError):
        reserve(amount, clock)
    with pytest.raises(InvalidAmountError):
        budget_settle(reservation_id=first, actual=Decimal(amount), rules=RULES, clock=clock)
    assert budget_window(clock=clock).committed == 1


def test_window_of_day_without_calls_is_empty() -> None:
    window = budget_window(clock=noon())
    assert (window.start, window.committed) == (MIDNIGHT, 0)
    assert not BudgetDay.objects.exists()


def test_no_row_can_make_room_in_a_budget() -> None:
    reserve(1, DeterministicClock(NOON))
    for change in ({"spent_usd": -1}, {"waived_usd": 1}, {"waived_usd": -1}):
        with pytest.raises(IntegrityError), transaction.atomic():
            BudgetDay.objects.update(**change)
    with pytest.raises(IntegrityError), transaction.atomic():
        BudgetReservation.objects.update(amount_usd=-1)
