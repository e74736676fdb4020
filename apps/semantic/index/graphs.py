"""Keep the graphs of large indexes in step with their rows, in a thread beside the searches (DESIGN D9).

A search never waits for it: rows that are not in the graph yet are compared one by one. One process builds a graph,
under a lock on the disk, and leaves a snapshot for the others and for the next start.
"""

import atexit
import logging
import os
import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from django.db import Error, connection
from prometheus_client import Counter

from apps.core.memory import give_back_memory
from apps.llm.selectors import EmbeddingSpace
from apps.retrieval.domain.planner import GraphNeed
from apps.retrieval.domain.rows import GraphSource
from apps.retrieval.domain.vectors.graph import VectorGraph
from apps.semantic.index.entry import CachedIndex
from apps.semantic.index.snapshots import Snapshots
from apps.semantic.models import MemoryShard

logger = logging.getLogger(__name__)
GRAPHS = Counter("memoryhub_graphs_total", "Graphs of large indexes taken into use, by their origin.", ["source"])
COVERED_ROWS = Counter("memoryhub_graph_rows_added_total", "Memories added to existing graphs.")
SNAPSHOTS = Counter("memoryhub_graph_snapshots_total", "Snapshots of graphs, by outcome.", ["outcome"])
FAILURES = Counter("memoryhub_graph_failures_total", "Errors during the maintenance of graphs.")

# Rows added to a graph under one hold of the lock: some ten milliseconds.
COVER_CHUNK = 32
# A snapshot that lags by more than this share of the rows is written again.
SNAPSHOT_SHARE = 0.05
SAVED_AT_END_SHARE = 0.01
# How long the end of the process waits for the current work.
CLOSE_SECONDS = 2.0
# How long to wait for another process that builds the graph.
ASK_AGAIN_SECONDS = 5.0

Lookup = Callable[[str, EmbeddingSpace], CachedIndex | None]


