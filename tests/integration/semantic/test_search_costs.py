"""The measured costs of searches: a hint that may be missing, old or broken."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from apps.retrieval.domain.planner import DEFAULT_COSTS
from apps.semantic.search.costs import costs_path, read_search_costs, write_search_costs

MEASURED = replace(DEFAULT_COSTS, scan=31.5, dimension=64)


@pytest.fixture(autouse=True)
def place(settings, tmp_path: Path) -> None:
    settings.SEMANTIC_INDEX_DIR = tmp_path / "semantic-index"


def test_without_file_those_of_another_machine_are_assumed() -> None:
    assert read_search_costs(384) == DEFAULT_COSTS
    assert read_search_costs(768) == DEFAULT_COSTS.at(768)


def test_what_was_measured_counts_from_next_search_on() -> None:
    assert read_search_costs(64) == DEFAULT_COSTS.at(64)
    write_search_costs(MEASURED)
    assert read_search_costs(64) == MEASURED


def test_a_file_that_is_replaced_is_read_again() -> None:
    write_search_costs(MEASURED)
    assert read_search_costs(64) == MEASURED
    os.utime(write_search_costs(replace(MEASURED, graph=7.5)), ns=(1, 1))
    assert read_search_costs(64).graph == 7.5


def test_a_file_that_goes_is_forgotten() -> None:
    write_search_costs(MEASURED)
    assert read_search_costs(64) == MEASURED
    costs_path().unlink()
    assert read_search_costs(64) == DEFAULT_COSTS.at(64)


def test_measured_costs_are_scaled_to_vectors_of_search() -> None:
    write_search_costs(MEASURED)
    assert read_search_costs(128) == MEASURED.at(128)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        {"format_version": 2},
        {"scan": None},
        {"scan": "12"},
        {"scan": 0},
        {"subset": -1},
        {"graph": 1e9},
        {"graph": 1e-9},
        {"fixed": float("nan")},
        {"fixed": float("inf")},
        {"dimension": 0},
        {"dimension": 1.5},
        {"dimension": "384"},
    ],
    ids=str,
)
def test_nonsense_counts_for_nothing(content: str | dict[str, object]) -> None:
    path = write_search_costs(MEASURED)
    if isinstance(content, dict):
        content = json.dumps(json.loads(path.read_text()) | content)
    path.write_text(content)
    os.utime(path, ns=(2, 2))
    assert read_search_costs(384) == DEFAULT_COSTS


def test_a_directory_that_does_not_exist_is_made(settings) -> None:
    assert not settings.SEMANTIC_INDEX_DIR.exists()
    write_search_costs(MEASURED)
    assert json.loads(costs_path().read_text())["format_version"] == 1
    assert [path.name for path in settings.SEMANTIC_INDEX_DIR.iterdir()] == [costs_path().name]
