"""What one piece of evidence for a contradiction is, and how the words of two clauses are compared."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from apps.rules.domain.contradiction.text import Clause, Passage
from apps.rules.domain.contradiction.words import LIGHT

# At most this strong is what may be a conflict, but is nothing to act on; and what is none by itself.
NOTICE_ONLY, UNLIKELY = 0.8, 0.4


class Reason(StrEnum):
    """Why two texts contradict each other."""

    NEGATION = "negation"
    DENIAL = "denial"
    VALUE = "value"
    OPPOSITE = "opposite"
    ATTRIBUTE = "attribute"
    REPLACED = "replaced"
    CHANGE = "change"


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
        """The same, seen from the other side."""
        differing = tuple((right, left) for left, right in self.differing)
        return Evidence(self.reason, self.score, self.second, self.first, differing, self.common)


def strongest(found: Iterable[Evidence | None]) -> Evidence | None:
    """The strongest piece of evidence; of equal ones the first."""
    return max((evidence for evidence in found if evidence), key=lambda evidence: evidence.score, default=None)


def telling(clause: Clause) -> frozenset[str]:
    """The content words of a clause without those of the request around it."""
    return clause.content - LIGHT


def as_written(keys: Iterable[str], passage: Passage) -> tuple[str, ...]:
    """Stems as the words that a passage has for them, sorted."""
    return tuple(sorted(passage.surface.get(key, key) for key in keys))


def clamp(score: float) -> float:
    """Into [0, 1]."""
    return min(1.0, max(0.0, score))
