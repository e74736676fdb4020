"""Sentences that are made in English are recognised by their templates, and shown in the language of the reader."""

import pytest
from django.utils.translation import override

from apps.core.pages.sayings import SAYINGS, Sayings, say
from apps.rules.sayings import setting_words
from apps.semantic.domain.receipt_words import OUTCOMES, REASONS, signal_words

CHINESE = "zh-hant"


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("The score 0.812 beats 0.633.", "分數 0.812 勝過 0.633。"),
        ("active", "有效"),
        ("The newer memory wins: it is 20 days younger.", "較新的記憶勝出：它晚了 20 天。"),
        ("Nothing was there to seal. Repaired.", "沒有可密封的區段。 已修復。"),
        ("It is archived now.", "目前為已封存。"),
        ("Ana drinks tea. Repaired.", "Ana drinks tea. 已修復。"),
    ],
)
def test_a_sentence_is_said_in_chinese(english: str, chinese: str) -> None:
    with override(CHINESE):
        assert say(english) == chinese


@pytest.mark.parametrize("text", ["", "Ana drinks tea.", "The score", "activer", "One. " * 40])
def test_what_is_no_sentence_of_ours_stays(text: str) -> None:
    with override(CHINESE):
        assert say(text) == text


def test_every_sentence_stays_in_english() -> None:
    with override("en"):
        for template, pattern in SAYINGS.patterns.items():
            text = template % dict.fromkeys(pattern.groupindex, "7")
            assert say(text) == text


def test_a_value_that_occurs_twice_is_the_same() -> None:
    sayings = Sayings()
    sayings.add(["%(one)s is %(one)s."])
    assert sayings.patterns["%(one)s is %(one)s."].fullmatch("tea is tea.")
    assert not sayings.patterns["%(one)s is %(one)s."].fullmatch("tea is milk.")


EVIDENCE = [
    ("semantic", {"similarity": 0.99, "threshold": 0.98}),
    ("keyword", {"overlap": 1.0, "threshold": 0.9}),
    ("time", {"delta_seconds": 90, "window_seconds": 300}),
    ("time", {"delta_seconds": 0.052, "window_seconds": 86_400}),
    ("importance", {"candidate": 0.9, "existing": 0.5, "delta": 0.4, "threshold": 0.3}),
    *(("contradiction", {"reason": reason, "threshold": 0.5}) for reason in REASONS),
    ("contradiction", {"reason": "negation", "threshold": 0.5, "readings": ["assertion, present", "question"]}),
    *(
        ("judge", {"model": "m", "verdict": verdict, "threshold": 0.8})
        for verdict in ("update", "coexist", "same", "x")
    ),
]


@pytest.mark.parametrize(("kind", "evidence"), EVIDENCE)
def test_every_signal_is_said_in_chinese(kind: str, evidence: dict[str, object]) -> None:
    sentence = signal_words({"type": kind, "score": 0.9, "evidence": evidence}).sentence
    with override(CHINESE):
        assert not [part for part in (" counts.", " One ", "They ") if part in f" {say(sentence)}"]


def test_every_outcome_and_setting_is_said_in_chinese() -> None:
    words = setting_words()
    assert {"Keep-candidate", "Detection", "Weights recency", "How the contents become one."} <= {
        word.partition(" Smart")[0] for word in words
    }
    with override(CHINESE):
        english = [text for text in (*words, *OUTCOMES.values()) if say(text) == text]
    assert english == []
