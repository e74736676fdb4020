"""Every test is in one tier, and what is slow or needs a browser is not in the quick one."""

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests import tiers
from tests.tiers import (
    DEEP,
    PATHS,
    QUICK,
    TESTS,
    TIERS,
    Scheduling,
    chosen,
    group_of_file,
    quick_cases,
    tier_of_path,
    tiers_of_file,
)

FILES = sorted({*TESTS.rglob("test_*.py")} - {Path(__file__)})
PAGE = (TESTS.parent / "docs" / "contribute" / "testing.md").read_text("utf-8")
# What the page says runs all that the default leaves out.
REST = "browser or kill or deep"
ALL = "quick or browser or kill or deep"
KINDS = {"unit", "integration", "hostile", "system"}


def is_run(name: str, expression: str = "", *arguments: str) -> bool:
    """Return whether a file is imported by `pytest -m expression arguments`."""
    options, place = SimpleNamespace(markexpr=expression), SimpleNamespace(dir=TESTS.parent)
    config = SimpleNamespace(option=options, invocation_params=place, args=list(arguments) or ["tests"])
    return tiers.pytest_ignore_collect(TESTS / name, config) is None


def test_each_file_of_the_last_tier_is_among_the_first_at_some_turn() -> None:
    items = [SimpleNamespace(path=f"file-{number // 2}", name=str(number)) for number in range(180)]
    begun: set[str] = set()
    for turn in range(4):
        order = tiers.turned(items, turn)  # type: ignore[arg-type]
        assert sorted(order, key=lambda item: int(item.name)) == items
        assert all(order[place].path == order[place + 1].path for place in range(0, len(order), 2))
        begun |= {item.path for item in order[:80]}
    assert len(begun) == 90


def test_every_file_of_tests_is_of_a_kind() -> None:
    assert {path.relative_to(TESTS).parts[0] for path in FILES} == KINDS


def test_every_file_of_tests_is_in_a_tier() -> None:
    assert {tier_of_path(path) for path in FILES} == set(TIERS)


def test_places_of_tiers_exist() -> None:
    named = [place for places in PATHS.values() for place in places]
    assert [place for place in named if not (TESTS / place).exists()] == []


@pytest.mark.parametrize("file", sorted({name.partition("::")[0] for name in DEEP}))
def test_listed_tests_exist(file: str) -> None:
    written = set(re.findall(r"def (test_\w+)", (TESTS / file).read_text()))
    assert {name.partition("::")[2] for name in DEEP if name.startswith(f"{file}::")} <= written


def test_only_tests_that_would_be_quick_are_listed() -> None:
    assert [name for name in DEEP if tier_of_path(TESTS / name.partition("::")[0]) != QUICK] == []


def test_cases_of_a_long_matrix_are_evenly_spaced() -> None:
    assert quick_cases("integration/core/test_any.py::test_any", 3) == {*range(3)}
    assert quick_cases("integration/core/test_any.py::test_any", 10) == {0, 9}
    assert quick_cases("unit/core/test_any.py::test_any", 10) == {*range(10)}


def test_listed_test_keeps_as_many_cases_as_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "DEEP", tiers.listed("# why\ncore/test_any.py::test_any\ncore/test_any.py::test_more 1"))
    assert quick_cases("core/test_any.py::test_any", 1) == set()
    assert quick_cases("core/test_any.py::test_more", 20) == {0}


def test_what_launches_browser_is_of_its_tier() -> None:
    opening = re.compile(r"playwright|browser_open")
    launching = [path for path in FILES if opening.search(path.read_text()) and path != Path(__file__)]
    assert launching
    assert [path.name for path in launching if tier_of_path(path) != "browser"] == []


def test_what_starts_hub_is_not_quick() -> None:
    starting = [path for path in FILES if "from tests.system.hub import" in path.read_text()]
    assert starting
    assert [path.name for path in starting if QUICK in tiers_of_file(path)] == []


def test_page_names_commands_and_tiers() -> None:
    commands = re.findall(r"^uv run pytest.*?(?= +#|$)", PAGE, re.MULTILINE)
    assert commands[:2] == ["uv run pytest", f'uv run pytest -m "{REST}"']
    assert set(re.findall(r"^\| `([a-z]+)` \|", PAGE, re.MULTILINE)) == set(TIERS)


