"""Spans of time on the clock of whoever asks, and which one is meant by a name such as a season or a weekday.

Times are without a zone: those that the clock of the question shows. None stands for what is beyond the calendar.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from enum import IntEnum
from typing import NamedTuple

# The ends of the calendar, a year inside, so that zones may be applied.
FIRST, LAST = datetime(2, 1, 1), datetime(9998, 1, 1)  # noqa: DTZ001 - see above
HOURS = {"morning": (5, 12), "noon": (11, 14), "afternoon": (12, 18), "evening": (17, 24), "night": (18, 30)}
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}
DAYS = {"minute": 1 / 1440, "hour": 1 / 24, "day": 1.0, "week": 7.0, "weekend": 7.0, "month": 30.44, "quarter": 91.3,
        "year": 365.25, "decade": 3652.5}  # fmt: skip
# So many years before and after the present one are looked through for the one that is meant.
_YEARS = 8


class Span(NamedTuple):
    """From `start` to before `end`."""

    start: datetime
    end: datetime


class Reading(NamedTuple):
    """A time that a text names. spans: what it may mean. begin and end: where it stands, in characters."""

    spans: tuple[Span, ...]
    begin: int
    end: int


class Turn(IntEnum):
    """Which one of those that come again and again is meant."""

    LAST = -1
    THIS = 0
    NEXT = 1


class Moment:
    """When something is asked, and what names of times mean then."""

    def __init__(self, now: datetime) -> None:
        self.now = min(max(now, FIRST), LAST)
        self.today = self.now.replace(hour=0, minute=0, second=0, microsecond=0)

    def choose(self, spans: Iterable[Span | None], turn: Turn | None = None) -> Sequence[Span | None]:
        """Return the one that is meant of spans in the order of time; without a turn the last one and the next."""
        known = [span for span in spans if span is not None]
        begun = [span for span in known if span.start <= self.now]
        coming = [span for span in known if span.start > self.now]
        match turn:
            case Turn.LAST:
                return [span for span in begun if span.end <= self.now][-1:]
            case Turn.NEXT:
                return coming[:1]
            case Turn.THIS:
                present = [span for span in begun if self.now < span.end]
                return (present or [span for span in known if span.start.year == self.now.year])[:1]
        return begun[-1:] + coming[:1]

    def each_year(
        self, make: Callable[[int], Span | None], year: int | None = None, turn: Turn | None = None
    ) -> Sequence[Span | None]:
        """Return the span of a year, or without one that of the year which is meant."""
        if year is not None:
            return [make(year)]
        return self.choose([make(self.now.year + step) for step in range(-_YEARS, _YEARS + 1)], turn)

    def ago(self, number: float, unit: str) -> Span | None:
        """Return what is so many units before now, negative for later: as exact as the unit."""
        middle = moved(self.now, -number * DAYS[unit])
        if unit in ("minute", "hour", "day"):
            return day_of(middle)
        return around(middle, DAYS[unit] * min(1.0, abs(number)))

    def recent(self, number: float, unit: str) -> Span | None:
        """Return the last so many units up to now, negative for the next ones."""
        other = moved(self.now, -number * DAYS[unit])
        return None if other is None else span_of(min(other, self.now), max(other, self.now))

    def whole(self, unit: str, step: int) -> Span | None:
        """Return this day, week, weekend, month, quarter, year or decade, or the one so many steps later."""
        match unit:
            case "day":
                return day_of(moved(self.today, step))
            case "week" | "weekend":
                monday = moved(self.today, 7 * step - self.today.weekday())
                return span_of(moved(monday, 5 if unit == "weekend" else 0), moved(monday, 7))
            case "month":
                return months(self.now.year, self.now.month + step)
            case "quarter":
                return months(self.now.year, (self.now.month - 1) // 3 * 3 + 1 + 3 * step, 3)
            case "year":
                return months(self.now.year + step, 1, 12)
        return months(self.now.year // 10 * 10 + 10 * step, 1, 120)

    def weekday(self, number: int, week: int) -> Span | None:
        """Return a day of a week, 0 for Monday. week: 0 for this one."""
        return day_of(moved(self.today, number - self.today.weekday() + 7 * week))

    def weekdays(self, number: int, turn: Turn | None = None) -> Sequence[Span | None]:
        """Return a day of the week; the last one is before today, the next one in the next week."""
        if turn in (Turn.THIS, Turn.NEXT):
            return [self.weekday(number, int(turn))]
        near = [self.weekday(number, week) for week in (-1, 0, 1)]
        return self.choose(near, turn)


# Returns what a match may mean.
Reader = Callable[[re.Match[str], Moment], Sequence[Span | None]]


def group_of(found: re.Match[str], name: str) -> str:
    """Return what a group of a match has, "" where the pattern has no such group."""
    return found.groupdict().get(name) or ""


def moved(moment: datetime | None, days: float) -> datetime | None:
    """Return a moment so many days later."""
    if moment is None:
        return None
    try:
        result = moment + timedelta(days=days)
    except OverflowError:
        return None
    return result if FIRST <= result <= LAST else None


def span_of(start: datetime | None, end: datetime | None) -> Span | None:
    """Return the span between two moments, None for an empty one."""
    return None if start is None or end is None or end <= start else Span(start, end)


def day_of(moment: datetime | None) -> Span | None:
    """Return the whole day of a moment."""
    if moment is None:
        return None
    start = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return span_of(start, moved(start, 1))


def date_of(year: int, month: int, day: int, count: int = 1) -> Span | None:
    """Return so many days from a date on; None where there is no such date."""
    try:
        start = datetime(year, month, day)  # noqa: DTZ001 - see above
    except ValueError:
        return None
    return span_of(moved(start, 0), moved(start, count))


def months(year: int, month: int, count: int = 1) -> Span | None:
    """Return so many months. month: from 1, also beyond its year."""
    first = year * 12 + month - 1
    if not FIRST.year * 12 <= first <= LAST.year * 12 - count:
        return None
    start, end = (datetime(one // 12, one % 12 + 1, 1) for one in (first, first + count))  # noqa: DTZ001 - see above
    return Span(start, end)


def around(middle: datetime | None, days: float) -> Span | None:
    """Return so many days, half of them before a moment."""
    return span_of(moved(middle, -days / 2), moved(middle, days / 2))


def hours_of(span: Span | None, name: str | None) -> Span | None:
    """Return the morning, afternoon, evening or night of a day; of none the whole day."""
    if span is None or not name:
        return span
    start, end = (timedelta(hours=hour) for hour in HOURS[name])
    return Span(span.start + start, span.start + end)


def share_of(span: Span, start: float, end: float) -> Span:
    """Return the part of a span between two shares of its length."""
    length = span.end - span.start
    return Span(span.start + length * start, span.start + length * end)
