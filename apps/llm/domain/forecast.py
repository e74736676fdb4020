"""What will be spent on models until the end of the day and of the month, by the last whole days."""

from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from apps.llm.domain.breaker import Phase

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


@dataclass(frozen=True)
class PhaseChange:
    """A change of phase at a moment."""

    at: datetime
    phase: Phase
    previous: Phase


@dataclass(frozen=True)
class PhaseSpan:
    """A phase from one moment to another."""

    phase: Phase
    start: datetime
    end: datetime


def phase_spans(changes: Sequence[PhaseChange], current: Phase, start: datetime, end: datetime) -> list[PhaseSpan]:
    """Return the phases between two moments, without gaps. changes: within them, the oldest first. current: at the end.

    Before the first change it had that change's previous phase; without a change it was always as it is.
    """
    moments = [start, *(change.at for change in changes), end]
    phases = [changes[0].previous if changes else current, *(change.phase for change in changes)]
    spans = (PhaseSpan(phase, moments[place], moments[place + 1]) for place, phase in enumerate(phases))
    return [span for span in spans if span.start < span.end]
