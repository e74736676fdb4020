"""Spec 000 "Memory Conflict Arbitration", one test per scenario, and what must hold beyond."""

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise, permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.core.domain.origin import WriteOrigin
from apps.rules.domain.engine.arbitration import (
    Action,
    ArbitrationConfig,
    ArbitrationResult,
    ArbitrationWeights,
    DefaultStrategy,
    DetectedConflict,
    Strategy,
    arbitrate,
    by_severity,
)
from apps.rules.domain.engine.record import SOURCE_ORDER, MemoryRecord
from apps.rules.domain.engine.signals import Detection, SignalType
from tests.unit.rules.records import NOON, conflict, record

EVERYTHING_FIRST = {"priority_importance": True, "priority_recency": True, "priority_source": True}
NOTHING_FIRST = {"priority_importance": False, "priority_recency": False, "priority_source": False}


def decide(candidate: MemoryRecord, existing: MemoryRecord, **config: Any) -> ArbitrationResult:
    return arbitrate(candidate, existing, conflict(), ArbitrationConfig(**{**NOTHING_FIRST, **config}))


# --- the scenarios of the spec --------------------------------------------------------------------------


def test_scenario_importance_based_arbitration() -> None:
    result = decide(record(importance=0.9), record(importance=0.3), priority_importance=True)
    assert (result.action, result.winner, result.loser) == (Action.KEEP, "candidate", "existing")
    assert result.confidence == pytest.approx(0.8)
    assert result.strategy is Strategy.IMPORTANCE


def test_scenario_recency_based_arbitration() -> None:
    result = decide(record(days=-1), record(), priority_recency=True)
    assert (result.action, result.winner, result.loser) == (Action.KEEP, "existing", "candidate")
    assert result.confidence == pytest.approx(0.75)
    assert result.strategy is Strategy.RECENCY


@pytest.mark.parametrize(("higher", "lower"), list(pairwise(SOURCE_ORDER)))
def test_scenario_source_based_arbitration(higher: str, lower: str) -> None:
    result = decide(record(source=lower), record(source=higher), priority_source=True)
    assert (result.action, result.winner, result.confidence) == (Action.KEEP, "existing", 0.7)


def test_the_order_of_sources_is_that_of_the_spec() -> None:
    assert SOURCE_ORDER == ("user", "conversation", "skill", "system", "inferred")


def test_scenario_multi_factor_scoring_merges_what_is_near() -> None:
    result = decide(record(importance=0.6), record(importance=0.5))
    assert (result.action, result.winner, result.loser) == (Action.MERGE, None, None)
    # 0.4 x 0.1 apart, a fifth of the threshold.
    assert result.confidence == pytest.approx(0.9)


def test_scenario_multi_factor_scoring_keeps_the_higher_score() -> None:
    result = decide(record(importance=0.9, source="user"), record(importance=0.2, source="inferred", days=-30))
    assert (result.action, result.winner, result.strategy) == (Action.KEEP, "candidate", Strategy.MULTI_FACTOR)
    apart = 0.4 * 0.7 + 0.3 * (1 - 0.5 ** (30 / 7)) + 0.2 * 0.8
    assert result.confidence == pytest.approx(0.5 + apart / 2)


def test_weights_and_threshold_are_those_of_spec() -> None:
    assert ArbitrationConfig().weights == ArbitrationWeights(importance=0.4, recency=0.3, source=0.2, semantic=0.1)
    assert ArbitrationConfig().merge_threshold == 0.2


@pytest.mark.parametrize(
    ("strategy", "action", "winner"),
    [
        (DefaultStrategy.KEEP_CANDIDATE, Action.KEEP, "candidate"),
        (DefaultStrategy.KEEP_EXISTING, Action.KEEP, "existing"),
        (DefaultStrategy.REJECT, Action.REJECT, "existing"),
    ],
)
def test_scenario_default_strategy_fallback(strategy: DefaultStrategy, action: Action, winner: str) -> None:
    config = ArbitrationConfig(**EVERYTHING_FIRST, allow_merge=False, default_strategy=strategy)
    result = arbitrate(record(), record(), conflict(), config)
    assert (result.action, result.winner, result.confidence) == (action, winner, 0.5)
    assert strategy.value in result.reason


