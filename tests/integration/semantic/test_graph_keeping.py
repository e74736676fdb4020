"""Graphs of large shards: made, kept in step with the rows, left on the disk, and never believed."""

import json
import threading
from pathlib import Path

import numpy as np
import pytest

from apps.core.domain.scope import Access, Scope
from apps.llm.models import EmbeddingSpace
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.index.cache import IndexCache, index_cache
from apps.semantic.index.snapshots import Snapshots, delete_snapshots_of_other_spaces, find_users_with_snapshots
from apps.semantic.models import Memory
from apps.semantic.services import memory_delete, memory_save_many
from apps.semantic.store.embedding_space import current_space
from tests.integration.semantic.graph_support import (
    ROWS,
    builds_counted,
    in_graph,
    keep,
    near,
    save_things,
    shard_of,
    use_small_graphs,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings) -> None:
    """Small graphs, seen to when the test says so."""
    use_small_graphs(monkeypatch, tmp_path, settings)
    monkeypatch.setattr("apps.semantic.index.graphs.GraphKeeper.request", lambda *_: None)


@pytest.fixture
def filled(access: Access) -> list[Memory]:
    """A user with more memories than a graph needs, all different."""
    return save_things(access)


def snapshot_of_a_graph_that_a_memory_has_left(access: Access, filled: list[Memory]) -> Snapshots:
    keep(index_cache())
    snapshots = Snapshots.of("ana", current_space())
    for path in snapshots.directory.iterdir():
        path.unlink()
    memory_delete(access=access, uuid=filled[5].uuid)
    snapshots.save(shard_of(index_cache(), lambda shard: shard.graph), 1)  # type: ignore[arg-type]
    return snapshots


