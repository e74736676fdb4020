"""Recall of large indexes: verified against an exact search, and kept over time."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apps.core.domain.scope import system_access
from apps.core.processes import ProcessKind, publish
from apps.semantic import tasks
from apps.semantic.health import index_facts, large_index_facts
from apps.semantic.index import overview
from apps.semantic.index.cache import index_cache
from apps.semantic.index.recall import QUERIES, recall_verify
from apps.semantic.index.snapshots import Snapshots
from apps.semantic.index.warm_up import user_mark
from apps.semantic.models import RecallCheck
from apps.semantic.services import index_overview
from apps.semantic.store.embedding_space import current_space
from tests.integration.semantic.graph_support import ROWS, save_things, use_small_graphs

pytestmark = pytest.mark.django_db(transaction=True)
ACCESS = system_access("test")


@pytest.fixture(autouse=True)
def small_graphs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: Any) -> None:
    use_small_graphs(monkeypatch, tmp_path, settings)
    overview._counted.forget()


def test_verifying_compares_graph_and_exact_search_of_real_vectors() -> None:
    save_things(ACCESS)
    tasks.verify_recall("ana")
    check = RecallCheck.objects.get()
    assert (check.user_id, check.memories, check.queries, check.problem) == ("ana", ROWS, QUERIES, "")
    assert check.recall is not None
    assert 0.9 <= check.recall <= 1


def test_recall_of_a_graph_that_finds_the_wrong_memories_is_low(monkeypatch: pytest.MonkeyPatch) -> None:
    from apps.retrieval.domain.vectors.graph import VectorGraph

    save_things(ACCESS)
    search = VectorGraph.search
    monkeypatch.setattr(VectorGraph, "search", lambda graph, vector, count: search(graph, -np.asarray(vector), count))
    check = recall_verify("ana", current_space())
    assert check.recall is not None
    assert check.recall < 0.5


def test_graph_is_built_again_on_the_disk() -> None:
    save_things(ACCESS)
    tasks.build_graph("ana")
    [before] = Snapshots.of("ana", current_space()).headers()
    written = before.stat().st_mtime_ns
    tasks.build_graph("ana")
    [after] = Snapshots.of("ana", current_space()).headers()
    assert after.stat().st_mtime_ns > written


def test_small_index_has_nothing_to_verify() -> None:
    save_things(ACCESS, count=20)
    tasks.verify_recall("ana")
    assert not RecallCheck.objects.exists()


def test_overview_shows_indexes_of_processes_that_name_no_person() -> None:
    save_things(ACCESS)
    tasks.build_graph("ana")
    with index_cache().refreshed(["ana"], current_space()):
        pass
    index_cache().keeper.update("ana", current_space())
    facts = {"index": index_facts(), "large_indexes": large_index_facts()}
    assert list(facts["large_indexes"]) == [user_mark("ana")]
    publish(ProcessKind.WEB, {"index": "ok"}, facts)
    shown = index_overview()
    [one] = shown.users
    assert (one.user, one.memories, one.has_graph, one.backlog) == ("ana", ROWS, True, 0)
    assert one.snapshot is not None
    [(memories, covered, size)] = one.loaded.values()
    assert (memories, covered) == (ROWS, ROWS)
    assert size > 0
    assert len(shown.processes) == 1