def test_scenario_multiple_conflict_resolution() -> None:
    conflicts = [
        DetectedConflict(record(key=str(score), importance=0.1), conflict(score=score)) for score in (0.5, 0.9, 0.7)
    ]
    chosen = by_severity(conflicts)[0]
    assert chosen.existing.key == "0.9"
    config = ArbitrationConfig(priority_importance=True)
    result = arbitrate(record(), chosen.existing, chosen.detection, config)
    assert result.strategy is Strategy.IMPORTANCE


# --- the order of the strategies --------------------------------------------------------------------------


def test_importance_is_asked_before_recency_and_recency_before_source() -> None:
    important = record(importance=0.9, days=-9, source="inferred")
    newer = record(importance=0.1, days=9, source="system")
    every = {"priority_importance": True, "priority_recency": True, "priority_source": True}
    assert decide(important, newer, **every).strategy is Strategy.IMPORTANCE
    assert decide(replace(important, importance=0.1), newer, **every).strategy is Strategy.RECENCY
    assert decide(replace(important, importance=0.1, timestamp=newer.timestamp), newer, **every).winner == "existing"


def test_default_lets_newer_memory_win_even_over_more_important_one() -> None:
    result = arbitrate(record(days=1, importance=0.1), record(importance=1.0), conflict(), ArbitrationConfig())
    assert (result.winner, result.strategy) == ("candidate", Strategy.RECENCY)


def test_of_same_moment_default_believes_user_before_guess() -> None:
    result = arbitrate(record(source="inferred"), record(source="user"), conflict(), ArbitrationConfig())
    assert (result.winner, result.strategy) == ("existing", Strategy.SOURCE)


def test_word_of_callers_own_ranks_with_last_source() -> None:
    assert decide(record(source="importer"), record(source="system"), priority_source=True).winner == "existing"
    assert decide(record(source="importer"), record(source="inferred"), priority_source=True).action is Action.MERGE


def test_contradiction_is_not_merged_unless_rule_says_so() -> None:
    contradiction = conflict(SignalType.SEMANTIC, SignalType.CONTRADICTION)
    for allowed, action in ((False, Action.KEEP), (True, Action.MERGE)):
        config = ArbitrationConfig(**NOTHING_FIRST, merge_contradictions=allowed)
        assert arbitrate(record(importance=0.6), record(), contradiction, config).action is action


def test_without_a_conflict_both_memories_stand() -> None:
    result = arbitrate(record(days=1), record(), Detection((), False, 0.0), ArbitrationConfig())
    assert (result.action, result.winner, result.loser) == (Action.KEEP, None, None)


def test_conflict_on_weak_evidence_is_only_noticed_unless_rule_says_otherwise() -> None:
    weak = replace(conflict(), is_decisive=False)
    noticed = arbitrate(record(days=1), record(), weak, ArbitrationConfig())
    assert (noticed.action, noticed.winner, noticed.strategy) == (Action.KEEP, None, Strategy.NOTICED)
    decided = arbitrate(record(days=1), record(), weak, ArbitrationConfig(act_on_weak_evidence=True))
    assert decided.winner == "candidate"


def test_difference_of_exactly_threshold_is_not_merged() -> None:
    weights = ArbitrationWeights(importance=1, recency=0, source=0, semantic=0)
    result = decide(record(importance=0.75), record(importance=0.5), weights=weights, merge_threshold=0.25)
    assert (result.action, result.winner) == (Action.KEEP, "candidate")


