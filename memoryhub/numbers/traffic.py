"""Numbers from the metrics of all processes."""

from apps.monitor.domain.series import Labels, Number, SampleContext

# Asked by programs that watch the hub, and answered 503 while it is not ready: no traffic of anybody.
HEALTH_ROUTES = {"healthz", "readyz", "metrics"}
SEARCH_ROUTE = "api/semantic/search"
REQUESTS, SECONDS = "memoryhub_http_requests_total", "memoryhub_http_request_duration_seconds"
MEDIAN, HIGH = 0.5, 0.95
MILLISECONDS = 1_000.0


def is_traffic(labels: Labels) -> bool:
    """Return whether a request was no check of health."""
    return labels.get("route") not in HEALTH_ROUTES


def is_search(labels: Labels) -> bool:
    """Return whether a request was a search of memories."""
    return labels.get("route") == SEARCH_ROUTE


def requests(context: SampleContext) -> dict[str, Number]:
    """Return how many requests were answered, how, and how long that took in milliseconds."""
    metrics = context.metrics
    return {
        "requests": metrics.total(REQUESTS, is_traffic),
        "errors_4xx": metrics.total(REQUESTS, lambda labels: is_traffic(labels) and labels["status"][:1] == "4"),
        "errors_5xx": metrics.total(REQUESTS, lambda labels: is_traffic(labels) and labels["status"][:1] == "5"),
        "request_p50": metrics.histogram(SECONDS, MEDIAN, is_traffic, MILLISECONDS),
        "request_p95": metrics.histogram(SECONDS, HIGH, is_traffic, MILLISECONDS),
        "searches": metrics.total(REQUESTS, lambda labels: is_search(labels) and labels["status"][:1] == "2"),
        "search_p50": metrics.histogram(SECONDS, MEDIAN, is_search, MILLISECONDS),
        "search_p95": metrics.histogram(SECONDS, HIGH, is_search, MILLISECONDS),
        "sockets": metrics.value("memoryhub_live_sockets"),
    }


def writes(context: SampleContext) -> dict[str, Number]:
    """Return what was saved, recorded, asked of models, synced and accepted."""
    metrics, calls = context.metrics, "memoryhub_llm_calls_total"
    return {
        "saves": metrics.total("memoryhub_events_total", lambda labels: labels["name"] == "memory:semantic:saved"),
        "events_recorded": metrics.total(
            "memoryhub_timeline_events_total", lambda labels: labels["action"] == "recorded"
        ),
        "model_calls": metrics.total(calls),
        "model_failures": metrics.total(calls, lambda labels: labels["outcome"] != "succeeded"),
        "syncs": metrics.total("memoryhub_sync_operations_total"),
        "decisions_accepted": metrics.total("memoryhub_conflicts_accepted_total"),
    }
