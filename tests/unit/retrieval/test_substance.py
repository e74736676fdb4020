"""How much a text has to say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.retrieval.domain.substance import fullness, question_share


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("I painted the fence.", 0.0),
        ("How was your day?", 1.0),
        ("I am well. How are you?", 0.5),
        ('"Why?" she asked.', 1 / 3),
        ("你好吗？", 1.0),
        ("كيف حالك؟", 1.0),
        ("", 0.0),
        ("?!", 0.0),
    ],
)
def test_share_of_questions_is_counted_in_words(text: str, share: float) -> None:
    assert question_share(text) == pytest.approx(share)


def test_a_text_is_full_at_twenty_words() -> None:
    assert fullness("word " * 20) == fullness("word " * 90) == 1.0


def test_a_shorter_text_is_less_full() -> None:
    assert 0 == fullness("") < fullness("Wow!") < fullness("Wow, that is great news!") < 1


@given(st.text())
def test_both_are_shares_of_any_text(text: str) -> None:
    assert 0 <= question_share(text) <= 1
    assert 0 <= fullness(text) <= 1
