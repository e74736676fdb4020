"""A receipt in sentences: the evidence of its signals, and its outcome."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

REASONS = {
    "negation": "One side is negated.",
    "denial": "One side denies what the other says.",
    "value": "A number, an amount, a date or a time differs.",
    "opposite": "They differ in words that exclude each other.",
    "attribute": "They differ in one attribute that has one value at a time.",
    "replaced": "Only one of the two can hold at a time.",
    "change": "One side says that what the other says has changed.",
    "ended": "The newer side says that what the other says has ended.",
}
VERDICTS = {
    "update": "says that only one of them can be true now.",
    "coexist": "says that both can be true.",
    "same": "says that they say the same.",
}
OUTCOMES = {
    "noticed": "The evidence was too weak to act on: both memories are kept.",
    "superseded_existing": "The candidate wins, and the existing memory was superseded by it.",
    "kept_existing": "The existing memory wins, and the candidate was superseded by it.",
    "merged": "Both were merged, and the merged memory is active.",
    "rejected": "The existing memory wins, and the candidate was rejected.",
    "kept_both": "Both memories are kept.",
    "reverted": "A decision was undone.",
}


@dataclass(frozen=True)
class SignalWords:
    """A signal in words. percent, threshold: of the bar, 0 to 100; threshold: None where none applies to the score.

    sentence: reveals no content of a memory. differing, common, passages, remark (of a chat model): do.
    """

    label: str
    score: float
    percent: float
    threshold: float | None
    sentence: str
    differing: tuple[tuple[str, str], ...] = ()
    common: tuple[str, ...] = ()
    passages: tuple[tuple[str, str], ...] = ()
    remark: str = ""


def signal_words(signal: Mapping[str, Any]) -> SignalWords:
    """Return a signal of a receipt in words; one of an unknown type, or with little evidence, as far as possible."""
    kind, score, evidence = str(signal["type"]), float(signal["score"]), signal.get("evidence") or {}
    limit = evidence.get("threshold")
    sides = [(name, evidence.get(name)) for name in ("candidate", "existing")]
    return SignalWords(
        label=kind.capitalize(),
        score=score,
        percent=percent(score),
        threshold=None if limit is None else percent(float(limit)),
        sentence=sentence(kind, evidence),
        differing=tuple((str(one), str(other)) for one, other in evidence.get("differing", ())),
        common=tuple(map(str, evidence.get("common", evidence.get("keywords", ())))),
        passages=tuple((name.capitalize(), text) for name, text in sides if isinstance(text, str)),
        remark=str(evidence.get("reason", "")) if kind == "judge" else "",
    )


# How the judge of pairs reads the newer of two memories, and what that changed.
READINGS = {
    "replaces": "what holds instead of the older one",
    "same": "the same in other words",
    "both": "true beside the older one",
    "unrelated": "about something else",
}
EFFECTS = {
    "notices": " That alone is noticed.",
    "acts": " It is sure enough to be acted on.",
    "joins": " It is sure enough that one of them is kept.",
    "vetoes": " So what the words say is only noticed.",
}


def duration(seconds: float) -> str:
    """Return a span of time in its largest fitting unit."""
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= size:
            count = f"{seconds / size:.1f}".removesuffix(".0")
            return f"{count} {unit}{'' if count == '1' else 's'}"
    return f"{seconds:g} second{'' if seconds == 1 else 's'}"


def percent(share: float) -> float:
    """Return a share as a percentage between 0 and 100, rounded to one decimal."""
    return round(100 * min(max(share, 0.0), 1.0), 1)


def sentence(kind: str, evidence: Mapping[str, Any]) -> str:
    """Return a sentence about the evidence of a signal, without content of the memories; blank for an unknown kind."""

    def number(name: str, form: str = "g", factor: int = 1, unit: str = "") -> str:
        value = evidence.get(name)
        return f"{factor * value:{form}}{unit}" if isinstance(value, int | float) else "?"

    limit = number("threshold")
    match kind:
        case "semantic":
            return f"Their meanings have a cosine of {number('similarity')}; more than {limit} counts."
        case "keyword":
            shared, least = (number(name, ".0f", 100, "%") for name in ("overlap", "threshold"))
            return f"They share {shared} of their keywords; more than {least} counts."
        case "time":
            apart, window = (duration(float(evidence.get(f"{name}_seconds", 0))) for name in ("delta", "window"))
            return f"They are {apart} apart; up to {window} counts."
        case "importance":
            values = f"{number('candidate')} and {number('existing')}"
            return f"Importances of {values} differ by {number('delta')}; more than {limit} counts."
        case "contradiction":
            reason = str(evidence.get("reason", "unknown"))
            read = list(evidence.get("readings") or ())
            readings = f" The candidate is read as {read[0]}, the existing one as {read[1]}." if len(read) == 2 else ""
            return f"{REASONS.get(reason, f'Reason: {reason}.')} A strength of more than {limit} counts.{readings}"
        case "cross_encoder":
            heard = READINGS.get(str(evidence.get("verdict")), "of no known kind")
            effect = EFFECTS.get(str(evidence.get("effect")), "")
            return f"The judge of pairs ({evidence.get('model', '?')}) reads the newer one as {heard}.{effect}"
        case "judge":
            verdict = VERDICTS.get(str(evidence.get("verdict")), "is of no known opinion.")
            return f"The model {evidence.get('model', '?')} {verdict} A confidence of at least {limit} counts."
    return ""


def count_text(counts: Mapping[str, int]) -> str:
    """Return counts of outcomes or verdicts as words."""
    return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in sorted(counts.items())) or "none"
