"""What a receipt says, in sentences: the evidence of its signals, its outcome, and what undoing it would do."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

REASONS = {
    "negation": "One side is negated.",
    "denial": "One side denies what the other tells of.",
    "value": "A number, an amount, a date or a time differs.",
    "opposite": "They differ in words that exclude each other.",
    "attribute": "They differ in one attribute that has one value at a time.",
    "replaced": "Only one of the two can hold at a time.",
    "change": "One side tells that what the other says has changed.",
}
OUTCOMES = {
    "noticed": "The evidence was too weak to act on: both memories stand.",
    "superseded_existing": "The candidate stands, and the existing memory was superseded by it.",
    "kept_existing": "The existing memory stands, and the candidate was superseded by it.",
    "merged": "Both were merged, and what they became stands.",
    "rejected": "The existing memory stands, and the candidate was rejected.",
    "kept_both": "Both memories stand.",
    "reverted": "A decision was undone.",
}


@dataclass(frozen=True)
class SignalWords:
    """A signal to look at. percent, threshold: of the bar, 0 to 100; threshold: None where none applies to the score.

    said: gives away no content of a memory. differing, common, passages: do.
    """

    label: str
    score: float
    percent: float
    threshold: float | None
    said: str
    differing: tuple[tuple[str, str], ...] = ()
    common: tuple[str, ...] = ()
    passages: tuple[tuple[str, str], ...] = ()


def signal_words(signal: Mapping[str, Any]) -> SignalWords:
    """A signal as receipts keep it; one of an unknown type, or with little evidence, is shown as far as it goes."""
    kind, score, evidence = str(signal["type"]), float(signal["score"]), signal.get("evidence") or {}
    limit = evidence.get("threshold")
    sides = [(name, evidence.get(name)) for name in ("candidate", "existing")]
    return SignalWords(
        label=kind.capitalize(),
        score=score,
        percent=_percent(score),
        threshold=None if limit is None else _percent(float(limit)),
        said=_SAID.get(kind, _nothing)(evidence),
        differing=tuple((str(one), str(other)) for one, other in evidence.get("differing", ())),
        common=tuple(map(str, evidence.get("common", evidence.get("keywords", ())))),
        passages=tuple((name.capitalize(), text) for name, text in sides if isinstance(text, str)),
    )


def duration(seconds: float) -> str:
    """A span of time in its largest fitting unit."""
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= size:
            count = f"{seconds / size:.1f}".removesuffix(".0")
            return f"{count} {unit}{'' if count == '1' else 's'}"
    return f"{seconds:g} second{'' if seconds == 1 else 's'}"


def _percent(share: float) -> float:
    return round(100 * min(max(share, 0.0), 1.0), 1)


def _nothing(evidence: Mapping[str, Any]) -> str:
    return ""


def _semantic(evidence: Mapping[str, Any]) -> str:
    return f"Their meanings have a cosine of {_number(evidence, 'similarity')}; more than {_limit(evidence)} counts."


def _keyword(evidence: Mapping[str, Any]) -> str:
    shared, limit = (_share(evidence, name) for name in ("overlap", "threshold"))
    return f"They share {shared} of their keywords; more than {limit} counts."


def _time(evidence: Mapping[str, Any]) -> str:
    apart = float(evidence.get("delta_seconds", 0))
    window = float(evidence.get("window_seconds", 0))
    return f"They are {duration(apart)} apart; up to {duration(window)} counts."


def _importance(evidence: Mapping[str, Any]) -> str:
    values = f"{_number(evidence, 'candidate')} and {_number(evidence, 'existing')}"
    return f"Importances of {values} differ by {_number(evidence, 'delta')}; more than {_limit(evidence)} counts."


def _contradiction(evidence: Mapping[str, Any]) -> str:
    reason = str(evidence.get("reason", "unknown"))
    return f"{REASONS.get(reason, f'Reason: {reason}.')} A strength of more than {_limit(evidence)} counts."


def _number(evidence: Mapping[str, Any], name: str) -> str:
    value = evidence.get(name)
    return f"{value:g}" if isinstance(value, int | float) else "?"


def _share(evidence: Mapping[str, Any], name: str) -> str:
    value = evidence.get(name)
    return f"{100 * value:.0f}%" if isinstance(value, int | float) else "?"


def _limit(evidence: Mapping[str, Any]) -> str:
    return _number(evidence, "threshold")


_SAID = {
    "semantic": _semantic,
    "keyword": _keyword,
    "time": _time,
    "importance": _importance,
    "contradiction": _contradiction,
}