def test_memory_goes_back_when_many_rows_were_read_or_saved(
    access: Access, filled: list[Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    given_back: list[bool] = []
    monkeypatch.setattr("apps.semantic.index.graphs.give_back_memory", lambda: given_back.append(True))
    keep(index_cache())
    assert len(given_back) == 1
    save_things(access, first=ROWS, count=1)
    keep(index_cache())
    assert len(given_back) == 1
    save_things(access, first=ROWS + 1, count=ROWS // 10)
    keep(index_cache())
    assert len(given_back) == 2


def test_large_shard_gets_graph_and_answers_as_before(access: Access, filled: list[Memory]) -> None:
    before, way = near(access, "thing 17 of kind 119")
    assert way.startswith("exact")
    keep(index_cache())
    assert in_graph(index_cache()) == ROWS
    assert near(access, "thing 17 of kind 119") == (before, "hnsw")


def test_a_small_shard_gets_none(access: Access) -> None:
    memory_save_many(access=access, drafts=[MemoryDraft("tea", scope=Scope("ana"))])
    keep(index_cache())
    assert in_graph(index_cache()) is None


def test_what_is_saved_next_is_found_at_once_and_put_into_graph_later(access: Access, filled: list[Memory]) -> None:
    keep(index_cache())
    memory_save_many(access=access, drafts=[MemoryDraft(f"a pear number {n}", scope=Scope("ana")) for n in range(10)])
    assert near(access, "a pear number 3", 1) == (["a pear number 3"], "hnsw")
    assert in_graph(index_cache()) == ROWS
    keep(index_cache())
    assert in_graph(index_cache()) == ROWS + 10


def test_a_deleted_memory_is_found_no_more(access: Access, filled: list[Memory]) -> None:
    keep(index_cache())
    memory_delete(access=access, uuid=filled[17].uuid)
    assert filled[17].content not in near(access, filled[17].content, ROWS)[0]


def test_another_process_takes_graph_from_disk(filled: list[Memory], monkeypatch: pytest.MonkeyPatch) -> None:
    keep(index_cache())
    other = IndexCache(1 << 30)
    made = builds_counted(monkeypatch)
    keep(other)
    assert (made, in_graph(other)) == ([], ROWS)


def test_snapshot_of_other_times_counts_as_far_as_its_vectors_are_those_of_rows(
    access: Access, filled: list[Memory]
) -> None:
    keep(index_cache())
    memory_delete(access=access, uuid=filled[3].uuid)
    memory_save_many(access=access, drafts=[MemoryDraft("a new one", scope=Scope("ana"))])
    with_other_vector = Memory.objects.get(uuid=filled[4].uuid).embeddings.get()
    with_other_vector.vector = np.roll(np.asarray(with_other_vector.vector), 1)
    with_other_vector.save()
    other = IndexCache(1 << 30)
    keep(other)
    assert in_graph(other) == ROWS - 2
    assert shard_of(other, lambda shard: len(shard.outside_graph())) == 2


@pytest.mark.parametrize(
    "damage", ["flip", "cut", "missing", "version", "model", "nonsense", "list", "count", "removed"]
)
def test_bad_snapshot_is_set_aside_and_graph_made_from_rows(access: Access, filled: list[Memory], damage: str) -> None:
    snapshots = snapshot_of_a_graph_that_a_memory_has_left(access, filled)
    [header], [graph] = snapshots.directory.glob("*.json"), snapshots.directory.glob("*.graph")
    content, data = json.loads(header.read_text()), bytearray(graph.read_bytes())
    if damage == "flip":
        data[len(data) // 2] ^= 1
        graph.write_bytes(data)
    elif damage == "cut":
        graph.write_bytes(data[:-100])
    elif damage == "missing":
        graph.unlink()
    elif damage == "nonsense":
        header.write_text("{")
    elif damage == "list":
        header.write_text(f"[{json.dumps(content)}]")
    else:
        changed = {
            "version": {"format_version": 99},
            "model": {"model": "another"},
            "count": {"count": 3},
            "removed": {"removed": [filled[6].pk]},
        }[damage]
        header.write_text(json.dumps(content | changed))
    assert snapshots.load() is None
    assert list(snapshots.directory.glob("*.json.bad"))
    other = IndexCache(1 << 30)
    keep(other)
    assert in_graph(other) == ROWS - 1


def test_the_newest_two_snapshots_are_kept(access: Access, filled: list[Memory]) -> None:
    keep(index_cache())
    snapshots = Snapshots.of("ana", current_space())
    graph = shard_of(index_cache(), lambda shard: shard.graph)
    for _ in range(3):
        snapshots.save(graph, 1)  # type: ignore[arg-type]
    assert len(list(snapshots.directory.glob("*.json"))) == len(list(snapshots.directory.glob("*.graph"))) == 2
    assert find_users_with_snapshots(current_space()) == ["ana"]


def test_graphs_of_spaces_that_are_no_longer_in_use_leave_disk(access: Access, filled: list[Memory]) -> None:
    keep(index_cache())
    here = current_space()
    elsewhere = EmbeddingSpace(model="another", dimension=here.dimension)
    graph = shard_of(index_cache(), lambda shard: shard.graph)
    for user in ("ana", "ben"):
        Snapshots.of(user, elsewhere).save(graph, 1)  # type: ignore[arg-type]
    delete_snapshots_of_other_spaces(here)
    assert find_users_with_snapshots(here) == ["ana"]
    assert find_users_with_snapshots(elsewhere) == []
    assert not list(Snapshots.of("ben", elsewhere).directory.glob("*.graph"))
    assert in_graph(index_cache()) == ROWS


def test_one_process_makes_graph_and_others_ask_again(access: Access, filled: list[Memory], monkeypatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(
        "apps.semantic.index.graphs.GraphKeeper.request_later", lambda self, user, space: asked.append(user)
    )
    with Snapshots.of("ana", current_space()).exclusive() as mine:
        assert mine
        keep(index_cache())
    assert (asked, in_graph(index_cache())) == (["ana"], None)
    keep(index_cache())
    assert in_graph(index_cache()) == ROWS


def test_memory_that_leaves_while_snapshot_is_written_is_found_neither_before_nor_after_restart(
    access: Access, filled: list[Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(index_cache())
    save = Snapshots.save

    def leaving_meanwhile(self: Snapshots, graph, version: int) -> Path:
        memory_delete(access=access, uuid=filled[8].uuid)
        assert shard_of(index_cache(), len) == ROWS - 1
        return save(self, graph, version)

    monkeypatch.setattr(Snapshots, "save", leaving_meanwhile)
    entry = index_cache().peek("ana", current_space())
    assert entry is not None
    index_cache().keeper._save_if_ours(entry, "ana", current_space())
    assert in_graph(index_cache()) == ROWS - 1
    other = IndexCache(1 << 30)
    keep(other)
    assert in_graph(other) == ROWS - 1


def test_full_disk_costs_snapshot_and_nothing_else(
    access: Access, filled: list[Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Snapshots, "save", full)
    keep(index_cache())
    assert in_graph(index_cache()) == ROWS


def test_last_changes_are_written_when_process_ends(access: Access, filled: list[Memory]) -> None:
    keep(index_cache())
    memory_save_many(access=access, drafts=[MemoryDraft(f"a pear {n}", scope=Scope("ana")) for n in range(7)])
    keep(index_cache())
    index_cache().keeper.close()
    loaded = Snapshots.of("ana", current_space()).load()
    assert loaded is not None
    assert loaded.header.count == ROWS + 7


def test_keeper_works_in_thread_of_its_own_when_search_finds_large_shard(monkeypatch) -> None:
    monkeypatch.undo()
    seen = threading.Event()
    cache = IndexCache(1 << 20)
    monkeypatch.setattr(cache.keeper, "update", lambda user, space: seen.set())
    cache.keeper.request("ana", current_space())
    assert seen.wait(10)
