"""Prometheus metrics of recording, queries and warnings: no identifiers, no content."""

from prometheus_client import Counter, Gauge, Histogram

SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)
RECORDED = Counter("memoryhub_timeline_events", "Events sent to be recorded, by outcome.", ["action"])
WRITE_SECONDS = Histogram(
    "memoryhub_timeline_write_duration_seconds",
    "Time of one call that records, from its start to its commit.",
    ["size"],
    buckets=SECONDS,
)
QUERY_SECONDS = Histogram(
    "memoryhub_timeline_query_duration_seconds", "Time of one query of the timeline.", ["kind"], buckets=SECONDS
)
EMBEDDED = Counter(
    "memoryhub_timeline_texts_embedded_total", "Contents of events embedded for text queries, and not in the cache."
)
# Of all processes the one that set it last is right: any of them may begin or end a warning.
ACTIVE_WARNINGS = Gauge("memoryhub_timeline_warnings", "Active warnings.", ["kind"], multiprocess_mode="mostrecent")
