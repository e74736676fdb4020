"""Making the graphs of large users beforehand, so that no web process has to (DESIGN D9)."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from django.db.models import Count

from apps.llm.selectors import EmbeddingSpace
from apps.retrieval.domain import planner
from apps.semantic.index.cache import IndexCache
from apps.semantic.index.snapshots import Snapshots
from apps.semantic.models import Memory

# How far it is, is looked at so often.
_LOOK_SECONDS = 0.1
# No limit: one user is in memory at a time.
_ALL = 1 << 62


class GraphNotBuiltError(Exception):
    """A graph could not be made, or not be left on the disk."""


@dataclass(frozen=True)
class LargeUser:
    """Somebody with enough memories for a graph."""

    user: str
    memories: int


@dataclass(frozen=True)
class Built:
    """rows: that the graph knows. load and graph: seconds that the memories and their graph took."""

    rows: int
    load: float
    graph: float


def find_large_users(user: str | None = None) -> list[LargeUser]:
    """Who has enough active memories for a graph, the most first. user: only this one."""
    memories = Memory.objects.active() if user is None else Memory.objects.active().filter(user_id=user)
    counted = memories.values("user_id").annotate(count=Count("id")).filter(count__gte=planner.GRAPH_ROWS)
    return [LargeUser(row["user_id"], row["count"]) for row in counted.order_by("-count", "user_id")]


def build_graph(
    user: str, space: EmbeddingSpace, advance: Callable[[int], None], *, anew: bool = False
) -> Built | None:
    """Leave an up-to-date graph of a user's memories on the disk, made by all processors unless a good one is there.

    advance: takes how many rows were put into it since its last call. anew: do not use what is there. Gives None while
    another process sees to this graph. Raises GraphNotBuiltError, OSError when what is there cannot be removed.
    """
    snapshots = Snapshots.of(user, space)
    with snapshots.exclusive() as mine:
        if not mine:
            return None
        if anew:
            snapshots.forget()
    cache = IndexCache(_ALL)
    try:
        built = _build(cache, user, space, advance)
    finally:
        cache.keeper.end()
        cache.clear()
    if not built.rows:
        return _none_because_of_another(snapshots)
    if not snapshots.exist:
        raise GraphNotBuiltError("It was made, and could not be written to the disk.")
    return built


def _build(cache: IndexCache, user: str, space: EmbeddingSpace, advance: Callable[[int], None]) -> Built:
    started = time.monotonic()
    with cache.refreshed([user], space):  # which asks for the graph
        load = time.monotonic() - started
    done = 0
    while not cache.keeper.is_idle:
        if (making := cache.keeper.making) is not None and making[0] > done:
            advance(making[0] - done)
            done = making[0]
        time.sleep(_LOOK_SECONDS)
    kept = cache.peek(user, space)
    rows = 0 if kept is None or kept.shard.graph is None else len(kept.shard.graph)
    advance(max(0, rows - done))
    return Built(rows, load, time.monotonic() - started - load)


def _none_because_of_another(snapshots: Snapshots) -> Built | None:
    """None if another process began meanwhile. Raises GraphNotBuiltError else."""
    with snapshots.exclusive() as mine:
        if mine:
            raise GraphNotBuiltError("The log says why.")
    return None
