"""Prometheus metrics of the timeline: no identifiers, no content."""

from prometheus_client import Counter, Gauge, Histogram

RECORDED = Counter("timeline_events", "Events that were given to be recorded, by what came of them.", ["action"])
WRITE_SECONDS = Histogram(
    "timeline_write_duration_seconds",
    "Time of one call that records, from its start to its commit.",
    ["size"],
    buckets=(0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
)
# Of all processes the one that changed it last is right: any of them may begin or end a warning.
ACTIVE_WARNINGS = Gauge("timeline_warnings", "Active warnings.", ["kind"], multiprocess_mode="mostrecent")
