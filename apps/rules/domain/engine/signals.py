"""Signals of a conflict between two memories, with scores and evidence."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, TypedDict

from pydantic import Field

from apps.rules.domain.section import SettingsGroup, Share, Weight, Weights

TEN_YEARS_SECONDS = 315_360_000.0
# Chosen by measurement for the judge of pairs as it is delivered: docs/explain/conflicts.md.
NOTICE_FROM, ACT_FROM, SAME_FROM, VETO_BELOW = 0.07, 0.98, 0.97, 0.7


class SignalType(StrEnum):
    """The signals of spec 000 "Memory Conflict Detection", the contradiction of DESIGN D6, and the judge of D11.

    cross_encoder: what the small model on this machine reads from the two texts together.
    """

    SEMANTIC = "semantic"
    KEYWORD = "keyword"
    TIME = "time"
    IMPORTANCE = "importance"
    CONTRADICTION = "contradiction"
    CROSS_ENCODER = "cross_encoder"
    JUDGE = "judge"


class SignalOutput(TypedDict):
    """A signal as JSON. score: in [0, 1]. evidence: the reason for it, in members that depend on the type."""

    type: SignalType
    score: float
    evidence: dict[str, Any]


@dataclass(frozen=True)
class Signal:
    """One signal that fired. score: in [0, 1]. evidence: JSON with the reason, for the receipt."""

    type: SignalType
    score: float
    evidence: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> SignalOutput:
        """Return the signal as the API shows it and receipts store it."""
        return {"type": self.type, "score": self.score, "evidence": dict(self.evidence)}


class SignalWeights(Weights):
    """The weight of each signal in the total score, by which the most severe of several conflicts is chosen."""

    semantic: Weight = Field(default=1.0, description="Weight of the semantic signal in the total score.")
    keyword: Weight = Field(default=1.0, description="Weight of the keyword signal.")
    time: Weight = Field(default=1.0, description="Weight of the time signal.")
    importance: Weight = Field(default=1.0, description="Weight of the importance signal.")
    contradiction: Weight = Field(default=1.0, description="Weight of the contradiction signal.")
    cross_encoder: Weight = Field(default=1.0, description="Weight of what the judge of pairs reads.")
    judge: Weight = Field(default=1.0, description="Weight of what a chat model says, where one is asked.")


class DetectionConfig(SettingsGroup):
    """The `detection` section of a rule.

    A score above the semantic, keyword or contradiction threshold makes a conflict, which is noticed; `act_threshold`
    and `restate_threshold` are what a noticed conflict needs to be decisive, see `Detection`. The defaults are chosen
    by measurement (docs/explain/conflicts.md).
    """

    semantic_threshold: Share = Field(default=0.98, description="Cosine similarity above which two memories conflict.")
    keyword_threshold: Share = Field(
        default=0.9, description="Share of common keywords above which two memories conflict."
    )
    contradiction_threshold: Share = Field(
        default=0.5, description="Strength of evidence above which texts contradict."
    )
    act_threshold: Share = Field(
        default=0.85, description="Strength from which a contradiction is acted on, not only noticed."
    )
    restate_threshold: Share = Field(
        default=0.8,
        description="Share of common words from which a memory is a restatement; at 1 none in other words is.",
    )
    pair_notice_threshold: Share = Field(
        default=NOTICE_FROM, description="Probability of a replacement from which the judge of pairs has it noticed."
    )
    pair_act_threshold: Share = Field(
        default=ACT_FROM, description="Probability from which it is acted on without the words saying so."
    )
    pair_same_threshold: Share = Field(
        default=SAME_FROM, description="Probability from which a memory is a restatement of the other in other words."
    )
    pair_veto_threshold: Share = Field(
        default=VETO_BELOW, description="Probability below which what the words say is only noticed; 0 for no veto."
    )
    judge_threshold: Share = Field(
        default=0.8, description="Confidence from which the verdict of a chat model is acted on, where one is asked."
    )
    time_window_seconds: Annotated[float, Field(strict=True, ge=0, le=TEN_YEARS_SECONDS)] = Field(
        default=300.0, description="Time difference within which the time signal fires, which alone is no conflict."
    )
    importance_delta: Share = Field(default=0.3, description="Difference above which the importance signal fires.")
    weights: SignalWeights = Field(default_factory=SignalWeights)


def contradict(signals: Iterable[tuple[str, Mapping[str, Any]]]) -> bool:
    """Return whether signals say that only one of two memories holds. signals: types with their evidence.

    What the judge of pairs takes for a replacement without any effect, of a restatement by its words, says nothing.
    """
    verdicts = {kind: evidence.get("verdict") for kind, evidence in signals if evidence.get("effect") != "agrees"}
    return (
        SignalType.CONTRADICTION in verdicts
        or verdicts.get(SignalType.CROSS_ENCODER) == "replaces"
        or verdicts.get(SignalType.JUDGE) == "update"
    )


@dataclass(frozen=True)
class Detection:
    """The signals between two memories, and whether they amount to a conflict (DESIGN D6).

    is_decisive: the evidence is strong enough to act on. One memory contradicts the other with at least
    `act_threshold`, or says nearly the same in nearly the same words. A conflict that is not decisive is only noticed:
    with a receipt, and both memories stay active. restates: nearly the same in nearly the same words, and no
    contradiction, so that merging loses nothing. is_elsewhere: they do not hold in the same places, so that neither may
    replace the other; it is noticed, whatever the rule says of weak evidence.
    """

    signals: tuple[Signal, ...]
    is_conflict: bool
    total_score: float
    is_decisive: bool = True
    restates: bool = False
    is_elsewhere: bool = False

    def signal(self, kind: SignalType) -> Signal | None:
        """Return the signal of a type, if it fired."""
        return next((signal for signal in self.signals if signal.type is kind), None)

    @property
    def contradicts(self) -> bool:
        """Return whether only one of the two memories can hold, by their texts or by what a chat model says."""
        return contradict((signal.type, signal.evidence) for signal in self.signals)
