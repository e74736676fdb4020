"""What a series is, what its source returns, increases of counts that begin again, and the spans of charts."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

Labels = Mapping[str, str]
Matcher = Callable[[Labels], bool]
MINUTE, HOUR, DAY = 60, 3_600, 86_400
# Widths of buckets in seconds: each begins on a round moment of UTC.
WIDTHS = (
    MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 20 * MINUTE, 30 * MINUTE,
    HOUR, 2 * HOUR, 3 * HOUR, 4 * HOUR, 6 * HOUR, 8 * HOUR, 12 * HOUR,
    DAY, 2 * DAY, 4 * DAY, 7 * DAY, 14 * DAY, 28 * DAY,
)  # fmt: skip


class SeriesKind(StrEnum):
    """How the samples of a series are joined: the mean of a gauge or quantile, the sum of a counter."""

    GAUGE = "gauge"
    COUNTER = "counter"
    QUANTILE = "quantile"


@dataclass(frozen=True, kw_only=True)
class Series:
    """A number over time.

    name: stable, stored with each sample. unit: `count`, `seconds`, `milliseconds`, `bytes` or `dollars`. path: dotted
    path of a function that takes a `SampleContext` and returns the numbers of one or more series by name.
    """

    name: str
    label: str
    unit: str
    kind: SeriesKind
    path: str


@dataclass(frozen=True)
class Total:
    """A count since the start of the processes; what is sampled is its increase since the previous sample."""

    value: float


@dataclass(frozen=True)
class Histogram:
    """Counts of observations up to each bound since the start of the processes, and which share of them is wanted.

    bounds: rising, the last one infinite. counts: cumulative. share: 0.95 for the 95th percentile. scale: what a bound
    is multiplied by.
    """

    bounds: tuple[float, ...]
    counts: tuple[float, ...]
    share: float
    scale: float = 1.0


Number = float | Total | Histogram | None


def matches_all(_labels: Labels) -> bool:
    """Match every sample."""
    return True


class MetricSet:
    """The metrics of all processes at one moment. samples: name, labels and value of each."""

    def __init__(self, samples: Iterable[tuple[str, Labels, float]]) -> None:
        self._samples: dict[str, list[tuple[Labels, float]]] = {}
        for name, labels, value in samples:
            self._samples.setdefault(name, []).append((labels, value))

    def value(self, name: str) -> float | None:
        """Return the sum of a gauge over its labels, None where no process has it."""
        found = self._samples.get(name)
        return sum(value for _, value in found) if found else None

    def total(self, name: str, matches: Matcher = matches_all) -> Total:
        """Return the sum of a counter over the labels that match."""
        return Total(sum(value for labels, value in self._samples.get(name, ()) if matches(labels)))

    def histogram(self, name: str, share: float, matches: Matcher = matches_all, scale: float = 1.0) -> Histogram:
        """Return a histogram summed over the labels that match. name: without `_bucket`."""
        counts: dict[float, float] = {}
        for labels, value in self._samples.get(f"{name}_bucket", ()):
            if matches(labels):
                bound = float(labels["le"])
                counts[bound] = counts.get(bound, 0.0) + value
        bounds = tuple(sorted(counts))
        return Histogram(bounds, tuple(counts[bound] for bound in bounds), share, scale)


@dataclass(frozen=True)
class SampleContext:
    """What sources are called with. since: the previous sample, None where there is none of the last minutes."""

    metrics: MetricSet
    since: datetime | None
    until: datetime


def increase(before: float, now: float) -> float:
    """Return by how much a count has risen. One that is smaller than before began again: all of it is new."""
    return now - before if now >= before else now


def increases(before: Sequence[float], now: Sequence[float]) -> list[float]:
    """Return the increase of each cumulative count of a histogram; all are new when one has fallen or bounds differ."""
    if len(before) != len(now) or any(new < old for old, new in zip(before, now, strict=True)):
        return list(now)
    return [new - old for old, new in zip(before, now, strict=True)]


def quantile(bounds: Sequence[float], counts: Sequence[float], share: float) -> float | None:
    """Return the value below which a share of the observations lies; None without observations.

    Interpolates within a bucket, as `histogram_quantile` of Prometheus does: exact to the width of the bucket. What
    lies above the last finite bound counts as this bound.
    """
    if not counts or counts[-1] <= 0:
        return None
    rank = share * counts[-1]
    below, lower = 0.0, 0.0
    for bound, count in zip(bounds, counts, strict=True):
        if count >= rank and count > below:
            if math.isinf(bound):
                return lower
            return lower + (bound - lower) * (rank - below) / (count - below)
        below, lower = max(count, below), (lower if math.isinf(bound) else bound)
    return lower


@dataclass(frozen=True)
class Buckets:
    """Buckets of the same width in seconds, the last of which holds the end of a span. first: number since 1970."""

    width: int
    first: int
    count: int

    @property
    def start(self) -> datetime:
        """Return when the first bucket begins."""
        return self.begin(0)

    @property
    def end(self) -> datetime:
        """Return when the last bucket ends."""
        return self.begin(self.count)

    def begin(self, index: int) -> datetime:
        """Return when a bucket begins. index: 0 for the first."""
        return datetime.fromtimestamp((self.first + index) * self.width, UTC)

    def fill(self, values: Mapping[int, float], until: datetime | None = None) -> list[tuple[datetime, float | None]]:
        """Return every bucket with its value, None where there is none. values: by number since 1970.

        until: buckets that end later have no value: the sum of an unfinished one would look like a fall.
        """
        moments = [self.begin(index) for index in range(self.count + 1)]
        return [
            (
                moments[index],
                values.get(self.first + index) if until is None or moments[index + 1] <= until else None,
            )
            for index in range(self.count)
        ]


def plan_buckets(start: datetime, end: datetime, points: int, finest: int = MINUTE) -> Buckets:
    """Return at most `points` buckets up to `end` that cover the span but for a part of its first bucket.

    finest: the least width in seconds. Raises ValueError for a span or a number of points that is not positive.
    """
    span = (end - start).total_seconds()
    if span <= 0 or points < 1:
        raise ValueError("A span of time and a number of points are positive.")
    least = max(span / points, finest)
    # A span of decades has wider ones still.
    width = next((width for width in WIDTHS if width >= least), -(-int(least) // DAY) * DAY + DAY)
    count = max(1, min(points, -(-int(span) // width)))
    last = int((end - timedelta(microseconds=1)).timestamp()) // width
    return Buckets(width, last - count + 1, count)