def test_files_that_page_names_exist() -> None:
    named = re.findall(r"\btests/[\w/]+\.\w+", PAGE)
    assert [name for name in named if not (TESTS.parent / name).exists()] == []


@pytest.mark.parametrize("tier", TIERS)
def test_two_documented_commands_run_each_test_once(tier: str) -> None:
    assert chosen(tier, "") is not chosen(tier, REST)


@pytest.mark.parametrize("tier", TIERS)
def test_gate_runs_every_tier(tier: str) -> None:
    assert chosen(tier, ALL)
    assert f'-m "{ALL}"' in (TESTS.parent / ".ci" / "run").read_text()


@pytest.mark.parametrize(("expression", "expected"), [("kill", {"kill"}), ("not deep", {"kill", "browser", QUICK})])
def test_expression_chooses_tiers(expression: str, expected: set[str]) -> None:
    assert {tier for tier in TIERS if chosen(tier, expression)} == expected


def test_expression_with_other_marks_imports_all() -> None:
    assert all(chosen(tier, "kill and not django_db") for tier in TIERS)


def test_default_does_not_import_slow_files() -> None:
    assert is_run("unit/core/test_scope.py")
    assert not is_run("system/test_up.py")
    assert not is_run("system/browser/test_admin_browser.py")


def test_rest_does_not_import_quick_files() -> None:
    assert not is_run("unit/core/test_scope.py", REST)
    assert is_run("hostile/test_csrf.py", REST)
    assert is_run("system/test_up.py", REST)


def test_file_that_is_named_is_run() -> None:
    assert is_run("system/test_up.py", "", "tests/system/test_up.py::test_any")
    assert not is_run("system/test_up.py", "", "tests/system/test_lease.py")


def test_folder_that_is_named_is_run_without_other_tiers() -> None:
    assert is_run("system/test_up.py", "", "tests/system")
    assert not is_run("system/browser/test_admin_browser.py", "", "tests/system")
    assert is_run("system/browser/test_admin_browser.py", "", "tests/system/browser")


def test_files_with_marked_tests_are_imported_for_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "TESTS", tmp_path)
    (tmp_path / "test_mixed.py").write_text("@pytest.mark.deep\ndef test_all(): ...")
    assert tiers_of_file(tmp_path / "test_mixed.py") == {QUICK, "deep"}


@pytest.mark.parametrize(
    ("test", "unit"),
    [
        ("tests/unit/core/test_diff.py::test_it", "tests/unit/core/test_diff.py"),
        ("tests/unit/core/test_diff.py::TestIt::test_it[a::b]", "tests/unit/core/test_diff.py"),
        ("tests/system/test_up.py::test_it", "another hub"),
        ("tests/system/test_index_killed.py::test_it[a@b]", "index killed"),
    ],
)
def test_process_takes_file_or_group(test: str, unit: str) -> None:
    assert Scheduling._split_scope(SimpleNamespace(), test) == unit


def test_group_is_of_a_whole_file() -> None:
    """The scheduler reads it there, and would not see that of a single test."""
    marked = [path for path in TESTS.rglob("test_*.py") if "xdist_group(" in path.read_text()]
    single = [path.name for path in marked if "\n@pytest.mark.xdist_group" in path.read_text()]
    assert single == []
    assert {group_of_file(str(path.relative_to(TESTS.parent))) for path in marked} - {""} >= {
        "hub",
        "another hub",
        "killed",
        "walk",
    }


def test_test_cannot_be_in_two_tiers() -> None:
    marks = [pytest.mark.deep.mark, pytest.mark.kill.mark]
    item = SimpleNamespace(nodeid="tests/test_it.py::test_it", iter_markers=lambda: iter(marks))
    with pytest.raises(pytest.UsageError, match="deep and kill"):
        tiers.tier_of_test(item)


@pytest.mark.parametrize(("ends_at", "said"), [("1", "tests did not begin"), ("", " passed")])
def test_what_comes_too_late_does_not_begin_and_is_counted(ends_at: str, said: str) -> None:
    command = [sys.executable, "-m", "pytest", "-n", "0", "tests/unit/memoryhub/test_progress.py"]
    environment = os.environ | {"TESTS_END_AT": ends_at}
    ended = subprocess.run(command, cwd=TESTS.parent, env=environment, capture_output=True, text=True, check=True)
    assert said in ended.stdout
    assert ("test_progress.py " in ended.stdout) == bool(ends_at)
