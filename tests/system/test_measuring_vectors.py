"""The benchmark of searches by vector, small: every way finds the right rows, and every figure is there."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pytest_django.live_server_helper import LiveServer

from apps.retrieval.domain import planner
from apps.semantic.index.cache import index_cache
from apps.semantic.models import Memory
from apps.semantic.store.embedding_space import current_space, forget_space
from benchmarks import api
from benchmarks.management.commands import bench_vectors
from benchmarks.vectors.data import FILTERS, Question, ScopeData, fill, synthetic_scope
from benchmarks.vectors.figures import RAW_WAYS
from benchmarks.vectors.plot import PlottingMissingError, check_plotting, plot_reads
from benchmarks.vectors.raw import (
    BY_GRAPH,
    EXACT,
    ITERATIVE,
    TOP_K,
    HnswlibWay,
    NumpyWay,
    SqlWay,
    raw_connection,
    raw_table,
)
from benchmarks.vectors.run import RealTexts, ScopeMeasurement, VectorMeasurement
from benchmarks.vectors.tables import tables_of

ROWS = 400
WAYS = {
    "sql_exact", "sql_hnsw", "sql_hnsw_iterative", "hnswlib", "numpy", "rank", "index", "service", "http", "http_many",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch, settings, tmp_path: Path) -> Iterator[None]:
    """Graphs for scopes of a few hundred, in a place of their own; nobody delivers events here."""
    settings.SEMANTIC_INDEX_DIR = tmp_path / "semantic-index"
    monkeypatch.setattr(planner, "GRAPH_ROWS", 300)
    monkeypatch.setattr("benchmarks.vectors.hub.GRAPH_ROWS", 1_000_000)
    monkeypatch.setattr("benchmarks.vectors.hub._SEEN_BY", 2)
    monkeypatch.setattr(api, "DELIVERY_SECONDS", 0)
    forget_space()
    yield
    index_cache().clear()
    forget_space()


def measurement(url: str, **options: Any) -> VectorMeasurement:
    return VectorMeasurement(
        **{
            "url": url,
            "sizes": [ROWS],
            "queries": 8,
            "writes": 4,
            "seconds": 5.0,
            "say": lambda _: None,
            "stream": io.StringIO(),
            **options,
        }
    )


@pytest.fixture
def scope() -> tuple[ScopeData, dict[int, int]]:
    data = synthetic_scope("ana", ROWS, 12, current_space().dimension)
    return data, {pk: row for row, (pk, _) in enumerate(fill(data, current_space()))}


@pytest.mark.django_db(transaction=True)
class TestRawWays:
    def test_exact_sql_finds_right_rows_and_graph_is_used_where_it_should_be(self, scope) -> None:
        data, rows = scope
        with (
            raw_table("ana", current_space()) as figures,
            raw_connection(**EXACT) as exactly,
            raw_connection(**BY_GRAPH) as by_graph,
            raw_connection(**ITERATIVE) as iterative,
        ):
            exact, graph, iterating = (
                SqlWay(name, database, rows)
                for name, database in (("exact", exactly), ("graph", by_graph), ("iterative", iterative))
            )
            for each in FILTERS:
                question = Question.of(data, each, 3, TOP_K)
                assert question.recall(exact.search(question)) == 1.0
                assert question.is_complete(exact.search(question))
                assert question.recall(iterating.search(question)) >= 0.8
                assert [way.uses_graph(question) for way in (exact, graph, iterating)] == [False, True, True]
        assert figures.table_bytes > 0
        assert figures.graph_bytes > 0

    def test_table_is_gone_in_end_whatever_happens(self, scope) -> None:
        with pytest.raises(ZeroDivisionError), raw_table("ana", current_space()):
            1 / 0  # noqa: B018
        with raw_connection() as database:
            assert database.execute("SELECT to_regclass('bench_vector')").fetchone() == (None,)


def test_hnswlib_and_numpy_find_right_rows_whatever_filter() -> None:
    data = synthetic_scope("ana", ROWS, 12, 32)
    ways = HnswlibWay(data), NumpyWay(data)
    for each in FILTERS:
        for number in range(12):
            question = Question.of(data, each, number, TOP_K)
            assert [question.recall(way.search(question)) for way in ways] == [1.0, 1.0]
            assert all(question.is_complete(way.search(question)) for way in ways)


@pytest.mark.django_db(transaction=True)
def test_every_way_is_measured_with_every_filter_and_is_right(live_server: LiveServer, tmp_path: Path) -> None:
    figures = measurement(live_server.url).run()
    [one] = figures["scopes"]
    reads = {(read["way"], read["filter"]): read for read in one["reads"]}
    assert set(reads) == {(way, each.name) for way in WAYS for each in FILTERS}
    for (way, name), read in reads.items():
        if way != "sql_hnsw":  # It drops rows that a filter leaves out after it has found them.
            assert (way, name, read["complete"]) == (way, name, 1.0)
            assert read["recall"] >= 0.99, (way, name)
        assert read["calls"] == 8
        assert read["p95_ms"] >= read["p50_ms"] > 0
    assert [stages["filter"] for stages in one["stages"]] == [each.name for each in FILTERS]
    assert {stages["quickest"] for stages in one["stages"]} <= set(RAW_WAYS)
    assert all(value > 0 for stages in one["stages"] for value in stages.values() if not isinstance(value, str))
    writes = {each["way"]: each for each in one["writes"]}
    assert list(writes) == ["sql", "hnswlib", "service", "http", "http_many"]
    assert all(each["calls"] == 4 for each in one["writes"])
    assert all(sum(writes[way]["actions"].values()) == 4 for way in ("service", "http", "http_many"))
    assert one["making"]["index_graph_s"] > 0
    assert json.loads(json.dumps(figures)) == figures
    assert not Memory.objects.exists()
    assert_shown(figures, tmp_path)


def assert_shown(figures: dict[str, Any], tmp_path: Path) -> None:
    titles = [str(table.title) for table in tables_of(figures)]
    assert len(titles) == 4
    assert all("400 memories" in title for title in titles)
    plot_reads(figures, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.django_db
def test_scopes_can_be_made_of_real_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[ScopeData] = []
    monkeypatch.setattr(ScopeMeasurement, "run", lambda self: (seen.append(self.data), {})[1])
    texts = [f"a real text, number {number}" for number in range(120)]
    vectors = synthetic_scope("x", 120, 1, current_space().dimension).vectors
    measurement("", sizes=[50, 1_000], real=RealTexts(texts, vectors)).run()
    assert [data.texts for data in seen] == [texts[:50], texts[: 120 - 8]]
    assert len({data.user for data in seen}) == 2


@pytest.mark.django_db(transaction=True)
def test_what_was_filled_is_removed_when_measurement_fails(live_server: LiveServer, monkeypatch) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr("benchmarks.vectors.run.start_times", fail)
    with pytest.raises(RuntimeError, match="no"):
        measurement(live_server.url).run()
    assert not Memory.objects.exists()


class TestTheCommand:
    def test_it_starts_hub_of_its_own_and_measures_that_as_asked(self, monkeypatch: pytest.MonkeyPatch) -> None:
        ran: list[list[str]] = []
        monkeypatch.setattr(bench_vectors, "run_beside_a_hub", lambda arguments: ran.append(list(arguments)))
        call_command("bench_vectors", "--sizes", "5", "7", "--writes=3", "--output=x.json", stderr=io.StringIO())
        assert ran == [
            ["bench_vectors", "--here", "--sizes", "5", "7", "--queries=200", "--writes=3", "--seconds=8.0",
             "--output=x.json"]
        ]  # fmt: skip

    @pytest.mark.parametrize("wrong", ["--queries=0", "--writes=0", "--sizes=0"])
    def test_nonsense_is_refused(self, wrong: str) -> None:
        with pytest.raises(CommandError, match="from 1 on"):
            call_command("bench_vectors", wrong)

    def test_without_matplotlib_it_says_so_before_it_measures_anything(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def missing() -> None:
            raise PlottingMissingError("A plot needs matplotlib")

        monkeypatch.setattr(bench_vectors, "check_plotting", missing)
        with pytest.raises(CommandError, match="needs matplotlib"):
            call_command("bench_vectors", "--plot=x.png")

    def test_too_few_real_texts_are_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "texts.jsonl"
        texts = [*(f"text {n}" for n in range(30)), "Text 7!"]  # that counts as one of the others
        path.write_text("".join(json.dumps({"user_id": "u", "content": text}) + "\n" for text in texts))
        with pytest.raises(CommandError, match="holds 30 different texts; 40 are needed"):
            call_command("bench_vectors", "--here", f"--texts={path}", "--queries=20", stderr=io.StringIO())


def test_what_is_missing_for_plots_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(PlottingMissingError, match="uv sync --group dev"):
        check_plotting()
