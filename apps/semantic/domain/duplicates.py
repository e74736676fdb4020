"""Saving a memory that is stored already (spec 002 section 9)."""

from dataclasses import dataclass
from enum import StrEnum

from apps.rules.domain.decimals import difference
from apps.semantic.domain.confidence import merge_confidence

LOWER_CONFIDENCE = "lower_confidence"


class DuplicateAction(StrEnum):
    """What saving does to the rows."""

    INSERT = "insert"
    UPDATE = "update"
    SKIP = "skip"


@dataclass(frozen=True)
class DuplicateDecision:
    """The action, why, and the base confidence that the row has afterwards."""

    action: DuplicateAction
    reason: str
    confidence: float


def decide_duplicate(new_confidence: float, existing_confidence: float | None) -> DuplicateDecision:
    """Decide about a memory whose content is stored already, at `existing_confidence`, or not at all (None).

    A duplicate updates the row only when its confidence is strictly greater.
    """
    if existing_confidence is None:
        return DuplicateDecision(DuplicateAction.INSERT, "unique_hash", new_confidence)
    gain = difference(new_confidence, existing_confidence)
    if gain > 0:
        merged = merge_confidence(existing_confidence, new_confidence)
        return DuplicateDecision(DuplicateAction.UPDATE, "confidence_improved", merged)
    reason = "equal_confidence" if gain == 0 else LOWER_CONFIDENCE
    return DuplicateDecision(DuplicateAction.SKIP, reason, existing_confidence)
