"""Of what there is one at a time: "lives in", "the deadline", "my favourite colour is"."""

from collections.abc import Sequence

from apps.rules.domain.contradiction_text import Clause, Token
from apps.rules.domain.contradiction_words import (
    ARTICLES,
    COPULAS,
    FAVOURITES,
    INDEFINITE,
    LINKS,
    SEVERAL,
    SINGLE_VALUED,
    SINGLE_VERBS,
    STATES,
    TITLES,
    UPDATE_CUES,
)


def has_one(clause: Clause) -> bool:
    """It speaks of something of which there is one, such as "the meeting", but not of "a meeting" or "meetings"."""
    return any(is_single(clause, place) for place in range(len(clause.tokens)))


def is_single(clause: Clause, place: int) -> bool:
    """The word there is of one value at a time, and no indefinite one of its kind."""
    token = clause.tokens[place]
    if not token.is_content or token.key not in SINGLE_VALUED or token.text in SEVERAL:
        return False
    start = place
    while start and clause.tokens[start - 1].is_content:
        start -= 1
    return not (start and clause.tokens[start - 1].text in INDEFINITE)


def takes_one(clause: Clause, place: int) -> bool:
    """What stands at a place is the one value of what is said before it: "works at X", "my boss is X".

    "My boss visited X" is not that, nor "works with X".
    """
    before = clause.tokens[:place]
    if _ends_with_copula(before) and _is_of_one(clause, place):
        return True
    said = [at for at in range(place) if before[at].is_content and before[at].text not in TITLES]
    if not said or not is_single(clause, said[-1]):
        return False
    between = {token.text for token in before[said[-1] + 1 :]} - TITLES
    if before[said[-1]].key in SINGLE_VERBS:
        return between <= LINKS | ARTICLES
    return not between.isdisjoint(COPULAS) and between <= COPULAS | ARTICLES


def _is_of_one(clause: Clause, place: int) -> bool:
    """ "my favourite colour is", "the capital of Peru is"."""
    return any(
        clause.tokens[at].key in FAVOURITES or (is_single(clause, at) and clause.tokens[at + 1].text == "of")
        for at in range(place - 1)
    )


def _ends_with_copula(tokens: Sequence[Token]) -> bool:
    for token in reversed(tokens):
        if token.text in COPULAS:
            return True
        if token.text not in ARTICLES and token.key not in UPDATE_CUES:
            return False
    return False


def is_predicate(clause: Clause, start: int, end: int) -> bool:
    """The words from start to before end are all that a copula says: "my car is [red]", not "I am a [small] farmer"."""
    following = clause.tokens[end : end + 1]
    return _ends_with_copula(clause.tokens[:start]) and not (following and following[0].is_content)


def lasts(clause: Clause) -> bool:
    """It says how things are rather than what happened."""
    return any(token.text in STATES or (token.is_content and token.key in SINGLE_VERBS) for token in clause.tokens)


def changes(clause: Clause) -> bool:
    """It says that something changed."""
    return any(token.is_content and token.key in UPDATE_CUES for token in clause.tokens)
