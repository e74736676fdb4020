"""Keeps the graphs of large shards in step with their rows, in a thread beside the searches (DESIGN D9).

A search never waits for it: what the graph does not know yet is looked at row by row. One process makes a graph, under
a lock on the disk, and leaves it there for the others and for the next start.
"""

import atexit
import logging
import os
import queue
import threading
import time
from collections.abc import Callable
from typing import Protocol

from django.db import Error, connection
from prometheus_client import Counter

from apps.llm.selectors import EmbeddingSpace
from apps.retrieval.domain.planner import GraphNeed, graph_need
from apps.retrieval.domain.rows import GraphSource, RowStore
from apps.retrieval.domain.vectors.graph import VectorGraph
from apps.semantic.index.snapshots import Snapshots
from apps.semantic.models import MemoryShard

logger = logging.getLogger(__name__)
GRAPHS = Counter("semantic_graphs_total", "Graphs of large shards taken into use, by where they came from.", ["source"])
COVERED_ROWS = Counter("semantic_graph_rows_added_total", "Memories put into a graph after it was made.")
SNAPSHOTS = Counter("semantic_graph_snapshots_total", "Snapshots of graphs, by what came of them.", ["outcome"])
FAILURES = Counter("semantic_graph_failures_total", "Errors while graphs were kept.")

# Rows put into a graph under one hold of the lock: some ten milliseconds.
COVER_CHUNK = 32
# A snapshot that lags by more than this share of the rows is written anew.
SNAPSHOT_SHARE = 0.05
SAVED_AT_END_SHARE = 0.01
# For the work that is being done when the process ends.
CLOSE_SECONDS = 2.0
# For another process to finish the graph that it is making.
ASK_AGAIN_SECONDS = 5.0

Key = tuple[str, EmbeddingSpace]


class Kept(Protocol):
    """A shard and the lock of whoever changes or reads it. purged_at: the version of the user's last purge."""

    lock: threading.RLock
    shard: RowStore
    purged_at: int

    def grown(self) -> None:
        """The shard takes more memory, or less."""


Lookup = Callable[[str, EmbeddingSpace], Kept | None]


