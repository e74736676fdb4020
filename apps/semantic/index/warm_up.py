"""Load the indexes of large users before a web process is ready, and build those that are missing (spec 000, D9).

Until one process has done so saves are answered with 503 and Retry-After, and searches are exact and slow. What a
process publishes about the indexes in its memory is here as well.
"""

import hashlib
import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.db import Error, connection

from apps.core.domain.errors import UnavailableError
from apps.core.per_process import PerProcess
from apps.core.processes import other_web_processes
from apps.llm.selectors import EmbeddingSpace
from apps.retrieval.domain.planner import GraphNeed
from apps.semantic.index.build import find_large_users
from apps.semantic.index.cache import IndexCache, index_cache
from apps.semantic.index.health import index_guard
from apps.semantic.index.snapshots import find_users_with_snapshots
from apps.semantic.store.embedding_space import current_space, forget_space

logger = logging.getLogger(__name__)
RETRY_SECONDS = 2
# How often to look whether another process has built a graph.
WAIT_SECONDS = 0.5
# So many indexes a process publishes on their own.
MAX_LARGE = 20


class WarmUp:
    """Loads what a cache should hold from the start. Where it was never begun, everything counts as loaded."""

    def __init__(self, cache: IndexCache) -> None:
        self._cache = cache
        self._progress: tuple[int, int] | None = None

    def begin(self, then: Callable[[], object] = lambda: None) -> threading.Thread:
        """Load in the background. then: called at the end, by the same thread."""
        self._progress = (0, 0)
        thread = threading.Thread(target=self._run, args=(then,), name="index warm-up", daemon=True)
        thread.start()
        return thread

    @property
    def missing(self) -> str | None:
        """Return what is not loaded yet, in words; None when all is."""
        if self._progress is None:
            return None
        number, total = self._progress
        if not total:
            return "beginning to load the index"
        making = self._cache.keeper.making
        if making is None:
            return f"loading the index, {number} of {total}"
        return f"building the index, {number} of {total}: {making[0]:,} of {making[1]:,} memories"

    def _run(self, then: Callable[[], object]) -> None:
        started, count = time.monotonic(), None
        while count is None:
            try:
                count = self._load_all(current_space())
            except (UnavailableError, Error) as error:
                logger.info("the index waits for what it needs: %s", type(error).__name__)
                forget_space()
                connection.close()
                time.sleep(RETRY_SECONDS)
            except Exception:
                # Nothing is lost: what could not be loaded now is loaded by the first search that needs it.
                logger.exception("the index could not be loaded ahead")
                count = 0
        self._progress = None
        connection.close()
        if count:
            logger.info("loaded the indexes of %d users in %.1f s", count, time.monotonic() - started)
        then()

    def _load_all(self, space: EmbeddingSpace) -> int:
        """Load until the cache is full, and build the graphs that are missing. Return of how many users."""
        # Those with a graph on the disk, of the newest files first, then other large ones.
        users = find_users_with_snapshots(space)
        users += [user for user, _ in find_large_users() if user not in set(users)]
        for number, user in enumerate(users, 1):
            self._progress = (number, len(users))
            with self._cache.refreshed([user], space):
                pass
            self._update_graph(user, space)
            if self._cache.nbytes > settings.MEMORYHUB.index_cache_mb * 1024 * 1024:
                return number
        return len(users)

    def _update_graph(self, user: str, space: EmbeddingSpace) -> None:
        """Load or build the graph of a user, or wait for another process that builds it."""
        self._cache.keeper.update(user, space)
        while (entry := self._cache.peek(user, space)) is not None:
            with entry.lock:
                if entry.graph_need is not GraphNeed.BUILD:
                    return
            time.sleep(WAIT_SECONDS)
            self._cache.keeper.update(user, space)


_warm_up = PerProcess(lambda: WarmUp(index_cache()))


def warm_up() -> WarmUp:
    """Return the warm-up of this process."""
    return _warm_up.get()


def start_index() -> None:
    """Load the index of a web process that starts, and then watch it."""
    # In this order: an index that is being loaded has no graph yet, which is no reason for a warning.
    warm_up().begin(then=index_guard().start)


def end_index() -> None:
    """Write the snapshots that lag behind when the process ends."""
    index_cache().keeper.close()


def require_warm() -> None:
    """Raise UnavailableError while no web process of the hub has loaded its index."""
    if _warm_up.get().missing and not any(state.checks.get("index") == "ok" for state in other_web_processes()):
        # Not how many users have a large index: a caller with a bound must not learn that.
        detail = "The hub is starting and loads its index. Try again shortly."
        raise UnavailableError(detail, retry_after=RETRY_SECONDS, code="index_loading")


def user_mark(user: str) -> str:
    """Return what replaces the id of a user among published facts, which name no person."""
    return hashlib.sha256(user.encode()).hexdigest()[:16]


def large_index_facts() -> dict[str, list[int]]:
    """Return the largest indexes of this process: mark of the user -> memories, those in the graph, and bytes."""
    return {user_mark(user): figures for user, figures in index_cache().largest(MAX_LARGE)}


def index_facts() -> dict[str, Any]:
    """Return the state of the indexes of this process: counts, level, and what is being loaded or built."""
    health, cache = index_guard().health, index_cache()
    making = cache.keeper.making
    return {
        **cache.describe(),
        "making": None if making is None else {"done": making[0], "of": making[1]},
        "missing": warm_up().missing,
        "level": health.level.value,
        "reasons": [reason.value for reason in health.reasons],
    }
