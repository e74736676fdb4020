"""Saving a memory that is stored already (spec 002 section 9)."""

from datetime import datetime
from typing import NamedTuple

from apps.rules.domain.decimals import difference
from apps.semantic.domain.confidence import merge_confidence

CONFIDENCE_IMPROVED, LOWER_CONFIDENCE = "confidence_improved", "lower_confidence"


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


def decide_duplicate(new_confidence: float, existing_confidence: float) -> tuple[str, float]:
    """Return what saving the same again amounts to, in one word, and the base confidence that the row has afterwards.

    Only a confidence that is strictly greater changes it.
    """
    gain = difference(new_confidence, existing_confidence)
    if gain > 0:
        return CONFIDENCE_IMPROVED, merge_confidence(existing_confidence, new_confidence)
    return "equal_confidence" if gain == 0 else LOWER_CONFIDENCE, existing_confidence
