"""A block that is data is not executed: in a JSON string, in code, in a quotation, in another block."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.llm.domain.protocol.parser import parse_output
from tests.unit.llm.protocol.outputs import END, SAVE, VCP, VCP_END, WIPE, abp, refusals, vcp

WIPE_ALL = f'{WIPE}{{"all": true}}{END}'
WIPE_ESCAPED = json.dumps(WIPE_ALL)[1:-1]
WIPE_LINES = f'{WIPE}\n{{"all": true}}\n{END}'
VCP_WIPE = vcp("wipe", all="yes")

SHOWN: dict[str, tuple[str, str]] = {
    "in a code fence": (f"```\n{WIPE_LINES}\n```", "in_code"),
    "in a fence with a language": (f"Like this:\n```text\n{WIPE_LINES}\n```\nDone.", "in_code"),
    "in a fence of tildes": (f"~~~\n{WIPE_LINES}\n~~~", "in_code"),
    "in a fence that is not closed": (f"```\n{WIPE_LINES}", "in_code"),
    "in a fence inside a longer fence": (f"````\n```\n{WIPE_LINES}\n```\n{WIPE_LINES}\n````", "in_code"),
    "in an indented fence": (f"1. So:\n   ```\n   {WIPE_ALL}\n   ```", "in_code"),
    "in a fence closed by the other character": (f"```\n~~~\n{WIPE_ALL}\n```", "in_code"),
    "in code on its line": (f"Write `{WIPE_ALL}` to wipe.", "in_code"),
    "in code with two backticks": (f"Write ``a ` {WIPE_ALL}`` to wipe.", "in_code"),
    "on quoted lines": ("\n".join(f"> {line}" for line in WIPE_LINES.splitlines()), "in_quote"),
    "on one quoted line": (f"You wrote:\n> {WIPE_ALL}", "in_quote"),
    "on a line quoted twice": (f">> {WIPE_ALL}", "in_quote"),
    "on a quoted line after a carriage return": (f"You wrote:\r> {WIPE_ALL}", "in_quote"),
    "on an indented quoted line": (f"  > {WIPE_ALL}", "in_quote"),
    "on a quoted line of HTML": (f"&gt; {WIPE_ALL}", "in_quote"),
    "in quotation marks": (f'You wrote "{WIPE_ALL}" to me.', "in_quote"),
    "in single quotation marks": (f"You wrote '{WIPE_ALL}' to me.", "in_quote"),
    "in curly quotation marks": (f"You wrote “{WIPE_ALL}” to me.", "in_quote"),
    "in French quotation marks": (f"Vous écrivez « {WIPE_ALL} ».", "in_quote"),
    "in quotation marks right after a Chinese word": (f'你说"{WIPE_ALL}"', "in_quote"),
    "in a JSON string": (f'{{"note": "{WIPE_ESCAPED}"}}', "in_json"),
    "in a JSON string, not escaped": (f'{{"note": "{WIPE_ALL}"}}', "in_json"),
    "in a JSON string over lines": (f'{{"note": "so:\n{WIPE_ESCAPED}\n"}}', "in_json"),
    "in a JSON string over lines, not escaped": (f'{{"note": "so:\n{WIPE_LINES}\n"}}', "in_json"),
    "in a JSON string that is cut": (f'{{"note": "so: {WIPE_ESCAPED}', "in_json"),
    "in a JSON string over lines that is cut": (f'{{"note": "so:\n{WIPE_ESCAPED}', "in_json"),
    "in a list of strings": (f'["so", "{WIPE_ESCAPED}"]', "in_quote"),
    "in a string alone": (f'"{WIPE_ESCAPED}"', "in_quote"),
    "VCP in a code fence": (f"```\n{VCP_WIPE}\n```", "in_code"),
    "in a thought": (f"<think>\n{WIPE_LINES}\n</think>\nDone.", "in_thought"),
    "in a thought of another spelling": (f"<Thinking >{WIPE_ALL}</ thinking> Done.", "in_thought"),
    "in a thought as HTML": (f"&lt;think&gt;{WIPE_ALL}&lt;/think&gt;", "in_thought"),
    "in a thought that is not ended": (f"<think>{WIPE_ALL}", "in_thought"),
    "in a thought whose beginning is missing": (f"{WIPE_ALL}\n</think>\nDone.", "in_thought"),
    "in a thought in a thought": (f"<think>a<think>b</think>{WIPE_ALL}</think>", "in_thought"),
    "in a thought that quotes an end": (f'<think>"</think>" {WIPE_ALL}</think>', "in_thought"),
    "in a thought with a fence": (f"<think>```\n</think>\n{WIPE_ALL}\n</think>", "in_thought"),
    "in a thought with an attribute": (f'<think level="high">{WIPE_ALL}</think>', "in_thought"),
    "VCP in a thought": (f"<think>{VCP_WIPE}</think>", "in_thought"),
    "in the string of an object without its brace": (f'{SAVE}"content": "so: {WIPE_ALL}"}}{END}', "nested"),
    "VCP on quoted lines": ("\n".join(f"> {line}" for line in VCP_WIPE.splitlines()), "in_quote"),
    "VCP in a JSON string": (json.dumps({"note": VCP_WIPE}, ensure_ascii=False), "in_json"),
    "in the open string of a block": (f'{SAVE}{{"content": "so: {WIPE_ESCAPED}', "nested"),
    "in the open string of a block, on a line of its own": (f'{SAVE}{{"content": "so:\n{WIPE_ESCAPED}', "nested"),
    "in the open string of a block, not escaped": (f'{SAVE}{{"content": "so: {WIPE_ALL}', "nested"),
    "in a string of a block, not escaped": (f'{SAVE}{{"content": "so: {WIPE_ALL}"}}{END}', "nested"),
    "in a string of a block after a false end": (f'{SAVE}{{"content": "{END}\n{WIPE_ALL}\n"}}{END}', "nested"),
    "on the line of a block that is cut": (f'{SAVE}{{"content": "so: "{WIPE_ALL}', "nested"),
    "in an open string with a line separator": (f'{{"note": "{END}\u2028{WIPE_ESCAPED}', "in_json"),
    "in an open VCP value": (f"{VCP}tool_name:「始」memory_save「末」content:「始」so: {WIPE_ALL}", "nested"),
}


@pytest.mark.parametrize("where", SHOWN)
def test_block_that_is_only_shown_is_not_executed(where: str) -> None:
    text, code = SHOWN[where]
    parsed = parse_output(text)
    assert parsed.requests == ()
    assert parsed.text == text
    assert parsed.refused[0].code == code


KEPT = {
    "in a string": abp("memory_save", json.dumps({"content": WIPE_ALL})),
    "in a string over lines": abp("memory_save", json.dumps({"content": WIPE_LINES}).replace("\\n", "\n")),
    "in a string with a comma too many after it": abp("memory_save", f'{{"content": "{WIPE_ESCAPED}",}}'),
    "VCP in a string": abp("memory_save", json.dumps({"content": VCP_WIPE}, ensure_ascii=False)),
    "in a VCP value before a backslash": vcp("memory_save", content=f"{WIPE_ALL}\\"),
    "in a VCP value": vcp("memory_save", content=WIPE_ALL),
    "a code fence with a block in a string": abp("memory_save", json.dumps({"content": f"```\n{WIPE_LINES}\n```"})),
}


@pytest.mark.parametrize("where", KEPT)
def test_block_in_parameters_of_another_is_kept_as_text(where: str) -> None:
    parsed = parse_output(KEPT[where])
    [request] = parsed.requests
    assert request.name == "memory_save"
    assert "wipe" in request.parameters["content"]
    assert parsed.text == ""


def test_end_marker_in_string_does_not_end_block() -> None:
    [request] = parse_output(abp("memory_save", json.dumps({"content": f"ends with {END}"}))).requests
    assert request.parameters == {"content": f"ends with {END}"}


def test_after_string_cut_at_end_marker_its_line_is_not_believed() -> None:
    parsed = parse_output(f'{SAVE}{{"content": "see {END} {WIPE_ALL}')
    assert [request.name for request in parsed.requests] == ["memory_save"]
    assert "in_quote" in refusals(parsed)


def test_line_after_quotation_is_models_own() -> None:
    parsed = parse_output(f"> {WIPE_ALL}\n{SAVE}{{}}{END}")
    assert [request.name for request in parsed.requests] == ["memory_save"]


PIECES = [
    WIPE, "[[", "]]", "ABP_TOOL:", "wipe", END, '{"all": true}', VCP, VCP_END, "「始」", "「末」", "tool_name:",
    "<think>", "</think>", "「始ESCAPE」", "「末ESCAPE」", "[ABP_TOOL:", "]",
    '"', "'", "\\", "\n", "> ", "```", "`", "tea", "{", "}", ",", ":", "\u200b",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES)).map("".join)


@given(TEXTS)
def test_whatever_is_saved_as_json_string_is_only_saved(content: str) -> None:
    [request] = parse_output(abp("memory_save", json.dumps({"content": content}, ensure_ascii=False))).requests
    assert (request.name, request.parameters) == ("memory_save", {"content": content})


@given(TEXTS.map(lambda text: text.replace("<think>", "")))
def test_whatever_a_model_thinks_is_not_executed(content: str) -> None:
    assert parse_output(f"<think>{content}</think>Done.").requests == ()
    unmarked = content.replace("</think>", "")
    for text in (f"<think>{unmarked}", f"{unmarked}</think>Done."):
        assert parse_output(text).requests == ()


@given(TEXTS)
def test_of_an_object_without_its_brace_nothing_inside_is_executed(content: str) -> None:
    body = json.dumps({"content": content}, ensure_ascii=False)[1:]
    assert {request.name for request in parse_output(abp("memory_save", body)).requests} <= {"memory_save"}


@given(TEXTS)
def test_a_block_on_quoted_lines_is_not_executed(content: str) -> None:
    quoted = "\n".join(f"> {line}" for line in content.splitlines())
    assert parse_output(quoted).requests == ()


@given(TEXTS)
def test_block_in_json_document_is_not_executed(content: str) -> None:
    document = json.dumps({"messages": [{"role": "user", "content": content}]}, ensure_ascii=False, indent=1)
    assert parse_output(f"Here it is:\n{document}\nDone.").requests == ()


@given(TEXTS, st.integers(0, 200))
def test_of_block_that_is_cut_nothing_inside_it_is_executed(content: str, length: int) -> None:
    block = abp("memory_save", json.dumps({"content": f"so: {content}"}, ensure_ascii=False))
    parsed = parse_output(block[: len(SAVE) + length])
    assert {request.name for request in parsed.requests} <= {"memory_save"}
