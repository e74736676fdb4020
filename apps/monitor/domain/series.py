"""What a series is, and what its source returns."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

Labels = Mapping[str, str]
Matcher = Callable[[Labels], bool]


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
