"""Persons, times and numbers of statements: what one person denies contradicts no other person."""

from apps.rules.domain.contradiction.text import VALUES, Clause, Kind, Passage
from apps.rules.domain.contradiction.words import FILLERS, LIGHT, PRONOUNS, UPDATE_CUES

SPEAKER = "speaker"
TIMES = VALUES - {Kind.NUMBER}


def have_other_speakers(first: Passage, second: Passage) -> bool:
    """Return whether two texts are of different speakers: "Caroline: ..." and "Melanie: ..."."""
    return bool(first.speakers and second.speakers) and first.speakers.isdisjoint(second.speakers)


def are_of_others(first: Clause, second: Clause) -> bool:
    """Return whether two statements are about different persons: "I" in one, "she" in the other."""
    one, other = person_of(first), person_of(second)
    return bool(one and other) and one != other


def person_of(clause: Clause) -> str:
    """Return the person of the first pronoun, "" without any."""
    return next((PRONOUNS[token.text] for token in clause.tokens if token.text in PRONOUNS), "")


def differ_beside(first: Clause, second: Clause) -> bool:
    """Return whether each statement has a content word that the other one lacks."""
    said = FILLERS | LIGHT | UPDATE_CUES
    return bool(first.content - second.content - said) and bool(second.content - first.content - said)


def times_of(clause: Clause) -> frozenset[str]:
    """Return the keys of the dates, times and weekdays of a clause."""
    return frozenset(token.key for _, token in clause.values if token.kind in TIMES)


def numbers_of(clause: Clause) -> frozenset[str]:
    """Return the keys of the other numbers of a clause."""
    return frozenset(token.key for _, token in clause.values if token.kind is Kind.NUMBER and not token.function)
