"""What a chat model says about two memories, as a signal of a conflict, and how the rules decide with it (DESIGN D11).

The engine asks no model: it is handed an opinion. Only what the model was asked about is decided, and only where it is
sure enough (`judge_threshold`). It never picks the winner: the arbitration of the rule does, and where the model says
that the other memory holds, nothing is decided.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, NamedTuple

from apps.rules.domain.contradiction.judgement import MAX_ACTED_CHARS, asserts
from apps.rules.domain.decimals import reaches
from apps.rules.domain.engine.arbitration import (
    SIDES,
    ArbitrationConfig,
    ArbitrationResult,
    DetectedConflict,
    Side,
    Strategy,
    arbitrate,
    by_severity,
    notice,
)
from apps.rules.domain.engine.record import MemoryRecord
from apps.rules.domain.engine.signals import Detection, DetectionConfig, Signal, SignalType
from apps.rules.domain.engine.verdict import DecidedConflict, Verdict, VerdictOutcome, choose


class JudgeVerdict(StrEnum):
    """What a model says about two memories.

    update: only one of them can hold now. coexist: both can. same: they say the same.
    """

    UPDATE = "update"
    COEXIST = "coexist"
    SAME = "same"


class Unfit(StrEnum):
    """Why two memories are not put to a model.

    question: one of them asserts nothing. long: a statement does not decide about a long text.
    """

    QUESTION = "question"
    LONG = "long"


@dataclass(frozen=True)
class Opinion:
    """What a model said about a candidate and an existing memory. holds: of an update, the one that is true now."""

    verdict: JudgeVerdict
    holds: Side | None
    confidence: float
    reason: str
    model: str
    prompt_version: int


class JudgedConflict(NamedTuple):
    """Two memories as the detector sees them, and what the model said of them; None where it did not answer."""

    conflict: DetectedConflict
    opinion: Opinion | None


def reason_not_to_ask(candidate: str, existing: str) -> Unfit | None:
    """Return why two texts are not put to a model; None where they may be."""
    if max(len(candidate), len(existing)) > MAX_ACTED_CHARS:
        return Unfit.LONG
    return None if asserts(candidate) and asserts(existing) else Unfit.QUESTION


def is_sure(opinion: Opinion, config: DetectionConfig) -> bool:
    """Return whether an opinion is acted on."""
    return reaches(opinion.confidence, config.judge_threshold)


def with_opinion(detection: Detection, opinion: Opinion, key: str, config: DetectionConfig) -> Detection:
    """Return a detection with the signal of an opinion. key: of the existing memory.

    A sure opinion replaces what the texts alone say: "update" makes the conflict decisive, "same" a restatement, and
    "coexist" ends it. With an unsure one the conflict is noticed, as before.
    """
    evidence = {
        "verdict": opinion.verdict.value,
        "holds": opinion.holds,
        "reason": opinion.reason,
        "model": opinion.model,
        "prompt_version": opinion.prompt_version,
        "threshold": config.judge_threshold,
        "target": key,
    }
    signal = Signal(SignalType.JUDGE, opinion.confidence, evidence)
    is_sure_of_it, coexist = is_sure(opinion, config), opinion.verdict is JudgeVerdict.COEXIST
    return Detection(
        signals=(*detection.signals, signal),
        is_conflict=not (is_sure_of_it and coexist),
        total_score=detection.total_score + (0.0 if coexist else config.weights.judge * signal.score),
        is_decisive=is_sure_of_it and not coexist,
        restates=is_sure_of_it and opinion.verdict is JudgeVerdict.SAME,
    )


def opinion_in(signals: Sequence[Mapping[str, Any]]) -> Opinion | None:
    """Return the opinion that the signals of a receipt hold; None where no model was asked."""
    found = next((signal for signal in signals if signal["type"] == SignalType.JUDGE), None)
    if found is None:
        return None
    evidence = found["evidence"]
    return Opinion(
        verdict=JudgeVerdict(evidence["verdict"]),
        holds=next((side for side in SIDES if side == evidence["holds"]), None),
        confidence=found["score"],
        reason=evidence["reason"],
        model=evidence["model"],
        prompt_version=evidence["prompt_version"],
    )


def decide_judged(
    candidate: MemoryRecord, pairs: Sequence[JudgedConflict], detection: DetectionConfig, config: ArbitrationConfig
) -> Verdict:
    """Decide about a candidate and the memories near it, of which a model has judged some. pairs: at least one.

    What it has not judged stays noticed. Where nothing is left to notice, both memories are kept, and it is settled.
    """
    open_pairs: list[DecidedConflict] = []
    settled: list[DecidedConflict] = []
    for conflict, opinion in pairs:
        if opinion is not None:
            judged = with_opinion(conflict.detection, opinion, conflict.existing.key, detection)
            conflict = DetectedConflict(conflict.existing, judged)
        elif not conflict.detection.is_conflict:
            conflict = DetectedConflict(conflict.existing, replace(conflict.detection, is_conflict=True))
        result = result_of(candidate, conflict, opinion, config)
        (open_pairs if conflict.detection.is_conflict else settled).append(DecidedConflict(conflict, result))
    if not open_pairs:
        return Verdict(VerdictOutcome.KEPT_BOTH, settled[0], others=tuple(settled[1:]))
    order = by_severity([one.conflict for one in open_pairs])
    open_pairs.sort(key=lambda one: order.index(one.conflict))
    verdict = choose(open_pairs)
    return replace(verdict, others=(*verdict.others, *settled))


def result_of(
    candidate: MemoryRecord, conflict: DetectedConflict, opinion: Opinion | None, config: ArbitrationConfig
) -> ArbitrationResult:
    """Return the arbitration of one pair, which is only noticed where the model and the rule do not agree."""
    if opinion is None:
        return notice("No model has judged these two: the conflict stays noticed, and both memories stay active.")
    result = arbitrate(candidate, conflict.existing, conflict.detection, config)
    if not conflict.detection.is_conflict:
        reason = f"The model {opinion.model} says that both can be true: both stay active."
        return replace(result, confidence=opinion.confidence, reason=reason)
    if not conflict.detection.is_decisive:
        return notice(f"The model {opinion.model} is not sure: the conflict stays noticed, and both stay active.")
    if result.strategy is Strategy.TRUST:
        return result
    if opinion.verdict is JudgeVerdict.UPDATE and result.winner != opinion.holds:
        return notice(
            f"The model {opinion.model} says that the {opinion.holds} memory holds, and the rule decides otherwise: "
            "the conflict stays noticed, and both stay active."
        )
    return result
