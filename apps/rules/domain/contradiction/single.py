"""Things of which there is one at a time: "lives in", "the deadline", "my favourite colour is"."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.rules.domain.contradiction.text import VALUES, Clause, Kind, Token, is_identifier
from apps.rules.domain.contradiction.words import (
    ARTICLES,
    ATTITUDES,
    COPULAS,
    FAVOURITES,
    INDEFINITE,
    LINKS,
    OPENING,
    OWNERS,
    PARTICLES,
    PORTS,
    PRONOUNS,
    SEVERAL,
    SINGLE_VALUED,
    SINGLE_VERBS,
    STARTING,
    STATES,
    TITLES,
    UPDATE_CUES,
)

_NOTHING = (Token("", "", Kind.WORD),) * 2


@dataclass(frozen=True)
class Place:
    """Where a statement differs from another: its tokens from start to before end."""

    clause: Clause
    start: int
    end: int

    @property
    def tokens(self) -> tuple[Token, ...]:
        """Return the words that differ, and the function words between them."""
        return self.clause.tokens[self.start : self.end]

    @property
    def content(self) -> frozenset[str]:
        """Return the keys of the content words, but for words of change."""
        return frozenset(token.key for token in self.tokens if token.is_content and token.key not in UPDATE_CUES)

    @property
    def words(self) -> frozenset[str]:
        """Return the keys of the content words and particles."""
        return frozenset(token.key for token in self.tokens if token.is_content or token.text in PARTICLES)

    @property
    def particles(self) -> frozenset[str]:
        """Return the particles."""
        return frozenset(token.text for token in self.tokens if token.text in PARTICLES)

    @property
    def values(self) -> frozenset[tuple[Kind, str]]:
        """Return the kinds and units of the values."""
        return frozenset((token.kind, token.unit) for token in self.tokens if token.kind in VALUES)

    @property
    def kinds(self) -> frozenset[Kind]:
        """Return the kinds of the values."""
        return frozenset(kind for kind, _ in self.values)

    @property
    def count(self) -> int:
        """Return the number of values."""
        return sum(token.kind in VALUES for token in self.tokens)


def has_one(clause: Clause) -> bool:
    """Return whether a clause is about a thing of which there is one: "the meeting", not "a meeting" or "meetings"."""
    return any(is_single(clause, at) for at in range(len(clause.tokens)))


def is_single(clause: Clause, at: int) -> bool:
    """Return whether the word at a position has one value at a time and is not indefinite."""
    token = clause.tokens[at]
    if not token.is_content or token.key not in SINGLE_VALUED or token.text in SEVERAL:
        return False
    start = at
    while start and clause.tokens[start - 1].is_content:
        start -= 1
    return not (start and clause.tokens[start - 1].text in INDEFINITE)


def takes_one(place: Place) -> bool:
    """Return whether a place holds the one value of what precedes it: "works at X", "my boss is X".

    "My boss visited X" is not that, nor "works with X".
    """
    clause, before = place.clause, place.clause.tokens[: place.start]
    # "Tom's dog is called", but not "I have a dog called".
    called = len(before) > 2 and before[-1].text in ("called", "named") and before[-2].text in ("is", "was")
    if called and before[0].text not in INDEFINITE and any(token.is_content for token in before[:-2]):
        return True
    # "my favourite colour is", "the capital of Peru is"
    if ends_with_copula(before) and any(
        before[at].key in FAVOURITES or (is_single(clause, at) and before[at + 1].text == "of")
        for at in range(place.start - 1)
    ):
        return True
    said = [at for at, token in enumerate(before) if token.is_content and token.text not in TITLES]
    if not said or not is_single(clause, said[-1]):
        return False
    between = {token.text for token in before[said[-1] + 1 :]} - TITLES
    if before[said[-1]].key in SINGLE_VERBS:
        return between <= LINKS | ARTICLES
    return not between.isdisjoint(COPULAS) and between <= COPULAS | ARTICLES


def ends_with_copula(tokens: Sequence[Token]) -> bool:
    """Return whether the last word but for articles and words of change is a copula."""
    for token in reversed(tokens):
        if token.text in COPULAS:
            return True
        if token.text not in ARTICLES and token.key not in UPDATE_CUES:
            return False
    return False


def is_predicate(place: Place) -> bool:
    """Return whether a place is all that a copula says: "my car is [red]", not "I am a [small] farmer"."""
    following = place.clause.tokens[place.end : place.end + 1]
    return ends_with_copula(place.clause.tokens[: place.start]) and not (following and following[0].is_content)


def is_lasting(place: Place) -> bool:
    """Return whether a place is a predicate or the one value of a thing."""
    return is_predicate(place) or takes_one(place)


def is_state(place: Place) -> bool:
    """Return whether a place is the state of a certain thing: "the door is [open]"."""
    return place.clause.is_definite and place.end == len(place.clause.tokens) and is_predicate(place)


def is_certain_value(place: Place) -> bool:
    """Return whether a place is a value of a certain thing: "the thermostat is set to [20] degrees"."""
    clause = place.clause
    if place.kinds == {Kind.TIME} and opens(clause, OPENING | STARTING):
        return True
    is_last = place.start + 2 >= len(clause.tokens)
    has_is = any(token.text == "is" for token in clause.tokens[1 : place.start])
    return place.kinds == {Kind.NUMBER} and clause.is_definite and is_last and has_is


def is_role(place: Place) -> bool:
    """Return whether a place is the one that has a role: "[Ana] is the head of", "use [this] as the"."""
    clause, end = place.clause, place.end
    first, second = (token.text for token in (*clause.tokens[end : end + 2], *_NOTHING)[:2])
    if first == "as":
        return second in OWNERS and clause.is_anchored
    following = clause.tokens[end + 2 :]
    of_one = any(token.key in FAVOURITES or (token.is_content and token.key in SINGLE_VALUED) for token in following)
    return place.start == 0 and first == "is" and (second == "the" or (second in OWNERS and of_one))


def is_attitude(place: Place) -> bool:
    """Return whether a place is a person's attitude: "she [loves] dogs", not "a neighbour [loves] dogs"."""
    clause = place.clause
    if not place.start or not place.words <= ATTITUDES or clause.tokens[0].text in INDEFINITE:
        return False
    verb = clause.tokens[place.start].text
    return clause.is_anchored or clause.tokens[0].text in PRONOUNS or verb.endswith(("s", "ed"))


