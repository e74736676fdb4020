"""Evidence for a contradiction."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from apps.rules.domain.contradiction.text import Passage

# The limits of evidence that may be a conflict but is not acted on, and of evidence that alone is no conflict.
NOTICE_ONLY, UNLIKELY = 0.8, 0.4


class Reason(StrEnum):
    """The kind of a contradiction."""

    NEGATION = "negation"
    DENIAL = "denial"
    VALUE = "value"
    OPPOSITE = "opposite"
    ATTRIBUTE = "attribute"
    REPLACED = "replaced"
    CHANGE = "change"
    ENDED = "ended"


@dataclass(frozen=True)
class Evidence:
    """score: in [0, 1]. first, second: the passages compared. differing: pairs of what differs, as written.

    common: the words that both have in common, as written in the first.
    """

    reason: Reason
    score: float
    first: str
    second: str
    differing: tuple[tuple[str, str], ...] = ()
    common: tuple[str, ...] = ()

    def swapped(self) -> "Evidence":
        """Return the evidence with the two texts exchanged."""
        differing = tuple((right, left) for left, right in self.differing)
        return replace(self, first=self.second, second=self.first, differing=differing)


def strongest(found: Iterable[Evidence | None]) -> Evidence | None:
    """Return the strongest evidence, of equal ones the first; None for none."""
    return max((evidence for evidence in found if evidence), key=lambda evidence: evidence.score, default=None)


def as_written(keys: Iterable[str], passage: Passage) -> tuple[str, ...]:
    """Return stems as the words that a passage has for them, sorted."""
    return tuple(sorted(passage.surface.get(key, key) for key in keys))


def clamp(score: float) -> float:
    """Limit a score to [0, 1]."""
    return min(1.0, max(0.0, score))
