"""Graphs of large shards while others are at work on them: other threads, other processes, an end of the process."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from apps.core.domain.scope import Access, Scope
from apps.retrieval.domain.rows import RowStore
from apps.retrieval.domain.vectors.graph import VectorGraph
from apps.semantic.index import graphs
from apps.semantic.index import snapshots as index_snapshots
from apps.semantic.index.cache import IndexCache
from apps.semantic.index.graphs import GraphKeeper
from apps.semantic.index.snapshots import KEPT, Snapshots
from apps.semantic.models import Memory
from apps.semantic.personal.memories import MemoryStore
from apps.semantic.services import memories_purge
from apps.semantic.store.embedding_space import current_space
from tests.integration.semantic.graph_support import (
    PATIENCE,
    ROWS,
    Gate,
    builds_counted,
    in_graph,
    in_thread,
    keep,
    save_things,
    shard_of,
    snapshots_of_ana,
    use_small_graphs,
    wait_until_idle,
)

pytestmark = pytest.mark.django_db

Asked = list[str]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings) -> None:
    use_small_graphs(monkeypatch, tmp_path, settings)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """Whose graphs keepers are asked to see to; they do so when the test says."""
    asked: Asked = []
    monkeypatch.setattr(GraphKeeper, "request", lambda self, user, space: asked.append(user))
    return asked


@pytest.fixture
def filled(access: Access) -> list[Memory]:
    return save_things(access)


@pytest.fixture
def cache() -> IndexCache:
    return IndexCache(1 << 30)


def see_to(cache: IndexCache) -> Callable[[], None]:
    space = current_space()
    return lambda: cache.keeper.update("ana", space)


def gated(monkeypatch: pytest.MonkeyPatch, target: Any, name: str) -> Gate:
    gate = Gate()
    monkeypatch.setattr(target, name, gate.before(getattr(target, name)))
    return gate


def names() -> list[str]:
    return sorted(path.name for path in snapshots_of_ana().directory.iterdir() if path.name != "lock")


def test_two_threads_that_see_to_one_shard_load_its_graph_once(filled, asked, monkeypatch) -> None:
    keep(IndexCache(1 << 30))
    cache = IndexCache(1 << 30)
    shard_of(cache, len)
    gate = gated(monkeypatch, VectorGraph, "load")
    with in_thread(see_to(cache), gate), in_thread(see_to(cache), gate):
        pass
    assert gate.calls == 1
    assert in_graph(cache) == ROWS


def test_no_row_is_put_into_graph_that_is_being_written(filled, asked, access, cache, monkeypatch) -> None:
    """hnswlib would leave a file whose links lead nowhere, and its checksum would be right."""
    keep(cache)
    save_things(access, 50, first=ROWS)
    shard_of(cache, len)
    cache.keeper._unsaved["ana", current_space().pk] = current_space(), ROWS
    monkeypatch.setattr(graphs, "CLOSE_SECONDS", 0.01)
    gate, saving = gated(monkeypatch, RowStore, "cover"), gated(monkeypatch, Snapshots, "save")
    with in_thread(see_to(cache), gate):
        cache.keeper.close()
        assert saving.calls == 0
        saving.opened.set()
    cache.keeper.close()
    assert in_graph(cache) == ROWS + 50


def test_shard_that_is_loaded_anew_while_its_graph_is_made_gets_one_too(filled, cache, monkeypatch) -> None:
    gate = gated(monkeypatch, VectorGraph, "of")
    shard_of(cache, len)
    assert gate.reached.wait(PATIENCE)
    cache.clear()
    shard_of(cache, len)
    gate.opened.set()
    wait_until_idle(cache)
    assert in_graph(cache) == ROWS


def test_rows_that_come_while_graph_is_made_are_put_into_it(filled, access, cache, monkeypatch) -> None:
    gate = gated(monkeypatch, VectorGraph, "of")
    shard_of(cache, len)
    assert gate.reached.wait(PATIENCE)
    save_things(access, 30, first=ROWS)
    shard_of(cache, len)
    gate.opened.set()
    wait_until_idle(cache)
    assert in_graph(cache) == ROWS + 30


def test_shard_that_is_emptied_while_its_graph_is_made_does_not_get_it(filled, asked, cache, monkeypatch) -> None:
    shard_of(cache, len)
    entry = cache.peek("ana", current_space())
    assert entry is not None
    gate = gated(monkeypatch, VectorGraph, "of")
    with in_thread(see_to(cache), gate):
        asked.clear()
        with entry.lock:
            entry.reset()
    assert (entry.rows.graph, asked, names()) == (None, ["ana"], [])


def test_shard_that_is_emptied_while_its_graph_is_read_gets_neither_that_nor_empty_one(
    filled, asked, cache, monkeypatch
) -> None:
    keep(IndexCache(1 << 30))
    before = names()
    shard_of(cache, len)
    entry = cache.peek("ana", current_space())
    assert entry is not None
    gate = gated(monkeypatch, VectorGraph, "load")
    with in_thread(see_to(cache), gate), entry.lock:
        entry.reset()
    assert (entry.rows.graph, names()) == (None, before)
    keep(cache)
    assert in_graph(cache) == ROWS


def test_graph_that_another_process_made_meanwhile_is_taken_instead_of_making_one(
    filled, asked, access, cache, monkeypatch
) -> None:
    keep(cache)
    save_things(access, ROWS, first=ROWS)
    keep(IndexCache(1 << 30))
    made = builds_counted(monkeypatch)
    keep(cache)
    assert (made, in_graph(cache)) == ([], 2 * ROWS)


def test_process_does_not_take_back_graph_that_it_left_itself(filled, asked, access, cache, monkeypatch) -> None:
    keep(cache)
    save_things(access, ROWS, first=ROWS)
    made, loading = builds_counted(monkeypatch), gated(monkeypatch, VectorGraph, "load")
    keep(cache)
    assert (made, loading.calls) == ([2 * ROWS], 0)


def test_snapshot_that_is_dropped_while_it_is_read_gives_way_to_newer_one(filled, asked, cache, monkeypatch) -> None:
    keep(cache)
    snapshots, graph = snapshots_of_ana(), shard_of(cache, lambda shard: shard.graph)
    read = index_snapshots.fingerprint

    def slowly(path: Path) -> tuple[int, str]:
        monkeypatch.setattr(index_snapshots, "fingerprint", read)
        for number in range(KEPT):
            snapshots.save(graph, 101 + number)
        return read(path)

    monkeypatch.setattr(index_snapshots, "fingerprint", slowly)
    loaded = snapshots.load()
    assert loaded is not None
    assert loaded.header.version == 100 + KEPT
    assert not [name for name in names() if name.endswith(".bad")]


def test_what_was_left_of_writing_is_removed_and_what_was_set_aside_kept_for_while(filled, asked, cache) -> None:
    keep(cache)
    good, place = names(), snapshots_of_ana().directory
    for name in ("00000007.part", "00000007.graph", "00000008.json.part"):
        (place / name).write_text("half")
    for number in (2, 3, 4):
        for kind in ("graph", "json"):
            (place / f"0000000{number}.{kind}.bad").write_text("bad")
    other = IndexCache(1 << 30)
    keep(other)
    kept = [f"0000000{number}.{kind}.bad" for number in (3, 4) for kind in ("graph", "json")]
    assert names() == sorted([*good, *kept])


def test_no_snapshot_gets_number_of_one_that_was_set_aside(filled, asked, cache) -> None:
    keep(cache)
    snapshots = snapshots_of_ana()
    [header] = snapshots.directory.glob("*.json")
    header.write_text("{")
    keep(IndexCache(1 << 30))
    assert names() == ["00000001.graph.bad", "00000001.json.bad", "00000002.graph", "00000002.json"]


def test_without_disk_there_are_graphs_all_same(filled, asked, cache, settings, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    settings.SEMANTIC_INDEX_DIR = tmp_path / "file" / "semantic-index"
    keep(cache)
    assert in_graph(cache) == ROWS


def test_a_purge_takes_the_graphs_from_the_disk(
    filled, asked, access, cache, django_capture_on_commit_callbacks
) -> None:
    keep(cache)
    assert names()
    with django_capture_on_commit_callbacks(execute=True):
        memories_purge(access=access, scope=Scope("ana"))
    assert names() == []


def test_graph_of_rows_that_are_purged_while_it_is_written_does_not_come_back(
    filled, asked, access, cache, monkeypatch
) -> None:
    save = Snapshots.save

    def purged_meanwhile(self: Snapshots, graph: VectorGraph, version: int) -> Path:
        memories_purge(access=access, scope=Scope("ana"))
        return save(self, graph, version)

    monkeypatch.setattr(Snapshots, "save", purged_meanwhile)
    keep(cache)
    assert names() == []


def test_graph_of_a_user_who_is_forgotten_while_it_is_written_does_not_come_back(
    filled: list[Memory], asked: Asked, cache: IndexCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = Snapshots.save

    def forgotten_before(self: Snapshots, graph: VectorGraph, version: int) -> Path:
        for _ in MemoryStore().forget("ana"):
            pass
        return save(self, graph, version)

    monkeypatch.setattr(Snapshots, "save", forgotten_before)
    keep(cache)
    assert names() == []


def test_what_another_machine_has_of_purged_memories_is_removed_as_soon_as_it_learns_of_purge(
    filled, asked, access, cache
) -> None:
    keep(cache)
    (snapshots_of_ana().directory / "00000009.graph.bad").touch()
    memories_purge(access=access, scope=Scope("ana"))
    asked.clear()
    shard_of(cache, len)
    assert asked == ["ana"], "small as the shard is now"
    keep(cache)
    assert names() == []


def test_graph_from_before_purge_is_not_taken_into_use(filled, asked, access, monkeypatch) -> None:
    """The vectors of purged memories would stay in it."""
    keep(IndexCache(1 << 30))
    Memory.objects.filter(pk__in=[memory.pk for memory in filled[:9]]).update(persona_id="gone")
    memories_purge(access=access, scope=Scope("ana", persona_id="gone"))
    with snapshots_of_ana().exclusive():  # so that nobody else may remove it
        cache = IndexCache(1 << 30)
        keep(cache)
        assert in_graph(cache) is None
    keep(cache)
    assert in_graph(cache) == ROWS - 9
    assert len(names()) == 2


def test_purge_that_is_over_disturbs_no_later_graph(filled, asked, access, cache) -> None:
    memories_purge(access=access, scope=Scope("ana", persona_id="nobody"))
    keep(cache)
    before = names()
    keep(IndexCache(1 << 30))
    assert before == names() == ["00000001.graph", "00000001.json"]
