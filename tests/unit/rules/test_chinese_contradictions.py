"""Which Chinese statements replace which: measured on labelled pairs, and properties of every pair."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.rules.domain.contradiction.chinese.compare import find_chinese, restates_chinese
from apps.rules.domain.contradiction.chinese.values import are_equal, canonical
from apps.rules.domain.contradiction.evidence import Reason
from apps.rules.domain.engine.detection import detect
from apps.rules.domain.engine.signals import DetectionConfig
from apps.rules.domain.statements.chinese import fold_chinese
from tests.effort import examples
from tests.timing import assert_quick
from tests.unit.rules.pairs import read_pairs
from tests.unit.rules.records import record

ACT, NOTICE, RESTATE = 0.85, 0.5, 0.8
PAIRS = [
    pair for name in ("first", "second", "third", "fourth", "fifth") for pair in read_pairs(f"chinese_pairs_{name}.txt")
]
UPDATES = [pair[1:] for pair in PAIRS if pair[0] == "update"]
COEXISTING = [pair[1:] for pair in PAIRS if pair[0] == "coexist"]
SAME = [pair[1:] for pair in PAIRS if pair[0] == "same"]


def is_acted_on(older: str, newer: str) -> bool:
    found = find_chinese(older, newer)
    return found is not None and found.score >= ACT


@pytest.mark.parametrize(("older", "newer"), COEXISTING)
def test_nothing_that_may_stand_side_by_side_is_destroyed(older, newer):
    assert not is_acted_on(older, newer)
    assert not is_acted_on(newer, older)
    assert restates_chinese(older, newer) < RESTATE


def test_share_of_updates_that_are_acted_on_and_noticed():
    acted = sum(is_acted_on(*pair) for pair in UPDATES)
    found = (detect(record(newer, days=1), record(older, key="1"), DetectionConfig()) for older, newer in UPDATES)
    assert acted >= 0.6 * len(UPDATES)
    assert sum(one.is_conflict for one in found) >= 0.85 * len(UPDATES)


def test_share_of_restatements_that_are_joined():
    pairs = [(record(newer, days=1), record(older, key="1")) for older, newer in SAME]
    assert sum(detect(*pair, DetectionConfig()).restates for pair in pairs) >= 0.5 * len(SAME)


@pytest.mark.parametrize(("older", "newer"), SAME)
def test_restatements_are_symmetric_and_never_contradict(older, newer):
    assert restates_chinese(older, newer) == restates_chinese(newer, older)
    assert not is_acted_on(older, newer)


@pytest.mark.parametrize(("older", "newer"), UPDATES)
def test_an_update_is_no_restatement(older, newer):
    assert restates_chinese(older, newer) < RESTATE


@pytest.mark.parametrize(("older", "newer"), UPDATES)
def test_a_question_changes_nothing(older, newer):
    assert not is_acted_on(older, newer.rstrip("。！") + "吗？")
    assert not is_acted_on(older, f"如果{newer}")
    assert not is_acted_on(older, f"听说{newer}")


@pytest.mark.parametrize(("older", "newer"), UPDATES)
def test_what_is_added_without_relation_changes_nothing(older, newer):
    beside = "隔壁的面包很香。"
    assert is_acted_on(older, newer) == is_acted_on(older, f"{newer}{beside}") == is_acted_on(older, f"{beside}{newer}")


def test_the_evidence_names_reason_passages_and_what_differs():
    found = find_chinese("我住在北京。", "我搬到上海了。")
    assert found is not None
    assert found.reason is Reason.REPLACED
    assert (found.first, found.second) == ("我住在北京", "我搬到上海了")
    assert found.differing == (("北京", "上海"),)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("民國七十九年五月二十日", "1990-05-20"),
        ("1990 年 5 月 20 日", "1990-05-20"),
        ("下午四點半", "16:30"),
        ("晚上８點", "20:00"),
        ("四點", "4点00"),
        ("星期三", "周3"),
        ("每周三晚上", "每周3晚上"),
        ("三十五元", "35元"),
        ("一萬二千元", "12000元"),
        ("六十公斤", "60公斤"),
        ("60 kg", "60公斤"),
        ("百分之二十", "20%"),
        ("6/14", "--06-14"),
        ("快一點", "快一点"),
        ("3.10 版", "3.10版"),
        ("0912-345-678", "0912-345-678"),
    ],
)
def test_values_have_one_form(text, form):
    assert canonical(fold_chinese(text)) == form


def test_values_that_say_less_may_be_equal():
    assert are_equal("4点00", "16:00")
    assert not are_equal("4点00", "17:00")
    assert are_equal("1990-05-20", "--05-20")


@given(st.text(max_size=60), st.text(max_size=60))
@settings(max_examples=examples(100))
def test_any_two_texts_can_be_compared(older, newer):
    find_chinese(older, newer)
    assert restates_chinese(older, newer) == restates_chinese(newer, older)


CLAUSES = st.lists(
    st.sampled_from(
        [
            "我",
            "住在",
            "搬到",
            "北京",
            "不",
            "了",
            "，",
            "。",
            "三点",
            "周三",
            "改到",
            "是",
            "的",
            "密码",
            "5",
            "吗",
            "在",
            "工作",
        ]
    ),
    max_size=24,
).map("".join)


@given(CLAUSES, CLAUSES)
@settings(max_examples=examples(300))
def test_any_order_of_known_words_can_be_compared(older, newer):
    find_chinese(older, newer)
    assert restates_chinese(older, newer) == restates_chinese(newer, older)


@pytest.mark.parametrize(
    "text",
    ["我在北京，" * 800, "改到" * 2000, "从" * 4000, "是" * 4000, "1" * 4000, "一" * 4000, "周三" * 2000, "不" * 4000,
     "说" * 4000, "、" * 4000, "我的密码是" * 800, "a" * 4000, " " * 4000, "把" * 4000, "因为" * 2000],
)  # fmt: skip
def test_long_texts_take_no_longer_than_a_linear_reading(text):
    assert_quick(
        lambda each: (find_chinese(each, f"{each[1:]}我住在北京。"), restates_chinese(each, each[1:])), text, 1
    )
