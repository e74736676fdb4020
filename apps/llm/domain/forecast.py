"""What will be spent on models until the end of the day and of the month, by the last whole days."""

from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

# As many whole days are looked at, and with fewer than the least of them nothing is forecast.
LOOKED_BACK_DAYS = 14
LEAST_DAYS = 3


@dataclass(frozen=True)
class PastDay:
    """A whole day. total: what was spent in it. later: the part of it after the time of day that it is now."""

    total: Decimal
    later: Decimal


@dataclass(frozen=True)
class Forecast:
    """What a day and a month will have cost, in US dollars. rest: of today. days: the whole days that it is made of."""

    day: Decimal
    month: Decimal
    rest: Decimal
    days: int


def forecast_spending(
    today: date, spent_today: Decimal, spent_before: Decimal, past: Sequence[PastDay]
) -> Forecast | None:
    """Return the forecast of today and of its month; None with fewer than LEAST_DAYS whole days.

    The rest of today is the mean of what the past days cost after this time of day, and each day that is left of the
    month costs as much as a past day in the mean. spent_before: in this month, without today. past: the last
    LOOKED_BACK_DAYS whole days, or those since the first call, days without a call among them.
    """
    count = len(past)
    if count < LEAST_DAYS:
        return None
    rest = sum((one.later for one in past), Decimal(0)) / count
    mean = sum((one.total for one in past), Decimal(0)) / count
    day = spent_today + rest
    left = monthrange(today.year, today.month)[1] - today.day
    return Forecast(day=day, month=spent_before + day + left * mean, rest=rest, days=count)
