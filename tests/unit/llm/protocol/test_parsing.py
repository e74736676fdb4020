"""Which protocol answers, what text is left, and what no output can do: spec 000 "Dual Protocol Compatibility"."""

import json
from dataclasses import asdict
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.llm.domain.json_repair.repair import RepairResult
from apps.llm.domain.json_repair.types import RepairRefusal
from apps.llm.domain.protocol.parser import MAX_REFUSALS, MAX_REPAIRS, parse_output
from apps.llm.domain.protocol.results import ProtocolMode, ToolRequest
from apps.llm.domain.protocol.statistics import ProtocolStatistics, measure_output
from tests.unit.llm.protocol.outputs import END, SAVE, VCP, VCP_END, abp, refusals, the_request, vcp

GOOD = '{"content": "likes tea"}'
BROKEN = abp("memory_save", "what?")


# --- modes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "text", "protocol", "fallback"),
    [
        ("dual", abp("memory_save", GOOD), "abp", None),
        ("dual", vcp("memory_save"), "vcp", "vcp"),
        ("dual", BROKEN + vcp("memory_save"), "vcp", "vcp"),
        ("dual", vcp("memory_save") + abp("memory_search", GOOD), "abp", None),
        ("dual", BROKEN, "text", "text"),
        ("dual", "Hello.", "text", None),
        ("dual", f"`{SAVE}{GOOD}`", "text", None),
        ("abp", abp("memory_save", GOOD), "abp", None),
        ("abp", vcp("memory_save"), "text", None),
        ("abp", BROKEN + vcp("memory_save"), "text", "text"),
        ("vcp", vcp("memory_save"), "vcp", None),
        ("vcp", abp("memory_save", GOOD), "text", None),
        ("vcp", VCP + VCP_END, "text", "text"),
    ],
)
def test_the_protocol_that_answers(mode: str, text: str, protocol: str, fallback: str | None) -> None:
    parsed = parse_output(text, mode=ProtocolMode(mode))
    assert (parsed.protocol, parsed.fallback) == (protocol, fallback)


def no_repair(text: str) -> RepairResult:
    return RepairResult(None, refusal=RepairRefusal.NO_JSON)


def test_block_in_value_of_protocol_that_is_not_understood_is_still_data() -> None:
    text = vcp("memory_save", content=abp("wipe", "{}"))
    assert parse_output(text, mode=ProtocolMode.ABP).requests == ()


def test_of_several_blocks_others_are_named_as_superseded() -> None:
    parsed = parse_output(abp("one", "{}") + vcp("two") + abp("three", "{}"))
    assert [request.name for request in parsed.requests] == ["three"]
    assert [(refusal.name, refusal.code) for refusal in parsed.refused] == [
        ("one", "superseded"),
        ("two", "superseded"),
    ]


def test_a_refusal_says_why_in_a_sentence() -> None:
    [refusal] = parse_output(BROKEN).refused
    assert (refusal.name, refusal.code, refusal.detail) == (
        "memory_save",
        "no_parameters",
        "No JSON object follows the marker.",
    )


def test_without_a_repair_damaged_json_is_refused() -> None:
    parsed = parse_output(abp("memory_save", '{"content": "likes tea",}'), repair=no_repair)
    assert refusals(parsed) == ["damaged"]


def test_values_of_vcp_are_text_as_it_is() -> None:
    assert the_request(vcp("t", a="1", b='{"c": "&lt;"}', c="one\ntwo")).parameters == {
        "a": "1",
        "b": '{"c": "&lt;"}',
        "c": "one\ntwo",
    }


# --- text and spans -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (abp("t", "{}"), ""),
        (f"Before.\n{abp('t', '{}')}\nAfter.", "Before.\nAfter."),
        (f"Before.\n\n{abp('t', '{}')}\n\nAfter.", "Before.\n\nAfter."),
        (f"Before {SAVE}{GOOD}{END} after.", "Before after."),
        (f"(Before{SAVE}{GOOD}{END})", "(Before)"),
        (f"{abp('a', '{}')}\n\n{abp('b', '{}')}\nAfter.", "After."),
        (f"{BROKEN}\nBetween.\n{abp('b', '{}')}", "Between."),
        (f"> {SAVE}{GOOD}\n\n{abp('b', '{}')}", f"> {SAVE}{GOOD}"),
        (f"{SAVE}\n```json\n{GOOD}\n```\nAfter.", "After."),
        (f"Before.\n{vcp('t')}\nAfter.", "Before.\nAfter."),
    ],
)
def test_the_text_without_the_blocks(text: str, left: str) -> None:
    assert parse_output(text).text == left


