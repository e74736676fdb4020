"""Spec 000 "Memory Conflict Detection", and what DESIGN D6 adds."""

from datetime import timedelta

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.rules.domain.engine.detection import detect, keywords_of
from apps.rules.domain.engine.signals import DetectionConfig, SignalType
from tests.effort import examples
from tests.unit.rules.records import NOON, record

# What the judge of pairs adds is the matter of test_weighing.py.
pytestmark = pytest.mark.usefixtures("words_alone")

CONFIG = DetectionConfig()
WORDS = """I never not no the cat Ana lives in Berlin Munich 17 25 $5 5% 3:15 pm April 5 monday hates loves tea , . but
    item want says 2024-05-06 ``` 1,2 when without nobody port room The is open closed called at as why"""
TEXTS = st.one_of(
    st.text(max_size=200),
    st.lists(
        st.sampled_from(WORDS.split()),
        max_size=25,
    ).map(" ".join),
)


def vector(angle: float) -> npt.NDArray[np.float32]:
    return np.array([np.cos(angle), np.sin(angle)], dtype=np.float32)


# --- the scenarios ------------------------------------------------------------------------------------------


def test_semantic_similarity_signal_contains_score_and_target() -> None:
    candidate = record("Ana drinks tea.", embedding=vector(0.0))
    existing = record("Ana likes hot drinks.", key="42", embedding=vector(0.3))
    signal = detect(candidate, existing, DetectionConfig(semantic_threshold=0.9)).signal(SignalType.SEMANTIC)
    assert signal is not None
    assert signal.score == pytest.approx(np.cos(0.3), abs=1e-6)
    assert signal.evidence["target"] == "42"
    assert signal.evidence["threshold"] == 0.9


def test_keyword_overlap_signal_references_overlapping_keywords() -> None:
    candidate, existing = record("Drinking green tea daily"), record("Drinks green tea")
    signal = detect(candidate, existing, DetectionConfig(keyword_threshold=0.7)).signal(SignalType.KEYWORD)
    assert signal is not None
    assert signal.score == 0.75
    assert signal.evidence["keywords"] == ["drink", "green", "tea"]


def test_time_window_signal_describes_delta_and_window() -> None:
    candidate, existing = record(), record(timestamp=NOON + timedelta(seconds=75))
    signal = detect(candidate, existing, CONFIG).signal(SignalType.TIME)
    assert signal is not None
    assert signal.score == 0.75
    assert signal.evidence == {"delta_seconds": 75.0, "window_seconds": 300.0}


def test_importance_difference_signal_is_emitted_above_delta() -> None:
    signal = detect(record(importance=0.9), record(importance=0.5), CONFIG).signal(SignalType.IMPORTANCE)
    assert signal is not None
    assert signal.score == pytest.approx(0.4)
    assert (signal.evidence["candidate"], signal.evidence["existing"]) == (0.9, 0.5)


# --- thresholds ---------------------------------------------------------------------------------------------


def test_similarity_at_threshold_does_not_exceed_it() -> None:
    one = record("a", embedding=np.array([1, 0], dtype=np.float32))
    other = record("b", embedding=np.array([0.5, 0.5], dtype=np.float32))
    assert detect(one, other, DetectionConfig(semantic_threshold=0.5)).signal(SignalType.SEMANTIC) is None
    assert detect(one, other, DetectionConfig(semantic_threshold=0.49)).signal(SignalType.SEMANTIC) is not None


def test_importance_at_delta_does_not_exceed_it() -> None:
    pair = record(importance=0.75), record(importance=0.5)
    assert detect(*pair, DetectionConfig(importance_delta=0.25)).signal(SignalType.IMPORTANCE) is None


@pytest.mark.parametrize(("high", "low"), [(0.8, 0.5), (0.9, 0.6), (0.4, 0.1), (0.3, 0.0), (1.0, 0.7)])
def test_difference_of_importances_is_that_of_their_decimals(high: float, low: float) -> None:
    for pair in ((high, low), (low, high)):
        one, other = (record(importance=importance) for importance in pair)
        assert detect(one, other, DetectionConfig(importance_delta=0.3)).signal(SignalType.IMPORTANCE) is None
        signal = detect(one, other, DetectionConfig(importance_delta=0.29)).signal(SignalType.IMPORTANCE)
        assert signal is not None
        assert signal.score == 0.3


def test_the_edge_of_the_window_is_within_it() -> None:
    signal = detect(record(), record(timestamp=NOON + timedelta(seconds=300)), CONFIG).signal(SignalType.TIME)
    assert signal is not None
    assert signal.score == 0.0
    assert detect(record(), record(timestamp=NOON + timedelta(seconds=301)), CONFIG).signal(SignalType.TIME) is None


def test_window_of_zero_holds_same_moment_only() -> None:
    signal = detect(record(), record(), DetectionConfig(time_window_seconds=0)).signal(SignalType.TIME)
    assert signal is not None
    assert signal.score == 1.0


def test_given_keywords_count_beside_words_of_content() -> None:
    assert keywords_of(record("Likes tea", keywords=("Hot drinks",))) == {"like", "tea", "hot", "drink"}


