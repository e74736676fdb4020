"""Outputs of models that take a reader of tool requests the most work: it grows as the text does."""

import sys
from types import FrameType
from typing import Any

import pytest

from apps.llm.domain.json_repair.repair import RepairResult
from apps.llm.domain.json_repair.types import RepairRefusal
from apps.llm.domain.protocol.parser import parse_output
from apps.llm.schemas.tools import MAX_OUTPUT_CHARS
from tests.timing import assert_quick
from tests.unit.llm.protocol.outputs import END, SAVE, VCP


def no_repair(text: str) -> RepairResult:
    return RepairResult(None, refusal=RepairRefusal.NO_JSON)


def lines_run(text: str) -> int:
    """How many lines of the protocol's code it takes to read a text."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        if "protocol" not in frame.f_code.co_filename:
            return None
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        parse_output(text, repair=no_repair)
    finally:
        sys.settrace(before)
    return count


WORST = [
    "[[ABP_TOOL:", SAVE, SAVE + "{", SAVE + '{"a":', SAVE + '{"a":"', SAVE + '{"a":1}', SAVE + '{"a":1}' + END + "\n",
    SAVE + '{x:"\n', SAVE + "{a:1}}", '{"a":"' + SAVE, VCP, VCP + "a:「始」", "「始」" + SAVE, END, "{",
    "<think>", "</think>", '{"a": "<think>', '{<think>}', VCP + "a:「始ESCAPE」", SAVE + '"a":"', SAVE + 'a:",","',
    "[ABP_TOOL:a", "[ABP_TOOL:a]{", "<<[TOOL_REQUEST]>>",
    '{"', '"', "```\n", " \n", "\\", "> ", '{"a":1}\n\n', "[[ABP_TOOL:" + "a" * 50,
]  # fmt: skip


@pytest.mark.parametrize("unit", WORST)
@pytest.mark.parametrize("start", ["", SAVE, SAVE + '{"a":"'], ids=["alone", "in a block", "in a string"])
def test_work_grows_with_length_not_its_square(unit: str, start: str) -> None:
    once, twice = (lines_run(start + unit * count) for count in (100, 200))
    assert twice <= 2.2 * once + 100


@pytest.mark.parametrize("unit", WORST)
def test_longest_output_that_is_accepted_is_read_in_seconds(unit: str) -> None:
    assert_quick(parse_output, unit * (MAX_OUTPUT_CHARS // len(unit)), 5)
