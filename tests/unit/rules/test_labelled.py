"""Reading labelled pairs, and the rates of decisions about them."""

import json
from pathlib import Path

import pytest

from benchmarks.labelled_pairs import (
    Decision,
    Label,
    LabelledFileError,
    LabelledPair,
    Mistake,
    halves,
    mistake_of,
    neighbours,
    parse_pairs,
    rates,
    read_pairs,
    unrelated,
)

SICK = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n1\tA dog\tNo dog\t4\tCONTRADICTION\n"
MRPC = 'Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n0\t1\t2\tHe said "no\tHe said yes\n'


def pair(label: Label = Label.CONFLICT, older: str = "a", newer: str = "b", group: str = "g") -> LabelledPair:
    return LabelledPair(older, newer, label, group)


def decision(label: Label, *, noticed: bool = False, acted: bool = False, **fields: bool | str) -> Decision:
    return Decision(
        **{"pair": pair(label), "noticed": noticed, "acted": acted, "merged": False, "newer_won": False, **fields}
    )


def test_sick_is_read_by_its_header() -> None:
    assert parse_pairs(SICK) == [pair(Label.CONFLICT, "A dog", "No dog", "SICK CONTRADICTION")]


def test_mrpc_is_read_with_byte_order_mark_and_bare_quotes(tmp_path: Path) -> None:
    path = tmp_path / "mrpc.tsv"
    path.write_text(MRPC.replace("\n", "\r\n"), encoding="utf-8-sig", newline="")
    assert read_pairs(path) == [pair(Label.APART, 'He said "no', "He said yes", "MRPC 0")]


def test_our_own_format_names_its_label_and_perhaps_its_group() -> None:
    lines = [
        {"older": "a", "newer": "b", "label": "same"},
        {"older": "a", "newer": "b", "label": "apart", "group": "colours"},
    ]
    found = parse_pairs("\n".join(map(json.dumps, lines)))
    assert found == [pair(Label.SAME, group="same"), pair(Label.APART, group="colours")]


def test_turns_of_conversations_are_joined() -> None:
    conversation = json.dumps({"kind": "update", "older": ["a", "b"], "newer": ["c"]})
    updates = json.dumps({"old": [{"text": "a"}], "new": [{"text": "b"}, {"text": "c"}]})
    assert parse_pairs(f"{conversation}\n\n{updates}\n") == [
        pair(older="a\nb", newer="c", group="update"),
        pair(older="a", newer="b\nc", group="knowledge updates"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tb\tc\n", "Line 1: expected the header"),
        (SICK.replace("CONTRADICTION", "MAYBE"), "Line 2: expected one of ENTAILMENT"),
        (MRPC + "1\t2\n", "Line 3: expected 5 columns, got 2"),
        ('{"older": "a"}', "Line 1: expected older, newer and label"),
        ('{"older": "a", "newer": "b", "label": "maybe"}', "Line 1: expected older"),
        ('{"older": [], "newer": ["b"]}', "Line 1: expected older"),
        ('{"older": "a", "newer": "b", "label": "same"}\n{', "Line 2: expected a JSON object"),
    ],
)
def test_a_bad_line_is_named(text: str, message: str) -> None:
    with pytest.raises(LabelledFileError, match=message):
        parse_pairs(text)


def test_an_empty_file_has_no_pairs() -> None:
    assert parse_pairs("\n \n") == []


def test_unrelated_pairs_cross_all_conflicts() -> None:
    conflicts = [pair(older=name, newer=name.upper()) for name in "abc"]
    crossed = unrelated([*conflicts, pair(Label.SAME)])
    assert {(item.older, item.newer) for item in crossed} == {
        (older, newer) for older in "abc" for newer in "ABC" if older != newer.lower()
    }
    assert {item.label for item in crossed} == {Label.APART}