# --- what makes a conflict ----------------------------------------------------------------------------------


def test_time_and_importance_alone_make_no_conflict() -> None:
    detection = detect(record("Ana drinks tea.", importance=1.0), record("Ben has a bicycle.", importance=0.0), CONFIG)
    assert {signal.type for signal in detection.signals} == {SignalType.TIME, SignalType.IMPORTANCE}
    assert not detection.is_conflict
    assert not detection.is_decisive


def test_same_words_in_another_order_are_no_conflict() -> None:
    detection = detect(record("The dog bites the man"), record("The man bites the dog"), CONFIG)
    assert detection.signal(SignalType.KEYWORD) is not None
    assert not detection.is_conflict


def test_the_same_again_is_decisive_and_restates() -> None:
    detection = detect(record("I really like green tea."), record("I like green tea"), CONFIG)
    assert detection.is_conflict
    assert detection.is_decisive
    assert detection.restates


def test_similar_text_with_differing_word_is_noticed_only() -> None:
    one = record("A dog is running in the deep snow", embedding=vector(0.0))
    other = record("A dog is running in the deep sand", embedding=vector(0.01))
    detection = detect(one, other, CONFIG)
    assert detection.signal(SignalType.SEMANTIC) is not None
    assert detection.is_conflict
    assert not detection.is_decisive


def test_strong_contradiction_is_decisive_and_weaker_one_is_noticed() -> None:
    pair = record("I live in Munich"), record("I live in Berlin")
    assert detect(*pair, CONFIG).is_decisive
    noticed = detect(*pair, DetectionConfig(act_threshold=0.95))
    assert noticed.is_conflict
    assert not noticed.is_decisive


def test_a_contradiction_never_restates() -> None:
    one, other = record("I like tea", embedding=vector(0)), record("I don't like tea", embedding=vector(0))
    detection = detect(one, other, CONFIG)
    assert detection.signal(SignalType.SEMANTIC) is not None
    assert detection.signal(SignalType.CONTRADICTION) is not None
    assert not detection.restates


def test_contradiction_names_side_of_each_value() -> None:
    signal = detect(record("I have 25 postcards"), record("I have 17 postcards", key="9"), CONFIG).signal(
        SignalType.CONTRADICTION
    )
    assert signal is not None
    assert signal.evidence["differing"] == [["25", "17"]]
    assert signal.evidence["common"] == ["postcards"]
    assert signal.evidence["target"] == "9"


def test_weights_count_in_the_total_score() -> None:
    weights = dict.fromkeys(SignalType, 0.0) | {SignalType.TIME: 2.0}
    assert detect(record(), record(), DetectionConfig(weights=weights)).total_score == 2.0


def test_embeddings_of_different_length_are_not_compared() -> None:
    one = record("a", embedding=np.ones(2, dtype=np.float32))
    other = record("b", embedding=np.ones(3, dtype=np.float32))
    assert detect(one, other, DetectionConfig(semantic_threshold=0)).signal(SignalType.SEMANTIC) is None


def test_facts_that_follow_one_pattern_are_not_acted_on() -> None:
    facts = [record(f"The box with label {number} stands in room {number + 100}") for number in range(30)]
    facts += [record(f"{name} drinks {drink}") for name in ("Ana", "Ben", "Eva") for drink in ("tea", "coffee", "milk")]
    pairs = [(one, other) for one in facts for other in facts if one is not other]
    assert not [pair for pair in pairs if detect(*pair, CONFIG).is_conflict]


# --- for any text -------------------------------------------------------------------------------------------


@given(TEXTS, TEXTS, st.floats(0, 1), st.floats(-7, 7))
@settings(max_examples=examples(300), deadline=None)
def test_swapping_sides_changes_neither_scores_nor_judgement(a: str, b: str, weight: float, angle: float) -> None:
    one = record(a, importance=weight, embedding=vector(0.0))
    other = record(b, days=weight / 100, embedding=vector(angle))
    there, back = detect(one, other, CONFIG), detect(other, one, CONFIG)
    assert [(s.type, s.score) for s in there.signals] == [(s.type, s.score) for s in back.signals]
    assert (there.is_conflict, there.is_decisive, there.restates) == (back.is_conflict, back.is_decisive, back.restates)
    assert all(0.0 <= signal.score <= 1.0 for signal in there.signals)
    assert there == detect(one, other, CONFIG)


@given(TEXTS)
@settings(max_examples=examples(200), deadline=None)
def test_a_text_never_contradicts_itself(text: str) -> None:
    everything = DetectionConfig(contradiction_threshold=0.0)
    detection = detect(record(text, embedding=vector(1)), record(text, embedding=vector(1)), everything)
    assert detection.signal(SignalType.CONTRADICTION) is None
    assert detection.restates


# --- what is not looked at ------------------------------------------------------------------------------------


def test_short_texts_are_compared_whatever_their_vectors() -> None:
    one = record("Works at Google", embedding=vector(0.0))
    other = record("Works at Apple", embedding=vector(1.4))
    assert detect(one, other, CONFIG).signal(SignalType.CONTRADICTION) is not None
