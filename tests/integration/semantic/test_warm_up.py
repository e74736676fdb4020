"""Spec 000, Semantic Index Lifecycle: on restart the snapshot is loaded before writes are accepted."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest
from django.db import connection
from django.test import Client

from apps.core.domain.scope import Scope, system_access
from apps.core.per_process import PerProcess
from apps.llm.embedding.hashing import HashingEmbedder
from apps.retrieval.domain.query import SearchMode, SearchQuery
from apps.retrieval.domain.rows import RowStore
from apps.retrieval.domain.vectors.graph import VectorGraph
from apps.semantic.index import cache as cache_module
from apps.semantic.index import changes, warm_up
from apps.semantic.index.cache import IndexCache
from apps.semantic.index.graphs import GraphKeeper
from apps.semantic.index.snapshots import find_users_with_snapshots
from apps.semantic.index.warm_up import WarmUp
from apps.semantic.search.costs import write_search_costs
from apps.semantic.search.search import memory_search
from apps.semantic.store.embedding_space import current_space, forget_space
from benchmarks.vectors.data import FILTERS, ScopeData, fill, questions, synthetic_scope
from tests.api import MEMORIES, Api, api_for
from tests.integration.core.processes import beside
from tests.integration.semantic.graph_support import (
    FREE_GRAPHS,
    PATIENCE,
    ROWS,
    Gate,
    answers_are_exact,
    builds_counted,
    in_graph,
    keep,
    near,
    snapshots_of_ana,
    use_small_graphs,
    wait_until_idle,
)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("index killed")]

ACCESS = system_access("test")
LARGE, DIMENSION = 12_000, 64


@pytest.fixture(autouse=True)
def of_this_test(tmp_path: Path, settings) -> Iterator[None]:
    settings.SEMANTIC_INDEX_DIR = tmp_path / "semantic-index"
    forget_space()
    yield
    forget_space()


@pytest.fixture
def api() -> Api:
    return api_for(Scope(user_id="ana"))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings) -> None:
    """Memories of ana's, and a snapshot of their graph."""
    use_small_graphs(monkeypatch, tmp_path, settings)
    fill(synthetic_scope("ana", ROWS, 1, current_space().dimension), current_space())
    cache = IndexCache(1 << 30)
    keep(cache)
    wait_until_idle(cache)


@pytest.fixture
def restarted(monkeypatch: pytest.MonkeyPatch) -> WarmUp:
    """What a process that starts now has: an empty cache, and a warm-up that has not begun."""
    cache = IndexCache(1 << 30)
    warming = WarmUp(cache)
    monkeypatch.setattr(cache_module._cache, "_made", [cache])
    monkeypatch.setattr(warm_up._warm_up, "_made", [warming])
    return warming


def raising(failure: type[BaseException]) -> Callable[..., None]:
    def fail(*_: Any) -> None:
        raise failure

    return fail


def gated(monkeypatch: pytest.MonkeyPatch, target: Any, name: str) -> Gate:
    gate = Gate()
    monkeypatch.setattr(target, name, gate.before(getattr(target, name)))
    return gate


def ready() -> tuple[bool, str]:
    """Whether the hub says that its index is ready, and what it says of it."""
    response = Client().get("/readyz")
    said: str = response.json()["checks"]["index"]
    return said == "ok", said


def begin_up_to(gate: Gate, warming: WarmUp) -> Callable[[], None]:
    """Begin, and wait until it comes to the gate. Gives what opens it and waits for the end."""
    thread = warming.begin()
    assert gate.reached.wait(PATIENCE)

    def finish() -> None:
        gate.opened.set()
        thread.join(PATIENCE)
        assert not thread.is_alive()
        wait_until_idle(cache_module.index_cache())

    return finish


