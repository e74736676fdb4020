"""What holds for every text: no exception, nothing lost."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.llm.domain.json_repair.repair import repair_json
from apps.llm.domain.json_repair.types import RepairRefusal
from tests.effort import examples

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)
SIGNS = st.sampled_from(
    [*"{}[]()\"'`“’\\,:;+-.#/=1a \n\x00\ufeff", "true", "/*", "*/", "```", "...", '"a":', "\\ud83d"]
)
SHORT = settings(max_examples=examples(100), deadline=None)


@given(VALUES, st.booleans())
@SHORT
def test_valid_json_is_never_changed(value, ascii_only):
    text = json.dumps(value, ensure_ascii=ascii_only)
    result = repair_json(text)
    assert result.was_valid
    assert result.text == text


@given(VALUES, st.integers(min_value=0, max_value=200))
@SHORT
def test_valid_json_cut_anywhere_is_repaired_or_refused(value, place):
    assert_is_sound(json.dumps([value])[:place])


@given(st.lists(SIGNS, max_size=30).map("".join))
@settings(max_examples=examples(250), deadline=None)
def test_signs_in_any_order_are_repaired_or_refused(text):
    assert_is_sound(text)


@given(VALUES, st.data())
@SHORT
def test_damaged_document_is_repaired_or_refused(value, data):
    text = json.dumps(value)
    place = data.draw(st.integers(0, len(text)))
    assert_is_sound(text[:place] + data.draw(SIGNS) + text[place + data.draw(st.integers(0, 2)) :])


def assert_is_sound(text: str) -> None:
    """A result is valid JSON that says the same when it is read again, within the limits; or a refusal."""
    result = repair_json(text)
    if result.text is None:
        assert result.refusal is not None
        return
    assert repair_json(result.text).was_valid
    assert result.was_valid == (not result.repairs)
    assert not result.was_valid or result.text == text


@given(st.text(max_size=20), st.text(max_size=20).filter(lambda text: "]" not in text))
@SHORT
def test_a_cut_string_keeps_every_character(before, text):
    """A bracket at the very end would be taken for that of the list, so it is left out here."""
    spelled = json.dumps([before, text], ensure_ascii=False)[:-2]
    assert repair_json(spelled).value == [before, text]


@given(st.dictionaries(st.text(max_size=6), VALUES, max_size=5))
@SHORT
def test_a_trailing_comma_costs_nothing_else(value):
    text = json.dumps(value)
    repaired = repair_json(f"{text[:-1]},}}")
    assert repaired.value == value
    assert repaired.text == text


# -- depth

DEEP = 10_000


@pytest.mark.parametrize("text", ["[" * DEEP, '{"a":' * DEEP, "[{" * (DEEP // 2), "[" + "(" * DEEP, "{" * DEEP])
def test_ten_thousand_open_levels_are_refused(text):
    assert repair_json(text).refusal is RepairRefusal.TOO_DEEP


@pytest.mark.parametrize("text", ["[" * DEEP + "]" * DEEP, '{"a":' * 8_000 + "1" + "}" * 8_000])
def test_ten_thousand_closed_levels_are_refused(text):
    assert repair_json(text).refusal is RepairRefusal.TOO_DEEP


@pytest.mark.parametrize("text", ["]" * DEEP, "[]" * DEEP, "f(" * DEEP, "[1" + "}" * DEEP])
def test_ten_thousand_other_brackets_neither_crash_nor_hang(text):
    assert_is_sound(text)
