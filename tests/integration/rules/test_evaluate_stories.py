"""Measuring the rules on labelled stories, and that these are decided as saving them decides."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from apps.core.domain.clock import DeterministicClock
from apps.core.domain.scope import Scope, system_access
from apps.retrieval.domain.query import SearchQuery
from apps.rules.domain.documents.rule import DEFAULT_RULE
from apps.rules.selectors import active_rules
from apps.rules.services import rule_register
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Conflict, Memory
from apps.semantic.search.search import memory_search
from apps.semantic.services import memory_save
from benchmarks.stories import StoryResult, parse_stories
from benchmarks.story_decisions import decide_stories

MOVED = {
    "id": "moved",
    "label": "update",
    "statements": ["Ana lives in Lisbon.", "Ana bakes rye bread.", "Ana does not live in Lisbon."],
    "current": [1, 2],
    "query": "Does Ana live in Lisbon?",
    "lang": "en",
    "kind": "home",
}
BACK = {
    "id": "back",
    "label": "update",
    "statements": ["Ana lives in Lisbon.", "Ana does not live in Lisbon.", "ana lives in Lisbon!!"],
    "query": "Where does Ana live?",
    "lang": "en-GB",
    "kind": "home",
}
POSTCARDS = {
    "id": "postcards",
    "label": "coexist",
    "statements": ["Ana spent $12 on postcards.", "Ana spent $15 on postcards.", "Ana spent $12 on postcards"],
    "kind": "count",
}
TEA = {
    "id": "tea",
    "label": "same",
    "statements": ["I like green tea", "I really like green tea"],
    "query": "tea",
    "lang": "de",
}
NUMBER = {"id": "number", "label": "update", "statements": ["I live in Berlin.", "I live in Munich."]}
STORIES = (MOVED, BACK, POSTCARDS, TEA)
FIRST, DAY = 1_767_225_600_000, 86_400_000  # milliseconds
# Undated memories are merged, and what contradicts is rejected.
MERGING = {
    "name": "merging",
    "priority": 1,
    "detection": {"keyword_threshold": 0.5, "restate_threshold": 0.5},
    "arbitration": {"priority_recency": False, "priority_source": False, "default_strategy": "reject"},
}


def file_of(tmp_path: Path, *stories: dict[str, Any], name: str = "stories.jsonl") -> Path:
    path = tmp_path / name
    path.write_text("".join(json.dumps(story) + "\n" for story in stories), encoding="utf-8")
    return path


def run(*arguments: Any) -> str:
    out = StringIO()
    call_command("evaluate_conflicts", *map(str, arguments), stdout=out, stderr=StringIO())
    return out.getvalue()


def figures(tmp_path: Path, *arguments: Any) -> dict[str, Any]:
    target = tmp_path / "figures.json"
    run(*arguments, "--json", target)
    found: dict[str, Any] = json.loads(target.read_text())
    return found


def saved(result: StoryResult) -> tuple[set[str], set[str], list[str]]:
    """Save the statements of a story one day apart. Return what is active, what conflicts, and what a search finds."""
    story, access = result.story, system_access("test")
    scope, clock = Scope(story.id), DeterministicClock(FIRST)
    for text in story.statements:
        memory_save(access=access, draft=MemoryDraft(text, scope=scope), clock=clock)
        clock.advance(DAY)
    query = SearchQuery(scope=scope, query=story.query or "Ana")
    found = [one.memory.content for one in memory_search(access, query).found]
    active = set(Memory.objects.active().filter(user_id=story.id).values_list("content", flat=True))
    receipts = Conflict.objects.filter(user_id=story.id).values_list("candidate__content", flat=True)
    return active, set(receipts), found


@pytest.mark.django_db
@pytest.mark.parametrize("rule", [None, MERGING])
def test_stories_are_decided_and_searched_as_if_they_were_saved(rule: dict[str, Any] | None) -> None:
    if rule:
        rule_register(document=rule, actor="test")
    stories = parse_stories("\n".join(json.dumps({"query": "Ana", **story}) for story in STORIES))
    for result in decide_stories(stories, active_rules().matching):
        active, conflicting, found = saved(result)
        assert {memory.text for memory in result.active} == active, result.story.id
        candidates = {result.story.statements[min(one.candidate)] for one in result.conflicts}
        assert candidates == conflicting, result.story.id
        assert [memory.text for memory in result.found] == found, result.story.id


def test_stories_are_decided_without_a_database() -> None:
    [moved, back, postcards, tea] = decide_stories(parse_stories("\n".join(map(json.dumps, STORIES))))
    assert moved.is_decided
    assert [memory.holds for memory in back.active] == [frozenset({2})]
    assert {memory.holds for memory in postcards.active} == {frozenset({0, 2}), frozenset({1})}
    assert tea.is_one


@pytest.mark.django_db
def test_rates_by_label_language_and_kind_and_every_story_are_written(tmp_path: Path) -> None:
    found = figures(tmp_path, file_of(tmp_path, *STORIES))["stories"]
    assert [(row["label"], row["group"], row["stories"]) for row in found["all"]] == [
        ("update", "all", 2),
        ("coexist", "all", 1),
        ("same", "all", 1),
    ]
    assert [(row["group"], row["decided"]) for row in found["languages"] if row["label"] == "update"] == [("en", 1.0)]
    assert {row["group"] for row in found["kinds"]} == {"home", "count", ""}
    [moved, *_] = found["stories"]
    assert (moved["id"], moved["mistakes"]) == ("moved", [])
    assert moved["active"] == [{"text": MOVED["statements"][place], "holds": [place]} for place in (1, 2)]
    [conflict] = moved["conflicts"]
    assert (conflict["candidate"], conflict["existing"], conflict["reason"]) == ([2], [0], "negation")


@pytest.mark.django_db
def test_table_shows_rates_in_percent_and_kinds_on_request(tmp_path: Path) -> None:
    path = file_of(tmp_path, *STORIES)
    [row] = [line for line in run(path).splitlines() if "coexist" in line and "all" in line]
    assert [cell.strip() for cell in row.split("│")[3:]] == ["1", "", "", "100.0", "0.0", "", "", ""]
    assert "home" not in run(path)
    assert "home" in run(path, "--kinds")


@pytest.mark.django_db
def test_mistakes_are_shown_verbatim_only_when_asked_for(tmp_path: Path) -> None:
    missed = {"id": "m", "label": "update", "statements": ["Ana likes tea.", "Ben has a bicycle."], "query": "tea"}
    path = file_of(tmp_path, missed, missed)
    assert "bicycle" not in run(path)
    shown = run(path, "--show", 1)
    assert shown.count("missed (m)") == 1
    assert "  0: Ana likes tea.  [active, should be replaced]\n  1: Ben has a bicycle.  [active]\n" in shown
    assert "current fact not first (m)" in shown
    assert "  query: tea  [found: 0, 1]\n" in shown


@pytest.mark.django_db
def test_a_named_rule_decides(tmp_path: Path) -> None:
    document = {"name": "timid", "extends": DEFAULT_RULE, "detection": {"act_threshold": 1}}
    rule_register(document=document, actor="test")
    [update] = figures(tmp_path, file_of(tmp_path, NUMBER), "--rule", "timid")["stories"]["all"]
    assert (update["noticed"], update["decided"]) == (1.0, 0.0)


@pytest.mark.django_db
def test_pairs_and_stories_are_measured_together(tmp_path: Path) -> None:
    pair = {"older": "I live in Berlin", "newer": "I live in Munich", "label": "conflict"}
    found = figures(tmp_path, file_of(tmp_path, pair, name="pairs.jsonl"), file_of(tmp_path, MOVED))
    assert found["all"][0]["pairs"] == 1
    assert found["stories"]["all"][0]["stories"] == 1


@pytest.mark.django_db
def test_a_bad_story_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"stories\.jsonl: Line 2: expected statements"):
        run(file_of(tmp_path, MOVED, {"label": "update"}))


@pytest.mark.django_db
def test_it_changes_nothing_in_the_database(tmp_path: Path) -> None:
    def only_reads(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        assert sql.lstrip().startswith("SELECT"), sql
        return execute(sql, params, many, context)

    with connection.execute_wrapper(only_reads):
        run(file_of(tmp_path, *STORIES))


LIVES = """# ana-01 en
= Ana lives in Lisbon.
= Ana bakes rye bread.
= Ana does not live in Lisbon.
= The shed is green.
> 2 | Ana bakes no bread.

