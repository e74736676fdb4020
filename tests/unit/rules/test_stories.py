"""Reading labelled stories, and the rates of decisions about them."""

import json
from typing import Any

import pytest

from benchmarks.labelled_pairs import LabelledFileError
from benchmarks.stories import (
    ActiveMemory,
    FoundConflict,
    Story,
    StoryLabel,
    StoryMistake,
    StoryResult,
    has_stories,
    parse_stories,
    rates_by,
    story_mistakes,
)

TEA = ("I drink tea.", "I drink coffee.", "I drink tea.")


def story(label: StoryLabel = StoryLabel.UPDATE, current: tuple[int, ...] = (1,), **fields: Any) -> Story:
    return Story(**{"id": "s", "label": label, "statements": ("a", "b", "c"), "current": current, **fields})


def result(of: Story, *active: tuple[int, ...], **fields: Any) -> StoryResult:
    """Return what remains of a story. active: the places that each active memory holds."""
    memories = tuple(ActiveMemory(of.statements[holds[-1]], frozenset(holds)) for holds in active)
    return StoryResult(of, memories, **fields)


def conflict(candidate: int, *existing: int) -> FoundConflict:
    return FoundConflict(frozenset({candidate}), frozenset(existing), is_decisive=True, signal="contradiction")


def parsed(**item: Any) -> Story:
    [found] = parse_stories(json.dumps(item, ensure_ascii=False))
    return found


def test_a_story_is_read_with_all_that_it_says() -> None:
    found = parsed(
        id="n1", label="update", statements=["a", "b"], current=[1], query="?", lang="zh-TW", kind="k", topic="tea"
    )
    assert found == Story("n1", StoryLabel.UPDATE, ("a", "b"), (1,), "?", "zh-TW", "k")
    assert found.language == "zh"


@pytest.mark.parametrize("current", [0, 1])
def test_of_a_restatement_either_wording_may_be_kept(current: int) -> None:
    of = parsed(label="same", statements=["Ana swims.", "Swimming is what Ana does."], current=[current], query="?")
    for kept in (0, 1):
        memory = ActiveMemory(of.statements[kept], frozenset({kept}))
        assert StoryResult(of, (memory,), found=(memory,)).is_one
        assert StoryResult(of, (memory,), found=(memory,)).is_current_first
    both = tuple(ActiveMemory(text, frozenset({place})) for place, text in enumerate(of.statements))
    assert not StoryResult(of, both).is_one


def test_what_is_not_said_has_a_default() -> None:
    assert parsed(label="update", statements=["a", "b"]).current == (1,)
    found = parsed(label="coexist", statements=["a", "b"], query=None)
    assert (found.current, found.query, found.lang, found.kind, found.id) == ((0, 1), None, "", "", "line 1")


@pytest.mark.parametrize(
    "item",
    [
        [],
        {"statements": ["a"]},
        {"label": "maybe", "statements": ["a"]},
        {"label": "same", "statements": []},
        {"label": "same", "statements": "ab"},
        {"label": "same", "statements": ["a", 1]},
        {"label": "same", "statements": ["a", "b"], "current": [2]},
        {"label": "same", "statements": ["a", "b"], "current": [True]},
    ],
)
def test_a_bad_story_is_named_by_its_line(item: object) -> None:
    good = json.dumps({"label": "same", "statements": ["a", "b"]})
    with pytest.raises(LabelledFileError, match="Line 3: expected statements"):
        parse_stories(f"{good}\n\n{json.dumps(item)}\n")


def test_stories_are_known_by_their_first_line() -> None:
    assert has_stories('\n{"label": "same", "statements": ["a"]}\n')
    assert not has_stories('{"older": "a", "newer": "b", "label": "same"}')
    assert not has_stories("Quality\t#1 ID\n")
    assert not has_stories("")


@pytest.mark.parametrize(
    ("active", "decided", "lost"),
    [([(1,)], True, False), ([(0,), (1,)], False, False), ([(0,)], False, True), ([(2,), (1,)], False, False)],
)
def test_an_update_is_decided_rightly_if_exactly_what_holds_is_active(
    active: list[tuple[int, ...]], decided: bool, lost: bool
) -> None:
    found = result(story(), *active)
    assert (found.is_decided, found.is_lost) == (decided, lost)


def test_statement_that_is_repeated_counts_as_the_one_that_it_repeats() -> None:
    found = result(story(statements=TEA, current=(2,)), (0, 2))
    assert found.is_decided
    assert not result(story(statements=TEA, current=(2,)), (0, 2), (1,)).is_decided


