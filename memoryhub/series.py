"""The one table of numbers over time."""

from apps.monitor.domain.series import Series, SeriesKind

GAUGE, COUNTER, QUANTILE = SeriesKind.GAUGE, SeriesKind.COUNTER, SeriesKind.QUANTILE


def series_of(path: str, *rows: tuple[str, str, str, SeriesKind]) -> tuple[Series, ...]:
    """Return the series of one source. rows: name, label, unit and kind of each."""
    return tuple(
        Series(name=name, label=label, unit=unit, kind=kind, path=f"memoryhub.numbers.{path}")
        for name, label, unit, kind in rows
    )


SERIES: tuple[Series, ...] = (
    *series_of(
        "requests",
        ("requests", "Requests", "count", COUNTER),
        ("errors_4xx", "Refused requests (4xx)", "count", COUNTER),
        ("errors_5xx", "Failed requests (5xx)", "count", COUNTER),
        ("request_p50", "Request, median", "milliseconds", QUANTILE),
        ("request_p95", "Request, 95th percentile", "milliseconds", QUANTILE),
        ("searches", "Searches", "count", COUNTER),
        ("search_p50", "Search, median", "milliseconds", QUANTILE),
        ("search_p95", "Search, 95th percentile", "milliseconds", QUANTILE),
        ("sockets", "Open live connections", "count", GAUGE),
    ),
    *series_of(
        "writes",
        ("saves", "Memories saved", "count", COUNTER),
        ("events_recorded", "Timeline events recorded", "count", COUNTER),
        ("model_calls", "Model calls", "count", COUNTER),
        ("model_failures", "Model calls without a usable answer", "count", COUNTER),
        ("syncs", "Syncs of knowledge", "count", COUNTER),
        ("decisions_accepted", "Decisions accepted", "count", COUNTER),
    ),
    *series_of(
        "decisions",
        ("decisions_superseded_existing", "Existing memory superseded", "count", COUNTER),
        ("decisions_kept_existing", "Existing memory kept", "count", COUNTER),
        ("decisions_merged", "Memories merged", "count", COUNTER),
        ("decisions_rejected", "Memories rejected", "count", COUNTER),
        ("decisions_kept_both", "Both memories kept", "count", COUNTER),
        ("decisions_noticed", "Conflicts noticed", "count", COUNTER),
        ("decisions_reverted", "Decisions reverted", "count", COUNTER),
    ),
    *series_of(
        "memories",
        ("memories_active", "Active memories", "count", GAUGE),
        ("conflicts_open", "Conflicts to review", "count", GAUGE),
        ("bridge_backlog", "Timeline events to become memories", "count", GAUGE),
    ),
    *series_of(
        "background",
        ("queue_length", "Waiting jobs", "count", GAUGE),
        ("queue_oldest", "Oldest waiting job", "seconds", GAUGE),
        ("jobs_failed", "Failed jobs", "count", GAUGE),
        ("deliveries_pending", "Pending deliveries", "count", GAUGE),
        ("deliveries_failed", "Failed deliveries", "count", GAUGE),
        ("delivery_oldest", "Oldest due delivery", "seconds", GAUGE),
    ),
    *series_of("spending", ("dollars_today", "Spent on models today", "dollars", GAUGE)),
    *series_of(
        "indexes",
        ("index_backlog", "Memories in no graph yet", "count", GAUGE),
        ("index_bytes", "Vector index, largest process", "bytes", GAUGE),
    ),
    *series_of(
        "processes",
        ("web_processes", "Web processes", "count", GAUGE),
        ("workers", "Workers", "count", GAUGE),
        ("memory_bytes", "Memory of the hub's processes", "bytes", GAUGE),
    ),
    *series_of(
        "disk",
        ("disk_free", "Free on the disk", "bytes", GAUGE),
        ("data_bytes", "Data directory", "bytes", GAUGE),
    ),
    *series_of(
        "problems",
        ("problems_open", "Problems", "count", GAUGE),
        ("problems_critical", "Critical problems", "count", GAUGE),
    ),
)