def test_limit_on_unrelated_pairs_leaves_no_item_out() -> None:
    conflicts = [pair(older=str(number), newer="x") for number in range(10)]
    assert {item.older for item in unrelated(conflicts, limit=10)} == {str(number) for number in range(10)}


def test_neighbours_are_nearest_of_unrelated_pairs() -> None:
    conflicts = [pair(older=name, newer=name.upper()) for name in "abc"]
    assert [(item.older, item.newer) for item in neighbours(conflicts)] == [("a", "B"), ("b", "C"), ("c", "A")]


def test_a_file_is_halved_by_blocks_of_neighbours() -> None:
    pairs = [pair(older=str(number)) for number in range(7)]
    first, second = halves(pairs)
    assert [item.older for item in first] == ["0", "1", "4", "5"]
    assert [item.older for item in second] == ["2", "3", "6"]


def test_halves_of_large_file_have_larger_blocks() -> None:
    first, second = halves([pair(older=str(number)) for number in range(1000)])
    assert [item.older for item in first[:51]] == [*map(str, range(50)), "100"]
    assert len(first) == len(second) == 500


def test_rates_of_pairs_that_must_stay_apart() -> None:
    [found] = rates(
        [
            decision(Label.APART),
            decision(Label.APART),
            decision(Label.APART, noticed=True, signal="value"),
            decision(Label.APART, noticed=True, acted=True, signal="semantic"),
        ]
    )
    assert (found.false_merges, found.false_alarms) == (0.25, 0.5)
    assert (found.missed, found.silent_merges, found.newer_won) == (None, None, None)
    assert found.signals == {"value": 1, "semantic": 1}


def test_rates_of_conflicts() -> None:
    [found] = rates(
        [
            decision(Label.CONFLICT),
            decision(Label.CONFLICT, noticed=True, newer_won=True),
            decision(Label.CONFLICT, noticed=True, acted=True, merged=True),
            decision(Label.CONFLICT, noticed=True, acted=True, newer_won=True),
        ]
    )
    assert (found.missed, found.silent_merges) == (0.25, 0.25)
    assert found.newer_won == 0.5
    assert found.newer_won_of_noticed == pytest.approx(2 / 3)
    assert found.false_merges is None


def test_each_group_and_label_has_its_rates() -> None:
    found = rates([decision(Label.SAME), decision(Label.APART), decision(Label.SAME)])
    assert [(item.label, item.pairs) for item in found] == [(Label.SAME, 2), (Label.APART, 1)]


@pytest.mark.parametrize(
    ("found", "mistake"),
    [
        (decision(Label.APART), None),
        (decision(Label.APART, noticed=True), Mistake.FALSE_ALARM),
        (decision(Label.APART, noticed=True, acted=True), Mistake.FALSE_MERGE),
        (decision(Label.CONFLICT), Mistake.MISSED),
        (decision(Label.CONFLICT, noticed=True), Mistake.NOT_ACTED_ON),
        (decision(Label.CONFLICT, noticed=True, acted=True), Mistake.OLDER_WON),
        (decision(Label.CONFLICT, noticed=True, acted=True, merged=True), Mistake.SILENT_MERGE),
        (decision(Label.CONFLICT, noticed=True, acted=True, newer_won=True), None),
        (decision(Label.SAME, noticed=True, acted=True), None),
    ],
)
def test_each_wrong_decision_has_its_name(found: Decision, mistake: Mistake | None) -> None:
    assert mistake_of(found) is mistake


def test_signals_and_reasons_of_noticed_pairs_are_counted() -> None:
    [found] = rates(
        [
            decision(Label.APART, noticed=True, signal="contradiction", reason="value", score=0.7),
            decision(Label.APART, noticed=True, signal="contradiction", reason="denial", score=0.6),
            decision(Label.APART, noticed=True, signal="semantic"),
            decision(Label.APART),
        ]
    )
    assert found.signals == {"contradiction": 2, "semantic": 1}
    assert found.reasons == {"value": 1, "denial": 1}
