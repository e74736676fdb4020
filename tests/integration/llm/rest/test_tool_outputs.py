"""Every answer about a model's output can be sent, whatever the output is."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from rest_framework.renderers import JSONRenderer

from apps.llm.domain.protocol.parser import parse_output
from apps.llm.domain.protocol.results import ProtocolMode
from apps.llm.schemas.tools import ParseOutput, render_parsed
from tests.unit.llm.protocol.outputs import END, SAVE, VCP, VCP_END, abp

ENCODABLE = st.text(st.characters(exclude_categories=["Cs"]))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ENCODABLE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
PIECES = [
    SAVE, END, VCP, VCP_END, "「始」", "「末」", "tool_name:", "a:", '{"a": ', "{", "}", "[", "]", '"', "'", "\\ud800",
    "\\u0000", "1e999", "NaN", "-Infinity", "9" * 5_000, ",", "\n", "> ", "```", "[" * 70,
]  # fmt: skip


def sent(text: str) -> dict[str, Any]:
    """The answer about an output as it arrives."""
    answer = render_parsed(parse_output(text), ProtocolMode.DUAL)
    arrived: dict[str, Any] = json.loads(JSONRenderer().render(answer).decode())
    assert arrived == answer
    assert set(arrived) == set(ParseOutput.__required_keys__)
    return arrived


@given(st.lists(st.sampled_from(PIECES)).map("".join) | ENCODABLE)
def test_answer_about_any_output_arrives_as_it_was_made(text: str) -> None:
    sent(text)


@given(st.dictionaries(st.text(), JSON, max_size=3))
def test_parameters_of_every_kind_are_sent_or_refused(parameters: dict[str, Any]) -> None:
    answer = sent(abp("memory_save", json.dumps(parameters)))
    codes = [refused["code"] for refused in answer["refused"]]
    assert codes == ["unusable"] or answer["requests"][0]["parameters"] == parameters