@pytest.mark.parametrize("importance", [0.2, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
def test_scores_that_differ_by_exactly_merge_threshold_are_not_merged(importance: float) -> None:
    weights = ArbitrationWeights(importance=1, recency=0, source=0, semantic=0)
    pair = record(importance=importance), record(importance=round(importance - 0.2, 1))
    for candidate, existing in (pair, pair[::-1]):
        result = decide(candidate, existing, weights=weights, merge_threshold=0.2)
        assert (result.action, result.confidence) == (Action.KEEP, 0.6)
        assert decide(candidate, existing, weights=weights, merge_threshold=0.201).action is Action.MERGE


def test_importances_that_are_equal_as_decimals_do_not_decide() -> None:
    candidate, existing = record(importance=0.1 + 0.2), record(importance=0.3, source="inferred")
    assert decide(candidate, existing, priority_importance=True, priority_source=True).strategy is Strategy.SOURCE


def test_most_severe_conflict_does_not_depend_on_their_order() -> None:
    tied = [DetectedConflict(record(key=key, days=days), conflict()) for key, days in (("b", 0), ("a", 0), ("c", -1))]
    assert {by_severity(order)[0].existing.key for order in permutations(tied)} == {"a"}


def test_what_is_no_conflict_is_not_chosen_whatever_its_score() -> None:
    assert by_severity([DetectedConflict(record(), Detection((), False, 5.0))]) == []


# --- properties -------------------------------------------------------------------------------------------

records = st.builds(
    record,
    days=st.sampled_from([0.0, 1e-5, 1.0, 400.0]) | st.floats(-3000, 3000),
    importance=st.sampled_from([0.0, 0.5, 1.0]) | st.floats(0, 1),
    source=st.sampled_from([*SOURCE_ORDER, "User ", "importer"]),
)
factors = st.sampled_from([0.0, 0.4]) | st.floats(0, 1)
weights = st.builds(ArbitrationWeights, importance=factors, recency=factors, source=factors, semantic=st.just(0.1))
configs = st.builds(
    ArbitrationConfig,
    priority_importance=st.booleans(),
    priority_recency=st.booleans(),
    priority_source=st.booleans(),
    weights=weights,
    merge_threshold=st.floats(0, 1),
    allow_merge=st.booleans(),
    default_strategy=st.sampled_from(DefaultStrategy),
)
detections = st.sampled_from([conflict(), conflict(SignalType.KEYWORD), conflict(SignalType.CONTRADICTION)])


@given(records, records, detections, configs)
def test_swapping_candidate_and_existing_never_changes_which_memory_wins(
    one: MemoryRecord, other: MemoryRecord, detection: Detection, config: ArbitrationConfig
) -> None:
    forth, back = arbitrate(one, other, detection, config), arbitrate(other, one, detection, config)
    assert (forth.action, forth.strategy, forth.confidence) == (back.action, back.strategy, back.confidence)
    if forth.strategy is not Strategy.DEFAULT:
        assert forth.reason == back.reason
        assert (forth.winner, forth.loser) == (back.loser, back.winner)


@given(records, records, detections, configs, st.sampled_from(WriteOrigin), st.sampled_from(WriteOrigin))
def test_nothing_is_replaced_by_a_lower_origin(
    one: MemoryRecord,
    other: MemoryRecord,
    detection: Detection,
    config: ArbitrationConfig,
    first: WriteOrigin,
    second: WriteOrigin,
) -> None:
    candidate, existing = replace(one, origin=first), replace(other, origin=second)
    before, result = arbitrate(one, other, detection, config), arbitrate(candidate, existing, detection, config)
    if result.strategy is Strategy.TRUST:
        assert (result.action, result.winner, first == second) == (Action.KEEP, None, False)
        assert f"from {first}" in result.reason
        assert f"from {second}" in result.reason
    else:
        assert result == before
    if result.action is Action.MERGE:
        assert first == second
    if result.winner is not None:
        winner, loser = (first, second) if result.winner == "candidate" else (second, first)
        assert not winner.is_below(loser)


@given(records, records, detections, configs)
def test_confidences_are_between_zero_and_one_and_decisions_repeat(
    one: MemoryRecord, other: MemoryRecord, detection: Detection, config: ArbitrationConfig
) -> None:
    result = arbitrate(one, other, detection, config)
    assert 0.0 <= result.confidence <= 1.0
    assert result == arbitrate(one, other, detection, config)
    assert (result.winner is None) == (result.action is Action.MERGE)


@given(st.floats(0, 1e9), st.floats(0, 1e9))
def test_greater_difference_of_time_is_never_less_sure(one: float, other: float) -> None:
    def sure(seconds: float) -> float:
        newer = replace(record(), timestamp=NOON + timedelta(seconds=seconds))
        return decide(newer, record(), priority_recency=True, allow_merge=False).confidence

    assert sure(min(one, other)) <= sure(max(one, other))
