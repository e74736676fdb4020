"""Bars of what was saved for a person, and what happened to them, by week."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from django.utils.timezone import localdate, make_aware
from django.utils.translation import gettext

from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import Access, Scope
from apps.core.pages.sayings import say
from apps.episodic.domain.window import EventQuery
from apps.episodic.selectors import events_count
from apps.semantic.selectors import saved_by_week

WEEKS = 12
# Of the bars, in units of the drawing.
HEIGHT, STEP, WIDTH = 40, 10, 8


@dataclass(frozen=True)
class Bar:
    """A week. label: for the text beside it. x, y, height: of its bar, as texts in units of the drawing."""

    label: str
    count: int
    x: str
    y: str
    height: str


@dataclass(frozen=True)
class Chart:
    """A row of bars of one scale. problem: why there are none, empty otherwise."""

    title: str
    bars: tuple[Bar, ...] = ()
    problem: str = ""

    @property
    def total(self) -> int:
        """Return the sum of all bars."""
        return sum(bar.count for bar in self.bars)


def charts_of(access: Access, user_id: str, today: date | None = None) -> list[Chart]:
    """Return the charts of a person, as far as the caller sees them."""
    monday = (today or localdate()) - timedelta(days=(today or localdate()).weekday())
    weeks = [monday - timedelta(weeks=back) for back in reversed(range(WEEKS))]
    saved = saved_by_week(access, Scope(user_id), start_of(weeks[0]))
    charts = [Chart(gettext("Memories saved"), make_bars({week: saved.get(week, 0) for week in weeks}))]
    try:
        events = {week: count_events(access, user_id, week) for week in weeks}
        charts.append(Chart(gettext("Events by when they happened"), make_bars(events)))
    except MemoryHubError as error:
        charts.append(Chart(gettext("Events by when they happened"), problem=say(str(error.detail))))
    return charts


def count_events(access: Access, user_id: str, week: date) -> int:
    """Return how many events happened to a person in a week."""
    end = start_of(week + timedelta(weeks=1)) - timedelta(microseconds=1)
    return events_count(access, EventQuery(scope=Scope(user_id), start=start_of(week), end=end))


def start_of(day: date) -> datetime:
    """Return the first moment of a day in the admin's time zone."""
    return make_aware(datetime.combine(day, time.min))


def make_bars(counts: dict[date, int]) -> tuple[Bar, ...]:
    """Return bars of which the highest fills the drawing."""
    highest = max(counts.values(), default=0) or 1
    bars = []
    for place, (week, count) in enumerate(counts.items()):
        height = max(HEIGHT * count / highest, 1.0) if count else 0.0
        label = gettext("week of %(date)s") % {"date": f"{week:%Y-%m-%d}"}
        bars.append(Bar(label, count, f"{place * STEP}", f"{HEIGHT - height:.1f}", f"{height:.1f}"))
    return tuple(bars)
