"""The queue of decisions to review: its views, the steps that a person can take, and what makes two decisions alike."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

# Up to here the grounds of a decision are weak, and a person is asked about it (docs/guides/review-conflicts.md).
WEAK_CONFIDENCE = 0.6
# Upper ends of the bands of confidence; the lower end of each is the upper end of the one before.
BAND_ENDS = (WEAK_CONFIDENCE, 0.8, 0.9, 1.0)
BELOW_ALL = -1.0


class QueueView(StrEnum):
    """Which decisions a list shows. asked: those that wait for a person; log: those that rules were certain about."""

    ASKED = "asked"
    NOTICED = "noticed"
    WEAK = "weak"
    LOG = "log"
    MERGED = "merged"
    MINE = "mine"


class ReviewStep(StrEnum):
    """What a person does about a decision: accept it, say which memory wins, or revert it."""

    ACCEPT = "accept"
    CANDIDATE = "candidate"
    EXISTING = "existing"
    BOTH = "both"
    REVERT = "revert"


@dataclass(frozen=True, kw_only=True)
class QueueFilter:
    """Which decisions a list shows. words: of either memory. What is blank filters nothing."""

    view: QueueView = QueueView.ASKED
    rule: str = ""
    words: str = ""
    user_id: str = ""
    household_id: str = ""

    @property
    def is_narrowed(self) -> bool:
        """Return whether it shows less than its view."""
        return bool(self.rule or self.words or self.user_id or self.household_id)


@dataclass(frozen=True, kw_only=True)
class Alike:
    """Open decisions that are like one another: by one version of a rule, with one outcome, by the same signals.

    signals: their types, in the order of the receipt. above, up_to: the band of confidence, its lower end excluded.
    last: the highest `id` that is meant, so that what is decided afterwards is left alone.
    """

    rule_name: str
    rule_version: int
    outcome: str
    signals: tuple[str, ...]
    above: float
    up_to: float
    last: int

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self) | {"signals": list(self.signals)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Alike":
        """Return what `as_json` was called on."""
        return cls(**{**data, "signals": tuple(data["signals"])})


def band_of(confidence: float) -> tuple[float, float]:
    """Return the band of a confidence: its lower end, which is excluded, and its upper end."""
    lower = BELOW_ALL
    for upper in BAND_ENDS:
        if confidence <= upper:
            return lower, upper
        lower = upper
    return lower, float("inf")