class GraphKeeper:
    """Makes graphs, puts new rows into them and writes snapshots.

    lookup: gives the shard of a user if cached. grown: called when a shard may take more memory than before.
    """

    def __init__(self, lookup: Lookup, grown: Callable[[], None] = lambda: None) -> None:
        self._lookup, self._grown = lookup, grown
        self._wanted: queue.SimpleQueue[Key | None] = queue.SimpleQueue()
        self._has_ended = False
        self._asked: set[tuple[str, int]] = set()
        self._is_busy = False
        self._lock = threading.Lock()
        # Held while a graph is seen to. Nobody may put rows into one that is being written to a file, and there is
        # memory for one that is being loaded.
        self._work = threading.Lock()
        self._thread: threading.Thread | None = None
        self._unsaved: dict[tuple[str, int], tuple[EmbeddingSpace, int]] = {}
        # At which version of the user's memories the graph in use was made, or a snapshot of it written.
        self._made_at: dict[tuple[str, int], int] = {}
        # How many rows the graph that is being made has, and how many it will have; None when none is being made.
        self.making: tuple[int, int] | None = None

    def request(self, user: str, space: EmbeddingSpace) -> None:
        """See to the graph of a shard soon."""
        with self._lock:
            if self._has_ended or (user, space.pk) in self._asked:
                return
            self._asked.add((user, space.pk))
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="graph keeper", daemon=True)
                self._thread.start()
                atexit.register(self.close)
        self._wanted.put((user, space))

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits to be seen to, and nothing is."""
        with self._lock:
            return not self._asked and not self._is_busy

    def end(self) -> None:
        """See to no graph any more, and let go of the shards. What is being done is finished."""
        with self._lock:
            self._has_ended = True
        self._wanted.put(None)
        atexit.unregister(self.close)

    def _run(self) -> None:
        while (wanted := self._wanted.get()) is not None:
            user, space = wanted
            with self._lock:
                self._is_busy = True
                # From here on each change is a reason to look again: a shard may also be dropped and loaded anew.
                self._asked.discard((user, space.pk))
            try:
                self.update(user, space)
            except Exception:
                FAILURES.inc()
                logger.exception("the graph of a shard could not be kept")
            finally:
                connection.close()
                with self._lock:
                    self._is_busy = False

    def update(self, user: str, space: EmbeddingSpace) -> None:
        """Bring a shard's graph up to date. It may be called in any thread, without the lock of the shard."""
        with self._work:
            kept = self._lookup(user, space)
            if kept is None:
                return
            if kept.purged_at:
                self._drop_purged(kept.purged_at, user, space)
            need = _need(kept)
            if need is GraphNeed.BUILD:
                need = self._take_or_build(kept, user, space)
            if need is GraphNeed.COVER:
                self._cover(kept, user, space)
            with kept.lock:
                kept.grown()
        self._grown()

    def _drop_purged(self, purged_at: int, user: str, space: EmbeddingSpace) -> None:
        snapshots = Snapshots.of(user, space)
        if not snapshots.directory.exists():
            return
        with snapshots.exclusive() as mine:
            if mine:
                snapshots.drop_purged(purged_at)
            else:
                self._ask_again(user, space)

    def _take_or_build(self, kept: Kept, user: str, space: EmbeddingSpace) -> GraphNeed:
        """Take another's graph from the disk, or make one. Gives what is needed then."""
        snapshots = Snapshots.of(user, space)
        with snapshots.exclusive() as mine:
            if mine:
                snapshots.tidy()
            self._take_from_disk(kept, snapshots, user, space)
            need = _need(kept)
            if need is not GraphNeed.BUILD:
                return need
            if mine:
                self._build(kept, user, space)
            else:
                self._ask_again(user, space)
            return GraphNeed.NOTHING

    def _take_from_disk(self, kept: Kept, snapshots: Snapshots, user: str, space: EmbeddingSpace) -> None:
        """If there is one that is newer than the one in use."""
        with kept.lock:
            shard, known = kept.shard, self._made_at.get((user, space.pk), -1)
        loaded = snapshots.load(newer_than=max(-1 if shard.graph is None else known, kept.purged_at - 1))
        if loaded is None:
            return
        with kept.lock:
            if kept.shard is not shard:  # emptied meanwhile, by a purge or a failure
                return
            shard.attach_known(loaded.graph, loaded.rows)
        self._made_at[user, space.pk] = loaded.header.version
        GRAPHS.labels("snapshot").inc()

    def _build(self, kept: Kept, user: str, space: EmbeddingSpace) -> None:
        with kept.lock:
            shard, source, version = kept.shard, kept.shard.graph_source(), kept.shard.version
        graph = self._made_of(source)
        with kept.lock:
            if kept.shard is not shard:
                self.request(user, space)
                return
            shard.attach(graph, source)
        self._made_at[user, space.pk] = version
        GRAPHS.labels("rows").inc()
        self._save(kept, user, space)

    def _made_of(self, source: GraphSource) -> VectorGraph:
        started = time.monotonic()
        try:
            graph = VectorGraph.of(
                source.ids,
                source.vectors[source.slots],
                threads=os.cpu_count() or 1,
                progress=self._note,
            )
        finally:
            self.making = None
        logger.info("made a graph of %d rows in %.1f s", len(source.ids), time.monotonic() - started)
        return graph

    def _note(self, done: int, total: int) -> None:
        self.making = (done, total)

    def _ask_again(self, user: str, space: EmbeddingSpace) -> None:
        timer = threading.Timer(ASK_AGAIN_SECONDS, self.request, (user, space))
        timer.daemon = True
        timer.start()

    def close(self) -> None:
        """Write the snapshots that lag behind, when the process ends. A graph that is being made is not waited for."""
        if not self._work.acquire(timeout=CLOSE_SECONDS):
            return
        try:
            for (user, _), (space, unsaved) in list(self._unsaved.items()):
                kept = self._lookup(user, space)
                if kept is not None and unsaved > SAVED_AT_END_SHARE * len(kept.shard):
                    self._save_if_mine(kept, user, space)
        finally:
            self._work.release()

    def _save_if_mine(self, kept: Kept, user: str, space: EmbeddingSpace) -> None:
        with Snapshots.of(user, space).exclusive() as mine:
            if mine:
                self._save(kept, user, space)

    def _cover(self, kept: Kept, user: str, space: EmbeddingSpace) -> None:
        added = 0
        while True:
            with kept.lock:
                shard = kept.shard
                if shard.graph is None:
                    return
                slots = shard.outside_graph()
                slots = slots[shard.vectors[slots].any(axis=1)][:COVER_CHUNK]
                if len(slots) == 0 or len(slots) > shard.graph.room:
                    break
                shard.cover(slots)
            added += len(slots)
        COVERED_ROWS.inc(added)
        unsaved = self._unsaved.get((user, space.pk), (space, 0))[1] + added
        self._unsaved[user, space.pk] = space, unsaved
        if unsaved > SNAPSHOT_SHARE * len(kept.shard):
            self._save_if_mine(kept, user, space)

    def _save(self, kept: Kept, user: str, space: EmbeddingSpace) -> None:
        """Write a snapshot beside the searches. A full disk is worth a warning: nothing depends on it."""
        with kept.lock:
            graph, version = kept.shard.graph, kept.shard.version
            if graph is None:
                return
            graph.hold_removals()
        snapshots = Snapshots.of(user, space)
        try:
            snapshots.save(graph, version)
            if _was_purged_since(user, version):
                snapshots.forget()
            self._unsaved[user, space.pk] = space, 0
            self._made_at[user, space.pk] = version
            SNAPSHOTS.labels("written").inc()
        except OSError as error:
            SNAPSHOTS.labels("failed").inc()
            logger.warning("a snapshot of a graph could not be written: %s", type(error).__name__)
        finally:
            with kept.lock:
                graph.release_removals()


def need_of(shard: RowStore) -> GraphNeed:
    """What the graph of a shard is in need of. Its lock is held."""
    if shard.graph is None:
        return graph_need(len(shard), None, 0, 0)
    return graph_need(len(shard), len(shard.graph), shard.graph.removed, shard.graph.room)


def _was_purged_since(user: str, version: int) -> bool:
    """Whether what a purge removed may have come back to the disk after it.

    When the database does not tell, the next who sees to the graph does.
    """
    try:
        return MemoryShard.objects.filter(user_id=user, reset_version__gt=version).exists()
    except Error:
        return False


def _need(kept: Kept) -> GraphNeed:
    with kept.lock:
        return need_of(kept.shard)
