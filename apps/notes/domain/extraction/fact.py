"""What is read from a conversation, and what is learnt from it."""

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property

from apps.rules.domain.statements.statement import Mood

ASSERTED = frozenset({Mood.ASSERTION})
ASKED_FOR = frozenset({Mood.ASSERTION, Mood.COMMAND, Mood.CONDITION})
PLANNED = frozenset({Mood.ASSERTION, Mood.PLAN})


class Category(StrEnum):
    """The kind of a fact, and the heading of MEMORY.md under which it is written."""

    PREFERENCE = "Preferences"
    ABOUT = "About"
    PEOPLE = "People"
    DECISION = "Decisions"
    PLAN = "Plans"
    INSTRUCTION = "Instructions"


@dataclass(frozen=True, slots=True)
class Turn:
    """What one side said at once.

    role: "user", "assistant", "system" or "tool". at: when, in the time zone of the speaker; relative dates are
    resolved by it. speaker: a name, where several people write as users.
    """

    role: str
    text: str
    at: datetime | None = None
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """Something worth knowing in a later conversation.

    content: a sentence that can be understood on its own, in the language and, wherever possible, the words of the
    speaker. turn: its index in the turns. quote: the clause it was taken from. confidence: in [0, 1], how often facts
    of this pattern are right. pattern: the name of the pattern, so why it was taken.
    """

    content: str
    category: Category
    turn: int
    quote: str
    confidence: float
    pattern: str


@dataclass(frozen=True, slots=True)
class ReadFact:
    """A fact that was read in a sentence, before it is compared with others.

    corrects: its sentence takes something back. value: with `corrects`, all that was said instead ("I meant Bergen").
    """

    content: str
    category: Category
    quote: str
    confidence: float
    pattern: str
    corrects: bool = False
    value: str = ""


@dataclass(frozen=True)
class Pattern:
    """A pattern of facts, tried at the beginning of a clause.

    confidence: how often a fact of it is right. forms: regular expressions, any of which matches, whatever the case.
    moods: of the clauses in which it is looked for. needs_date: only where the clause says when.
    """

    name: str
    category: Category
    confidence: float
    forms: tuple[str, ...]
    moods: frozenset[Mood] = ASSERTED
    needs_date: bool = False

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """Compile the forms at their first use: all of them take a tenth of the start of a process."""
        return re.compile("|".join(f"(?:{form})" for form in self.forms), re.IGNORECASE)


def pattern(
    name: str,
    category: Category,
    confidence: float,
    *forms: str,
    moods: frozenset[Mood] = ASSERTED,
    needs_date: bool = False,
) -> Pattern:
    """Return a pattern that matches any of some forms, whatever the case."""
    return Pattern(name, category, confidence, forms, moods, needs_date)