def test_snapshot_and_restore(monkeypatch: pytest.MonkeyPatch, restarted: WarmUp, api: Api) -> None:
    """Twelve thousand memories, as many as a graph takes. With so short vectors it is only worth it if it is free."""
    write_search_costs(FREE_GRAPHS)
    monkeypatch.setattr("apps.llm.embedding.embedder._embedder", PerProcess(lambda: HashingEmbedder(DIMENSION)))
    data = synthetic_scope("ana", LARGE, 20, DIMENSION)
    places = {uuid: place for place, (_, uuid) in enumerate(fill(data, current_space()))}
    before = IndexCache(1 << 30)
    keep(before)
    wait_until_idle(before)
    assert in_graph(before) == LARGE

    made, gate = builds_counted(monkeypatch), gated(monkeypatch, VectorGraph, "load")
    finish = begin_up_to(gate, restarted)
    assert ready() == (False, "loading the index, 1 of 1")
    refused = api.post(MEMORIES, {"content": "tea"})
    assert (refused.status_code, refused.json()["errors"][0]["code"]) == (503, "index_loading")
    assert int(refused["Retry-After"]) >= 1
    assert "1 of 1" not in refused.content.decode(), "how many large users there are is nobody's business"
    recall, ways = answers(data, places)
    assert recall == 1.0, "searches are slower meanwhile, not refused"
    assert not ways & {"hnsw"}
    finish()

    assert ready() == (True, "ok")
    assert api.post(MEMORIES, {"content": "tea"}).status_code == 201
    recall, ways = answers(data, places)
    assert (recall >= 0.99, ways, made) == (True, {"hnsw"}, [])


def test_index_bootstrap(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings, restarted: WarmUp, api: Api
) -> None:
    """Spec 000: without anything on the disk, what large users need is built, and readiness says when."""
    use_small_graphs(monkeypatch, tmp_path, settings)
    fill(synthetic_scope("ana", ROWS, 1, current_space().dimension), current_space())
    assert cache_module.index_cache().describe()["indexes"] == 0
    gate = gated(monkeypatch, VectorGraph, "of")
    finish = begin_up_to(gate, restarted)
    assert ready()[0] is False
    assert near(ACCESS, "tea") == (ANY, "exact")
    finish()
    assert near(ACCESS, "tea") == (ANY, "hnsw")
    all_is_well(api)
    assert snapshots_of_ana().directory.is_dir()


def test_graph_that_is_being_built_is_named_with_its_progress(restarted: WarmUp) -> None:
    restarted._progress = (1, 2)
    cache_module.index_cache().keeper.making = (12_000, 200_000)
    assert ready() == (False, "building the index, 1 of 2: 12,000 of 200,000 memories")
    status = api_for(Scope()).get("/api/semantic/status").json()
    assert status["index"]["making"] == {"done": 12_000, "of": 200_000}
    assert status["index"]["missing"] == status["checks"]["index"]
    assert status["ready"] is False


def test_graph_that_another_process_builds_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings, restarted: WarmUp, api: Api
) -> None:
    use_small_graphs(monkeypatch, tmp_path, settings)
    fill(synthetic_scope("ana", ROWS, 1, current_space().dimension), current_space())
    made = builds_counted(monkeypatch)
    with snapshots_of_ana().exclusive() as is_ours:  # as long as the other process builds
        assert is_ours
        gate = gated(monkeypatch, warm_up.time, "sleep")
        finish = begin_up_to(gate, restarted)
        assert ready() == (False, "loading the index, 1 of 1")
    finish()
    assert len(made) == 1
    all_is_well(api)


def test_save_is_accepted_as_soon_as_one_web_process_has_loaded_its_index(restarted: WarmUp, api: Api) -> None:
    restarted._progress = (1, 2)
    assert api.post(MEMORIES, {"content": "tea"}).status_code == 503
    beside("web", index="loading the index, 1 of 2")
    assert api.post(MEMORIES, {"content": "tea"}).status_code == 503
    beside("web", index="ok")
    assert api.post(MEMORIES, {"content": "tea"}).status_code == 201


def test_what_is_being_loaded_is_no_reason_for_warning(restarted: WarmUp) -> None:
    begun: list[str | None] = []
    restarted.begin(then=lambda: begun.append(restarted.missing)).join(PATIENCE)
    assert begun == [None], "the index is guarded from when it is loaded"


def answers(data: ScopeData, places: Mapping[str, int]) -> tuple[float, set[str]]:
    """The recall of searches for the ten nearest, and by which ways they were found."""
    shares, ways = [], set()
    for question in questions(data, FILTERS[0], 10):
        query = SearchQuery(scope=Scope("ana"), embedding=question.vector, mode=SearchMode.VECTOR)
        result = memory_search(ACCESS, query)
        found = [places[str(one.memory.uuid)] for one in result.found]
        assert question.is_complete(found)
        shares.append(question.recall(found))
        ways.add(result.index)
    return sum(shares) / len(shares), ways


