"""Damaged outputs and what must come out of them: spec 000 "ABP protocol error recovery" and DESIGN section 6."""

from typing import Any

import pytest

from apps.llm.domain.protocol.parser import parse_output
from tests.unit.llm.protocol.outputs import END, SAVE, SEARCH, VCP, VCP_END, abp, vcp

TEA = {"content": "likes tea"}
GOOD = '{"content": "likes tea"}'
NAMED, LIKES = "tool_name:「始」memory_save「末」", "content:「始」likes tea「末」"

# What is wrong -> the output. Each requests to save that a user likes tea.
TEA_SAVED: dict[str, str] = {
    # --- JSON that needs mending
    "a brace is missing": abp("memory_save", '{"content": "likes tea"'),
    "a quote and a brace are missing": f'{SAVE}{{"content": "likes tea',
    "a quote and a brace are missing before the end marker": f'{SAVE}{{"content": "likes tea{END}',
    "a comma too many": abp("memory_save", '{"content": "likes tea",}'),
    "single quotes": abp("memory_save", "{'content': 'likes tea'}"),
    "names without quotes": abp("memory_save", '{content: "likes tea"}'),
    "curly quotes": abp("memory_save", "{“content”: “likes tea”}"),
    "every quote escaped": abp("memory_save", '{\\"content\\": \\"likes tea\\"}'),
    "encoded as JSON twice": abp("memory_save", '"{\\"content\\": \\"likes tea\\"}"'),
    "HTML entities for quotes": abp("memory_save", "{&quot;content&quot;: &quot;likes tea&quot;}"),
    "numeric HTML entities": abp("memory_save", "{&#34;content&#34;: &#34;likes tea&#34;}"),
    "a brace too many": abp("memory_save", GOOD + "}"),
    "a damaged object and a brace too many": abp("memory_save", '{content: "likes tea"}}'),
    "comments": abp("memory_save", '{"content": "likes tea" // as said\n}'),
    "an array around it": abp("memory_save", f"[{GOOD}]"),
    "a missing brace, then a paragraph": f'{SAVE}{{"content": "likes tea"\n\nI have saved that.',
    # --- no opening brace
    "no opening brace": abp("memory_save", '"content": "likes tea"}'),
    "no opening brace and no end marker": f'{SAVE}"content": "likes tea"}} Done.',
    "no opening brace in a code fence": abp("memory_save", '```json\n"content": "likes tea"}\n```'),
    "no opening brace, single quotes": abp("memory_save", "'content': 'likes tea'}"),
    "no opening brace, names without quotes": abp("memory_save", 'content: "likes tea"}'),
    "no opening brace, escaped quotes": abp("memory_save", '\\"content\\": \\"likes tea\\"}'),
    "no braces": abp("memory_save", '"content": "likes tea"'),
    "no opening brace, then a paragraph": f'{SAVE}"content": "likes tea"\n\nI have saved that.',
    "a block without an opening brace before it": f'{SEARCH}"query": "tea"}}\n{SAVE}{GOOD}',
    # --- noise
    "words before the block": f"Let me note that.\n{abp('memory_save', GOOD)}",
    "words after the block": f"{abp('memory_save', GOOD)}\nDone!",
    "words before the object": abp("memory_save", f"The parameters are: {GOOD}"),
    "words after the object": abp("memory_save", f"{GOOD} That should do."),
    "words with braces before the object": abp("memory_save", f"(see {{below}}) {GOOD}"),
    "words with braces after the object": abp("memory_save", f"{GOOD} {{as agreed}}"),
    "a few words and no end marker": f"{SAVE} with {GOOD} and so on",
    "a language before the object": f"{SAVE}json\n{GOOD}",
    "a code fence around the object": abp("memory_save", f"```json\n{GOOD}\n```"),
    "a code fence around the object, no end marker": f"{SAVE}\n```json\n{GOOD}\n```\nDone.",
    "a fence around a damaged object": abp("memory_save", "```\n{content: 'likes tea'}\n```"),
    "tildes around the object": abp("memory_save", f"~~~\n{GOOD}\n~~~"),
    "a JSON thought before it": f'{{"thought": "save it"}}\n{abp("memory_save", GOOD)}',
    "an XML tag around it": f"<tool>{abp('memory_save', GOOD)}</tool>",
    "a list item": f"- {SAVE}{GOOD}{END}",
    "bold": f"**{SAVE}**\n{GOOD}",
    "an inch mark before it": f'A 5" screen. {SAVE}{GOOD}{END}',
    "apostrophes before it": f"I'll note Ana's wish: {SAVE}{GOOD}{END}",
    "a quotation before it": f'You said "tea". {SAVE}{GOOD}{END}',
    "a fence that ended before it": f"```\nls\n```\n{SAVE}{GOOD}{END}",
    "a quoted line before it": f"> I like tea\n\n{SAVE}{GOOD}{END}",
    # --- markers
    "no end marker": f"{SAVE}{GOOD}",
    "all on one line": f"{SAVE} {GOOD} {END}",
    "Windows line ends": abp("memory_save", GOOD).replace("\n", "\r\n"),
    "old Mac line ends": abp("memory_save", GOOD).replace("\n", "\r"),
    "blanks inside the marker": f"[[ ABP_TOOL : memory_save ]]{GOOD}",
    "lower case": f"[[abp_tool:memory_save]]{GOOD}[[end_abp_tool]]",
    "a wide colon": f"[[ABP_TOOL：memory_save]]{GOOD}",
    "one bracket too many": f"[[[ABP_TOOL:memory_save]]]{GOOD}",
    "Markdown escapes": f"\\[\\[ABP\\_TOOL:memory\\_save\\]\\]{GOOD}",
    "a quoted name": f"[[ABP_TOOL:`memory_save`]]{GOOD}",
    "zero-width characters in the marker": f"[\u200b[ABP\u200b_TOOL:mem\u2060ory_save]\ufeff]{GOOD}",
    "zero-width characters in the object": f'{SAVE}{{\u200b"content"\u200d:\u200b "likes tea"}}',
    "no-break blanks in the object": f'{SAVE}{{\u00a0"content":\u00a0"likes tea"}}',
    "a byte order mark first": f"\ufeff{SAVE}{GOOD}",
    "single brackets": f"[ABP_TOOL:memory_save]{GOOD}",
    "one opening bracket": f"[ABP_TOOL:memory_save]]{GOOD}",
    "one closing bracket": f"[[ABP_TOOL:memory_save]{GOOD}{END}",
    "no closing brackets": f"[[ABP_TOOL:memory_save{GOOD}",
    "no closing brackets before a line": f"[[ABP_TOOL:memory_save\n{GOOD}\n{END}",
    "wide brackets": f"［［ABP_TOOL:memory_save］］{GOOD}",
    "black brackets": f"【ABP_TOOL：memory_save】{GOOD}",
    "no colon": f"[[ABP_TOOL memory_save]]{GOOD}",
    "an equals sign for the colon": f"[[ABP_TOOL=memory_save]]{GOOD}",
    "a hyphen in the marker": f"[[ABP-TOOL:memory_save]]{GOOD}",
    "a letter too many in the marker": f"[[ABP_TOOLS:memory_save]]{GOOD}",
    "a damaged marker before a code fence": f"[ABP_TOOL:memory_save]\n```json\n{GOOD}\n```",
    "a thought before it": f"<think>save or search?</think>{SAVE}{GOOD}{END}",
    "a thought between marker and object": f"{SAVE}<think>{SEARCH}{{}}</think>{GOOD}{END}",
    "a brace in a thought before it": f'<think>as in {{"query": </think>\n{SAVE}{GOOD}{END}',
    "the end marker names the tool": f"{SAVE}{GOOD}[[END_ABP_TOOL:memory_save]]",
    # --- several
    "two objects": abp("memory_save", f'{{"content": "coffee"}}\n{GOOD}'),
    "a damaged object after a valid one": abp("memory_save", f"{GOOD}\n{{content: coffee"),
    "a valid object after a broken one": abp("memory_save", f"{{nothing of use}}\n{GOOD}"),
    "a second try without a brace in the first": abp("memory_save", f'{{"content": "coffee"\n{GOOD}'),
    "two blocks": f"{abp('memory_search', '{}')}\n{abp('memory_save', GOOD)}",
    "two blocks on one line, without ends": f"{SEARCH}{{}} {SAVE}{GOOD}",
    "the second block is broken": f"{abp('memory_save', GOOD)}\n{abp('memory_search', 'what?')}",
    "the first block is broken": f"{abp('memory_search', 'what?')}\n{abp('memory_save', GOOD)}",
    "the first block lacks a quote": f'{SEARCH}{{"query": "tea{END}\n{abp("memory_save", GOOD)}',
    "the first block lacks its object's end": f'{SEARCH}{{"top_k": 3\n{abp("memory_save", GOOD)}',
    # --- VCP
    "VCP": vcp("memory_save", content="likes tea"),
    "VCP on one line": f"{VCP}{NAMED}{LIKES}{VCP_END}",
    "VCP as HTML": vcp("memory_save", content="likes tea").replace("<", "&lt;").replace(">", "&gt;"),
    "VCP with blanks around values": vcp(" memory_save ", content="\n likes tea "),
    "VCP with wide colons": vcp("memory_save", content="likes tea").replace(":", "："),
    "VCP with bold keys": f"{VCP}**tool_name**: 「始」memory_save「末」 **content**: 「始」likes tea「末」{VCP_END}",
    "VCP with words between": f"{VCP}\nI need\n{NAMED}\nwith\n{LIKES}\nplease\n{VCP_END}",
    "VCP with a value that is not closed": f"{VCP}\ntool_name:「始」memory_save\n{LIKES}\n{VCP_END}",
    "VCP with a last value that is not closed": f"{VCP}\n{NAMED}\ncontent:「始」likes tea\n{VCP_END}",
    "VCP with zero-width characters": vcp("memory_save", content="likes tea").replace("TOOL", "TO\u200bOL"),
    "VCP with an escaped value": f"{VCP}{NAMED}content:「始ESCAPE」likes tea「末ESCAPE」{VCP_END}",
    "VCP with an escaped name": f"{VCP}tool_name:「始escape」memory_save「末escape」{LIKES}{VCP_END}",
    "VCP with an escaped value that a plain mark ends": f"{VCP}{NAMED}content:「始ESCAPE」likes tea「末」{VCP_END}",
    "VCP after a broken ABP block": f"{abp('memory_search', 'what?')}\n{vcp('memory_save', content='likes tea')}",
    "VCP before a good ABP block": f"{vcp('memory_search', query='tea')}\n{abp('memory_save', GOOD)}",
    "VCP after a good ABP block": f"{abp('memory_save', GOOD)}\n{vcp('memory_search', query='tea')}",
    "ABP after a VCP block without its end": f"{VCP}\ntool_name:「始」memory_search「末」\n{SAVE}{GOOD}",
}  # fmt: skip