class GraphKeeper:
    """Builds graphs, adds new rows to them and writes snapshots.

    lookup: returns the index of a user if it is in memory. grown: called when an index may take more memory.
    """

    def __init__(self, lookup: Lookup, grown: Callable[[], None] = lambda: None) -> None:
        self._lookup, self._grown = lookup, grown
        self._queue: queue.SimpleQueue[tuple[str, EmbeddingSpace] | None] = queue.SimpleQueue()
        self._has_ended = False
        self._queued: set[tuple[str, int]] = set()
        self._is_busy = False
        self._lock = threading.Lock()
        # Held during an update: no rows may be added to a graph that is being written to a file, and there is
        # memory for one that is being loaded.
        self._work = threading.Lock()
        self._thread: threading.Thread | None = None
        self._unsaved: dict[tuple[str, int], tuple[EmbeddingSpace, int]] = {}
        # The version of the user's memories at which the graph in use was built, or a snapshot of it written.
        self._made_at: dict[tuple[str, int], int] = {}
        # How many rows the graph that is being built has, and how many it will have; None while none is being built.
        self.making: tuple[int, int] | None = None

    def request(self, user: str, space: EmbeddingSpace) -> None:
        """Have the graph of an index updated soon, by the thread of the keeper."""
        with self._lock:
            if self._has_ended or (user, space.pk) in self._queued:
                return
            self._queued.add((user, space.pk))
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="graph keeper", daemon=True)
                self._thread.start()
                atexit.register(self.close)
        self._queue.put((user, space))

    def request_later(self, user: str, space: EmbeddingSpace) -> None:
        """Have it updated after some seconds, when another process may have built it."""
        timer = threading.Timer(ASK_AGAIN_SECONDS, self.request, (user, space))
        timer.daemon = True
        timer.start()

    @property
    def is_idle(self) -> bool:
        """Return whether nothing is queued or being updated."""
        with self._lock:
            return not self._queued and not self._is_busy

    def end(self) -> None:
        """Accept no more requests, and let go of the indexes. The current update is finished."""
        with self._lock:
            self._has_ended = True
        self._queue.put(None)
        atexit.unregister(self.close)

    def _run(self) -> None:
        while (request := self._queue.get()) is not None:
            user, space = request
            with self._lock:
                self._is_busy = True
                # From here on each change is a reason to check again: an index may also be dropped and loaded again.
                self._queued.discard((user, space.pk))
            try:
                self.update(user, space)
            except Exception:
                FAILURES.inc()
                logger.exception("the graph of an index could not be kept")
            finally:
                connection.close()
                with self._lock:
                    self._is_busy = False

    def update(self, user: str, space: EmbeddingSpace) -> None:
        """Bring the graph of an index up to date. Any thread may call it, without the lock of the index."""
        with self._work:
            entry = self._lookup(user, space)
            if entry is None:
                return
            snapshots = Snapshots.of(user, space)
            if entry.purged_at and snapshots.directory.exists():
                with snapshots.exclusive() as is_ours:
                    if is_ours:
                        snapshots.drop_purged(entry.purged_at)
                    else:
                        self.request_later(user, space)
            with entry.lock:
                need = entry.graph_need
            if need is GraphNeed.BUILD:
                need = self._load_or_build(entry, snapshots, user, space)
                # All its rows were read from the database a moment ago, which leaves nearly as much free as they take.
                give_back_memory()
            if need is GraphNeed.COVER:
                self._cover(entry, user, space)
            with entry.lock:
                entry.measure()
        self._grown()

    def _load_or_build(self, entry: CachedIndex, snapshots: Snapshots, user: str, space: EmbeddingSpace) -> GraphNeed:
        """Load a graph that another process built, or build one. Return what remains to be done."""
        with snapshots.exclusive() as is_ours:
            if is_ours:
                snapshots.tidy()
            self._load_newer(entry, snapshots, user, space)
            with entry.lock:
                need = entry.graph_need
            if need is not GraphNeed.BUILD:
                return need
            if is_ours:
                self._build(entry, user, space)
            else:
                self.request_later(user, space)
            return GraphNeed.NOTHING

    def _load_newer(self, entry: CachedIndex, snapshots: Snapshots, user: str, space: EmbeddingSpace) -> None:
        """Use the graph of a snapshot if there is one newer than the graph in use."""
        with entry.lock:
            rows, made_at = entry.rows, self._made_at.get((user, space.pk), -1)
        loaded = snapshots.load(newer_than=max(-1 if rows.graph is None else made_at, entry.purged_at - 1))
        if loaded is None:
            return
        with entry.lock:
            if entry.rows is not rows:  # reset concurrently, by a purge or a failure
                return
            rows.attach_known(loaded.graph, loaded.rows)
        self._made_at[user, space.pk] = loaded.header.version
        GRAPHS.labels("snapshot").inc()

    def _build(self, entry: CachedIndex, user: str, space: EmbeddingSpace) -> None:
        with entry.lock:
            rows, source, version = entry.rows, entry.rows.graph_source(), entry.rows.version
        graph = self._build_graph(source)
        with entry.lock:
            if entry.rows is not rows:
                self.request(user, space)
                return
            rows.attach(graph, source)
        self._made_at[user, space.pk] = version
        GRAPHS.labels("rows").inc()
        self._save(entry, user, space)

    def _build_graph(self, source: GraphSource) -> VectorGraph:
        def note(done: int, total: int) -> None:
            self.making = done, total

        started = time.monotonic()
        vectors, threads = source.vectors[source.slots], os.cpu_count() or 1
        try:
            graph = VectorGraph.of(source.ids, vectors, threads=threads, progress=note)
        finally:
            self.making = None
        logger.info("built a graph of %d rows in %.1f s", len(source.ids), time.monotonic() - started)
        return graph

    def _cover(self, entry: CachedIndex, user: str, space: EmbeddingSpace) -> None:
        """Add the rows that the graph does not have, in chunks, so that searches get their turns."""
        added = 0
        while True:
            with entry.lock:
                rows = entry.rows
                if rows.graph is None:
                    return
                slots = rows.outside_graph()
                slots = slots[rows.vectors[slots].any(axis=1)][:COVER_CHUNK]
                if len(slots) == 0 or len(slots) > rows.graph.room:
                    break
                rows.cover(slots)
            added += len(slots)
        COVERED_ROWS.inc(added)
        unsaved = self._unsaved.get((user, space.pk), (space, 0))[1] + added
        self._unsaved[user, space.pk] = space, unsaved
        if unsaved > SNAPSHOT_SHARE * len(entry.rows):
            self._save_if_ours(entry, user, space)

    def _save_if_ours(self, entry: CachedIndex, user: str, space: EmbeddingSpace) -> None:
        with Snapshots.of(user, space).exclusive() as is_ours:
            if is_ours:
                self._save(entry, user, space)
                # Many memories were saved since the last time, and what that left free would stay with the threads.
                give_back_memory()

    def _save(self, entry: CachedIndex, user: str, space: EmbeddingSpace) -> None:
        """Write a snapshot beside the searches. A full disk is worth a warning: nothing depends on it."""
        with entry.lock:
            graph, version = entry.rows.graph, entry.rows.version
            if graph is None:
                return
            graph.hold_removals()
        snapshots = Snapshots.of(user, space)
        try:
            snapshots.save(graph, version)
            # The disk may again have what a purge removed, or what a forgotten user had: who has a graph has memories
            # and so a shard. When the database does not answer, the next update checks it.
            with suppress(Error):
                if not MemoryShard.objects.filter(user_id=user, reset_version__lte=version).exists():
                    snapshots.delete_all()
            self._unsaved[user, space.pk] = space, 0
            self._made_at[user, space.pk] = version
            SNAPSHOTS.labels("written").inc()
        except OSError as error:
            SNAPSHOTS.labels("failed").inc()
            logger.warning("a snapshot of a graph could not be written: %s", type(error).__name__)
        finally:
            with entry.lock:
                graph.release_removals()

    def close(self) -> None:
        """Write the snapshots that lag behind when the process ends; a graph that is being built is not waited for."""
        if not self._work.acquire(timeout=CLOSE_SECONDS):
            return
        try:
            for (user, _), (space, unsaved) in list(self._unsaved.items()):
                entry = self._lookup(user, space)
                if entry is not None and unsaved > SAVED_AT_END_SHARE * len(entry.rows):
                    self._save_if_ours(entry, user, space)
        finally:
            self._work.release()
