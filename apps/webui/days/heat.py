"""The heat map of a calendar: each month a table of weeks, each day with its number of events and a shade."""

import math
from calendar import Calendar
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property

from django.utils.formats import date_format, get_format
from django.utils.translation import ngettext

SHADES = 4
# A Sunday, from which the days of a week are counted as `FIRST_DAY_OF_WEEK` counts them.
A_SUNDAY = date(2026, 11, 1)
SUNDAY = 6


@dataclass(frozen=True)
class Day:
    """A day of a month. shade: from 0 for none to SHADES for the most events of a day."""

    day: date
    count: int
    shade: int

    @cached_property
    def address(self) -> str:
        """Return what its page is found by."""
        return self.day.isoformat()

    @cached_property
    def words(self) -> str:
        """Return the day and its number of events."""
        events = ngettext("%(count)s event", "%(count)s events", self.count) % {"count": f"{self.count:,}"}
        return f"{date_format(self.day, 'DATE_FORMAT')}: {events}"


@dataclass(frozen=True)
class Month:
    """A month. weeks: seven days each; None where one belongs to another month."""

    first: date
    count: int
    weeks: tuple[tuple[Day | None, ...], ...]

    @property
    def address(self) -> str:
        """Return what its page is found by."""
        return f"{self.first:%Y-%m}"


def weekdays() -> list[date]:
    """Return a day for each column of a week, in the order of the person's language."""
    first = A_SUNDAY + timedelta(days=get_format("FIRST_DAY_OF_WEEK"))
    return [first + timedelta(days=number) for number in range(7)]


def months_of(counts: Mapping[date, int]) -> list[Month]:
    """Return the months of some days, the latest first. counts: of each day of whole months."""
    most = max(counts.values(), default=0)
    weeks = Calendar((get_format("FIRST_DAY_OF_WEEK") + SUNDAY) % 7)
    months = sorted({day.replace(day=1) for day in counts}, reverse=True)
    return [month_of(first, counts, most, weeks) for first in months]


def month_of(first: date, counts: Mapping[date, int], most: int, weeks: Calendar) -> Month:
    """Return a month. most: events of a day, which gets the darkest shade."""

    def cell(day: date) -> Day | None:
        if day.month != first.month:
            return None
        count = counts.get(day, 0)
        return Day(day, count, shade_of(count, most))

    rows = tuple(tuple(cell(day) for day in week) for week in weeks.monthdatescalendar(first.year, first.month))
    return Month(first, sum(day.count for row in rows for day in row if day), rows)


def shade_of(count: int, most: int) -> int:
    """Return the shade of a day: by the root, since most days are far below the busiest one."""
    return math.ceil(SHADES * math.sqrt(count / most)) if count and most else 0