# What is wrong -> the output, the tool, its parameters.
OTHERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "a bracket is missing": (abp("t", '{"keywords": ["tea", "green"'), "t", {"keywords": ["tea", "green"]}),
    "an inner brace is missing": (
        abp("t", '{"metadata": {"cup": {"size": 2}'),
        "t",
        {"metadata": {"cup": {"size": 2}}},
    ),
    "a comma too many in a list": (abp("t", '{"keywords": ["tea",]}'), "t", {"keywords": ["tea"]}),
    "a comma is missing between members": (abp("t", '{"a": 1 "b": 2}'), "t", {"a": 1, "b": 2}),
    "single quotes around a closing brace": (abp("t", "{'a': '}', 'b': 1}"), "t", {"a": "}", "b": 1}),
    "single quotes around an apostrophe": (abp("t", "{'a': \"ana's\"}"), "t", {"a": "ana's"}),
    "Python's words": (abp("t", "{'a': True, 'b': None}"), "t", {"a": True, "b": None}),
    "a raw line break in a string": (abp("t", '{"a": "one\ntwo"}'), "t", {"a": "one\ntwo"}),
    "a missing brace, then words": (
        '[[ABP_TOOL:t]]{"metadata": {"a": 1} and that is all',
        "t",
        {"metadata": {"a": 1}},
    ),
    "Markdown escapes in a name": ('[[ABP_TOOL:t]]{"session\\_id": "one"}', "t", {"session_id": "one"}),
    "wide punctuation in the object": (
        '[[ABP_TOOL:t]]{"content"："likes tea"，"importance"：1}',
        "t",
        {**TEA, "importance": 1},
    ),
    "no opening brace before an inner object": (
        abp("t", '"metadata": {"a": 1}, "content": "likes tea"}'),
        "t",
        {"metadata": {"a": 1}, **TEA},
    ),
    "no opening brace before a marker in a string": (
        abp("t", f'"content": "ends with {END}", "b": 1}}'),
        "t",
        {"content": f"ends with {END}", "b": 1},
    ),
    "no opening brace and a block in a string": (
        f'[[ABP_TOOL:t]]"content": "so: {SEARCH}{{}}"}}',
        "t",
        {"content": f"so: {SEARCH}{{}}"},
    ),
    "marks of thoughts in a string": (
        abp("t", '{"a": "<think>", "b": "</think>"}'),
        "t",
        {"a": "<think>", "b": "</think>"},
    ),
    "marks of thoughts in a VCP value": (vcp("t", a="so: </think>"), "t", {"a": "so: </think>"}),
    "marks of values in an escaped VCP value": (
        f"{VCP}tool_name:「始」t「末」a:「始ESCAPE」key:「始」x「末」 {VCP_END} {SAVE}「末ESCAPE」"
        f"b:「始」1「末」{VCP_END}",
        "t",
        {"a": f"key:「始」x「末」 {VCP_END} {SAVE}", "b": "1"},
    ),
    "a foreign name": (abp("запомни", GOOD), "запомни", TEA),
}
RECOVERED = {**{damage: (text, "memory_save", TEA) for damage, text in TEA_SAVED.items()}, **OTHERS}


