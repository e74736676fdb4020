"""Deciding labelled pairs under the rules of the registry, to measure how far these can be trusted."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

from apps.llm.domain.embedder import Vectors
from apps.llm.embedding.embedder import current_scale, embed_texts
from apps.rules.domain.contradiction.evidence import Reason
from apps.rules.domain.documents.rule import RuleConfig, with_built_in
from apps.rules.domain.engine.arbitration import Action, arbitrate
from apps.rules.domain.engine.detection import MAKE_A_CONFLICT, detect
from apps.rules.domain.engine.record import MemoryRecord
from apps.rules.domain.engine.signals import Detection, SignalType
from apps.rules.selectors import RuleSet, resolve_all
from benchmarks.labelled_pairs import Decision, LabelledPair, by_kind, rates

BATCH = 256
THRESHOLDS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
# Any moment does: only that the newer side is of a later one tells.
_OLDER = datetime(2026, 1, 1, tzinfo=UTC)
_NEWER = _OLDER + timedelta(days=1)

RuleFor = Callable[[MemoryRecord], RuleConfig]
Progress = Callable[[int], None]


def built_in_rules() -> RuleSet:
    """Return the rules of a hub whose database is not prepared yet."""
    documents = with_built_in({}, {})
    rules, broken = resolve_all(documents)
    return RuleSet(0, "", documents, rules, broken)


def texts_of(pairs: Iterable[LabelledPair]) -> list[str]:
    """Return every text of some pairs once."""
    return list(dict.fromkeys(text for pair in pairs for text in (pair.older, pair.newer)))


def embed_all(texts: Sequence[str], progress: Progress = lambda _: None) -> dict[str, Vectors]:
    """Return the unit vector of each text by the configured embedder, made in batches. Raises EmbeddingError."""
    vectors: dict[str, Vectors] = {}
    for start in range(0, len(texts), BATCH):
        batch = texts[start : start + BATCH]
        vectors.update(zip(batch, embed_texts(batch), strict=True))
        progress(len(batch))
    return vectors


def decide_pairs(
    pairs: Iterable[LabelledPair],
    vectors: Mapping[str, Vectors],
    rule_for: RuleFor,
    progress: Progress = lambda _: None,
) -> list[Decision]:
    """Decide what happens when the newer side of each pair is saved a day after the older one.

    vectors: of every text. rule_for: the rule that applies to a memory. Nothing is stored.
    """
    decisions = []
    for pair in pairs:
        decisions.append(decide(pair, vectors, rule_for))
        progress(1)
    return decisions


def decide(pair: LabelledPair, vectors: Mapping[str, Vectors], rule_for: RuleFor) -> Decision:
    existing, candidate = (
        MemoryRecord(side, text, at, embedding=vectors[text], curve=current_scale().statements)
        for side, text, at in (("existing", pair.older, _OLDER), ("candidate", pair.newer, _NEWER))
    )
    rule = rule_for(candidate)
    detection = detect(candidate, existing, rule.detection)
    result = arbitrate(candidate, existing, detection, rule.arbitration)
    merged = result.action is Action.MERGE
    return Decision(
        pair,
        noticed=detection.is_conflict,
        acted=merged or result.winner is not None,
        merged=merged,
        newer_won=result.winner == "candidate",
        **_evidence(detection),
    )


def _evidence(detection: Detection) -> dict[str, Any]:
    contradiction = detection.signal(SignalType.CONTRADICTION)
    if contradiction:
        return {
            "signal": contradiction.type.value,
            "reason": contradiction.evidence["reason"],
            "score": contradiction.score,
        }
    made = [signal.type.value for signal in detection.signals if signal.type in MAKE_A_CONFLICT]
    return {"signal": made[0] if made and detection.is_conflict else ""}


def figures(decisions: Sequence[Decision]) -> list[dict[str, Any]]:
    """Return the rates of every group and label, as JSON, and under `strengths` what each threshold would act on."""
    strengths = by_kind(decisions)
    return [
        {**asdict(found), "strengths": strengths_of(strengths[found.group, found.label])} for found in rates(decisions)
    ]


def strengths_of(decisions: Sequence[Decision]) -> dict[str, dict[str, int]]:
    """Return reason -> threshold -> how many contradictions are at least as strong; for reasons found, and all."""
    found = {reason: [item.score for item in decisions if item.reason == reason] for reason in Reason}
    named = {str(reason): scores for reason, scores in found.items() if scores}
    named["all"] = [score for scores in found.values() for score in scores]
    return {
        name: {f"{threshold:g}": sum(score >= threshold for score in scores) for threshold in THRESHOLDS}
        for name, scores in named.items()
    }
