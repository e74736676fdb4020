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

from prometheus_client import Counter

from apps.llm.models import EmbeddingSpace
from apps.retrieval.domain.graph import VectorGraph
from apps.retrieval.domain.planning import GraphNeed, graph_need
from apps.retrieval.domain.shard import Shard
from apps.semantic.graph_files import Snapshots

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
# For another process to finish the graph that it is making.
ASK_AGAIN_SECONDS = 5.0

Key = tuple[str, EmbeddingSpace]


class Kept(Protocol):
    """A shard and the lock of whoever changes or reads it."""

    lock: threading.RLock
    shard: Shard

    def grown(self) -> None:
        """The shard takes more memory, or less."""


Lookup = Callable[[str, EmbeddingSpace], Kept | None]


class GraphKeeper:
    """Makes graphs, puts new rows into them and writes snapshots. lookup: gives the shard of a user if cached."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._wanted: queue.SimpleQueue[Key] = queue.SimpleQueue()
        self._asked: set[tuple[str, int]] = set()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._unsaved: dict[tuple[str, int], tuple[EmbeddingSpace, int]] = {}
        self.progress: dict[str, tuple[int, int]] = {}

    def look_at(self, user: str, space: EmbeddingSpace) -> None:
        """See to the graph of a shard soon."""
        with self._lock:
            if (user, space.pk) in self._asked:
                return
            self._asked.add((user, space.pk))
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="graph keeper", daemon=True)
                self._thread.start()
                atexit.register(self.close)
        self._wanted.put((user, space))

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits to be seen to."""
        return not self._asked

    def _run(self) -> None:
        while True:
            user, space = self._wanted.get()
            try:
                self.see_to(user, space)
            except Exception:
                FAILURES.inc()
                logger.exception("the graph of a shard could not be kept")
            finally:
                with self._lock:
                    self._asked.discard((user, space.pk))

    def see_to(self, user: str, space: EmbeddingSpace) -> None:
        """Bring a shard's graph up to date. It may be called in any thread, by one at a time."""
        kept = self._lookup(user, space)
        if kept is None:
            return
        need = _need(kept)
        if need is GraphNeed.BUILD and self._take_from_disk(kept, user, space):
            need = _need(kept)
        if need is GraphNeed.BUILD:
            self._build(kept, user, space)
        elif need is GraphNeed.COVER:
            self._cover(kept, user, space)
        kept.grown()

    def _take_from_disk(self, kept: Kept, user: str, space: EmbeddingSpace) -> bool:
        with kept.lock:
            if kept.shard.graph is not None:
                return False
        loaded = Snapshots.of(user, space).load()
        if loaded is None:
            return False
        with kept.lock:
            kept.shard.attach_known(loaded.graph, loaded.rows)
        GRAPHS.labels("snapshot").inc()
        return True

    def _build(self, kept: Kept, user: str, space: EmbeddingSpace) -> None:
        with Snapshots.of(user, space).exclusive() as mine:
            if not mine:
                self._ask_again(user, space)
                return
            with kept.lock:
                source, version = kept.shard.graph_source(), kept.shard.version
            started = time.monotonic()
            graph = VectorGraph.of(
                source.ids,
                source.vectors[source.slots],
                threads=os.cpu_count() or 1,
                progress=lambda done, total: self._note(user, done, total),
            )
            self.progress.pop(user, None)
            with kept.lock:
                kept.shard.attach(graph, source)
            GRAPHS.labels("rows").inc()
            logger.info("made a graph of %d rows in %.1f s", len(source.ids), time.monotonic() - started)
            self._save(kept, graph, version, user, space)

    def _note(self, user: str, done: int, total: int) -> None:
        self.progress[user] = (done, total)

    def _ask_again(self, user: str, space: EmbeddingSpace) -> None:
        timer = threading.Timer(ASK_AGAIN_SECONDS, self.look_at, (user, space))
        timer.daemon = True
        timer.start()

    def close(self) -> None:
        """Write the snapshots that lag behind, when the process ends."""
        for (user, _), (space, unsaved) in list(self._unsaved.items()):
            kept = self._lookup(user, space)
            if kept is not None and unsaved > SAVED_AT_END_SHARE * len(kept.shard):
                self._save_if_mine(kept, user, space)

    def _save_if_mine(self, kept: Kept, user: str, space: EmbeddingSpace) -> None:
        graph = kept.shard.graph
        with Snapshots.of(user, space).exclusive() as mine:
            if mine and graph is not None:
                self._save(kept, graph, kept.shard.version, user, space)

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

    def _save(self, kept: Kept, graph: VectorGraph, version: int, user: str, space: EmbeddingSpace) -> None:
        """Write a snapshot beside the searches. A full disk is worth a warning: nothing depends on it."""
        with kept.lock:
            graph.hold_removals()
        try:
            Snapshots.of(user, space).save(graph, version)
            self._unsaved[user, space.pk] = space, 0
            SNAPSHOTS.labels("written").inc()
        except OSError as error:
            SNAPSHOTS.labels("failed").inc()
            logger.warning("a snapshot of a graph could not be written: %s", type(error).__name__)
        finally:
            with kept.lock:
                graph.release_removals()


def need_of(shard: Shard) -> GraphNeed:
    """What the graph of a shard is in need of. Its lock is held."""
    if shard.graph is None:
        return graph_need(len(shard), None, 0, 0)
    return graph_need(len(shard), len(shard.graph), shard.graph.removed, shard.graph.room)


def _need(kept: Kept) -> GraphNeed:
    with kept.lock:
        return need_of(kept.shard)
