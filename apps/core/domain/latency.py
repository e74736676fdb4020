"""Latency of calls: measurements, percentiles, and the quality of samples (spec 002 section 11).

Durations are milliseconds by a monotonic clock, as floats: the `Clock` of section 10 returns the time of day to the
millisecond, which is too coarse here and may go back.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from threading import Lock

PRECISION = 6
MINIMUM_SAMPLES = 30
PREFERRED_SAMPLES = 100
TRIM_PERCENT = 1
WARMUP_REQUESTS = 3


@dataclass(frozen=True)
class PercentileSummary:
    """In milliseconds, rounded to six decimals; all 0 where there was nothing to summarise."""

    p50: float
    p90: float
    p95: float
    p99: float
    min: float
    max: float
    count: int


def percentile(ordered: Sequence[float], p: float) -> float:
    """Return the smallest value that at least `p` percent of the values do not exceed (nearest rank); 0 without values.

    ordered: ascending. p: 0 to 100; 0 is the smallest value. The rank is computed in fractions of the decimal `p`,
    because in floats 55% of 100 values is a little more than 55 of them.
    """
    if not 0 <= p <= 100:
        raise ValueError(f"A percentile is from 0 to 100, not {p}.")
    rank = math.ceil(Fraction(str(p)) * len(ordered) / 100)
    return ordered[max(0, rank - 1)] if ordered else 0.0


def summarise(durations_ms: Sequence[float]) -> PercentileSummary:
    """Return the percentiles of `durations_ms`, in any order. Raises ValueError for a negative or not finite one."""
    ordered = sorted(round(duration, PRECISION) for duration in checked(durations_ms))
    p50, p90, p95, p99 = (percentile(ordered, p) for p in (50, 90, 95, 99))
    return PercentileSummary(p50, p90, p95, p99, percentile(ordered, 0), percentile(ordered, 100), len(ordered))


@dataclass(frozen=True)
class SamplingRules:
    """minimum, preferred: samples after the warm-up. warmup: first requests left out, the cold start among them.

    trim_percent: share of the slowest that is left out as outliers.
    """

    minimum: int = MINIMUM_SAMPLES
    preferred: int = PREFERRED_SAMPLES
    warmup: int = WARMUP_REQUESTS
    trim_percent: int = TRIM_PERCENT


DEFAULT_SAMPLING_RULES = SamplingRules()


class SampleQuality(StrEnum):
    """INSUFFICIENT: too few samples to conclude anything. SUFFICIENT: enough. PREFERRED: enough for percentiles."""

    INSUFFICIENT = "insufficient"
    SUFFICIENT = "sufficient"
    PREFERRED = "preferred"


@dataclass(frozen=True)
class Measurement:
    """summary: of what the rules kept. warmup, trimmed: how many samples they left out."""

    summary: PercentileSummary
    quality: SampleQuality
    warmup: int
    trimmed: int


def measure(durations_ms: Sequence[float], rules: SamplingRules = DEFAULT_SAMPLING_RULES) -> Measurement:
    """Summarise `durations_ms`, in the order in which they were measured, by the sampling rules.

    The quality depends on the samples left after the warm-up and before trimming. The number of trimmed samples is
    rounded down, so below a hundred none is. Raises ValueError as `summarise` does.
    """
    warm = sorted(checked(durations_ms)[rules.warmup :])
    trimmed = len(warm) * rules.trim_percent // 100
    quality = SampleQuality.PREFERRED if len(warm) >= rules.preferred else SampleQuality.SUFFICIENT
    return Measurement(
        summary=summarise(warm[: len(warm) - trimmed]),
        quality=SampleQuality.INSUFFICIENT if len(warm) < rules.minimum else quality,
        warmup=len(durations_ms) - len(warm),
        trimmed=trimmed,
    )


def checked(durations_ms: Sequence[float]) -> Sequence[float]:
    """Return the durations. Raises ValueError for a negative or not finite one."""
    for duration in durations_ms:
        if not (math.isfinite(duration) and duration >= 0):
            raise ValueError(f"A duration is finite and 0 or more, not {duration}.")
    return durations_ms


@dataclass(frozen=True)
class LatencyMeasurement:
    """One operation, from start to end by the monotonic clock, in milliseconds."""

    operation: str
    start_time: float
    end_time: float
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def duration_ms(self) -> float:
        return round(self.end_time - self.start_time, PRECISION)


def monotonic_ms() -> float:
    """Return milliseconds by the machine's monotonic clock, from an arbitrary start."""
    return time.perf_counter_ns() / 1_000_000


class PerformanceTracker:
    """Times operations that start in one place and end in another; safe to use from several threads.

    emit: called with each finished measurement, which is not kept here.
    """

    def __init__(
        self, emit: Callable[[LatencyMeasurement], None], monotonic: Callable[[], float] = monotonic_ms
    ) -> None:
        self._emit = emit
        self._monotonic = monotonic
        self._lock = Lock()
        self._started: dict[str, tuple[str, float]] = {}

    def start_operation(self, operation_id: str, operation: str) -> None:
        """Start to time an operation; an id that is still being timed starts again."""
        with self._lock:
            self._started[operation_id] = (operation, self._monotonic())

    def end_operation(self, operation_id: str, labels: Mapping[str, str] | None = None) -> float:
        """Stop timing; return the duration in milliseconds. Raises KeyError for an id that is not being timed."""
        end = self._monotonic()
        with self._lock:
            if operation_id not in self._started:
                raise KeyError(f"No measurement for {operation_id}")
            operation, start = self._started.pop(operation_id)
        measurement = LatencyMeasurement(operation, start, end, dict(labels or {}))
        self._emit(measurement)
        return measurement.duration_ms


@dataclass(frozen=True)
class BatchPerformanceProfile:
    """What the spec expects of batches of one size. throughput: items a second."""

    batch_size: int
    median_latency_ms: float
    p95_latency_ms: float
    throughput: float

    def is_met_by(self, summary: PercentileSummary) -> bool:
        """Return whether batches of this size were as fast as expected."""
        return summary.p50 <= self.median_latency_ms and summary.p95 <= self.p95_latency_ms


EXPECTED_PERFORMANCE = (
    BatchPerformanceProfile(batch_size=1, median_latency_ms=200, p95_latency_ms=500, throughput=5),
    BatchPerformanceProfile(batch_size=10, median_latency_ms=800, p95_latency_ms=1_200, throughput=12.5),
    BatchPerformanceProfile(batch_size=25, median_latency_ms=1_500, p95_latency_ms=2_000, throughput=16.7),
    BatchPerformanceProfile(batch_size=50, median_latency_ms=2_500, p95_latency_ms=3_500, throughput=20),
    BatchPerformanceProfile(batch_size=100, median_latency_ms=4_000, p95_latency_ms=6_000, throughput=25),
)


def throughput(batch_size: int, median_latency_ms: float) -> float:
    """Return the items a second when one batch follows another; infinite when a batch takes no time."""
    return math.inf if median_latency_ms == 0 else batch_size * 1_000 / median_latency_ms
