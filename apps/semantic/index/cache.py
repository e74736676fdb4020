"""The indexes in the memory of this process, kept in step with the database (DESIGN D2, D9).

Every search compares versions with the database, before it ranks or when it reads what it found, so it sees every
write that was committed before it began, by whichever process.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from itertools import chain

from django.conf import settings
from django.db import connection
from prometheus_client import Counter, Histogram

from apps.core.db.identity import on_database_change
from apps.core.domain.caches import MB, CacheState, list_cache
from apps.core.per_process import PerProcess
from apps.core.rate import Rate
from apps.llm.selectors import EmbeddingSpace
from apps.llm.services import scale_of
from apps.retrieval.domain.planner import GRAPH_ROWS, GraphNeed
from apps.retrieval.domain.rows import RowStore
from apps.semantic.index.changes import active_counts, changes_in_parts, is_current
from apps.semantic.index.entry import CachedIndex
from apps.semantic.index.graphs import GraphKeeper
from apps.semantic.models import MemoryShard
from apps.semantic.store.embedding_space import SpaceChangedError, forget_space

LOADED_ROWS = Counter("memoryhub_index_rows_loaded_total", "Memories read into indexes, by reason.", ["kind"])
REFRESH_SECONDS = Histogram("memoryhub_index_refresh_seconds", "Time to bring the indexes of a search up to date.")
EVICTIONS = Counter("memoryhub_index_evictions_total", "Indexes dropped because the cache was full.")

# What an index takes: for each user, and for each memory besides its vector (docs/explain/vector-index.md).
USER_BYTES, MEMORY_BYTES, NUMBER_BYTES = 10_000, 500, 4


class IndexCache:
    """Indexes by user and embedding space; the least recently used are dropped beyond a size in bytes."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._cached: OrderedDict[tuple[str, int], CachedIndex] = OrderedDict()
        self._lock = threading.Lock()
        self.evictions = Rate()
        self.keeper = GraphKeeper(self.peek, self._evict)
        self.use_graphs = True

    @contextmanager
    def refreshed(self, users: Sequence[str], space: EmbeddingSpace) -> Iterator[list[RowStore]]:
        """Yield the rows of these users as they are now, locked while the block runs. Raises SpaceChangedError."""
        connection.ensure_connection()  # a new one may lead to another database: before anything is taken
        with ExitStack() as locks:
            entries = self._entries(users, space)
            for entry in entries.values():
                locks.enter_context(entry.lock)
            with REFRESH_SECONDS.time():
                refresh(entries, space)
            for user, entry in entries.items():
                if entry.has_changed:
                    entry.has_changed = False
                    if entry.has_new_purge or entry.graph_need is not GraphNeed.NOTHING:
                        entry.has_new_purge = False
                        self.keeper.request(user, space)
            yield self._rows_of(entries)
        self._evict()

    def has_room(self, users: Sequence[str], space: EmbeddingSpace) -> bool:
        """Return whether the indexes of these users fit in the memory of this process at the same time."""
        with self._lock:
            if all((user, space.pk) in self._cached for user in users):
                return True
        memories = sum(active_counts(users).values())
        needed = len(users) * USER_BYTES + memories * (MEMORY_BYTES + NUMBER_BYTES * space.dimension)
        return needed <= self._max_bytes

    @contextmanager
    def as_cached(
        self, users: Sequence[str], space: EmbeddingSpace
    ) -> Iterator[tuple[list[RowStore], dict[str, int]] | None]:
        """Yield the rows as this process last knew them, locked while the block runs, without asking the database.

        With them each user's version as of the last refresh: a ranking is valid only if the database is still at
        these. Yields None where that is not to be expected: an index is not loaded, or had changed at the last
        comparison.
        """
        connection.ensure_connection()
        with ExitStack() as locks:
            entries = self._entries(users, space, only_loaded=True)
            for entry in entries.values():
                locks.enter_context(entry.lock)
            is_usable = bool(entries) and all(entry.is_current for entry in entries.values())
            yield (self._rows_of(entries), versions_of(entries)) if is_usable else None

    def _entries(
        self, users: Sequence[str], space: EmbeddingSpace, *, only_loaded: bool = False
    ) -> dict[str, CachedIndex]:
        """Return the indexes of these users in the order in which they are locked, and mark them as used.

        only_loaded: none at all unless all of them exist; else those that are missing are created.
        """
        keys = {user: (user, space.pk) for user in sorted(set(users))}
        with self._lock:
            if only_loaded and any(key not in self._cached for key in keys.values()):
                return {}
            for key in keys.values():
                if key not in self._cached:
                    self._cached[key] = CachedIndex(space.dimension, scale_of(space.space_id))
                self._cached.move_to_end(key)
            return {user: self._cached[key] for user, key in keys.items()}

    def _rows_of(self, entries: Mapping[str, CachedIndex]) -> list[RowStore]:
        for entry in entries.values():
            entry.rows.use_graph = self.use_graphs
        return [entry.rows for entry in entries.values()]

    def _evict(self) -> None:
        """Drop the least recently used; a thread that still reads one of them keeps it until it is done."""
        with self._lock:
            total = sum(entry.nbytes for entry in self._cached.values())
            # The last one stays: an index that is larger than the limit would be loaded for every search.
            while total > self._max_bytes and len(self._cached) > 1:
                _, dropped = self._cached.popitem(last=False)
                total -= dropped.nbytes
                EVICTIONS.inc()
                self.evictions.count()

    def peek(self, user: str, space: EmbeddingSpace) -> CachedIndex | None:
        """Return the index of a user as it is in memory, if it is."""
        with self._lock:
            return self._cached.get((user, space.pk))

    def drop_forgotten(self) -> None:
        """Drop the indexes of users of whom the database knows nothing any more."""
        with self._lock:
            users = {user for user, _ in self._cached}
        known = set(MemoryShard.objects.filter(user_id__in=users).values_list("user_id", flat=True))
        with self._lock:
            for key in [key for key in self._cached if key[0] in users - known]:
                del self._cached[key]

    def __len__(self) -> int:
        """Return how many indexes there are."""
        return len(self._cached)

    def clear(self) -> None:
        """Forget everything; the next search loads what it needs."""
        with self._lock:
            self._cached.clear()

    @property
    def nbytes(self) -> int:
        """Return how much memory the indexes take, as of their last refresh."""
        with self._lock:
            return sum(entry.nbytes for entry in self._cached.values())

    def largest(self, count: int) -> list[tuple[str, list[int]]]:
        """Return the users with the most memories: how many, how many of them are in the graph, and bytes.

        As of their last refresh.
        """
        with self._lock:
            entries = [(user, entry) for (user, _), entry in self._cached.items()]
        found = []
        for user, entry in entries:
            graph = entry.rows.graph
            found.append((user, [len(entry.rows), 0 if graph is None else len(graph), entry.nbytes]))
        return sorted(found, key=lambda one: -one[1][0])[:count]

    def describe(self) -> dict[str, float]:
        """Return counts: indexes, their size in bytes, memories, graphs, memories in graphs, backlog and evictions.

        backlog: memories of large indexes that no graph has yet. evictions: indexes that were dropped because the cache
        was full, since the start and per minute.
        """
        with self._lock:
            entries = list(self._cached.values())
        names = ("bytes", "memories", "graphs", "graph_memories", "backlog")
        figures: dict[str, float] = {"indexes": len(entries), **dict.fromkeys(names, 0)}
        for entry in entries:
            memories, graph = len(entry.rows), entry.rows.graph
            covered = 0 if graph is None else len(graph)
            figures["bytes"] += entry.nbytes
            figures["memories"] += memories
            figures["graphs"] += graph is not None
            figures["graph_memories"] += covered
            if graph is not None or memories >= GRAPH_ROWS:
                figures["backlog"] += max(0, memories - covered)
        evictions = self.evictions
        return figures | {"evictions": evictions.total, "evictions_per_minute": evictions.per_minute}


