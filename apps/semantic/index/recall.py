"""Verify the recall of a large index: what its graph finds against a comparison with every memory."""

import time
from collections.abc import Sequence
from statistics import median

import numpy as np
import numpy.typing as npt

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.randomness import SYSTEM_RNG
from apps.llm.selectors import EmbeddingSpace
from apps.retrieval.domain.rows import RowStore
from apps.retrieval.domain.vectors.cosines import cosines
from apps.semantic.index.build import load_and_wait
from apps.semantic.index.cache import IndexCache
from apps.semantic.models import RecallCheck

QUERIES, NEIGHBOURS = 50, 10
KEPT_CHECKS = 100
NO_GRAPH = "There is no graph: searches compare every memory, which is exact."
# No limit: one user is in memory at a time.
_UNLIMITED = 1 << 62
Vectors = npt.NDArray[np.float32]


def recall_verify(user: str, space: EmbeddingSpace, *, clock: Clock = SYSTEM_CLOCK) -> RecallCheck:
    """Compare graph and exact search with stored vectors of a user as questions, and keep the figure.

    The graph is that of the newest snapshot with what was saved since, as every process has it; a missing one is built.
    """
    cache = IndexCache(_UNLIMITED)
    try:
        load_and_wait(cache, user, space, lambda _: None)
        entry = cache.peek(user, space)
        check = RecallCheck(user_id=user, at=utcnow(clock), memories=0 if entry is None else len(entry.rows))
        if entry is None or entry.rows.graph is None:
            check.problem = NO_GRAPH
        else:
            measure(check, entry.rows)
    finally:
        cache.keeper.end()
        cache.clear()
    check.save()
    kept = RecallCheck.objects.filter(user_id=user).order_by("-at", "-id").values("pk")[:KEPT_CHECKS]
    RecallCheck.objects.filter(user_id=user).exclude(pk__in=list(kept.values_list("pk", flat=True))).delete()
    return check


def measure(check: RecallCheck, rows: RowStore) -> None:
    """Fill a check in with recall and times."""
    found, exact_ms, graph_ms = 0, [], []
    slots = question_slots(rows)
    wanted = min(NEIGHBOURS, len(rows))
    for slot in slots:
        vector = rows.vectors[slot]
        began = time.perf_counter()
        exact = nearest_exactly(rows, vector, wanted)
        between = time.perf_counter()
        near = nearest_by_graph(rows, vector, wanted)
        ended = time.perf_counter()
        exact_ms.append((between - began) * 1000)
        graph_ms.append((ended - between) * 1000)
        # Memories that are as near as the last one are as good, so similarities are compared and not ids.
        found += count_as_near(rows, vector, exact, near)
    check.queries = len(slots)
    check.recall = found / (wanted * len(slots)) if slots else None
    check.exact_ms, check.graph_ms = median(exact_ms or [0.0]), median(graph_ms or [0.0])


def question_slots(rows: RowStore) -> list[int]:
    """Return the slots of some living memories with a vector, in no order."""
    slots = np.flatnonzero(rows.alive & rows.vectors.any(axis=1))
    return sorted(map(int, slots), key=lambda _: SYSTEM_RNG.next_float())[:QUERIES]


def nearest_exactly(rows: RowStore, vector: Vectors, wanted: int) -> Sequence[int]:
    """Return the slots of the nearest memories, all compared."""
    near = np.where(rows.alive, cosines(rows.vectors, vector), -np.inf)
    return [int(slot) for slot in np.argpartition(-near, wanted - 1)[:wanted]]


def nearest_by_graph(rows: RowStore, vector: Vectors, wanted: int) -> Sequence[int]:
    """Return the slots of the nearest memories as a search finds them: by the graph, and what it does not know."""
    assert rows.graph is not None
    slots = rows.slots_in_graph(rows.graph.search(vector, wanted))
    slots = np.concatenate((slots, rows.outside_graph()))
    near = cosines(rows.vectors[slots], vector)
    return [int(slot) for slot in slots[np.argsort(-near)[:wanted]]]


def count_as_near(rows: RowStore, vector: Vectors, exact: Sequence[int], near: Sequence[int]) -> int:
    """Return how many of the found memories are at least as near as the farthest of the nearest ones."""
    limit = float(cosines(rows.vectors[list(exact)], vector).min()) - 1e-6
    return int((cosines(rows.vectors[list(near)], vector) >= limit).sum())
