"""Prometheus metrics of the HTTP layer, and the exposition of those of all processes."""

import os
from collections.abc import Iterator, Mapping

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    Counter,
    Histogram,
    generate_latest,
    multiprocess,
)

CONTENT_TYPE = CONTENT_TYPE_LATEST

HTTP_REQUESTS = Counter("memoryhub_http_requests", "HTTP requests answered.", ["method", "route", "status"])
HTTP_SECONDS = Histogram(
    "memoryhub_http_request_duration_seconds",
    "Time from the first middleware to the answer.",
    ["method", "route"],
    buckets=(0.002, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.5, 1, 5, 30),
)


def forget_process(pid: int) -> None:
    """Take a process that has ended out of the gauges that describe living ones."""
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        multiprocess.mark_process_dead(pid)  # type: ignore[no-untyped-call]


def current_registry() -> CollectorRegistry:
    """Return the registry of this process, or of every process when they share PROMETHEUS_MULTIPROC_DIR."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return REGISTRY
    registry = CollectorRegistry()
    multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return registry


def exposition() -> bytes:
    """Return all metrics in Prometheus' text format."""
    return generate_latest(current_registry())


def collect_samples() -> Iterator[tuple[str, Mapping[str, str], float]]:
    """Yield name, labels and value of every sample of all metrics; buckets of histograms are cumulative."""
    for family in current_registry().collect():
        for sample in family.samples:
            yield sample.name, sample.labels, sample.value
