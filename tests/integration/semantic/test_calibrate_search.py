"""Measuring what searches cost, and choosing by it."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from apps.llm.embedding.embedder import get_embedder
from apps.retrieval.domain.planner import DEFAULT_COSTS
from apps.semantic.search import costs as search_costs
from apps.semantic.search.costs import calibrate, costs_path, read_search_costs


@pytest.fixture(autouse=True)
def place(settings, tmp_path: Path) -> None:
    settings.SEMANTIC_INDEX_DIR = tmp_path / "semantic-index"


def run(*arguments: str) -> str:
    output = StringIO()
    call_command("calibrate_search", "--rows=1000", *arguments, stdout=output, stderr=StringIO())
    return output.getvalue()


def test_what_is_measured_is_what_searches_count_with_from_then_on() -> None:
    dimension = get_embedder().space.dimension
    run()
    written = json.loads(costs_path().read_text())
    costs = read_search_costs(dimension)
    assert (written["scan"], written["dimension"]) == (costs.scan, dimension)
    assert costs != DEFAULT_COSTS.at(dimension)


def test_it_shows_the_costs_and_what_they_come_to() -> None:
    said = run()
    assert f"vectors of {get_embedder().space.dimension} numbers" in said
    assert "a thousand selected rows" in said
    assert "1,000,000" in said


def test_a_dry_run_writes_nothing() -> None:
    assert "a thousand selected rows" in run("--dry-run")
    assert not costs_path().exists()


def test_too_few_rows_are_refused() -> None:
    with pytest.raises(CommandError, match="at least 1000"):
        call_command("calibrate_search", "--rows=10")


def test_costs_that_cannot_be_written_are_error(settings, tmp_path: Path) -> None:
    settings.SEMANTIC_INDEX_DIR = tmp_path / "file"
    settings.SEMANTIC_INDEX_DIR.write_text("")
    with pytest.raises(CommandError, match="could not be written"):
        run()


def test_it_says_how_far_it_is() -> None:
    told: list[int] = []
    calibrate(8, 5_000, told.append)
    assert told == [2_000, 2_000, 1_000]


def test_costs_are_those_of_row_and_of_breadth(monkeypatch: pytest.MonkeyPatch) -> None:
    breadths = [120.0, 300.0, 600.0, 1_200.0]
    medians = [2_000.0, 300.0, *(50 + 1.5 * breadth for breadth in breadths)]
    monkeypatch.setattr(search_costs, "median_times", lambda tries, queries: iter(medians))
    costs = calibrate(8, 2_000)
    assert (costs.scan, costs.subset, costs.dimension) == (1_000.0, 1_500.0, 8)
    assert (costs.graph, costs.fixed) == (pytest.approx(150), pytest.approx(50))


def test_search_in_graph_costs_something_whatever_line_through_times_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(search_costs, "median_times", lambda tries, queries: iter([9.0, 9.0, 1.0, 3.0, 6.0, 13.0]))
    assert calibrate(8, 2_000).fixed == 1.0
