"""What kind of statement a sentence is: whether and when it holds, who says so, and what it adds or corrects."""

from dataclasses import dataclass
from enum import StrEnum


class Mood(StrEnum):
    """The kind of a sentence. report: what another person is said to say or think. condition: with an "if"."""

    ASSERTION = "assertion"
    COMMAND = "command"
    QUESTION = "question"
    WISH = "wish"
    PLAN = "plan"
    CONDITION = "condition"
    REPORT = "report"


class Tense(StrEnum):
    """When a sentence says that something holds. past: not any more, or one event; future: not yet."""

    PRESENT = "present"
    PAST = "past"
    FUTURE = "future"


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence and how it is read.

    text: as written. body: without what only opens it ("Sorry, I meant", "Actually"). language: "en", "zh", "de", "fr",
    "es", or "" for one that cannot be read. negative: it denies something. additive: it adds to what is known ("also",
    "another"). corrects: its opener says that something was wrong. changes: it says that something has changed ("now",
    "no longer", "again"). bounds: when it holds only ("until 2019", "in winter"). holder: who is reported to say it.
    """

    text: str
    body: str
    language: str
    mood: Mood = Mood.ASSERTION
    tense: Tense = Tense.PRESENT
    negative: bool = False
    additive: bool = False
    corrects: bool = False
    changes: bool = False
    bounds: tuple[str, ...] = ()
    holder: str = ""

    @property
    def can_decide(self) -> bool:
        """Return whether it may decide about another statement: it is asserted, or asked for as an instruction."""
        return self.mood in (Mood.ASSERTION, Mood.COMMAND)
