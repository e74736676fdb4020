"""The start of a web process: the large shards that have a snapshot are loaded before it is ready (spec 000, D9).

Until then saves are answered with 503 and Retry-After, and searches are exact and slow.
"""

import logging
import os
import threading
import time
from collections.abc import Callable

from django.conf import settings
from django.db import Error, connection

from apps.core.domain.errors import UnavailableError
from apps.llm.selectors import EmbeddingSpace
from apps.semantic.index.cache import IndexCache, index_cache
from apps.semantic.index.health import index_guard
from apps.semantic.index.snapshots import find_users_with_snapshots
from apps.semantic.store.embedding_space import current_space, forget_space

logger = logging.getLogger(__name__)
RETRY_SECONDS = 2


class WarmUp:
    """Loads what a cache should hold from the start. Where it was never begun, everything counts as warm."""

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
        """What is not loaded yet, in words; None when all is."""
        if self._progress is None:
            return None
        number, total = self._progress
        return f"loading the index, {number} of {total}" if total else "beginning to load the index"

    def _run(self, then: Callable[[], object]) -> None:
        started = time.monotonic()
        while True:
            try:
                count = self._load_all(current_space())
                break
            except (UnavailableError, Error) as error:
                logger.info("the index waits for what it needs: %s", type(error).__name__)
                forget_space()
                connection.close()
                time.sleep(RETRY_SECONDS)
            except Exception:
                # Nothing is lost: what could not be loaded now is loaded by the first search that needs it.
                logger.exception("the index could not be loaded ahead")
                count = 0
                break
        self._progress = None
        connection.close()
        if count:
            logger.info("loaded the shards of %d users in %.1f s", count, time.monotonic() - started)
        then()

    def _load_all(self, space: EmbeddingSpace) -> int:
        users = find_users_with_snapshots(space)
        for number, user in enumerate(users, 1):
            self._progress = (number, len(users))
            with self._cache.refreshed([user], space):
                pass
            self._cache.keeper.update(user, space)
            if self._cache.nbytes > settings.MEMORYHUB.index_cache_mb * 1024 * 1024:
                return number
        return len(users)


_warm_up: WarmUp | None = None


def _begin_warm() -> None:
    """In a forked process: the thread that loads its index is not there."""
    global _warm_up
    _warm_up = None


os.register_at_fork(after_in_child=_begin_warm)


def warm_up() -> WarmUp:
    """The warm-up of this process."""
    global _warm_up
    if _warm_up is None:
        _warm_up = WarmUp(index_cache())
    return _warm_up


def start_index() -> None:
    """What a web process does with its index when it starts."""
    # What is being loaded waits for its graph, which is no reason for a warning.
    warm_up().begin(then=index_guard().start)


def end_index() -> None:
    """What it does when it ends: the snapshots that lag behind are written."""
    index_cache().keeper.close()


def require_warm() -> None:
    """Raises UnavailableError while this process is loading its index."""
    if warm_up().missing:
        # Not how many users there are whose index is large: a caller with a bound must not learn that.
        detail = "The hub is starting and loads its index. Try again shortly."
        raise UnavailableError(detail, retry_after=RETRY_SECONDS, code="index_loading")