def test_text_that_was_merged_is_none_of_the_statements() -> None:
    found = StoryResult(story(), (ActiveMemory("a b", frozenset({0, 1})),))
    assert found.is_lost


@pytest.mark.parametrize(
    ("conflicts", "noticed"),
    [([conflict(2, 0)], True), ([conflict(1, 0)], False), ([conflict(2, 1)], False), ([conflict(0, 2)], True)],
)
def test_an_update_is_noticed_if_the_last_fact_conflicts_with_one_that_does_not_hold(
    conflicts: list[FoundConflict], noticed: bool
) -> None:
    assert result(story(current=(1, 2)), (0,), (1,), (2,), conflicts=tuple(conflicts)).is_noticed is noticed


def test_restatements_are_left_as_one_if_one_memory_with_a_current_statement_is_active() -> None:
    same = story(StoryLabel.SAME, (1, 2))
    assert result(same, (1,)).is_one
    assert StoryResult(same, (ActiveMemory("merged", frozenset({1, 2})),)).is_one
    assert not result(same, (0,)).is_one
    assert not result(same, (1,), (2,)).is_one


@pytest.mark.parametrize(("order", "first"), [((2, 1), True), ((1, 2), False), ((), False)])
def test_best_hit_of_an_update_is_the_last_fact_that_holds(order: tuple[int, ...], first: bool) -> None:
    asked = story(current=(1, 2), query="?")
    found = tuple(ActiveMemory(asked.statements[place], frozenset({place})) for place in order)
    assert result(asked, (1,), (2,), found=found).is_current_first is first


def test_side_by_side_no_fact_is_the_first_one() -> None:
    assert result(story(StoryLabel.COEXIST, (0, 1, 2), query="?"), (0,), (1,), (2,)).is_current_first is None
    assert result(story(), (1,)).is_current_first is None


def test_rates_are_those_of_the_label() -> None:
    coexist = story(StoryLabel.COEXIST, (0, 1, 2))
    found = rates_by(
        [
            result(coexist, (0,), (1,), (2,)),
            result(story(), (1,)),
            result(story(), (0,), conflicts=(conflict(1, 0),)),
            result(coexist, (2,)),
        ],
        lambda _: "all",
    )
    update, side = found
    assert (update.label, update.stories, update.decided, update.wrong_side, update.noticed) == (
        StoryLabel.UPDATE,
        2,
        0.5,
        0.5,
        0.5,
    )
    assert (update.destroyed, update.left_as_one, update.current_first, update.queries) == (None, None, None, 0)
    assert (side.destroyed, side.decided, side.wrong_side) == (0.5, None, None)


def test_groups_come_by_label_and_then_by_size() -> None:
    stories = [story(lang="de"), story(lang="en"), story(lang="en-GB"), story(StoryLabel.SAME, (0, 1, 2), lang="fr")]
    found = rates_by([result(one, (1,)) for one in reversed(stories)], lambda one: one.language)
    assert [(one.label, one.group, one.stories) for one in found] == [
        ("update", "en", 2),
        ("update", "de", 1),
        ("same", "fr", 1),
    ]


COEXIST, SAME = story(StoryLabel.COEXIST, (0, 1, 2)), story(StoryLabel.SAME, (0, 1, 2))


@pytest.mark.parametrize(
    ("found", "mistakes"),
    [
        (result(story(), (1,)), []),
        (result(story(), (0,), (1,)), [StoryMistake.MISSED]),
        (result(story(), (0,), (1,), conflicts=(conflict(1, 0),)), [StoryMistake.NOT_DECIDED]),
        (result(story(), (0,)), [StoryMistake.WRONG_SIDE]),
        (result(story(query="?"), (1,)), [StoryMistake.NOT_FIRST]),
        (result(COEXIST, (0,), (1,), (2,)), []),
        (result(COEXIST, (0,), (1,), (2,), conflicts=(conflict(1, 0),)), [StoryMistake.FALSE_ALARM]),
        (result(COEXIST, (1,), (2,), conflicts=(conflict(1, 0),)), [StoryMistake.DESTROYED]),
        (result(SAME, (2,)), []),
        (result(SAME, (1,), (2,)), [StoryMistake.LEFT_APART]),
    ],
)
def test_each_mistake_has_its_name(found: StoryResult, mistakes: list[StoryMistake]) -> None:
    assert story_mistakes(found) == mistakes
