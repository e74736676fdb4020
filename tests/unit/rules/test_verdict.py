"""From the conflicts of one candidate to what is done: spec 000 "Multiple conflict resolution", and D3 and D5."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.rules.domain.engine.arbitration import (
    ArbitrationConfig,
    DefaultStrategy,
    DetectedConflict,
    Strategy,
    arbitrate,
)
from apps.rules.domain.engine.record import SOURCE_ORDER, MemoryRecord
from apps.rules.domain.engine.signals import Detection, SignalType
from apps.rules.domain.engine.verdict import Verdict, VerdictOutcome, decide, outcome_of
from tests.unit.rules.records import NOON, conflict, record

CONTRADICTS = conflict(SignalType.CONTRADICTION)
NEWEST = record(days=1)
UNDECIDED = {"priority_importance": False, "priority_recency": False, "priority_source": False}


def against(
    key: str, *, score: float = 0.9, weak: bool = False, restates: bool = False, **fields: Any
) -> DetectedConflict:
    """A conflict with a stored memory."""
    kind = SignalType.SEMANTIC if restates else SignalType.CONTRADICTION
    return DetectedConflict(record(key=key, **fields), replace(conflict(kind, score=score), is_decisive=not weak))


def verdict(candidate: MemoryRecord, *conflicts: DetectedConflict, **config: Any) -> Verdict:
    found = decide(candidate, conflicts, ArbitrationConfig(**config))
    assert found is not None
    return found


def keys(decided: tuple[Any, ...]) -> list[str]:
    return [one.conflict.existing.key for one in decided]


# --- outcomes ---------------------------------------------------------------------------------------------


def test_without_conflicts_there_is_nothing_to_decide() -> None:
    assert decide(NEWEST, [], ArbitrationConfig()) is None
    assert decide(NEWEST, [DetectedConflict(record(), Detection((), False, 9.0))], ArbitrationConfig()) is None


@pytest.mark.parametrize(
    ("found", "candidate", "config", "outcome"),
    [
        (against("a"), record(days=1), {}, VerdictOutcome.SUPERSEDED_EXISTING),
        (against("a"), record(days=-1), {}, VerdictOutcome.KEPT_EXISTING),
        (against("a", weak=True), record(days=1), {}, VerdictOutcome.NOTICED),
        (against("a", restates=True), record(), UNDECIDED, VerdictOutcome.MERGED),
        (against("a"), record(), {"default_strategy": DefaultStrategy.REJECT}, VerdictOutcome.REJECTED),
        (against("a"), record(), {"default_strategy": DefaultStrategy.KEEP_EXISTING}, VerdictOutcome.KEPT_EXISTING),
    ],
)
def test_each_arbitration_comes_to_an_outcome(
    found: DetectedConflict, candidate: MemoryRecord, config: dict[str, Any], outcome: VerdictOutcome
) -> None:
    assert verdict(candidate, found, **config).outcome is outcome


def test_scenario_multiple_conflict_resolution_decides_the_most_severe() -> None:
    found = verdict(NEWEST, against("mild", score=0.5), against("severe", score=0.9), against("middle", score=0.7))
    assert found.main.conflict.existing.key == "severe"
    assert found.main.result.winner == "candidate"


def test_others_that_candidate_wins_leave_with_first() -> None:
    found = verdict(NEWEST, against("a", score=0.9), against("b", score=0.5), against("c", score=0.7))
    assert (keys(found.also), found.others) == (["c", "b"], ())


def test_candidate_that_loses_one_conflict_does_not_stand_and_touches_nothing_else() -> None:
    found = verdict(NEWEST, against("older", score=0.9), against("newer", score=0.5, days=2))
    assert found.outcome is VerdictOutcome.KEPT_EXISTING
    assert found.main.conflict.existing.key == "newer"
    assert (found.also, keys(found.others)) == ((), ["older"])


def test_most_severe_of_several_wins_is_main() -> None:
    found = verdict(record(), against("a", score=0.5, days=1), against("b", score=0.8, days=2))
    assert found.main.conflict.existing.key == "b"


def test_what_is_only_noticed_comes_after_what_is_acted_on_and_stays() -> None:
    found = verdict(NEWEST, against("weak", score=3.0, weak=True), against("strong", score=0.9))
    assert (found.main.conflict.existing.key, found.also, keys(found.others)) == ("strong", (), ["weak"])


def test_where_all_is_weak_most_severe_is_noticed() -> None:
    found = verdict(NEWEST, against("a", score=0.4, weak=True), against("b", score=0.6, weak=True))
    assert (found.outcome, found.main.conflict.existing.key) == (VerdictOutcome.NOTICED, "b")
    assert keys(found.others) == ["a"]


def test_merge_takes_along_what_candidate_wins_and_leaves_other_merges_for_later() -> None:
    restated = [against(key, score=score, restates=True) for key, score in (("a", 0.9), ("b", 0.8))]
    beaten = against("c", score=0.5, importance=0.0, source="inferred")
    found = verdict(record(importance=1.0), *restated, beaten, **UNDECIDED, merge_threshold=0.3)
    assert (found.outcome, found.main.conflict.existing.key) == (VerdictOutcome.MERGED, "a")
    assert (keys(found.also), keys(found.others)) == (["c"], ["b"])


def test_lost_conflict_precedes_merge() -> None:
    winning = against("c", score=0.5, importance=1.0)
    found = verdict(record(importance=0.0), against("a", restates=True, importance=0.0), winning, **UNDECIDED)
    assert (found.outcome, found.main.conflict.existing.key) == (VerdictOutcome.KEPT_EXISTING, "c")


# --- properties -------------------------------------------------------------------------------------------

fields = {
    "importance": st.sampled_from([0.0, 0.4, 0.5, 1.0]),
    "source": st.sampled_from(SOURCE_ORDER),
    "days": st.sampled_from([-1.0, 0.0, 0.0, 1.0]),
}
candidates = st.builds(record, key=st.just("candidate"), **fields)
found_detections = st.builds(
    lambda kind, score, decisive: replace(conflict(kind, score=score), is_decisive=decisive),
    st.sampled_from([SignalType.SEMANTIC, SignalType.CONTRADICTION]),
    st.sampled_from([0.5, 0.9]),
    st.booleans(),
)
configs = st.builds(
    ArbitrationConfig,
    priority_importance=st.booleans(),
    priority_recency=st.booleans(),
    priority_source=st.booleans(),
    allow_merge=st.booleans(),
    merge_threshold=st.sampled_from([0.0, 0.2, 1.0]),
    act_on_weak_evidence=st.booleans(),
    default_strategy=st.sampled_from(DefaultStrategy),
)


@st.composite
def conflict_lists(draw: st.DrawFn) -> list[DetectedConflict]:
    """Some conflicts with different memories."""
    count = draw(st.integers(1, 6))
    return [
        DetectedConflict(draw(st.builds(record, key=st.just(f"m{n}"), **fields)), draw(found_detections))
        for n in range(count)
    ]


@given(candidates, conflict_lists(), configs, st.randoms(use_true_random=False))
def test_order_of_conflicts_makes_no_difference(
    candidate: MemoryRecord, conflicts: list[DetectedConflict], config: ArbitrationConfig, chance: Any
) -> None:
    shuffled = list(conflicts)
    chance.shuffle(shuffled)
    assert decide(candidate, shuffled, config) == decide(candidate, conflicts, config)


@given(candidates, conflict_lists(), configs)
def test_every_conflict_is_in_the_verdict_once(
    candidate: MemoryRecord, conflicts: list[DetectedConflict], config: ArbitrationConfig
) -> None:
    found = decide(candidate, conflicts, config)
    assert found is not None
    told = keys((found.main, *found.also, *found.others))
    assert sorted(told) == sorted(one.existing.key for one in conflicts)
    assert found.outcome is outcome_of(found.main.result)


@given(candidates, conflict_lists(), configs)
def test_candidate_is_active_only_if_it_loses_no_acted_conflict(
    candidate: MemoryRecord, conflicts: list[DetectedConflict], config: ArbitrationConfig
) -> None:
    found = decide(candidate, conflicts, config)
    assert found is not None
    results = [arbitrate(candidate, one.existing, one.detection, config) for one in conflicts]
    if any(result.loser == "candidate" for result in results):
        assert found.outcome in {VerdictOutcome.KEPT_EXISTING, VerdictOutcome.REJECTED}
        assert found.also == ()
        assert found.main.result.loser == "candidate"
    if found.outcome is VerdictOutcome.SUPERSEDED_EXISTING:
        beaten = {
            one.existing.key for one, result in zip(conflicts, results, strict=True) if result.winner == "candidate"
        }
        assert set(keys((found.main, *found.also))) == beaten
    if found.outcome is VerdictOutcome.NOTICED:
        assert all(result.winner is None for result in results)


@given(candidates, st.builds(record, key=st.just("existing"), **fields), found_detections, configs)
def test_swapping_candidate_and_existing_never_changes_which_memory_wins_keep(
    one: MemoryRecord, other: MemoryRecord, detection: Detection, config: ArbitrationConfig
) -> None:
    forth, back = (decide(a, [DetectedConflict(b, detection)], config) for a, b in ((one, other), (other, one)))
    assert forth is not None
    assert back is not None
    if forth.main.result.strategy is Strategy.DEFAULT:
        return
    swapped = {
        VerdictOutcome.SUPERSEDED_EXISTING: VerdictOutcome.KEPT_EXISTING,
        VerdictOutcome.KEPT_EXISTING: VerdictOutcome.SUPERSEDED_EXISTING,
    }
    assert back.outcome is swapped.get(forth.outcome, forth.outcome)


def test_recency_compares_microseconds() -> None:
    later = record(key="later")
    later = replace(later, timestamp=NOON + timedelta(microseconds=1))
    assert verdict(later, against("a")).outcome is VerdictOutcome.SUPERSEDED_EXISTING
    assert verdict(record(), DetectedConflict(later, CONTRADICTS)).outcome is VerdictOutcome.KEPT_EXISTING
