"""Prometheus metrics of the bridge."""

from prometheus_client import Counter, Gauge, Histogram

JUDGED = Counter(
    "memoryhub_bridge_events",
    "Saved events of the timeline, by judgement of the routing policies: routed, no_policy, other_type, unimportant; "
    "withdrawn for those that were pruned before.",
    ["judgement"],
)
INGESTED = Counter(
    "memoryhub_bridge_ingestions",
    "Processed events, by outcome: the action of the save, failed, or dropped.",
    ["outcome"],
)
INGESTION_LAG = Histogram(
    "memoryhub_bridge_ingestion_lag_seconds",
    "Time from the recording of an event to the commit of its memory.",
    buckets=(0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 3600, 14400, 86400),
)
RUNS = Counter("memoryhub_bridge_runs", "Runs that save pending events, by why they ended.", ["ended"])
RECONCILED = Counter(
    "memoryhub_bridge_reconciliations", "Memories (dropped: events) reconciled because events were pruned.", ["action"]
)
WARNINGS = Counter("memoryhub_bridge_warnings", "Warnings of the timeline that were passed on.", ["kind", "severity"])
# Set each minute by one of the workers, and when something changes: the last value is right.
SUSPENDED = Gauge(
    "memoryhub_bridge_suspended",
    "1 while a warning of the timeline keeps events from becoming memories.",
    multiprocess_mode="mostrecent",
)
PENDING = Gauge("memoryhub_bridge_pending", "Events that wait to become memories.", multiprocess_mode="mostrecent")
TIMELINE_LAG = Gauge(
    "memoryhub_bridge_timeline_lag_ms",
    "Age of the oldest event that has not been judged yet, or waits to become a memory; 0 when there is none.",
    multiprocess_mode="mostrecent",
)
SEGMENTS = Gauge(
    "memoryhub_bridge_segment_count", "Segments of the timeline that are in use.", multiprocess_mode="mostrecent"
)
