"""Shards of a hundred memories with graphs, which otherwise ten thousand are worth."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from django.db import connection

from apps.core.domain.scope import Access, Scope
from apps.retrieval.domain import planner
from apps.retrieval.domain.planner import DEFAULT_COSTS
from apps.retrieval.domain.query import SearchMode, SearchQuery
from apps.retrieval.domain.rows import RowStore
from apps.retrieval.domain.vectors import graph
from apps.retrieval.domain.vectors.graph import VectorGraph
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.index.cache import IndexCache
from apps.semantic.index.snapshots import Snapshots
from apps.semantic.models import Memory, MemoryEmbedding
from apps.semantic.search.costs import write_search_costs
from apps.semantic.search.search import memory_search
from apps.semantic.services import memory_save_many
from apps.semantic.store.embedding_space import current_space

ROWS = 150
FREE_GRAPHS = replace(DEFAULT_COSTS, scan=1e4, subset=1e4, graph=1.0, fixed=1.0)
PATIENCE = 30.0


def use_small_graphs(monkeypatch: pytest.MonkeyPatch, place: Path, settings: Any) -> None:
    """A graph for every shard of a hundred rows, free of cost, on a disk of its own."""
    settings.SEMANTIC_INDEX_DIR = place / "semantic-index"
    monkeypatch.setattr(planner, "GRAPH_ROWS", 100)
    monkeypatch.setattr(planner, "COVER_AT", 5)
    write_search_costs(FREE_GRAPHS)


def save_things(access: Access, count: int = ROWS, first: int = 0) -> list[Memory]:
    """Memories of the user ana, all different."""
    drafts = [MemoryDraft(f"thing {n} of kind {n * 7}", scope=Scope("ana")) for n in range(first, first + count)]
    return [outcome.memory for outcome in memory_save_many(access=access, drafts=drafts)]  # type: ignore[union-attr]


def shard_of(cache: IndexCache, check: Callable[[RowStore], Any]) -> Any:
    """What is true of ana's shard as of now."""
    with cache.refreshed(["ana"], current_space()) as [shard]:
        return check(shard)


def keep(cache: IndexCache) -> None:
    """See to the graph of ana's shard."""
    shard_of(cache, len)
    cache.keeper.update("ana", current_space())


def in_graph(cache: IndexCache) -> int | None:
    """How many of ana's memories the graph knows; None without one."""
    return shard_of(cache, lambda shard: None if shard.graph is None else len(shard.graph))


def near(access: Access, text: str, top_k: int = 5) -> tuple[list[str], str]:
    """What a search of ana's finds, and by which way."""
    query = SearchQuery(scope=Scope("ana"), query=text, mode=SearchMode.VECTOR, top_k=top_k)
    result = memory_search(access, query)
    return [item.memory.content for item in result.found], result.index


def random_draft(number: int) -> MemoryDraft:
    """A memory of ana's with a vector of its own, another one for each number; near to no other."""
    vector = np.random.default_rng(number).standard_normal(current_space().dimension).astype(np.float32)
    return MemoryDraft(f"saved as number {number} {vector[0]}", scope=Scope("ana"), embedding=vector)


def answers_are_exact(access: Access) -> None:
    """Searches by the graph, so broad that they miss nothing, find the ten nearest of the rows of the tables."""
    rows = MemoryEmbedding.objects.filter(memory__user_id="ana", memory__status="active")
    matrix = np.array(list(rows.values_list("vector", flat=True)), dtype=np.float32)
    for vector in np.random.default_rng(7).standard_normal((5, matrix.shape[1])).astype(np.float32):
        query = SearchQuery(scope=Scope("ana"), embedding=vector, mode=SearchMode.VECTOR, top_k=10)
        with patch.object(graph, "MIN_BREADTH", len(matrix)):
            result = memory_search(access, query)
        assert result.index == "hnsw", result
        assert len({found.memory.pk for found in result.found}) == 10
        nearest = np.sort(matrix @ (vector / np.linalg.norm(vector)))[::-1][:10].tolist()
        found = [one.hit.similarity for one in result.found]
        assert found == pytest.approx(nearest, abs=1e-5), (found, nearest)


def snapshots_of_ana() -> Snapshots:
    """Where her graphs lie."""
    return Snapshots.of("ana", current_space())


class Gate:
    """Stops a call of another thread until it is opened."""

    def __init__(self) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()
        self.calls = 0

    def before(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """The same call behind the gate."""

        def behind(*args: Any, **kwargs: Any) -> Any:
            self.calls += 1
            self.reached.set()
            assert self.opened.wait(PATIENCE), "nobody opened the gate"
            return call(*args, **kwargs)

        return behind


@contextmanager
def in_thread(work: Callable[[], Any], gate: Gate) -> Iterator[threading.Thread]:
    """Do something in another thread up to the gate; afterwards open it and wait for the end."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as failure:  # noqa: BLE001  (raised below)
            failures.append(failure)
        finally:
            connection.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        assert gate.reached.wait(PATIENCE), failures or "the gate was never reached"
        yield thread
    finally:
        gate.opened.set()
        thread.join(PATIENCE)
    assert not thread.is_alive()
    if failures:
        raise failures[0]


def wait_until_idle(cache: IndexCache) -> None:
    """Until its keeper has done all that it was asked for."""
    deadline = time.monotonic() + PATIENCE
    while not cache.keeper.is_idle:
        assert time.monotonic() < deadline, "the keeper comes to no end"
        time.sleep(0.005)


def builds_counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each graph has that is made from now on."""
    made: list[int] = []
    build = VectorGraph.of

    def counted(ids: Any, vectors: Any, **options: Any) -> VectorGraph:
        made.append(len(ids))
        return build(ids, vectors, **options)

    monkeypatch.setattr(VectorGraph, "of", counted)
    return made