def is_named(place: Place) -> bool:
    """Return whether a place has a name, or a word with figures in it."""
    return any(token.name or (token.is_content and not token.text.isalpha()) for token in place.tokens)


def is_counted(place: Place) -> bool:
    """Return whether a number lasts: "I have 3 cats", "the price is 5 euros", not "a 5 year old son"."""
    clause = place.clause
    before = clause.tokens[place.start - 1].text if place.start else ""
    return before not in INDEFINITE and (changes(clause) or lasts(clause) or has_one(clause))


def is_certain_time(place: Place) -> bool:
    """Return whether a time is of a certain thing: "the meeting is on Monday", "moved to Monday"."""
    return has_one(place.clause) or changes(place.clause) or opens(place.clause, OPENING)


def is_own_time(place: Place) -> bool:
    """Return whether a place is a time of day of one's own thing, or of a beginning: "my flight leaves at 7:15"."""
    is_own = place.clause.tokens[0].text in ("my", "our") or opens(place.clause, STARTING)
    return place.kinds == {Kind.TIME} and is_own


def names_a_thing(place: Place) -> bool:
    """Return whether a place has the number of a thing: "room 5"."""
    return any(is_identifier(place.clause, at) for at in range(place.start, place.end))


def is_numbered_place(place: Place) -> bool:
    """Return whether a place is a number that says where a certain thing is: "the server runs on port [8080]"."""
    if not names_a_thing(place) or place.end != place.start + 1:
        return False
    tokens = place.clause.tokens[max(0, place.start - 3) : place.start]
    before = [token for token in tokens if token.text not in ARTICLES]
    if len(before) < 2 or before[-2].text not in ("in", "on", "at", "from"):
        return False
    return place.clause.is_definite or is_port(place)


def is_port(place: Place) -> bool:
    """Return whether a thing has one number of the kind: "runs on port 8080", "is on floor 5"."""
    tokens, start = place.clause.tokens, place.start
    earlier = tokens[max(0, start - 4) : start - 1]
    return tokens[start - 1].key in PORTS or any(token.text in ("is", "am") for token in earlier)


def opens(clause: Clause, verbs: frozenset[str]) -> bool:
    """Return whether a certain thing does one of some verbs: "the restaurant opens"."""
    return clause.is_definite and any(token.key in verbs and token.text.endswith("s") for token in clause.tokens)


def lasts(clause: Clause) -> bool:
    """Return whether a clause describes a state rather than an event."""
    return any(token.text in STATES or (token.is_content and token.key in SINGLE_VERBS) for token in clause.tokens)


def changes(clause: Clause) -> bool:
    """Return whether a clause says that something changed."""
    return any(token.is_content and token.key in UPDATE_CUES for token in clause.tokens)
