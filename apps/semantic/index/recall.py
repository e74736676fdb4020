"""What operators ask of large indexes, as tasks of the worker: to build a graph, or to verify the recall of one.

The recall is what the graph finds against a comparison with every memory.
"""

import time
from statistics import median

import numpy as np
from django_q.tasks import async_task

from apps.core.db.user_locks import locked_among
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ConflictError, NotFoundError
from apps.core.domain.randomness import SYSTEM_RNG
from apps.llm.selectors import EmbeddingSpace
from apps.retrieval.domain import planner
from apps.retrieval.domain.rows import RowStore
from apps.retrieval.domain.vectors.cosines import cosines
from apps.semantic.index.build import build_graph, find_large_users, load_and_wait
from apps.semantic.index.cache import IndexCache
from apps.semantic.models import RecallCheck
from apps.semantic.store.embedding_space import current_space

QUERIES, NEIGHBOURS = 50, 10
KEPT_CHECKS = 100
NO_GRAPH = "There is no graph: searches compare every memory, which is exact."
BUILD, VERIFY = "apps.semantic.tasks.build_graph", "apps.semantic.tasks.verify_recall"
# A large graph takes longer than other tasks may; the worker would end it in the middle.
TIMEOUT_SECONDS = 3_600
# No limit: one user is in memory at a time.
_UNLIMITED = 1 << 62


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
    assert rows.graph is not None
    found, exact_ms, graph_ms = 0, [], []
    # Some living memories with a vector, in no order.
    living = np.flatnonzero(rows.alive & rows.vectors.any(axis=1))
    slots = sorted(map(int, living), key=lambda _: SYSTEM_RNG.next_float())[:QUERIES]
    wanted = min(NEIGHBOURS, len(rows))
    for slot in slots:
        vector = rows.vectors[slot]
        began = time.perf_counter()
        exact = np.argpartition(-np.where(rows.alive, cosines(rows.vectors, vector), -np.inf), wanted - 1)[:wanted]
        between = time.perf_counter()
        # As a search finds them: by the graph, and what it does not know.
        near = np.concatenate((rows.slots_in_graph(rows.graph.search(vector, wanted)), rows.outside_graph()))
        near = near[np.argsort(-cosines(rows.vectors[near], vector))[:wanted]]
        ended = time.perf_counter()
        exact_ms.append((between - began) * 1000)
        graph_ms.append((ended - between) * 1000)
        # Memories that are as near as the last one are as good, so similarities are compared and not ids.
        limit = float(cosines(rows.vectors[exact], vector).min()) - 1e-6
        found += int((cosines(rows.vectors[near], vector) >= limit).sum())
    check.queries = len(slots)
    check.recall = found / (wanted * len(slots)) if slots else None
    check.exact_ms, check.graph_ms = median(exact_ms or [0.0]), median(graph_ms or [0.0])


def index_build_request(*, user: str) -> None:
    """Have the graph of a large user built again. Raises NotFoundError, and ConflictError for one being forgotten."""
    require_large(user)
    async_task(BUILD, user, q_options={"task_name": "index.build", "save": False, "timeout": TIMEOUT_SECONDS})


def recall_verify_request(*, user: str) -> None:
    """Have the recall of a large user verified. Raises NotFoundError, and ConflictError for one being forgotten."""
    require_large(user)
    async_task(VERIFY, user, q_options={"task_name": "index.recall", "save": False, "timeout": TIMEOUT_SECONDS})


def require_large(user: str) -> None:
    """Raise NotFoundError for a user without enough memories for a graph."""
    if locked_among([user]):
        raise ConflictError("This user is being forgotten.", code="being_forgotten")
    if not find_large_users(user):
        raise NotFoundError(f"Only an index of {planner.GRAPH_ROWS:,} memories or more has a graph.")


def graph_build(user: str) -> None:
    """Build the graph of a user on the disk, whatever is there. Raises GraphNotBuiltError and OSError."""
    if find_large_users(user) and not locked_among([user]):
        build_graph(user, current_space(), lambda _: None, rebuild=True)


def recall_check(user: str) -> None:
    """Verify the recall of a user; that it could not be done is noted as well. Raises what went wrong."""
    if not find_large_users(user) or locked_among([user]):
        return
    try:
        recall_verify(user, current_space())
    except Exception as error:
        name = type(error).__name__
        RecallCheck.objects.create(
            user_id=user, at=utcnow(SYSTEM_CLOCK), memories=0, problem=f"It could not be verified ({name})."
        )
        raise
