"""Of what there is one at a time: "lives in", "the deadline", "my favourite colour is"."""

from collections.abc import Sequence

from apps.rules.domain.contradiction.text import Clause, Kind, Token
from apps.rules.domain.contradiction.words import (
    ARTICLES,
    COPULAS,
    FAVOURITES,
    INDEFINITE,
    LINKS,
    OWNERS,
    PORTS,
    SEVERAL,
    SINGLE_VALUED,
    SINGLE_VERBS,
    STATES,
    TITLES,
    UPDATE_CUES,
)

_NOTHING = (Token("", "", Kind.WORD),) * 2


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
    if _is_called(before):
        return True
    if _ends_with_copula(before) and _is_of_one(clause, place):
        return True
    said = [at for at in range(place) if before[at].is_content and before[at].text not in TITLES]
    if not said or not is_single(clause, said[-1]):
        return False
    between = {token.text for token in before[said[-1] + 1 :]} - TITLES
    if before[said[-1]].key in SINGLE_VERBS:
        return between <= LINKS | ARTICLES
    return not between.isdisjoint(COPULAS) and between <= COPULAS | ARTICLES


def _is_called(before: Sequence[Token]) -> bool:
    """ "Tom's dog is called", but not "I have a dog called"."""
    called = len(before) > 2 and before[-1].text in ("called", "named") and before[-2].text in ("is", "was")
    return called and before[0].text not in INDEFINITE and any(token.is_content for token in before[:-2])


def is_state(clause: Clause, start: int, end: int) -> bool:
    """The words from start to before end are how a certain thing is: "the door is [open]"."""
    return clause.is_definite and end == len(clause.tokens) and is_predicate(clause, start, end)


def is_setting(clause: Clause, place: int) -> bool:
    """The number at a place is how a certain thing is: "the thermostat is set to [20] degrees"."""
    is_last = place + 2 >= len(clause.tokens)
    return clause.is_definite and is_last and any(token.text == "is" for token in clause.tokens[1:place])


def is_role(clause: Clause, start: int, end: int) -> bool:
    """What stands there is all that a certain part is played by: "[Ana] is the head of", "use [this] as the"."""
    first, second = (token.text for token in (*clause.tokens[end : end + 2], *_NOTHING)[:2])
    if first == "as":
        return second in OWNERS and clause.is_anchored
    following = clause.tokens[end + 2 :]
    of_one = any(token.key in FAVOURITES or (token.is_content and token.key in SINGLE_VALUED) for token in following)
    return start == 0 and first == "is" and (second == "the" or (second in OWNERS and of_one))


def is_numbered_place(clause: Clause, place: int) -> bool:
    """The number there says where a certain thing is: "the server runs on port [8080]"."""
    before = [token for token in clause.tokens[max(0, place - 3) : place] if token.text not in ARTICLES]
    if len(before) < 2 or before[-2].text not in ("in", "on", "at", "from"):
        return False
    return clause.is_definite or is_port(clause, place)


def is_port(clause: Clause, place: int) -> bool:
    """Of the numbers of its kind a thing has one: "runs on port 8080", "is on floor 5"."""
    noun, earlier = clause.tokens[place - 1], clause.tokens[max(0, place - 4) : place - 1]
    return noun.key in PORTS or any(token.text in ("is", "am") for token in earlier)


def opens(clause: Clause, verbs: frozenset[str]) -> bool:
    """A certain thing does one of some verbs: "the restaurant opens"."""
    return clause.is_definite and any(token.key in verbs and token.text.endswith("s") for token in clause.tokens)


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
