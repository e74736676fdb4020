"""`manage.py build_index`: the graphs of large users, made beforehand."""

from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from apps.core.domain.scope import system_access
from apps.retrieval.domain.vectors.graph import VectorGraph
from apps.semantic.index import build
from apps.semantic.index import cache as cache_module
from apps.semantic.index.build import build_graph, find_large_users
from apps.semantic.index.cache import IndexCache
from apps.semantic.index.snapshots import Snapshots
from apps.semantic.services import memory_delete, memory_save_many, store_status
from apps.semantic.store.embedding_space import current_space, forget_space
from benchmarks.vectors.data import fill, synthetic_scope
from tests.integration.semantic.graph_support import (
    PATIENCE,
    ROWS,
    answers_are_exact,
    builds_counted,
    in_graph,
    keep,
    random_draft,
    snapshots_of_ana,
    use_small_graphs,
)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("index killed")]
ACCESS = system_access("test")


@pytest.fixture(autouse=True)
def of_this_test(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings) -> Iterator[None]:
    use_small_graphs(monkeypatch, tmp_path, settings)
    forget_space()
    monkeypatch.setattr(cache_module._cache, "_made", [IndexCache(1 << 30)])
    yield
    forget_space()


def people() -> None:
    """Ana has most, ben enough for a graph, cem not."""
    for user, rows in (("ana", ROWS), ("ben", 110), ("cem", 90)):
        fill(synthetic_scope(user, rows, 1, current_space().dimension), current_space())


def run(*options: str) -> tuple[str, str]:
    """What the command says, and how far it says it is."""
    said, progress = StringIO(), StringIO()
    call_command("build_index", *options, stdout=said, stderr=progress)
    return said.getvalue(), progress.getvalue()


def failing(failure: BaseException) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise failure

    return fail


def test_every_large_user_gets_graph_on_disk_with_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    people()
    made = builds_counted(monkeypatch)
    said, progress = run()
    assert [line.split(":")[0] for line in said.splitlines()] == [f"{ROWS} memories", "110 memories"]
    assert progress.splitlines() == [f"Graph 1 of 2: {ROWS}/{ROWS}", "Graph 2 of 2: 110/110"]
    assert len(made) == 2
    for user, rows in (("ana", ROWS), ("ben", 110)):
        stored = Snapshots.of(user, current_space()).load(newer_than=-1)
        assert stored is not None
        assert len(stored.graph) == rows
    assert not Snapshots.of("cem", current_space()).directory.exists()


def test_a_process_takes_what_was_made(monkeypatch: pytest.MonkeyPatch) -> None:
    people()
    run("--user", "ana")
    made = builds_counted(monkeypatch)
    keep(cache_module.index_cache())
    assert in_graph(cache_module.index_cache()) == ROWS
    answers_are_exact(ACCESS)
    assert made == []


def test_what_is_there_is_kept_and_brought_up_to_date_unless_it_is_to_be_made_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    people()
    run("--user", "ana")
    made = builds_counted(monkeypatch)
    saved = memory_save_many(access=ACCESS, drafts=[random_draft(number) for number in range(10)])
    memory_delete(access=ACCESS, uuid=saved[0].memory.uuid)  # type: ignore[union-attr]
    said, progress = run("--user", "ana")
    assert (made, said.split(":")[0]) == ([], f"{ROWS + 9} memories")
    assert progress.splitlines() == [f"Graph 1 of 1: {ROWS + 9}/{ROWS + 9}"]
    said, _ = run("--user", "ana", "--rebuild")
    assert (len(made), said.split(":")[0]) == (1, f"{ROWS + 9} memories")


@pytest.mark.parametrize("options", [(), ("--user", "cem")])
def test_without_large_users_it_says_from_when_on_there_are_graphs(options: tuple[str, ...]) -> None:
    fill(synthetic_scope("cem", 90, 1, current_space().dimension), current_space())
    said, progress = run(*options)
    assert "100 memories, the fewest for a graph" in said
    assert progress == ""


def test_while_another_process_makes_graph_it_says_so() -> None:
    people()
    with snapshots_of_ana().exclusive() as mine:
        assert mine
        said, _ = run("--user", "ana")
    assert said == "Another process is building this graph.\n"


def test_what_another_process_writes_is_not_taken_away_from_it() -> None:
    people()
    run("--user", "ana")
    before = sorted(snapshots_of_ana().directory.glob("[0-9]*"))
    with snapshots_of_ana().exclusive():
        said, _ = run("--user", "ana", "--rebuild")
    assert said == "Another process is building this graph.\n"
    assert sorted(snapshots_of_ana().directory.glob("[0-9]*")) == before


def test_a_full_disk_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    people()
    monkeypatch.setattr(Snapshots, "save", failing(OSError(28, "No space left on device")))
    with pytest.raises(CommandError, match="could not be written to the disk"):
        run("--user", "ana")


def test_a_graph_that_cannot_be_made_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    people()
    monkeypatch.setattr(VectorGraph, "of", failing(MemoryError()))
    with pytest.raises(CommandError, match="The log says why"):
        run("--user", "ana")


def test_one_user_is_in_memory_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    people()
    caches: list[IndexCache] = []
    monkeypatch.setattr(build, "IndexCache", lambda size: caches.append(IndexCache(size)) or caches[-1])
    run()
    assert [cache.describe()["indexes"] for cache in caches] == [0, 0]
    for cache in caches:
        assert cache.keeper._thread is not None
        cache.keeper._thread.join(PATIENCE)
        assert not cache.keeper._thread.is_alive()
    caches[0].keeper.request("ana", current_space())
    assert caches[0].keeper.is_idle, "one that has ended begins nothing"


def test_what_cannot_be_removed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    people()
    monkeypatch.setattr(Snapshots, "delete_all", failing(PermissionError("read-only")))
    with pytest.raises(CommandError, match="read-only"):
        run("--user", "ana", "--rebuild")


def test_only_active_memories_count() -> None:
    people()
    assert find_large_users() == [("ana", ROWS), ("ben", 110)]
    assert find_large_users("ben") == [("ben", 110)]
    assert find_large_users("cem") == []


def test_the_status_says_how_far_a_graph_is(monkeypatch: pytest.MonkeyPatch) -> None:
    people()
    seen, make = [], VectorGraph.add

    def add(graph: VectorGraph, *args, **kwargs) -> None:  # type: ignore[no-untyped-def]
        make(graph, *args, **kwargs)
        seen.append(store_status(ACCESS).index["making"])

    monkeypatch.setattr("apps.retrieval.domain.vectors.graph._BUILD_CHUNK", 60)
    monkeypatch.setattr(VectorGraph, "add", add)
    assert store_status(ACCESS).index["making"] is None
    keep(cache_module.index_cache())
    assert {"done": 60, "of": ROWS} in seen
    assert store_status(ACCESS).index["making"] is None


def test_progress_adds_up_to_the_rows() -> None:
    people()
    steps: list[int] = []
    built = build_graph("ana", current_space(), steps.append)
    assert built is not None
    assert (sum(steps), built.rows) == (ROWS, ROWS)
    assert min(built.load, built.graph) >= 0
