"""What will be spent: known days in, a day and a month out."""

from datetime import date
from decimal import Decimal

import pytest

from apps.llm.domain.forecast import LEAST_DAYS, PastDay, forecast_spending

TODAY = date(2026, 5, 10)


def past(*pairs: tuple[str, str]) -> list[PastDay]:
    return [PastDay(Decimal(total), Decimal(later)) for total, later in pairs]


@pytest.mark.parametrize("count", range(LEAST_DAYS))
def test_few_days_make_no_forecast(count: int) -> None:
    assert forecast_spending(TODAY, Decimal(5), Decimal(50), past(*[("9", "3")] * count)) is None


def test_rest_of_today_is_mean_of_later_parts() -> None:
    found = forecast_spending(TODAY, Decimal(4), Decimal(0), past(("9", "3"), ("9", "0"), ("3", "3")))
    assert found is not None
    assert (found.rest, found.day, found.days) == (Decimal(2), Decimal(6), 3)


def test_month_adds_a_mean_day_for_each_that_is_left() -> None:
    found = forecast_spending(TODAY, Decimal(4), Decimal(30), past(("9", "3"), ("9", "0"), ("3", "3")))
    assert found is not None
    assert found.month == Decimal(30) + Decimal(6) + 21 * Decimal(7)


def test_last_day_of_month_leaves_no_day() -> None:
    found = forecast_spending(date(2026, 2, 28), Decimal(1), Decimal(10), past(*[("5", "0")] * 3))
    assert found is not None
    assert found.month == Decimal(11)


def test_days_without_calls_count() -> None:
    found = forecast_spending(TODAY, Decimal(0), Decimal(0), past(("6", "6"), ("0", "0"), ("0", "0")))
    assert found is not None
    assert found.day == Decimal(2)
