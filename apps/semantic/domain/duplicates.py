"""When two memories are the same one, and what saving it again does (spec 002 section 9)."""

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum

from apps.core.domain.text_normal import nfkc
from apps.semantic.domain.confidence import merge_confidence

# What JavaScript calls white space; Python's own notion differs (DESIGN section 6).
_JS_SPACE = "\t\n\x0b\x0c\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))
_SPACES = re.compile(f"[{_JS_SPACE}]+")
_INVISIBLE = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
_CLOSING = ".!?,;:"
_SURROGATES = re.compile("[\ud800-\udfff]")


def normalise_content(content: str) -> str:
    """The text by which exact duplicates are known: the pipeline of spec 002 section 9, step by step."""
    # strip, not a pattern anchored at the end: that one takes quadratic time on a long run inside the text.
    text = nfkc(content).lower().strip(_JS_SPACE)
    text = _INVISIBLE.sub("", _SPACES.sub(" ", text))
    return text.rstrip(_CLOSING).strip(_JS_SPACE)


def content_hash(content: str) -> str:
    """SHA-256 of the normalised content, in hex."""
    text = _SURROGATES.sub("\ufffd", normalise_content(content))
    return hashlib.sha256(text.encode()).hexdigest()


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
    """What to do with a memory whose content is stored already, at `existing_confidence`, or not at all (None).

    A duplicate updates the row only when its confidence is strictly greater.
    """
    if existing_confidence is None:
        return DuplicateDecision(DuplicateAction.INSERT, "unique_hash", new_confidence)
    if new_confidence > existing_confidence:
        merged = merge_confidence(existing_confidence, new_confidence)
        return DuplicateDecision(DuplicateAction.UPDATE, "confidence_improved", merged)
    reason = "equal_confidence" if new_confidence == existing_confidence else "lower_confidence"
    return DuplicateDecision(DuplicateAction.SKIP, reason, existing_confidence)
