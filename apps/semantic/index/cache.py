"""The shards that this process has in memory, kept in step with the database (DESIGN D2, D9).

Every search asks whether anything has changed since this process last looked, before it ranks or when it reads what it
found, so it sees every write that was committed before it began, whichever process made it.
"""

import os
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from itertools import chain
from typing import NamedTuple

from django.conf import settings
from django.db import connection
from prometheus_client import Counter, Histogram

from apps.core.db.identity import on_database_change
from apps.llm.selectors import EmbeddingSpace
from apps.retrieval.domain.planner import GRAPH_ROWS, GraphNeed
from apps.retrieval.domain.rows import IndexRow, RowStore
from apps.semantic.index.changes import CODED, active_counts, changes_in_parts, is_current
from apps.semantic.index.graphs import GraphKeeper, need_of
from apps.semantic.store.embedding_space import SpaceChangedError, forget_space

LOADED_ROWS = Counter("semantic_index_rows_loaded_total", "Memories read into shards, by why.", ["kind"])
REFRESH_SECONDS = Histogram("semantic_index_refresh_seconds", "Time to bring the shards of a search up to date.")
EVICTIONS = Counter("semantic_index_evictions_total", "Shards dropped because the cache was full.")


class _Cached:
    """A shard, its size, and the lock of whoever changes or reads it."""

    def __init__(self, dimension: int) -> None:
        self.lock = threading.RLock()
        self._dimension = dimension
        # At which version rows were removed for good, and whether that is news to whoever keeps the graph.
        self.purged_at, self.is_purge_news = 0, False
        self.reset()

    def reset(self) -> None:
        """Hold nothing, so that the next refresh loads everything."""
        self.shard = RowStore(self._dimension, CODED)
        # Whether the last look at the database found nothing new.
        self.is_steady = False
        self.has_changed = False
        self.nbytes = self.shard.nbytes

    def apply(self, rows: Sequence[IndexRow]) -> None:
        """Take over changed rows. A failure midway leaves nothing behind that could be read."""
        try:
            self.shard.apply(rows)
        except BaseException:
            self.reset()
            raise

    def note_purge(self, version: int) -> None:
        """Rows were removed for good at that version; 0 for never."""
        self.is_purge_news = self.is_purge_news or version > self.purged_at
        self.purged_at = version

    def arrive_at(self, version: int) -> None:
        """All changes up to `version` are taken over."""
        if version != self.shard.version:
            self.shard.version = version
            self.has_changed = True
            self.grown()

    def grown(self) -> None:
        """The shard takes more memory, or less."""
        self.nbytes = self.shard.nbytes


class IndexCache:
    """Shards by user and embedding space, the least recently used ones dropped beyond a size in bytes."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._cached: OrderedDict[tuple[str, int], _Cached] = OrderedDict()
        self._lock = threading.Lock()
        self.keeper = GraphKeeper(self.peek, self._evict)
        self.use_graphs = True

    @contextmanager
    def refreshed(self, users: Sequence[str], space: EmbeddingSpace) -> Iterator[list[RowStore]]:
        """The shards of these users as of now, locked while the block runs. Raises SpaceChangedError."""
        connection.ensure_connection()  # A new one may turn out to lead to another database: before anything is taken.
        with ExitStack() as locks:
            entries = {user: self._entry(user, space) for user in sorted(set(users))}
            for entry in entries.values():
                locks.enter_context(entry.lock)
            with REFRESH_SECONDS.time():
                _refresh(entries, space)
            for user, entry in entries.items():
                self._see_to_graph(user, entry, space)
            yield self._handed_out(entries)
        self._evict()

    @contextmanager
    def as_cached(self, users: Sequence[str], space: EmbeddingSpace) -> Iterator["Seen | None"]:
        """The shards as this process last knew them, locked while the block runs, without a look at the database.

        What is made of them is worth something only if the database still stands at their versions. None where that
        is not to be expected: a shard is not loaded, or was found changed when it was last looked at.
        """
        connection.ensure_connection()
        with ExitStack() as locks:
            entries = self._loaded(users, space)
            for entry in entries.values():
                locks.enter_context(entry.lock)
            is_steady = bool(entries) and all(entry.is_steady for entry in entries.values())
            yield Seen(self._handed_out(entries), _versions(entries)) if is_steady else None

    def _handed_out(self, entries: Mapping[str, _Cached]) -> list[RowStore]:
        """The shards of locked entries as searches are to use them now."""
        for entry in entries.values():
            entry.shard.use_graph = self.use_graphs
        return [entry.shard for entry in entries.values()]

    def clear(self) -> None:
        """Forget everything; the next search loads what it needs."""
        with self._lock:
            self._cached.clear()

    @property
    def nbytes(self) -> int:
        """How much memory the shards take, as of their last refresh."""
        with self._lock:
            return sum(entry.nbytes for entry in self._cached.values())

    def describe(self) -> dict[str, int]:
        """What is in memory: shards, their size in bytes, memories, graphs, memories in them, and the backlog.

        backlog: memories of large shards that no graph knows yet.
        """
        with self._lock:
            entries = list(self._cached.values())
        counted = [_count(entry.shard) for entry in entries]
        names = ("memories", "graphs", "graph_memories", "backlog")
        sums = (
            dict(zip(names, map(sum, zip(*counted, strict=True)), strict=True)) if counted else dict.fromkeys(names, 0)
        )
        return {"shards": len(entries), "bytes": sum(entry.nbytes for entry in entries), **sums}

    def peek(self, user: str, space: EmbeddingSpace) -> _Cached | None:
        """The shard of a user as it is in memory, if it is, with its lock."""
        with self._lock:
            return self._cached.get((user, space.pk))

    def _see_to_graph(self, user: str, entry: _Cached, space: EmbeddingSpace) -> None:
        if entry.has_changed:
            entry.has_changed = False
            if entry.is_purge_news or need_of(entry.shard) is not GraphNeed.NOTHING:
                entry.is_purge_news = False
                self.keeper.request(user, space)

    def _entry(self, user: str, space: EmbeddingSpace) -> _Cached:
        key = (user, space.pk)
        with self._lock:
            if key not in self._cached:
                self._cached[key] = _Cached(space.dimension)
            self._cached.move_to_end(key)
            return self._cached[key]

    def _loaded(self, users: Sequence[str], space: EmbeddingSpace) -> dict[str, _Cached]:
        """The entries of these users, in order; none unless all are there."""
        keys = {user: (user, space.pk) for user in sorted(set(users))}
        with self._lock:
            if not all(key in self._cached for key in keys.values()):
                return {}
            for key in keys.values():
                self._cached.move_to_end(key)
            return {user: self._cached[key] for user, key in keys.items()}

    def _evict(self) -> None:
        """Drop the least recently used; whoever still reads one of them keeps it until done."""
        with self._lock:
            total = sum(entry.nbytes for entry in self._cached.values())
            # The last one stays: a shard that is larger than the limit would be loaded for every search.
            while total > self._max_bytes and len(self._cached) > 1:
                _, dropped = self._cached.popitem(last=False)
                total -= dropped.nbytes
                EVICTIONS.inc()


class Seen(NamedTuple):
    """Shards, and the version at which each user's memories stood when they were last brought up to date."""

    shards: list[RowStore]
    versions: dict[str, int]