def versions_of(entries: Mapping[str, CachedIndex]) -> dict[str, int]:
    """Return the version of each user's index; -1 where nothing is loaded."""
    return {user: entry.rows.version for user, entry in entries.items()}


def refresh(entries: Mapping[str, CachedIndex], space: EmbeddingSpace) -> None:
    """Bring locked indexes up to date. Raises SpaceChangedError."""
    is_steady = is_current(versions_of(entries), space)
    for entry in entries.values():
        entry.is_current = is_steady
    if is_steady:
        return
    versions = apply_changes(entries, space)
    if len(versions) < len(entries):
        raise SpaceChangedError  # no space is active
    ahead = [user for user, version in versions.items() if version < entries[user].rows.version]
    for user in ahead:  # of a database that was restored, or of a standby that had not received everything
        entries[user].reset()
    if ahead:
        refresh(entries, space)
        return
    for user, version in versions.items():
        entries[user].set_version(version)


def apply_changes(entries: Mapping[str, CachedIndex], space: EmbeddingSpace) -> dict[str, int]:
    """Apply what changed, in parts: all rows of a large index at once would take twice the memory.

    Returns:
        The version of each user's memories in the database.
    """
    loading = {user for user, entry in entries.items() if entry.rows.version < 0}
    versions: dict[str, int] = {}
    try:
        with closing(changes_in_parts(versions_of(entries), space)) as parts:
            for user, change in chain.from_iterable(part.items() for part in parts):
                entry = entries[user]
                if user not in versions and change.memories:
                    entry.rows.begin_loading(change.memories)
                if user not in versions and 0 <= entry.rows.version < change.reset_version:
                    entry.reset()
                entry.note_purge(change.reset_version)
                if entry.rows.version < change.version:
                    LOADED_ROWS.labels("load" if user in loading else "update").inc(len(change.rows))
                    entry.apply(change.rows)
                versions[user] = change.version
        for user in loading:
            entries[user].rows.end_loading()
    except BaseException:
        for user in versions:  # some may have a part of the changes
            entries[user].reset()
        raise
    return versions


def index_bound() -> int:
    """Return how many bytes the indexes of a process may take."""
    return settings.MEMORYHUB.index_cache_mb * MB


_cache = PerProcess(lambda: IndexCache(index_bound()))


def index_cache() -> IndexCache:
    """Return the cache of this process."""
    return _cache.get()


def forget_database() -> None:
    """Forget all that was read: this process is connected to another database."""
    index_cache().clear()
    forget_space()


def cache_state() -> CacheState:
    """Return how full the cache of this process is."""
    return CacheState("indexes of memories", len(index_cache()), index_cache().nbytes, index_bound())


on_database_change(forget_database)
list_cache(cache_state)
