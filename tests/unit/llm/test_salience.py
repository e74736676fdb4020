"""Which messages of a conversation a model reads: spec 002 section 1."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.core.domain.randomness import DeterministicRNG
from apps.llm.domain.salience import (
    DEFAULT_SALIENCE_CONFIG,
    MessageScore,
    MoodDelta,
    SalienceConfig,
    SelectionResult,
    emotion_keyword_score,
    position_boost,
    salience_scores,
    select_salient_messages,
    with_context,
)


@dataclass(frozen=True)
class Message:
    id: str
    content: str


def conversation(count: int, content: str = "x" * 40) -> list[Message]:
    """Messages of ten tokens each."""
    return [Message(f"m{number}", content) for number in range(count)]


def deltas(count: int, **magnitudes: float) -> list[MoodDelta]:
    return [MoodDelta(magnitudes.get(f"m{number}", 0.0)) for number in range(count)]


def select(
    messages: Sequence[Message],
    mood_deltas: Sequence[MoodDelta | None] = (),
    config: SalienceConfig = DEFAULT_SALIENCE_CONFIG,
    draws: Sequence[float] = (0.5,),
) -> SelectionResult[Message]:
    rng = DeterministicRNG(1)
    rng.set_sequence(draws)
    return select_salient_messages(messages, mood_deltas, config, rng)


def test_the_defaults_are_the_spec_s() -> None:
    assert (
        SalienceConfig(weight_delta=0.5, weight_emotion=0.3, top_k=24, min_messages=5, max_tokens=3_000)
        == DEFAULT_SALIENCE_CONFIG
    )
    assert DEFAULT_SALIENCE_CONFIG.token_cap == 2_700


@pytest.mark.parametrize("word", ["love", "hate", "amazing", "terrible", "excited", "devastated"])
def test_a_strong_word_scores_1(word: str) -> None:
    assert emotion_keyword_score(f"so {word.upper()}, and fine, and sad") == 1.0


@pytest.mark.parametrize("word", ["happy", "sad", "worried", "pleased", "frustrated"])
def test_a_medium_word_scores_a_half(word: str) -> None:
    assert emotion_keyword_score(f"good but {word}") == 0.5


@pytest.mark.parametrize("word", ["okay", "fine", "good", "bad"])
def test_a_weak_word_scores_a_fifth(word: str) -> None:
    assert emotion_keyword_score(f"it is {word}") == 0.2


def test_words_without_emotion_score_nothing() -> None:
    assert emotion_keyword_score("the train leaves at nine") == 0.0


def test_word_inside_another_counts_as_spec_s_formula_has_it() -> None:
    assert emotion_keyword_score("a glove") == 1.0


@pytest.mark.parametrize(
    ("total", "boosted"),
    [(1, [0]), (2, [0]), (5, [0]), (6, [0, 1, 5]), (10, [0, 1, 9]), (20, [0, 1, 2, 3, 17, 18, 19])],
)
def test_the_first_and_the_last_fifth_are_boosted(total: int, boosted: list[int]) -> None:
    assert [index for index in range(total) if position_boost(index, total)] == boosted


def test_boost_is_fifth_and_there_is_none_without_messages() -> None:
    assert position_boost(0, 10) == 0.2
    assert position_boost(0, 0) == 0.0


def test_a_score_is_the_sum_of_its_three_parts() -> None:
    messages = [Message("first", "I love it"), *conversation(9)]
    scores = salience_scores(messages, [MoodDelta(0.8), MoodDelta(0.6)], DEFAULT_SALIENCE_CONFIG)
    assert scores[:3] == pytest.approx([0.5 * 0.8 + 0.3 * 1.0 + 0.2, 0.5 * 0.6 + 0.2, 0.0])


def test_a_missing_delta_counts_as_none() -> None:
    scores = salience_scores(conversation(3), [None, MoodDelta(1.0)], SalienceConfig(weight_delta=2))
    assert scores == [0.2, 2.0, 0.0]


@pytest.mark.parametrize("magnitude", [-0.1, math.nan, math.inf])
def test_a_magnitude_is_finite_and_not_negative(magnitude: float) -> None:
    with pytest.raises(ValueError, match="magnitude of 0 or more"):
        MoodDelta(magnitude)


@pytest.mark.parametrize("field", ["top_k", "min_messages", "max_tokens"])
def test_a_negative_limit_is_refused(field: str) -> None:
    with pytest.raises(ValueError, match="0 or more"):
        SalienceConfig(**{field: -1})


def test_best_are_chosen_with_their_neighbours_in_their_order() -> None:
    chosen = select(conversation(20), deltas(20, m12=0.9, m6=0.8), SalienceConfig(top_k=2))
    assert chosen.selected_ids == ("m5", "m6", "m7", "m11", "m12", "m13")
    assert [message.id for message in chosen.selected_messages] == list(chosen.selected_ids)
    assert chosen.pruned_count == 14
    assert chosen.estimated_tokens == 60


def test_the_scores_come_with_their_messages() -> None:
    chosen = select(conversation(10), deltas(10, m5=1.0), SalienceConfig(top_k=1))
    assert chosen.scores == (MessageScore("m4", 0.0), MessageScore("m5", 0.5), MessageScore("m6", 0.0))


def test_neighbours_shared_by_two_chosen_ones_come_once() -> None:
    assert with_context([3, 5, 4], 10) == {2, 3, 4, 5, 6}


def test_edges_of_conversation_have_one_neighbour() -> None:
    assert with_context([0, 9], 10) == {0, 1, 8, 9}


def test_at_most_24_are_chosen_for_their_own_score() -> None:
    every_third = {f"m{number}": 1.0 for number in range(1, 90, 3)}
    messages = conversation(90, "x")
    assert len(select(messages, deltas(90, **every_third)).selected_ids) == 24 * 3


def test_no_conversation_has_no_selection() -> None:
    assert select([]) == SelectionResult((), (), 0, 0, ())


def test_lowest_scores_go_until_nine_tenths_of_budget_hold_rest() -> None:
    config = SalienceConfig(max_tokens=70, min_messages=1)
    chosen = select(conversation(10), deltas(10, m3=0.9, m4=0.8, m5=0.7), config)
    assert chosen.estimated_tokens == 60
    assert chosen.selected_ids == ("m0", "m1", "m3", "m4", "m5", "m9")


def test_exactly_the_cap_is_kept() -> None:
    config = SalienceConfig(max_tokens=100, min_messages=1)
    assert select(conversation(9), config=config).pruned_count == 0
    assert select(conversation(10), config=config).estimated_tokens == 90


def test_pruning_stops_at_minimum_even_above_budget() -> None:
    chosen = select(conversation(10), config=SalienceConfig(max_tokens=10, min_messages=5))
    assert (len(chosen.selected_ids), chosen.estimated_tokens) == (5, 50)


def test_among_equal_scores_higher_draw_is_chosen() -> None:
    draws = [0.1, 0.2, 0.3, 0.9, 0.4, 0.5]
    config = SalienceConfig(top_k=1)
    chosen = select(conversation(6), deltas(6, m2=0.4, m3=0.4, m4=0.4), config, draws)
    assert chosen.selected_ids == ("m2", "m3", "m4")


def test_among_equal_scores_lower_draw_is_pruned_first() -> None:
    config = SalienceConfig(max_tokens=34, min_messages=1)
    messages, draws = conversation(5), [0.0, 0.7, 0.1, 0.9, 0.2]
    assert select(messages, (), config, draws).selected_ids == ("m0", "m1", "m3")


def test_equal_draws_leave_it_to_earlier_message() -> None:
    config = SalienceConfig(max_tokens=34, min_messages=1)
    assert select(conversation(5), (), config).selected_ids == ("m0", "m1", "m2")


conversations = st.lists(st.sampled_from(["love", "sad", "fine", "plain words", "", "x" * 400]), max_size=40).map(
    lambda texts: [Message(f"m{number}", text) for number, text in enumerate(texts)]
)
configs = st.builds(
    SalienceConfig,
    top_k=st.integers(0, 30),
    min_messages=st.integers(0, 10),
    max_tokens=st.integers(0, 500),
)
magnitudes = st.lists(st.none() | st.sampled_from([0.0, 0.5, 1.0]).map(MoodDelta), max_size=40)


@given(conversations, magnitudes, configs, st.integers(0, 2**31 - 1))
def test_the_same_seed_selects_the_same_messages(messages, mood_deltas, config, seed) -> None:
    one, other = DeterministicRNG(seed), DeterministicRNG(seed)
    first = select_salient_messages(messages, mood_deltas, config, one)
    assert first == select_salient_messages(messages, mood_deltas, config, other)


@given(conversations, magnitudes, configs, st.integers(0, 2**31 - 1))
def test_selection_keeps_order_budget_and_minimum(messages, mood_deltas, config, seed) -> None:
    chosen = select_salient_messages(messages, mood_deltas, config, DeterministicRNG(seed))
    positions = [messages.index(message) for message in chosen.selected_messages]
    assert positions == sorted(set(positions))
    assert len(positions) + chosen.pruned_count == len(messages)
    assert chosen.estimated_tokens <= config.token_cap or len(positions) <= config.min_messages
    before_pruning = min(config.top_k, len(messages))
    assert len(positions) >= min(before_pruning, config.min_messages)


@given(conversations, magnitudes, configs, st.integers(0, 2**31 - 1))
def test_nothing_pruned_scored_more_than_anything_kept(messages, mood_deltas, config, seed) -> None:
    scores = salience_scores(messages, mood_deltas, config)
    roomy = SalienceConfig(top_k=config.top_k, min_messages=0, max_tokens=10**9)
    whole = select_salient_messages(messages, mood_deltas, roomy, DeterministicRNG(seed)).selected_ids
    kept = select_salient_messages(messages, mood_deltas, config, DeterministicRNG(seed)).selected_ids
    gone = [scores[int(name[1:])] for name in whole if name not in kept]
    assert set(kept) <= set(whole)
    assert not gone or not kept or max(gone) <= min(scores[int(name[1:])] for name in kept)
