"""Bars of the timeline: how many events happened when, and a lane for each of the most frequent types."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import ngettext, pgettext

from apps.episodic.admin.columns import count_of
from apps.episodic.admin.timeline_filters import moment_text
from apps.episodic.domain.histogram import DAY, Buckets, EventHistogram
from apps.episodic.domain.window import Window

LANES = 12


@dataclass(frozen=True)
class Bar:
    """The events of a span of time. at: its height in percent of the highest. is_in: it is in the range."""

    start: datetime
    end: datetime
    count: int
    at: int
    is_in: bool
    label: str

    @property
    def begins(self) -> str:
        """Return where it begins, for an address."""
        return moment_text(self.start)

    @property
    def ends(self) -> str:
        """Return where it ends, for an address."""
        return moment_text(self.end)


@dataclass(frozen=True)
class Lane:
    """The events of a type over the same spans. heights: in percent of its own highest. is_rest: of all other types."""

    name: str
    total: int
    heights: list[int]
    is_rest: bool = False


@dataclass(frozen=True)
class Drawing:
    """A histogram as a page shows it. first, last: numbers of the bars in the range; None where there is none."""

    bars: list[Bar]
    lanes: list[Lane]
    total: int
    first: int | None
    last: int | None
    highest: int
    width: str
    since: datetime | None

    @property
    def filled(self) -> Iterator[Bar]:
        """Yield the bars that have events, the latest first."""
        return (bar for bar in reversed(self.bars) if bar.count)


def draw(histogram: EventHistogram, chosen: Window | None, event_type: str = "") -> Drawing:
    """Return what a page shows of a histogram of all types. chosen: the range. event_type: the one that bars show."""
    shown = histogram.counts.get(event_type, [0] * histogram.buckets.count) if event_type else histogram.totals
    buckets, places = histogram.buckets, range(0)
    if chosen is not None and chosen.start is not None and chosen.end is not None:
        first, last = buckets.number_at(chosen.start), buckets.number_at(chosen.end)
        places = range(max(first, 0), min(last, buckets.count - 1) + 1)
    shape = label_shape(buckets)
    edges, heights = buckets.edges, percent_of(shown)
    labels = [date_format(localtime(edge), shape) for edge in edges]
    bars = [
        Bar(edges[number], edges[number + 1], count, heights[number], number in places, labels[number])
        for number, count in enumerate(shown)
    ]
    return Drawing(
        bars=bars,
        lanes=list(lanes(histogram)),
        total=sum(shown),
        first=places[0] if chosen and places else None,
        last=places[-1] if chosen and places else None,
        highest=max(shown),
        width=width_words(buckets.width),
        since=histogram.since,
    )


def lanes(histogram: EventHistogram) -> Iterator[Lane]:
    """Yield the most frequent types, and all others as one."""
    sums = list(histogram.by_type.items())
    for name, total in sums[:LANES]:
        yield Lane(name, total, percent_of(histogram.counts[name]))
    rest = sums[LANES:]
    if rest:
        columns = zip(*(histogram.counts[name] for name, _ in rest), strict=True)
        heights = percent_of([sum(column) for column in columns])
        yield Lane(
            ngettext("%(shown)s further type", "%(shown)s further types", len(rest)) % {"shown": f"{len(rest):,}"},
            sum(total for _, total in rest),
            heights,
            is_rest=True,
        )


def percent_of(counts: Iterable[int]) -> list[int]:
    """Return counts in percent of the highest; what is not zero stays visible."""
    numbers = list(counts)
    highest = max(numbers, default=0)
    return [max(4, round(100 * number / highest)) if number else 0 for number in numbers]


def label_shape(buckets: Buckets) -> str:
    """Return the format in which the beginnings of spans differ."""
    first, last = buckets.edge(0), buckets.edge(buckets.count)
    if buckets.width >= DAY:
        return pgettext("date", "M j, Y") if first.year != last.year else pgettext("date", "M j")
    return "H:i" if first.date() == last.date() else pgettext("date", "M j, H:i")


def width_words(width: timedelta) -> str:
    """Return the length of a span in words."""
    minutes = int(width.total_seconds()) // 60
    for size, noun in ((1_440, "day"), (60, "hour"), (1, "minute")):
        if minutes >= size and minutes % size == 0:
            return count_of(minutes // size, noun)
    return count_of(minutes, "minute")