# ana-02 de
= Ana wohnt in Lissabon.
"""


@pytest.mark.django_db
def test_statements_of_a_life_are_saved_one_after_another(tmp_path: Path) -> None:
    path = tmp_path / "lives.txt"
    path.write_text(LIVES, encoding="utf-8")
    assert figures(tmp_path, path)["conversations"] == [
        {"lang": "all", "lives": 2, "statements": 5, "lost": 20.0, "joined": 0.0, "noticed": 0.0},
        {"lang": "en", "lives": 1, "statements": 4, "lost": 25.0, "joined": 0.0, "noticed": 0.0},
        {"lang": "de", "lives": 1, "statements": 1, "lost": 0.0, "joined": 0.0, "noticed": 0.0},
    ]
    with pytest.raises(CommandError, match=r"missing.txt: No such file"):
        run(tmp_path / "missing.txt")


@pytest.mark.parametrize("text", ["# ana-01\n= Ana bakes.\n", "# ana-01 en\n> 1 | Ana bakes no bread.\n"])
def test_a_file_that_is_no_life_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "lives.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CommandError, match=r"lives\.txt: Expected lives"):
        run(path)


@pytest.mark.django_db
def test_what_a_file_has_is_known_by_its_first_line_not_by_its_name(tmp_path: Path) -> None:
    pairs, stories = tmp_path / "pairs.txt", file_of(tmp_path, *STORIES, name="stories.txt")
    pairs.write_text(json.dumps({"older": "Ana bakes.", "newer": "Ana bakes bread.", "label": "apart"}) + "\n")
    found = figures(tmp_path, pairs, stories)
    assert found["all"]
    assert found["stories"]["all"]
    assert "conversations" not in found
