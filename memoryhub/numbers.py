"""The sources of numbers over time: functions of a `SampleContext` that return numbers by series."""

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import psutil
from django.conf import settings

from apps.core.domain.scope import system_access
from apps.core.health import disk_space
from apps.core.processes import live_processes, live_workers, web_processes
from apps.events.selectors import outbox_status, queue_status
from apps.events.services import failure_count
from apps.llm.services import budget_status, guard_rules
from apps.monitor.domain.problems import ProblemSeverity
from apps.monitor.domain.series import Labels, Number, SampleContext
from apps.monitor.services import current_problems
from apps.semantic.selectors import active_total, decisions_between
from apps.semantic.services import bridge_status, open_conflicts
from memoryhub.process.children import FORK_SERVER

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


ACTOR = "monitor"
MAX_CONFLICTS = 1_000_000
# A decision is dated before its transaction ends: those of the last seconds count for the next sample.
COMMIT_LAG = timedelta(seconds=5)


def decisions(context: SampleContext) -> dict[str, Number]:
    """Return how many decisions of each outcome were made since the previous sample."""
    if context.since is None:
        return {}
    counted = decisions_between(system_access(ACTOR), context.since - COMMIT_LAG, context.until - COMMIT_LAG)
    return {f"decisions_{outcome}": float(count) for outcome, count in counted.items()}


def memories(_context: SampleContext) -> dict[str, Number]:
    """Return how many memories are active, and what waits to become one or to be reviewed."""
    access = system_access(ACTOR)
    return {
        "memories_active": active_total(access),
        "conflicts_open": open_conflicts(access, MAX_CONFLICTS),
        "bridge_backlog": bridge_status().pending,
    }


def background(_context: SampleContext) -> dict[str, Number]:
    """Return what waits for the worker, for how many seconds, and what has failed."""
    queue, outbox = queue_status(), outbox_status()
    return {
        "queue_length": queue.waiting,
        "queue_oldest": queue.oldest_seconds,
        "jobs_failed": failure_count(),
        "deliveries_pending": outbox.pending,
        "deliveries_failed": outbox.failed,
        "delivery_oldest": outbox.overdue_seconds,
    }


def spending(_context: SampleContext) -> dict[str, Number]:
    """Return what was spent on models today (UTC), in dollars."""
    status = budget_status(rules=guard_rules())
    return {"dollars_today": float(status.spent + status.waived)}


# The size of the data directory is measured again after twenty times as long as measuring took.
REST = 20.0


def indexes(_context: SampleContext) -> dict[str, Number]:
    """Return the highest figures of the vector indexes of all web processes; each has indexes of its own."""
    facts = [state.facts["index"] for state in web_processes() if "index" in state.facts]
    if not facts:
        return {}
    return {
        "index_backlog": max(float(each.get("backlog", 0)) for each in facts),
        "index_bytes": max(float(each.get("bytes", 0)) for each in facts),
    }


def processes(_context: SampleContext) -> dict[str, Number]:
    """Return how many processes are alive, and the memory in bytes of those on this machine."""
    here = [state.pid for state in live_processes() if state.host == socket.gethostname()]
    return {
        "web_processes": len(web_processes()),
        "workers": len(live_workers()),
        "memory_bytes": memory_of(here) or None,
    }


def memory_of(pids: list[int]) -> float:
    """Return the bytes of memory of processes and their children. What they share is counted once (Linux)."""
    family: dict[int, psutil.Process] = {}
    for pid in pids:
        with suppress(psutil.Error):
            process = psutil.Process(pid)
            parent = process.parent()
            shared = [parent] if parent is not None and parent.name() == FORK_SERVER else []
            family |= {one.pid: one for one in (process, *shared, *process.children(recursive=True))}
    total = 0.0
    for process in family.values():
        with suppress(psutil.Error):
            memory = process.memory_full_info()
            total += getattr(memory, "pss", 0) or memory.rss
    return total


class DirectorySize:
    """The size of a directory, measured so seldom that it costs a twentieth of the time of one thread at most."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._size: float | None = None
        self._path: Path | None = None
        self._next = 0.0

    def measure(self, path: Path) -> float:
        """Return the bytes of all files below a path, as of the last measurement."""
        with self._lock:
            began = time.monotonic()
            if self._size is None or self._path != path or began >= self._next:
                self._size, self._path = float(sum(file_sizes(path))), path
                ended = time.monotonic()
                self._next = ended + REST * (ended - began)
            return self._size


def file_sizes(path: Path) -> Iterator[int]:
    """Yield the bytes on the disk of each file below a path; a file that vanishes is left out."""
    for folder, _, names in os.walk(path):
        for name in names:
            with suppress(OSError):
                yield os.lstat(os.path.join(folder, name)).st_blocks * 512  # noqa: PTH118  (half the time of Path)


_data_directory = DirectorySize()


def disk(_context: SampleContext) -> dict[str, Number]:
    """Return the free bytes on the disk of the data directory, and the bytes in it."""
    return {
        "disk_free": disk_space().free,
        "data_bytes": _data_directory.measure(settings.MEMORYHUB.data_dir),
    }


def problems(_context: SampleContext) -> dict[str, Number]:
    """Return how many problems there are, and how many of them are critical."""
    found = [problem.severity for problem in current_problems()]
    return {"problems_open": len(found), "problems_critical": found.count(ProblemSeverity.CRITICAL)}
