"""Spec 000 "Memory Merging", one test per scenario, and what must hold beyond."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.rules.domain.engine.merge import (
    ContentStrategy,
    ImportanceStrategy,
    KeywordsStrategy,
    MergeConfig,
    MergeResult,
    MetadataStrategy,
    merge,
)
from apps.rules.domain.engine.record import MemoryRecord
from apps.rules.domain.engine.sentences import deduplicate, split_sentences
from tests.unit.rules.records import NOON, record

TEA = "Ana likes green tea."
DOG = "Her dog is called Rex."


def merged(
    first: MemoryRecord, second: MemoryRecord, similarity: float | None = 0.5, *, metadata: Any = None, **config: Any
) -> MergeResult:
    strategy = MetadataStrategy(**(metadata or {}))
    return merge(first, second, similarity, MergeConfig(metadata_strategy=strategy, **config))


def content(first: str, second: str, strategy: ContentStrategy, **config: Any) -> str:
    return merged(record(first), record(second), content_strategy=strategy, **config).content


# --- the scenarios of the spec --------------------------------------------------------------------------


def test_scenario_content_merging_strategies_concatenate() -> None:
    assert content(TEA, DOG, ContentStrategy.CONCATENATE) == f"{TEA}\n{DOG}"


def test_scenario_content_merging_strategies_replace() -> None:
    assert content(TEA, DOG, ContentStrategy.REPLACE) == DOG


def test_scenario_content_merging_strategies_summarize() -> None:
    first = "Ana drinks green tea. " + " ".join(f"Filler number {n} is here." for n in range(12))
    result = merged(record(first), record("Ana buys tea in Kyoto."), content_strategy=ContentStrategy.SUMMARIZE)
    assert result.common_keywords == ("ana", "tea")
    assert "Ana drinks green tea." in result.content
    assert result.content.endswith("Ana buys tea in Kyoto.")
    assert len(split_sentences(result.content)) == 6


@pytest.mark.parametrize(
    ("similarity", "strategy"), [(0.71, ContentStrategy.SUMMARIZE), (0.7, ContentStrategy.CONCATENATE)]
)
def test_scenario_content_merging_strategies_smart(similarity: float, strategy: ContentStrategy) -> None:
    result = merged(record(TEA), record(DOG), similarity, content_strategy=ContentStrategy.SMART)
    assert result.strategy is strategy
    assert result.content == content(TEA, DOG, strategy)


@pytest.mark.parametrize(("strategy", "expected"), [("max", 0.8), ("boost", 0.9), ("average", 0.6)])
def test_scenario_metadata_merging_importance(strategy: str, expected: float) -> None:
    how = {"importance": ImportanceStrategy(strategy)}
    assert merged(record(importance=0.8), record(importance=0.4), metadata=how).importance == pytest.approx(expected)


def test_scenario_metadata_merging_timestamp() -> None:
    assert merged(record(), record(days=-3)).timestamp == NOON


def test_scenario_metadata_merging_keywords_union() -> None:
    assert merged(record(keywords=("tea", "Green ")), record(keywords=("green", "Kyoto"))).keywords == (
        "tea",
        "Green ",
        "Kyoto",
    )


def test_scenario_metadata_merging_keywords_intersection() -> None:
    how = {"keywords": KeywordsStrategy.INTERSECTION}
    result = merged(record(keywords=("tea", "Green")), record(keywords=("green", "Kyoto")), metadata=how)
    assert result.keywords == ("Green",)


def test_scenario_metadata_merging_source() -> None:
    assert merged(record(source="skill"), record(source="conversation")).source == "conversation"
    assert merged(record(source="user"), record(source="inferred")).source == "user"


@pytest.mark.parametrize(("importance", "amount", "expected"), [(0.5, 0.1, 0.6), (0.95, 0.1, 1.0), (0.5, 0.3, 0.8)])
def test_scenario_importance_boost(importance: float, amount: float, expected: float) -> None:
    how = {"importance": ImportanceStrategy.BOOST}
    result = merged(record(importance=importance), record(importance=0.2), metadata=how, boost_amount=amount)
    assert result.importance == pytest.approx(expected)
    assert MergeConfig().boost_amount == 0.1


def test_scenario_content_deduplication() -> None:
    first, second = f"{TEA} {DOG}", "ana likes  GREEN tea! She lives in Kyoto."
    assert content(first, second, ContentStrategy.CONCATENATE) == f"{TEA} {DOG}\nShe lives in Kyoto."
    assert content(first, second, ContentStrategy.CONCATENATE, deduplicate=False) == f"{first}\n{second}"


def test_scenario_content_deduplication_threshold() -> None:
    first, second = "The user likes dark chocolate.", "The user likes dark chocolate and hazelnuts."
    strategy = ContentStrategy.CONCATENATE
    assert content(first, second, strategy) == f"{first}\n{second}"
    assert content(first, second, strategy, deduplicate_threshold=0.7) == second
    assert MergeConfig().deduplicate_threshold == 0.8


def test_scenario_merge_result_statistics() -> None:
    first = record(f"{TEA} {DOG}", importance=0.4, keywords=("tea",))
    second = record(f"{TEA.upper()} She lives in Kyoto.", importance=0.7, keywords=("Tea", "Kyoto"))
    result = merged(first, second, content_strategy=ContentStrategy.CONCATENATE)
    assert result.statistics.content_length == len(f"{TEA} {DOG}\nShe lives in Kyoto.") == len(result.content)
    assert result.statistics.keywords_count == 2
    assert result.statistics.importance_delta == pytest.approx(0.3)
    assert result.statistics.deduplicated_count == 1


def test_merged_importance_is_the_decimal_that_its_rule_says() -> None:
    boosted = merged(record(importance=0.7), record(importance=0.2), metadata={"importance": "boost"})
    mean = merged(record(importance=0.7), record(importance=0.1), metadata={"importance": "average"})
    assert (boosted.importance, mean.importance) == (0.8, 0.4)


# --- nothing that was said gets lost ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Ana moved with her family and dog to Paris in 2020.", "Ana moved with her family and dog to Paris in 2021."),
        ("Ana said that she likes the old house by the lake.", "Ana said that she dislikes the old house by the lake."),
        ("Ana has been to the house by the lake.", "Ana has not been to the house by the lake."),
        ("Ana can eat nuts and milk and eggs today.", "Ana can't eat nuts and milk and eggs today."),
        ("我喜欢绿茶。", "我喜欢红茶。"),
    ],
)
def test_sentences_that_differ_in_what_matters_both_stay(first: str, second: str) -> None:
    assert deduplicate(f"{first}\n{second}", 0.8)[1] == 0


def test_of_two_that_say_same_one_that_says_more_stays() -> None:
    short, long = "Ana likes green tea in the morning.", "Ana likes hot green tea in the morning."
    for text in (f"{short} {long}", f"{long} {short}"):
        assert deduplicate(text, 0.7)[0] == long


def test_a_title_is_no_sentence_of_its_own() -> None:
    text = "Dr. Smith came to see Ana. Dr. Jones left the town."
    assert len(split_sentences(text)) == 2
    assert deduplicate(text, 0.8)[0] == text


def test_summary_keeps_every_sentence_of_short_memories() -> None:
    assert content(TEA, DOG, ContentStrategy.SUMMARIZE) == f"{TEA} {DOG}"


def test_smart_without_similarity_looks_at_words() -> None:
    near = merged(record("Ana likes green tea."), record("Ana likes green tea!"), None)
    assert near.strategy is ContentStrategy.SUMMARIZE
    assert merged(record(TEA), record(DOG), None).strategy is ContentStrategy.CONCATENATE


# --- properties -------------------------------------------------------------------------------------------

texts = st.text(max_size=80) | st.lists(
    st.sampled_from([TEA, DOG, "Tea!", "Dr.", "我喜欢绿茶。", "\n", "She is 3.", "She is 4."]), max_size=8
).map(" ".join)
keyword_lists = st.lists(st.sampled_from(["tea", "Tea", " tea", "dog", "Kyoto"]), max_size=4).map(tuple)
configs = st.builds(
    MergeConfig,
    content_strategy=st.sampled_from(ContentStrategy),
    metadata_strategy=st.builds(
        MetadataStrategy,
        importance=st.sampled_from([ImportanceStrategy.MAX, ImportanceStrategy.AVERAGE]),
        keywords=st.sampled_from(KeywordsStrategy),
    ),
    deduplicate=st.booleans(),
    deduplicate_threshold=st.floats(0, 1),
)
records = st.builds(
    record,
    texts,
    importance=st.floats(0, 1),
    keywords=keyword_lists,
    source=st.sampled_from(["user", "skill", "own", "other"]),
)


@given(records, configs, st.none() | st.floats(-1, 1))
def test_merging_is_idempotent_on_equal_inputs(one: MemoryRecord, config: MergeConfig, like: float | None) -> None:
    result = merge(one, one, like, config)
    assert (result.content, result.timestamp, result.source) == (one.content, one.timestamp, one.source)
    assert result.importance == pytest.approx(one.importance, abs=1e-6)  # it is rounded
    assert {k.casefold().strip() for k in result.keywords} == {k.casefold().strip() for k in one.keywords}
    again = merge(
        one, MemoryRecord("m", result.content, result.timestamp, result.importance, result.source), like, config
    )
    assert again.content == result.content


@given(records, records, configs, st.floats(-1, 1))
def test_statistics_tell_of_the_result(
    one: MemoryRecord, other: MemoryRecord, config: MergeConfig, like: float
) -> None:
    result = merge(one, other, like, config)
    assert result == merge(one, other, like, config)
    assert result.statistics.content_length == len(result.content)
    assert result.statistics.keywords_count == len(result.keywords) == len(set(result.keywords))
    assert 0.0 <= result.importance <= 1.0


@given(texts, st.floats(0, 1))
def test_deduplicating_twice_changes_nothing_more(text: str, threshold: float) -> None:
    once, _ = deduplicate(text, threshold)
    assert deduplicate(once, threshold)[1] == 0


@given(st.text(max_size=200))
def test_the_sentences_of_a_text_are_the_text(text: str) -> None:
    assert "".join(split_sentences(text)) == text