def test_a_span_is_the_place_of_the_block() -> None:
    block = abp("memory_save", GOOD)
    text = f"Ah \U0001f600\u200b:\n{block}\nDone."
    start, end = the_request(text).span
    assert text[start:end] == block


# --- what no output can do ------------------------------------------------------------------------------------------

PIECES = [
    SAVE, END, VCP, VCP_END, "[[ABP_TOOL:", "]]", "「始」", "「末」", "tool_name:", "a:", '{"a": ',
    "{", "}", '"', "'", "“", "\\", "[", "]", ",", "1", "\n", "\r\n", "\n\n", "> ", "```", "~~~", "`",
    "<think>", "</think>", "「始ESCAPE」", "「末ESCAPE」", "[ABP_TOOL:", '"a": ', "a: ",
    "&lt;", "&quot;", "\u200b", "\u00a0", "\ud800", "x ",
]  # fmt: skip


def check(text: str) -> None:
    parsed = parse_output(text)
    spans = sorted(block.span for block in (*parsed.requests, *parsed.refused))
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert len(parsed.requests) <= 1
    assert all(isinstance(request, ToolRequest) and isinstance(request.parameters, dict) for request in parsed.requests)
    assert parsed.requests or parsed.text == text


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    check(text)


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_anything_made_of_what_blocks_are_made_of_is_read(text: str) -> None:
    check(text)


VALUES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()


@given(st.dictionaries(st.text(), VALUES | st.lists(VALUES, max_size=3), max_size=4))
def test_valid_parameters_arrive_as_they_are(parameters: dict[str, Any]) -> None:
    assert the_request(abp("t", json.dumps(parameters))).parameters == parameters
    assert the_request(abp("t", json.dumps(parameters, ensure_ascii=False, indent=2))).parameters == parameters


def test_ten_thousand_open_markers_are_read() -> None:
    parsed = parse_output("[[ABP_TOOL:" * 10_000)
    assert (parsed.protocol, parsed.refused_count) == ("text", 10_000)


def test_refusals_are_counted_but_not_all_kept() -> None:
    parsed = parse_output(f"{SAVE}\n" * 1_000)
    assert (len(parsed.refused), parsed.refused_count) == (MAX_REFUSALS, 1_000)


def test_repairs_of_one_output_are_limited() -> None:
    calls: list[str] = []

    def repair(text: str) -> Any:
        calls.append(text)
        return no_repair(text)

    parse_output(f"{SAVE}{{damaged}}{END}\n" * (MAX_REPAIRS * 2), repair=repair)
    assert len(calls) == MAX_REPAIRS


# --- statistics -------------------------------------------------------------------------------------------------------


def test_outputs_are_counted_by_what_came_of_them() -> None:
    outputs = [
        abp("t", "{}"),
        abp("t", '{"a": 1,}'),
        vcp("t"),
        BROKEN + vcp("t"),
        BROKEN,
        BROKEN + abp("t", "{}"),
        "Hello.",
        f"`{SAVE}{GOOD}{END}`",
        f"> {SAVE}{GOOD}{END}",
        f"<think>{SAVE}{GOOD}{END}</think>",
    ]
    total = ProtocolStatistics()
    for text in outputs:
        total += measure_output(parse_output(text))
    assert asdict(total) == {
        "outputs": 10,
        "abp": 3,
        "vcp": 2,
        "text": 5,
        "abp_failed": 2,
        "fallback_to_vcp": 2,
        "fallback_to_text": 1,
        "fixed": 1,
        "refused": 6,
    }


def test_blocks_that_are_only_shown_count_as_refused_and_not_as_failed() -> None:
    parsed = parse_output(f"`{SAVE}{GOOD}{END}` and\n```\n{abp('t', '{}')}\n```\n> {SAVE}{GOOD}{END}")
    assert (parsed.abp_failed, parsed.fallback) == (False, None)
    assert parsed.refusals == {"in_code": 2, "in_quote": 1}


def test_statistics_add_up() -> None:
    one = measure_output(parse_output(vcp("t")))
    assert (one + one).fallback_to_vcp == 2
