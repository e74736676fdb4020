"""Prometheus metrics of knowledge sync (spec 003, sync observability)."""

from prometheus_client import Counter, Histogram

OPERATIONS = Counter(
    "memoryhub_sync_operations", "Syncs that ended, by kind and what became of them.", ["type", "state"]
)
OPERATION_SECONDS = Histogram(
    "memoryhub_sync_operations_duration_seconds",
    "Time of a sync from its start to its end.",
    ["type"],
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800),
)
ITEMS_ADDED = Counter("memoryhub_sync_items_added", "Items that got a pointer.")
ITEMS_UPDATED = Counter("memoryhub_sync_items_updated", "Items whose pointer was written again.")
ITEMS_DELETED = Counter("memoryhub_sync_items_deleted", "Pointers that were deleted.")
CONFLICTS = Counter("memoryhub_sync_conflicts", "Conflicts between pointers and items that syncs found.", ["type"])
FAILURES = Counter(
    "memoryhub_sync_failures", "Syncs that failed, in whole or in part, by the code of the error.", ["code"]
)