@pytest.mark.parametrize("damage", RECOVERED)
def test_a_request_is_recovered(damage: str) -> None:
    text, name, parameters = RECOVERED[damage]
    [request] = parse_output(text).requests
    assert (request.name, request.parameters) == (name, parameters)


# What it looks like -> the output, and the reason of the first refusal (None where there is no block).
REFUSED: dict[str, tuple[str, str | None]] = {
    "nothing": ("", None),
    "words": ("I like tea.", None),
    "an object alone": (GOOD, None),
    "a damaged marker and words": ("Write [ABP_TOOL:memory_save] to save.", "damaged_marker"),
    "a damaged marker far from its object": (f"[ABP_TOOL:memory_save], which is {GOOD}", "damaged_marker"),
    "a marker that breaks off": ("[[ABP_TOOL:memory_save", "damaged_marker"),
    "a marker over two lines": (f"[[ABP_TOOL:memory\n_save]]{GOOD}", "damaged_marker"),
    "a marker without a name": (f"[[ABP_TOOL]]{GOOD}", "damaged_marker"),
    "Cyrillic letters that look alike": (f"[[АВР_TOOL:memory_save]]{GOOD}{END}", "damaged_marker"),
    "a marker without opening brackets": (f"ABP_TOOL:memory_save]]{GOOD}", "damaged_marker"),
    "a marker without brackets": (f"ABP_TOOL:memory_save\n{GOOD}", "damaged_marker"),
    "two angle brackets": (vcp("memory_save").replace("<<<", "<<").replace(">>>", ">>"), "damaged_marker"),
    "another word": (f"[[ABP_TOL:memory_save]]{GOOD}{END}", "damaged_marker"),
    "an object and an end": (f"{GOOD}{END}", "damaged_marker"),
    "VCP pairs and an end": (f"{NAMED}{LIKES}{VCP_END}", "damaged_marker"),
    "braces for brackets": (f"{{{{ABP_TOOL:memory_save}}}}{GOOD}", "damaged_marker"),
    "parentheses for brackets": (f"((ABP_TOOL:memory_save)){GOOD}{END}", "damaged_marker"),
    "angle brackets for brackets": (f"<<ABP_TOOL:memory_save>>\n{GOOD}\n{END}", "damaged_marker"),
    "an end alone": (f"tea {END}", "stray_end"),
    "a VCP end alone": (f"tea {VCP_END}", "stray_end"),
    "no name": (f"[[ABP_TOOL:]]{GOOD}", "bad_name"),
    "a name of blanks": (f"[[ABP_TOOL:  ]]{GOOD}", "bad_name"),
    "a path for a name": (f"[[ABP_TOOL:../../etc]]{GOOD}", "bad_name"),
    "a sentence for a name": (f"[[ABP_TOOL:save, then search]]{GOOD}", "bad_name"),
    "a name beyond 64 characters": (f"[[ABP_TOOL:{'a' * 65}]]{GOOD}", "bad_name"),
    "no object": (f"I would use {SAVE} for that.", "no_parameters"),
    "an empty block": (f"{SAVE}{END}", "no_parameters"),
    "an object far away": (f"I would use {SAVE} for that. {'And so on. ' * 30}{GOOD}", "no_parameters"),
    "a list": (abp("memory_save", '["likes tea"]'), "no_parameters"),
    "words with a colon": (f'{SAVE} Note: "likes tea" {END}', "no_parameters"),
    "an escaped VCP value in another": (
        f"{VCP}tool_name:「始」t「末」a:「始ESCAPE」x「末」{VCP_END}{VCP}b:「始ESCAPE」y「末ESCAPE」{VCP_END}",
        "nested",
    ),
    "words in braces": (abp("memory_save", "{tea, please}"), "damaged"),
    "an infinite number": (abp("memory_save", '{"importance": 1e999}'), "unusable"),
    "half a surrogate pair": (abp("memory_save", '{"content": "\\ud800"}'), "unusable"),
    "65 levels": (abp("memory_save", '{"a":' + "[" * 65 + "]" * 65 + "}"), "unusable"),
    "10,000 levels": (abp("memory_save", '{"a":' + "[" * 10_000 + "]" * 10_000 + "}"), "damaged"),
    "an object on a quoted line": (f"{SAVE}\n> {GOOD}", "no_parameters"),
    "a block inside an object": (f'{SAVE}{{"a": {SEARCH}{{"b": 1}}{END} }}{END}', "nested"),
    "VCP without its end": (f"{VCP}\ntool_name:「始」memory_save「末」", "unterminated"),
    "VCP without a name": (f"{VCP}content:「始」tea「末」{VCP_END}", "no_name"),
    "VCP with an empty name": (vcp(" "), "bad_name"),
    "VCP with a value without a key": (f"{VCP}tool_name:「始」memory_save「末」「始」tea「末」{VCP_END}", "damaged"),
    "VCP with two names": (f"{VCP}tool_name:「始」a「末」tool_name:「始」b「末」{VCP_END}", "repeated"),
    "VCP without pairs": (f"{VCP}{VCP_END}", "no_name"),
}  # fmt: skip