def all_is_well(api: Api) -> None:
    """Ready, and with a graph that knows every memory."""
    assert ready() == (True, "ok")
    assert in_graph(cache_module.index_cache()) == ROWS
    answers_are_exact(ACCESS)
    assert api.post(MEMORIES, {"content": "tea"}).status_code == 201


def test_without_snapshots_there_is_nothing_to_wait_for(restarted: WarmUp, api: Api) -> None:
    restarted.begin().join(PATIENCE)
    assert ready() == (True, "ok")
    assert cache_module.index_cache().describe()["indexes"] == 0


@pytest.mark.usefixtures("small")
def test_bad_snapshot_is_made_anew_before_it_is_ready(
    monkeypatch: pytest.MonkeyPatch, restarted: WarmUp, api: Api
) -> None:
    [graph] = snapshots_of_ana().directory.glob("*.graph")
    graph.write_bytes(graph.read_bytes()[:-1])
    gate = gated(monkeypatch, VectorGraph, "of")
    finish = begin_up_to(gate, restarted)
    assert ready() == (False, "loading the index, 1 of 1")
    finish()
    assert sorted(path.name for path in snapshots_of_ana().directory.glob("*.bad")) == [
        "00000001.graph.bad",
        "00000001.json.bad",
    ]
    all_is_well(api)


@pytest.mark.usefixtures("small")
def test_header_that_makes_no_sense_keeps_nobody_elses_graph_from_being_loaded(restarted: WarmUp, api: Api) -> None:
    for number, text in enumerate(("[]", "null", "{", '{"model": 5}')):
        place = snapshots_of_ana().directory.with_name(f"other {number}")
        place.mkdir()
        (place / "00000001.json").write_text(text)
    restarted.begin().join(PATIENCE)
    all_is_well(api)


@pytest.mark.usefixtures("small")
def test_a_database_that_is_away_is_waited_for(monkeypatch: pytest.MonkeyPatch, restarted: WarmUp, api: Api) -> None:
    monkeypatch.setattr(warm_up, "RETRY_SECONDS", 0.01)
    gate = gated(monkeypatch, warm_up, "forget_space")
    with monkeypatch.context() as away:
        away.setitem(connection.settings_dict, "PORT", "1")  # for new connections, that of the thread among them
        finish = begin_up_to(gate, restarted)
        said = ready()
    assert (said[0], restarted.missing) == (False, said[1])
    finish()
    all_is_well(api)


@pytest.mark.usefixtures("small")
def test_database_that_goes_away_while_it_loads_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, restarted: WarmUp, api: Api
) -> None:
    monkeypatch.setattr(warm_up, "RETRY_SECONDS", 0.01)
    monkeypatch.setattr(changes, "_FETCH_SIZE", 20)
    gate, failed = gated(monkeypatch, RowStore, "apply"), gated(monkeypatch, warm_up, "forget_space")
    failed.opened.set()
    finish = begin_up_to(gate, restarted)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND datname = current_database()"
        )
    finish()
    assert failed.calls == 1
    all_is_well(api)


@pytest.mark.usefixtures("small")
def test_what_nobody_foresaw_ends_warm_up_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, restarted: WarmUp, api: Api
) -> None:
    monkeypatch.setattr(GraphKeeper, "update", raising(MemoryError))
    restarted.begin().join(PATIENCE)
    assert ready() == (True, "ok")
    assert api.post(MEMORIES, {"content": "tea"}).status_code == 201


@pytest.mark.usefixtures("small")
def test_no_more_is_loaded_than_there_is_room_for(restarted: WarmUp, settings) -> None:
    fill(synthetic_scope("ben", ROWS, 1, current_space().dimension), current_space())
    before = IndexCache(1 << 30)
    with before.refreshed(["ben"], current_space()):
        pass
    before.keeper.update("ben", current_space())
    wait_until_idle(before)
    assert find_users_with_snapshots(current_space()) == ["ben", "ana"], "the newest first"
    settings.MEMORYHUB = replace(settings.MEMORYHUB, index_cache_mb=0)
    restarted.begin().join(PATIENCE)
    assert cache_module.index_cache().peek("ben", current_space()) is not None
    assert cache_module.index_cache().peek("ana", current_space()) is None
    assert restarted.missing is None
