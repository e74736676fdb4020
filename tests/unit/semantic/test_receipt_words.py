"""What a receipt says, in sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.rules.domain.contradiction.evidence import Reason
from apps.rules.domain.engine.judge import JudgeVerdict
from apps.rules.domain.engine.signals import SignalType
from apps.rules.domain.engine.verdict import VerdictOutcome
from apps.semantic.domain.receipt_words import OUTCOMES, REASONS, VERDICTS, duration, signal_words

CONTRADICTION = {
    "type": "contradiction",
    "score": 0.9,
    "evidence": {
        "reason": "value",
        "candidate": "owns 15",
        "existing": "owns 12",
        "differing": [["15", "12"]],
        "common": ["owns"],
        "threshold": 0.5,
    },
}
evidence = st.dictionaries(st.sampled_from(["threshold", "overlap", "delta", "similarity"]), st.floats(0, 1))


def test_contradiction_shows_its_reason_what_differs_and_passages() -> None:
    words = signal_words(CONTRADICTION)
    assert words.sentence == "A number, an amount, a date or a time differs. A strength of more than 0.5 counts."
    assert words.differing == (("15", "12"),)
    assert words.common == ("owns",)
    assert words.passages == (("Candidate", "owns 15"), ("Existing", "owns 12"))


def test_a_contradiction_says_how_both_sides_are_read() -> None:
    evidence = {**CONTRADICTION["evidence"], "readings": ["assertion, present", "question, present"]}
    words = signal_words({**CONTRADICTION, "evidence": evidence})
    assert "read as assertion, present, the existing one as question, present." in words.sentence


def test_bar_of_signal_has_its_score_and_its_threshold() -> None:
    words = signal_words(CONTRADICTION)
    assert (words.percent, words.threshold) == (90.0, 50.0)


def test_shared_keywords_are_told_as_a_share() -> None:
    signal = {"type": "keyword", "score": 0.95, "evidence": {"overlap": 0.95, "threshold": 0.9, "keywords": ["tea"]}}
    words = signal_words(signal)
    assert words.sentence == "They share 95% of their keywords; more than 90% counts."
    assert words.common == ("tea",)


def test_values_of_importances_are_not_passages() -> None:
    values = {"candidate": 0.9, "existing": 0.4, "delta": 0.5, "threshold": 0.3}
    words = signal_words({"type": "importance", "score": 0.5, "evidence": values})
    assert words.sentence == "Importances of 0.9 and 0.4 differ by 0.5; more than 0.3 counts."
    assert words.passages == ()


def test_time_is_told_in_fitting_units_and_has_no_threshold_on_its_bar() -> None:
    words = signal_words({"type": "time", "score": 0.6, "evidence": {"delta_seconds": 90, "window_seconds": 300}})
    assert words.sentence == "They are 1.5 minutes apart; up to 5 minutes counts."
    assert words.threshold is None


def test_judge_shows_model_its_verdict_and_what_it_says() -> None:
    evidence = {
        "verdict": "update",
        "model": "openai/m",
        "reason": "Ana moved.",
        "threshold": 0.8,
        "holds": "candidate",
    }
    words = signal_words({"type": "judge", "score": 0.9, "evidence": evidence})
    assert words.sentence == (
        "The model openai/m says that only one of them can be true now. A confidence of at least 0.8 counts."
    )
    assert (words.remark, words.passages) == ("Ana moved.", ())


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "0 seconds"), (1, "1 second"), (60, "1 minute"), (5400, "1.5 hours"), (172_800, "2 days")],
)
def test_a_span_of_time_has_its_largest_unit(seconds: float, said: str) -> None:
    assert duration(seconds) == said


@given(st.sampled_from([*SignalType, "of another version"]), st.floats(-1, 2), evidence)
def test_every_signal_has_words_however_little_is_known(kind: str, score: float, known: dict[str, float]) -> None:
    words = signal_words({"type": str(kind), "score": score, "evidence": known})
    assert 0 <= words.percent <= 100


def test_every_reason_and_every_outcome_has_sentence() -> None:
    assert REASONS.keys() >= {reason.value for reason in Reason}
    assert VERDICTS.keys() == {verdict.value for verdict in JudgeVerdict}
    assert OUTCOMES.keys() >= {outcome.value for outcome in VerdictOutcome}
