"""What a chat model says about two memories, as a signal, and how the rules decide with it."""

from dataclasses import replace
from typing import Any

import pytest

from apps.rules.domain.engine.arbitration import ArbitrationConfig, DetectedConflict
from apps.rules.domain.engine.judge import (
    JudgedConflict,
    JudgeVerdict,
    Opinion,
    decide_judged,
    opinion_in,
    reason_not_to_ask,
    with_opinion,
)
from apps.rules.domain.engine.signals import Detection, DetectionConfig, Signal, SignalType, SignalWeights
from apps.rules.domain.engine.verdict import Verdict
from tests.unit.rules.records import record

CONFIG, RULES = DetectionConfig(), ArbitrationConfig()
WEAK = Detection((Signal(SignalType.CONTRADICTION, 0.6),), is_conflict=True, total_score=0.6, is_decisive=False)
UPDATE = Opinion(JudgeVerdict.UPDATE, "candidate", 0.9, "She moved.", "m", 1)
COEXIST = Opinion(JudgeVerdict.COEXIST, None, 0.9, "Two jobs.", "m", 1)
SAME = Opinion(JudgeVerdict.SAME, None, 0.9, "Other words.", "m", 1)


def judge(*pairs: tuple[str, Opinion | None], **config: Any) -> Verdict:
    """The verdict on a candidate that is newer than each existing memory, by the default rules."""
    conflicts = [JudgedConflict(DetectedConflict(record(key=key, days=-1), WEAK), opinion) for key, opinion in pairs]
    return decide_judged(record(key="candidate"), conflicts, CONFIG, replace_config(config))


def replace_config(config: dict[str, Any]) -> ArbitrationConfig:
    return ArbitrationConfig(**config)


def test_signal_names_model_and_what_it_said() -> None:
    signal = with_opinion(WEAK, UPDATE, "a", CONFIG).signal(SignalType.JUDGE)
    assert signal is not None
    assert signal.as_json() == {
        "type": "judge",
        "score": 0.9,
        "evidence": {
            "verdict": "update",
            "holds": "candidate",
            "reason": "She moved.",
            "model": "m",
            "prompt_version": 1,
            "threshold": 0.8,
            "target": "a",
        },
    }


@pytest.mark.parametrize("opinion", [UPDATE, COEXIST, SAME])
def test_opinion_is_read_back_from_its_receipt(opinion: Opinion) -> None:
    signals = [signal.as_json() for signal in with_opinion(WEAK, opinion, "a", CONFIG).signals]
    assert opinion_in(signals) == opinion
    assert opinion_in(signals[:1]) is None


@pytest.mark.parametrize(
    ("opinion", "is_conflict", "is_decisive", "restates", "contradicts"),
    [(UPDATE, True, True, False, True), (SAME, True, True, True, True), (COEXIST, False, False, False, True)],
)
def test_sure_opinion_replaces_what_texts_say(
    opinion: Opinion, is_conflict: bool, is_decisive: bool, restates: bool, contradicts: bool
) -> None:
    detection = with_opinion(WEAK, opinion, "a", CONFIG)
    assert (detection.is_conflict, detection.is_decisive, detection.restates) == (is_conflict, is_decisive, restates)
    assert detection.contradicts == contradicts


@pytest.mark.parametrize("opinion", [UPDATE, COEXIST, SAME])
def test_unsure_opinion_leaves_conflict_noticed(opinion: Opinion) -> None:
    verdict = judge(("a", replace(opinion, confidence=0.79)))
    assert (verdict.outcome, verdict.main.result.strategy) == ("noticed", "noticed")
    assert "not sure" in verdict.main.result.reason


def test_an_update_alone_contradicts() -> None:
    nothing = Detection((), is_conflict=False, total_score=0.0)
    assert with_opinion(nothing, UPDATE, "a", CONFIG).contradicts
    assert not with_opinion(nothing, SAME, "a", CONFIG).contradicts


def test_update_lets_rule_decide() -> None:
    verdict = judge(("a", UPDATE))
    assert (verdict.outcome, verdict.main.result.strategy) == ("superseded_existing", "recency")


def test_where_model_and_rule_do_not_agree_nothing_is_decided() -> None:
    verdict = judge(("a", replace(UPDATE, holds="existing")))
    assert verdict.outcome == "noticed"
    assert "says that the existing memory holds" in verdict.main.result.reason


def test_what_cannot_both_be_true_is_not_merged() -> None:
    assert judge(("a", UPDATE), priority_recency=False, merge_threshold=1.0).outcome != "merged"


def test_coexist_settles_and_says_who_found_it() -> None:
    verdict = judge(("a", COEXIST))
    assert (verdict.outcome, verdict.main.result.winner, verdict.main.result.confidence) == ("kept_both", None, 0.9)
    assert verdict.main.result.reason == "The model m says that both can be true: both stay active."


def test_same_is_decided_as_restatement() -> None:
    assert judge(("a", SAME)).outcome == "superseded_existing"


def test_pair_that_was_not_judged_stays_noticed() -> None:
    verdict = judge(("a", None), ("b", COEXIST))
    assert (verdict.outcome, verdict.main.conflict.existing.key) == ("noticed", "a")
    assert [other.conflict.existing.key for other in verdict.others] == ["b"]


def test_pair_that_was_not_judged_is_not_acted_on_with_another_one() -> None:
    verdict = judge(("a", UPDATE), ("b", None), ("c", UPDATE), act_on_weak_evidence=True)
    assert verdict.outcome == "superseded_existing"
    assert {verdict.main.conflict.existing.key, *(one.conflict.existing.key for one in verdict.also)} == {"a", "c"}
    assert [other.conflict.existing.key for other in verdict.others] == ["b"]


def test_coexist_adds_nothing_to_severity() -> None:
    heavy = DetectionConfig(weights=SignalWeights(judge=5))
    assert with_opinion(WEAK, COEXIST, "a", heavy).total_score == 0.6
    assert with_opinion(WEAK, UPDATE, "a", heavy).total_score == pytest.approx(5.1)


@pytest.mark.parametrize(
    ("candidate", "existing", "reason"),
    [
        ("I take warfarin.", "I take aspirin.", None),
        ("Do I take warfarin?", "I take warfarin.", "question"),
        ("I take warfarin.", "Do I take warfarin?", "question"),
        ("我吃药吗？", "我吃药。", "question"),
        ("She asked: “Is it open?”", "It is open.", "question"),
        ("x" * 1_501, "I take aspirin.", "long"),
    ],
)
def test_questions_and_long_texts_are_not_put_to_model(candidate: str, existing: str, reason: str | None) -> None:
    assert reason_not_to_ask(candidate, existing) == reason
