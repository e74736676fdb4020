"""A pattern of facts."""

import re
from dataclasses import dataclass

from apps.notes.domain.extraction.fact import Category
from apps.rules.domain.statements.statement import Mood

ASSERTED = frozenset({Mood.ASSERTION})
ASKED_FOR = frozenset({Mood.ASSERTION, Mood.COMMAND, Mood.CONDITION})
PLANNED = frozenset({Mood.ASSERTION, Mood.PLAN})


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern of facts, tried at the beginning of a clause.

    confidence: how often a fact of it is right. moods: of the clauses in which it is looked for. needs_date: only
    where the clause says when.
    """

    name: str
    category: Category
    confidence: float
    regex: re.Pattern[str]
    moods: frozenset[Mood] = ASSERTED
    needs_date: bool = False


def pattern(
    name: str,
    category: Category,
    confidence: float,
    *forms: str,
    moods: frozenset[Mood] = ASSERTED,
    needs_date: bool = False,
) -> Pattern:
    """Return a pattern that matches any of some forms, whatever the case."""
    joined = "|".join(f"(?:{form})" for form in forms)
    return Pattern(name, category, confidence, re.compile(joined, re.IGNORECASE), moods, needs_date)