@pytest.mark.parametrize("look", REFUSED)
def test_what_only_looks_like_request_stays_text(look: str) -> None:
    text, code = REFUSED[look]
    parsed = parse_output(text)
    assert (parsed.requests, parsed.protocol, parsed.text) == ((), "text", text)
    assert next((refusal.code for refusal in parsed.refused), None) == code


@pytest.mark.parametrize(
    ("damage", "fixes"),
    [
        ("no end marker", []),
        ("all on one line", []),
        ("a comma too many", ["json"]),
        ("words before the object", ["noise"]),
        ("two objects", ["several_objects"]),
        ("curly quotes", ["curly_quotes"]),
        ("every quote escaped", ["escaped_quotes"]),
        ("HTML entities for quotes", ["html_entities"]),
        ("no-break blanks in the object", ["invisible_characters"]),
        ("Markdown escapes in a name", ["markdown_escapes"]),
        ("lower case", ["marker"]),
        ("VCP", []),
        ("VCP as HTML", ["marker"]),
        ("VCP with a value that is not closed", ["value_end"]),
    ],
)
def test_request_says_what_was_repaired_or_stripped(damage: str, fixes: list[str]) -> None:
    [request] = parse_output(RECOVERED[damage][0]).requests
    assert list(request.fixes) == fixes


