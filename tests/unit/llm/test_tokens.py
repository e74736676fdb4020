"""The estimate of a text's tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.llm.domain.chat import BYTES_PER_TOKEN, estimate_tokens


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("記憶", 2), ("\ud800", 1)])
def test_a_token_is_four_bytes_rounded_up(text: str, tokens: int) -> None:
    assert BYTES_PER_TOKEN == 4
    assert estimate_tokens(text) == tokens


@given(st.text(), st.text())
def test_a_longer_text_never_costs_less(text: str, more: str) -> None:
    assert estimate_tokens(text + more) >= estimate_tokens(text)
