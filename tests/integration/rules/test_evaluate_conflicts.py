"""Measuring the rules on labelled pairs as an operator does: docs/explain/conflicts.md."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from apps.rules.domain.documents.rule import DEFAULT_RULE
from apps.rules.services import rule_register
from benchmarks.conflicts import built_in_rules

pytestmark = pytest.mark.django_db

MOVED = {"older": "I live in Berlin", "newer": "I live in Munich", "label": "conflict", "group": "homes"}
BIRTHDAYS = {"older": "My birthday is May 3", "newer": "My birthday is May 4", "label": "conflict", "group": "homes"}
DRINKS = {"older": "Ana likes green tea", "newer": "Ben has a bicycle", "label": "apart", "group": "drinks"}
ALIKE = {"older": "I like green tea", "newer": "I like green tea.", "label": "apart", "group": "drinks"}
AGAIN = {"older": "I like green tea", "newer": "I really like green tea", "label": "same", "group": "drinks"}


def file_of(tmp_path: Path, *pairs: dict[str, str], name: str = "pairs.jsonl") -> Path:
    path = tmp_path / name
    path.write_text("".join(json.dumps(pair) + "\n" for pair in pairs), encoding="utf-8")
    return path


def run(*arguments: Any) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command("evaluate_conflicts", *map(str, arguments), stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def figures(tmp_path: Path, *arguments: Any) -> dict[str, Any]:
    target = tmp_path / "figures.json"
    run(*arguments, "--json", target)
    found: dict[str, Any] = json.loads(target.read_text())
    return found


def test_every_group_and_label_has_its_rates(tmp_path: Path) -> None:
    found = figures(tmp_path, file_of(tmp_path, MOVED, BIRTHDAYS, DRINKS, ALIKE, AGAIN))["all"]
    homes, apart, same = found
    assert (homes["group"], homes["label"], homes["pairs"]) == ("homes", "conflict", 2)
    assert (homes["missed"], homes["newer_won"], homes["newer_won_of_noticed"]) == (0.0, 1.0, 1.0)
    assert homes["reasons"] == {"replaced": 2}
    assert (apart["label"], apart["pairs"], apart["false_merges"]) == ("apart", 2, 0.5)
    assert (same["label"], same["acted"], same["missed"]) == ("same", 1.0, None)


def test_the_table_shows_the_rates_in_percent(tmp_path: Path) -> None:
    out, _ = run(file_of(tmp_path, MOVED, DRINKS, ALIKE))
    [row] = [line for line in out.splitlines() if "drinks" in line and "apart" in line and "50.00" in line]
    assert row.split("│")[3].strip() == "2"


def test_two_files_are_measured_together(tmp_path: Path) -> None:
    files = file_of(tmp_path, MOVED), file_of(tmp_path, BIRTHDAYS, name="more.jsonl")
    [homes] = figures(tmp_path, *files)["all"]
    assert homes["pairs"] == 2


def test_a_named_rule_decides(tmp_path: Path) -> None:
    document = {"name": "timid", "extends": DEFAULT_RULE, "detection": {"act_threshold": 1}}
    rule_register(document=document, actor="test")
    [timid] = figures(tmp_path, file_of(tmp_path, MOVED), "--rule", "timid")["all"]
    assert (timid["noticed"], timid["newer_won"]) == (1.0, 0.0)


def test_the_rule_that_matches_decides(tmp_path: Path) -> None:
    document = {
        "name": "timid",
        "extends": DEFAULT_RULE,
        "conditions": {"source": "user"},
        "detection": {"act_threshold": 1},
    }
    rule_register(document=document, actor="test")
    [found] = figures(tmp_path, file_of(tmp_path, MOVED))["all"]
    assert found["newer_won"] == 0.0


def test_a_rule_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="There is no rule 'bold'"):
        run(file_of(tmp_path, MOVED), "--rule", "bold")


def test_unrelated_pairs_are_crossed_from_conflicts_of_file(tmp_path: Path) -> None:
    path = file_of(tmp_path, MOVED, BIRTHDAYS)
    groups = {row["group"]: row["pairs"] for row in figures(tmp_path, path, "--unrelated")["all"]}
    assert groups == {"homes": 2, "unrelated: pairs": 2, "neighbours: pairs": 2}


def test_files_that_hold_more_than_conflicts_are_not_crossed(tmp_path: Path) -> None:
    path = file_of(tmp_path, MOVED, BIRTHDAYS, DRINKS)
    assert {row["group"] for row in figures(tmp_path, path, "--unrelated")["all"]} == {"homes", "drinks"}


def test_halves_have_rates_of_their_own(tmp_path: Path) -> None:
    found = figures(tmp_path, file_of(tmp_path, MOVED, BIRTHDAYS, DRINKS), "--halves")
    assert [row["pairs"] for row in found["first half"]] == [2]
    assert [row["group"] for row in found["second half"]] == ["drinks"]


def test_the_strengths_of_each_reason_are_counted(tmp_path: Path) -> None:
    path = file_of(tmp_path, MOVED, BIRTHDAYS)
    [homes] = figures(tmp_path, path)["all"]
    assert homes["strengths"]["replaced"]["0.85"] == 2
    assert homes["strengths"]["all"]["0.5"] == 2
    out, _ = run(path, "--thresholds")
    assert "Contradictions at least this strong" in out


def test_examples_of_each_mistake_are_shown_up_to_number(tmp_path: Path) -> None:
    missed = {**DRINKS, "label": "conflict"}
    out, _ = run(file_of(tmp_path, missed, missed, ALIKE), "--show", 1)
    assert out.count("missed (drinks)") == 1
    assert "false merge (drinks" in out
    assert "  older: Ana likes green tea\n  newer: Ben has a bicycle\n" in out


def test_no_text_is_shown_unless_asked_for(tmp_path: Path) -> None:
    out, err = run(file_of(tmp_path, MOVED, DRINKS))
    assert "Berlin" not in out + err
    assert "bicycle" not in out + err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"older": "a", "newer": "b", "label": "maybe"}\n', r"pairs\.jsonl: Line 1: expected older, newer and label"),
        ("a\tb\n", r"pairs\.jsonl: Line 1: expected the header of SICK or MRPC"),
        ("\n", r"pairs\.jsonl: no labelled pairs in it"),
    ],
)
def test_a_bad_file_is_refused_with_the_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(text)
    with pytest.raises(CommandError, match=message):
        run(path)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"nowhere\.jsonl: No such file"):
        run(tmp_path / "nowhere.jsonl")


def test_figures_that_cannot_be_written_are_error(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"figures\.json: No such file"):
        run(file_of(tmp_path, MOVED), "--json", tmp_path / "nowhere" / "figures.json")


def test_it_changes_nothing_in_the_database(tmp_path: Path) -> None:
    path = file_of(tmp_path, MOVED, ALIKE)
    with connection.execute_wrapper(only_reads):
        run(path, "--unrelated", "--halves")


def only_reads(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
    assert sql.lstrip().startswith("SELECT"), sql
    return execute(sql, params, many, context)


def test_without_prepared_database_built_in_rules_decide() -> None:
    assert {"default", "inferred"} == set(built_in_rules().rules)