def _count(shard: RowStore) -> tuple[int, int, int, int]:
    """Memories, whether there is a graph, memories in it, and those that one should know and does not."""
    graph = shard.graph
    covered = 0 if graph is None else len(graph)
    backlog = max(0, len(shard) - covered) if graph is not None or len(shard) >= GRAPH_ROWS else 0
    return len(shard), int(graph is not None), covered, backlog


def _refresh(entries: Mapping[str, _Cached], space: EmbeddingSpace) -> None:
    """Bring shards up to date. Raises SpaceChangedError."""
    is_steady = is_current(_versions(entries), space)
    for entry in entries.values():
        entry.is_steady = is_steady
    if is_steady:
        return
    arrived = _take_over(entries, space)
    if len(arrived) < len(entries):
        raise SpaceChangedError  # no space is active
    ahead = [user for user, version in arrived.items() if version < entries[user].shard.version]
    for user in ahead:  # of a database that was restored, or of a standby that had not got everything
        entries[user].reset()
    if ahead:
        _refresh(entries, space)
        return
    for user, version in arrived.items():
        entries[user].arrive_at(version)


def _versions(entries: Mapping[str, _Cached]) -> dict[str, int]:
    return {user: entry.shard.version for user, entry in entries.items()}


def _take_over(entries: Mapping[str, _Cached], space: EmbeddingSpace) -> dict[str, int]:
    """Take over what changed, a part after the other: all rows of a large shard at once would take twice the memory.

    Gives the version at which each user's memories stand.
    """
    loading = {user for user, entry in entries.items() if entry.shard.version < 0}
    arrived: dict[str, int] = {}
    try:
        for user, rows in active_counts(loading).items():
            entries[user].shard.begin_loading(rows)
        with closing(changes_in_parts(_versions(entries), space)) as parts:
            for user, change in chain.from_iterable(part.items() for part in parts):
                entry = entries[user]
                if user not in arrived and 0 <= entry.shard.version < change.reset_version:
                    entry.reset()
                entry.note_purge(change.reset_version)
                if entry.shard.version < change.version:
                    LOADED_ROWS.labels("load" if user in loading else "update").inc(len(change.rows))
                    entry.apply(change.rows)
                arrived[user] = change.version
        for user in loading:
            entries[user].shard.end_loading()
    except BaseException:
        for user in arrived:  # some may have taken over a part of what there is
            entries[user].reset()
        raise
    return arrived


_cache: IndexCache | None = None
_cache_lock = threading.Lock()


def _begin_without() -> None:
    """In a forked process: nobody there holds the locks that were held, or does what was asked for."""
    global _cache, _cache_lock
    _cache, _cache_lock = None, threading.Lock()


os.register_at_fork(after_in_child=_begin_without)


def index_cache() -> IndexCache:
    """The cache of this process."""
    global _cache
    with _cache_lock:
        if _cache is None:
            _cache = IndexCache(settings.MEMORYHUB.index_cache_mb * 1024 * 1024)
        return _cache


def _forget_all() -> None:
    if _cache is not None:
        _cache.clear()
    forget_space()


on_database_change(_forget_all)
