"""How much happened when: the bars above the stream, each of which narrows it."""

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext

from apps.cockpit.activity.sources import SOURCES, Asked
from apps.core.admin.charts import Chart, Series

BARS = 60
# Widths of a bar: the narrowest of them that makes at most BARS is taken.
WIDTHS = tuple(timedelta(minutes=minutes) for minutes in (1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440))
EPOCH = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True)
class Bar:
    """The entries of a span of time."""

    start: datetime
    end: datetime
    count: int


@dataclass(frozen=True)
class Histogram:
    """Bars, the oldest first. since: from when on they are counted; None when all are."""

    bars: list[Bar]
    since: datetime | None

    @property
    def total(self) -> int:
        """Return how many entries are counted."""
        return sum(bar.count for bar in self.bars)

    def chart(self) -> Chart:
        """Return the bars as a chart."""
        days = len({localtime(bar.start).date() for bar in self.bars})
        shape = "H:i" if days <= 2 else gettext("D j, H:i")
        return Chart(
            name="activity",
            title=gettext("Entries"),
            labels=[date_format(localtime(bar.start), shape) for bar in self.bars],
            series=[Series(label=gettext("Entries"), values=[bar.count for bar in self.bars], tone="accent")],
            is_bars=True,
        )


def read_histogram(asked: Asked) -> Histogram:
    """Return how many entries there are in each part of a span of time."""
    minutes: Counter[datetime] = Counter()
    since = None
    for source in SOURCES:
        counts, reached = source.count_by_minute(asked)
        minutes.update(counts)
        since = max(filter(None, (since, reached)), default=None)
    width = next((one for one in WIDTHS if (asked.end - asked.start) <= one * BARS), WIDTHS[-1])
    first = asked.start - (asked.start - EPOCH) % width
    count = -(-(asked.end - first) // width)
    totals: Counter[int] = Counter()
    for minute, number in minutes.items():
        totals[max(0, (minute - first) // width)] += number
    bars = [Bar(first + index * width, first + (index + 1) * width, totals[index]) for index in range(count)]
    return Histogram(bars, since)
