"""Texts that differ in a number, date, time or weekday: "17 new ones" against "25 new postcards"."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import NamedTuple

from apps.rules.domain.contradiction.evidence import (
    NOTICE_ONLY,
    UNLIKELY,
    Evidence,
    Reason,
    as_written,
    clamp,
    strongest,
)
from apps.rules.domain.contradiction.text import (
    Clause,
    Passage,
    Token,
    TokenKind,
    are_of_others,
    differ_beside,
    is_identifier,
    times_of,
)
from apps.rules.domain.contradiction.words import (
    FILLERS,
    LIGHT,
    PERSONS,
    RECORDS,
    RUNNING,
    STATE_VERBS,
    STATES,
    UPDATE_CUES,
)

WINDOW = 12
NOUNS = 2
# Words in common; fewer suffice for texts about nearly the same.
MIN_SHARED, MIN_SHARED_NEAR = 3, 2
MIN_TOPIC, NEAR_TOPIC = 0.25, 0.5
MAX_VALUES = 40
GONE_BY = frozenset(("last", "past", "previous"))
# From this cosine a common unit or compound ("cache TTL") speaks for one thing of the speaker.
OWN_TOPIC = 0.45
SHORT_TOKENS = 25
BASE = 0.3
# Without vectors the topic counts as one that is neither near nor far.
USUAL_TOPIC = 0.5
_SAYS_NOTHING = FILLERS | UPDATE_CUES


class Value(NamedTuple):
    """A value with its surroundings. nouns: of what it is a number. around: the words near it in its sentence.

    names: the noun before it, when it is the number of a thing ("room 5"); else "". personal: the sentence has a
    personal pronoun. changed: it has a word of change. running: it has a word of a state until now. times: the dates,
    times and weekdays of the sentence.
    """

    token: Token
    nouns: frozenset[str]
    around: frozenset[str]
    clause: str
    names: str
    personal: bool
    changed: bool
    running: bool
    times: frozenset[str]
    compounds: frozenset[tuple[str, str]]


def find_value(first: Passage, second: Passage, similarity: float | None) -> Evidence | None:
    """Return the evidence that both texts say the same with different values.

    similarity: the cosine of the texts, None where it is not known.
    """
    ours, theirs = first.once(values_of), second.once(values_of)
    if not ours or not theirs or are_of_other_things(first, second, ours, theirs):
        return None
    shared = (first.whole.content & second.whole.content) - LIGHT
    return strongest(
        compare_values(one, other, shared, similarity, first, second)
        for one in ours
        for other in theirs
        if are_comparable(one, other, ours, theirs)
    )


def values_of(passage: Passage) -> tuple[Value, ...]:
    """Return the first values of a passage."""
    return tuple(islice(walk_values(passage), MAX_VALUES))


def walk_values(passage: Passage) -> Iterator[Value]:
    """Yield the values of a passage but for those that depend on the day of the statement."""
    for sentence in passage.sentences:
        whole = Clause(tuple(token for clause in sentence for token in clause.tokens))
        for place, token in whole.values:
            if token.function or is_relative(whole, place):
                continue
            following = [near.key for near in whole.tokens[place + 1 : place + 4] if near.is_content][:NOUNS]
            near = whole.tokens[max(0, place - WINDOW) : place + WINDOW + 1]
            around = frozenset(token.key for token in near if token.is_content)
            named = whole.tokens[place - 1].key if is_identifier(whole, place) else ""
            personal = not PERSONS.isdisjoint(token.text for token in whole.tokens)
            changed = not UPDATE_CUES.isdisjoint(token.key for token in near)
            said = " ".join(token.text for token in near)
            running = not RUNNING.isdisjoint(token.text for token in near)
            running = running or (personal and any(phrase in said for phrase in RECORDS))
            content = [one.key for one in near if one.is_content and one.key not in LIGHT]
            compounds = frozenset(pairwise(content))
            yield Value(
                token, frozenset(following), around, said, named, personal, changed, running, times_of(whole), compounds
            )


def is_relative(sentence: Clause, place: int) -> bool:
    """Return whether a value depends on the day of the statement: "three days ago", "last Tuesday"."""
    if any(near.text == "ago" for near in sentence.tokens[place + 1 : place + 4]):
        return True
    return sentence.tokens[place].kind is TokenKind.WEEKDAY and place > 0 and sentence.tokens[place - 1].text in GONE_BY


def are_of_other_things(first: Passage, second: Passage, ours: tuple[Value, ...], theirs: tuple[Value, ...]) -> bool:
    """Return whether two texts are about different things.

    That is "room 5" here and "room 6" there, or two short statements with other names or several other values.
    """
    numbered = [{(value.names, value.token.key) for value in side if value.names} for side in (ours, theirs)]
    if {name for name, _ in numbered[0]} & {name for name, _ in numbered[1]} and not numbered[0] & numbered[1]:
        return True
    if max(len(first.whole.tokens), len(second.whole.tokens)) > SHORT_TOKENS:
        return False
    # Of short ones another number of a thing is enough: "employee 1 works in room 5", "employee 2 works in room 5".
    ours_only, theirs_only = numbered[0] - numbered[1], numbered[1] - numbered[0]
    if {name for name, _ in ours_only} & {name for name, _ in theirs_only} or are_of_others(first.whole, second.whole):
        return True
    mine, yours = (Counter(value.token.key for value in side) for side in (ours, theirs))
    if min((mine - yours).total(), (yours - mine).total()) > 1:
        return True
    return bool(first.names - second.names and second.names - first.names)


def are_comparable(one: Value, other: Value, ours: tuple[Value, ...], theirs: tuple[Value, ...]) -> bool:
    """Return whether two values of one kind and unit differ, and neither occurs on the other side."""
    if one.token.kind is not other.token.kind or one.token.unit != other.token.unit or one.token.key == other.token.key:
        return False
    return all(one.token.key != value.token.key for value in theirs) and all(
        other.token.key != value.token.key for value in ours
    )


def compare_values(
    one: Value, other: Value, shared: frozenset[str], similarity: float | None, first: Passage, second: Passage
) -> Evidence | None:
    """Return the evidence of two values, where the texts are about one topic and the values about one thing."""
    near = one.around & other.around
    same_noun = bool(one.nouns & other.nouns)
    if not (near - LIGHT or (same_noun and len(near) > 1)):
        return None
    needed = MIN_SHARED_NEAR if similarity is not None and similarity >= NEAR_TOPIC else MIN_SHARED
    if len(shared) < needed or (similarity is not None and similarity < MIN_TOPIC):
        return None
    score = min(clamp(score_values(one, other, same_noun, similarity)), strength_limit(one, other, first, second))
    differing = ((one.token.text, other.token.text),)
    return Evidence(Reason.VALUE, score, one.clause, other.clause, differing, as_written(near, first))


def score_values(one: Value, other: Value, same_noun: bool, similarity: float | None) -> float:
    """Return how likely both values are of the same thing, with weights of a logistic fit to labelled pairs."""
    topic = USUAL_TOPIC if similarity is None else clamp(similarity)
    ours, theirs = one.around - LIGHT, other.around - LIGHT
    # The share of the words around one value that are also around the other, of the fewer ones.
    fewer = min(len(ours - _SAYS_NOTHING | ours & theirs), len(theirs - _SAYS_NOTHING | ours & theirs))
    overlap = len(ours & theirs) / fewer if fewer else 0.0
    is_own = one.personal and other.personal
    return (
        BASE
        + 0.25 * overlap
        + 0.35 * topic
        + 0.07 * (is_own and bool(one.compounds & other.compounds))
        + 0.05 * (is_own and topic >= OWN_TOPIC and bool(one.token.unit))
        + 0.03 * same_noun
        + 0.09 * (one.changed or other.changed)
        + 0.06 * (one.running + other.running)
        + (-0.2, 0.0, 0.18)[one.personal + other.personal]
    )


def strength_limit(one: Value, other: Value, first: Passage, second: Passage) -> float:
    """Return the limit of the score: below what is acted on where both values may hold, lower in short statements."""
    is_time = one.token.kind is not TokenKind.NUMBER
    is_personal = one.personal or other.personal
    has_changed = one.changed or other.changed
    if max(len(first.whole.tokens), len(second.whole.tokens)) > SHORT_TOKENS:
        if not is_personal:
            return NOTICE_ONLY
        at_other_times = bool(one.times and other.times) and one.times.isdisjoint(other.times)
        return NOTICE_ONLY if at_other_times and not (has_changed or is_time) else 1.0
    # In short statements without a word of change, the values are of two things ("the budget project", "the design
    # project") or of two events.
    beside = differ_beside(first.whole, second.whole)
    if has_changed or one.running or other.running:
        return NOTICE_ONLY if beside or one.times != other.times or not is_personal else 1.0
    is_event = is_time and not (lasts(first.whole) and lasts(second.whole))
    return UNLIKELY if beside or is_event or (not is_time and one.times != other.times) else NOTICE_ONLY


def lasts(clause: Clause) -> bool:
    """Return whether a clause describes a state rather than an event."""
    return any(token.text in STATES or (token.is_content and token.key in STATE_VERBS) for token in clause.tokens)
