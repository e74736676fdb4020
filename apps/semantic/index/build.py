"""Build the graphs of large users ahead of time, so that no web process has to (DESIGN D9)."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from django.db.models import Count

from apps.llm.selectors import EmbeddingSpace
from apps.retrieval.domain import planner
from apps.semantic.index.cache import IndexCache
from apps.semantic.index.snapshots import Snapshots
from apps.semantic.models import Memory

_POLL_SECONDS = 0.1
# No limit: one user is in memory at a time.
_UNLIMITED = 1 << 62


class GraphNotBuiltError(Exception):
    """A graph could not be built, or not be written to the disk."""


@dataclass(frozen=True)
class BuildReport:
    """rows: in the graph. load and graph: seconds for loading the memories, and for their graph."""

    rows: int
    load: float
    graph: float


def find_large_users(user: str | None = None) -> list[tuple[str, int]]:
    """List the users with enough active memories for a graph, and how many, the most first. user: only this one."""
    memories = Memory.objects.active() if user is None else Memory.objects.active().filter(user_id=user)
    counted = memories.values("user_id").annotate(count=Count("id")).filter(count__gte=planner.GRAPH_ROWS)
    return [(row["user_id"], row["count"]) for row in counted.order_by("-count", "user_id")]


def build_graph(
    user: str, space: EmbeddingSpace, advance: Callable[[int], None], *, rebuild: bool = False
) -> BuildReport | None:
    """Leave an up-to-date graph of a user's memories on the disk, built by all processors unless a good one is there.

    Args:
        advance: receives how many rows were added since its last call.
        rebuild: ignore a graph that is there.

    Returns:
        None while another process builds this graph.

    Raises:
        GraphNotBuiltError: the graph is not on the disk now.
        OSError: an old snapshot cannot be removed.
    """
    snapshots = Snapshots.of(user, space)
    with snapshots.exclusive() as is_ours:
        if not is_ours:
            return None
        if rebuild:
            snapshots.delete_all()
    cache = IndexCache(_UNLIMITED)
    try:
        report = load_and_wait(cache, user, space, advance)
    finally:
        cache.keeper.end()
        cache.clear()
    if not report.rows:
        with snapshots.exclusive() as is_ours:
            if is_ours:
                raise GraphNotBuiltError("The log says why.")
        return None  # another process began concurrently
    if not snapshots.exist:
        raise GraphNotBuiltError("It was built, but could not be written to the disk.")
    return report


def load_and_wait(cache: IndexCache, user: str, space: EmbeddingSpace, advance: Callable[[int], None]) -> BuildReport:
    """Load the index of a user, which requests its graph, and wait for the graph."""
    started = time.monotonic()
    with cache.refreshed([user], space):
        load = time.monotonic() - started
    done = 0
    while not cache.keeper.is_idle:
        if (making := cache.keeper.making) is not None and making[0] > done:
            advance(making[0] - done)
            done = making[0]
        time.sleep(_POLL_SECONDS)
    entry = cache.peek(user, space)
    rows = 0 if entry is None or entry.rows.graph is None else len(entry.rows.graph)
    advance(max(0, rows - done))
    return BuildReport(rows, load, time.monotonic() - started - load)
