"""Saving a memory that is stored already (spec 002 section 9)."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from apps.rules.domain.decimals import difference
from apps.semantic.domain.confidence import merge_confidence

LOWER_CONFIDENCE = "lower_confidence"


class DuplicateKey(NamedTuple):
    """What duplicates have in common besides their moment (ADR 35). What a memory does not have is the empty string."""

    user_id: str
    household_id: str
    persona_id: str
    agent: str
    personality: str
    project: str
    type: str
    content_hash: str

    @property
    def scope(self) -> tuple[str, str, str]:
        """Return the exact scope."""
        return self.user_id, self.household_id, self.persona_id


# With the moment that the writer gave: no two active memories have both in common.
DatedKey = tuple[DuplicateKey, datetime | None]


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
