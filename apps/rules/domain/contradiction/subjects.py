"""Of whom two statements speak, and who says them: what one person denies contradicts no other one."""

from apps.rules.domain.contradiction.text import VALUES, Clause, Kind, Passage
from apps.rules.domain.contradiction.words import FILLERS, LIGHT, SOMEBODY, UPDATE_CUES

SPEAKER = "speaker"
TIMES = VALUES - {Kind.NUMBER}


def have_other_speakers(first: Passage, second: Passage) -> bool:
    """ "Caroline: ..." and "Melanie: ..."."""
    return bool(first.speakers and second.speakers) and first.speakers.isdisjoint(second.speakers)


def are_of_others(first: Clause, second: Clause) -> bool:
    """ "I" in one statement, "she" in the other."""
    one, other = somebody(first), somebody(second)
    return bool(one and other) and one != other


def somebody(clause: Clause) -> str:
    """Whom the first pronoun stands for, "" without any."""
    return next((SOMEBODY[token.text] for token in clause.tokens if token.text in SOMEBODY), "")


def differ_beside(first: Clause, second: Clause) -> bool:
    """Each statement has a telling word that the other one does not have."""
    said = FILLERS | LIGHT | UPDATE_CUES
    return bool(first.content - second.content - said) and bool(second.content - first.content - said)


def times_of(clause: Clause) -> frozenset[str]:
    """The keys of its dates, times and weekdays."""
    return frozenset(token.key for _, token in clause.values if token.kind in TIMES)


def numbers_of(clause: Clause) -> frozenset[str]:
    """The keys of its other numbers."""
    return frozenset(token.key for _, token in clause.values if token.kind is Kind.NUMBER and not token.function)
