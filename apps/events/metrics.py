"""Prometheus metrics of the outbox."""

from prometheus_client import Counter, Histogram

EVENTS = Counter("memoryhub_events", "Events emitted.", ["name"])
DELIVERIES = Counter(
    "memoryhub_event_deliveries",
    "Finished tries to deliver, by outcome: delivered, retry, or failed for good.",
    ["subscriber", "outcome"],
)
DELIVERY_LAG = Histogram(
    "memoryhub_event_delivery_lag_seconds",
    "Time from the emission of an event to its delivery.",
    ["subscriber"],
    buckets=(0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 3600, 14400),
)
