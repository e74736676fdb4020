"""Arguments of models, read as the schema means them where there is one way to read them."""

import json

from hypothesis import given
from hypothesis import strategies as st

from apps.mcp.domain.answers import fit, shorten
from apps.mcp.domain.lenient import read_leniently
from apps.notes.domain.blocks import count_tokens

SCHEMA = {
    "type": "object",
    "properties": {
        "share": {"type": "number"},
        "count": {"type": "integer"},
        "flag": {"type": "boolean"},
        "words": {"type": "array", "items": {"type": "string"}},
        "numbers": {"type": "array", "items": {"type": "integer"}},
        "text": {"type": "string"},
        "choice": {"type": "string", "enum": ["correct", "forget"]},
    },
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


def test_values_sent_as_text_get_their_type() -> None:
    cases = [
        ({"share": "0.7"}, {"share": 0.7}),
        ({"count": " 5 "}, {"count": 5}),
        ({"count": "5.0"}, {"count": 5}),
        ({"flag": "True"}, {"flag": True}),
        ({"words": "tea, milk"}, {"words": ["tea", "milk"]}),
        ({"words": '["tea", "milk"]'}, {"words": ["tea", "milk"]}),
        ({"words": 7}, {"words": ["7"]}),
        ({"numbers": ["1", 2]}, {"numbers": [1, 2]}),
        ({"text": 42}, {"text": "42"}),
        ({"choice": " Forget"}, {"choice": "forget"}),
    ]
    for sent, read in cases:
        assert read_leniently(sent, SCHEMA) == read


def test_what_is_null_or_blank_was_not_sent() -> None:
    assert read_leniently({"share": None, "count": "", "words": "", "choice": ""}, SCHEMA) == {}
    assert read_leniently({"text": ""}, SCHEMA) == {"text": ""}, "a blank text is for the check to refuse"


def test_what_is_unclear_stays_for_the_check() -> None:
    for sent in ({"share": "a lot"}, {"count": "1e400"}, {"flag": "perhaps"}, {"choice": "delete"}, {"other": [1]}):
        assert read_leniently(sent, SCHEMA) == sent


@given(st.dictionaries(st.sampled_from([*SCHEMA["properties"], "other"]), JSON))
def test_nothing_that_a_model_sends_raises(sent: dict) -> None:
    assert set(read_leniently(sent, SCHEMA)) <= set(sent)


@given(st.lists(st.text(min_size=1, max_size=300), max_size=20), st.integers(100, 500))
def test_an_answer_keeps_to_its_tokens(texts: list[str], tokens: int) -> None:
    kept, lines = fit([{"content": text} for text in texts], lambda row: f"- {row['content']}", tokens)
    assert len(kept) == len(lines)
    assert count_tokens("\n".join(lines)) <= tokens
    assert not texts or kept, "there is always something to read"
    assert count_tokens(shorten(json.dumps(texts), tokens)) <= tokens + 2