@pytest.mark.parametrize("look", [look for look, (_, code) in REFUSED.items() if code == "damaged_marker"])
def test_damaged_start_marker_counts_as_failed(look: str) -> None:
    parsed = parse_output(REFUSED[look][0])
    assert (parsed.fallback, parsed.refused_count) == ("text", 1)
    assert parsed.abp_failed == (parsed.refused[0].protocol == "abp")


@pytest.mark.parametrize(
    ("text", "truncated"),
    [
        (TEA_SAVED["a quote and a brace are missing"], ("content",)),
        (TEA_SAVED["a quote and a brace are missing before the end marker"], ("content",)),
        (f'{SAVE}"content": "likes te', ("content",)),
        (abp("t", '{"metadata": {"cup": {"size": 2'), ()),
        (f'{SAVE}{{"metadata": {{"cup": {{"size": 2', ("metadata.cup.size",)),
        (TEA_SAVED["VCP with a last value that is not closed"], ("content",)),
        (TEA_SAVED["VCP with a value that is not closed"], ()),
        (TEA_SAVED["a brace is missing"], ()),
        (TEA_SAVED["no braces"], ()),
        (TEA_SAVED["VCP"], ()),
    ],
)
def test_request_names_parameters_that_were_cut(text: str, truncated: tuple[str, ...]) -> None:
    [request] = parse_output(text).requests
    assert request.truncated == truncated
