"""Matching texts with another number, date, time or weekday: "17 new ones" against "25 new postcards"."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
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
from apps.rules.domain.contradiction.single import lasts
from apps.rules.domain.contradiction.subjects import are_of_others, differ_beside, times_of
from apps.rules.domain.contradiction.text import Clause, Kind, Passage, Token, is_identifier
from apps.rules.domain.contradiction.words import FILLERS, LIGHT, PERSONS, RUNNING, UPDATE_CUES

WINDOW = 12
NOUNS = 2
# So many words in common, or fewer of texts about nearly the same.
MIN_SHARED, MIN_SHARED_NEAR = 3, 2
MIN_TOPIC, NEAR_TOPIC = 0.25, 0.5
MAX_VALUES = 40
GONE_BY = frozenset(("last", "past", "previous"))
SHORT_TOKENS = 25
BASE = 0.3
# Without vectors the topic counts as one that is neither near nor far.
USUAL_TOPIC = 0.5
_SAYS_NOTHING = FILLERS | UPDATE_CUES


class _Value(NamedTuple):
    """A value with what surrounds it. nouns: of what it is a number. around: the words near it in its sentence.

    names: the noun before it, when it is the number of a thing ("room 5"); else "". personal: the sentence speaks of
    somebody by a pronoun. changed: it says that something changed.
    running: it says how things stand by now. times: the dates, times and weekdays of the sentence.
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


def value(first: Passage, second: Passage, similarity: float | None) -> Evidence | None:
    """The same is said with another value.

    similarity: the cosine of the texts, None where it is not known.
    """
    ours, theirs = first.once(_values_of), second.once(_values_of)
    if not ours or not theirs:
        return None
    if _are_of_other_things(first, second, ours, theirs):
        return None
    shared = (first.whole.content & second.whole.content) - LIGHT
    return strongest(
        _difference(one, other, shared, similarity, first, second)
        for one in ours
        for other in theirs
        if _is_comparable(one, other, theirs, ours)
    )


def _values_of(passage: Passage) -> tuple[_Value, ...]:
    return tuple(islice(_values(passage), MAX_VALUES))


def _values(passage: Passage) -> Iterator[_Value]:
    for sentence in passage.sentences:
        whole = Clause(tuple(token for clause in sentence for token in clause.tokens))
        for place, token in whole.values:
            if token.function or _is_told_from_then(whole, place):
                continue
            following = [near.key for near in whole.tokens[place + 1 : place + 4] if near.is_content][:NOUNS]
            near = whole.tokens[max(0, place - WINDOW) : place + WINDOW + 1]
            around = frozenset(token.key for token in near if token.is_content)
            named = whole.tokens[place - 1].key if is_identifier(whole, place) else ""
            personal = not PERSONS.isdisjoint(token.text for token in whole.tokens)
            changed = not UPDATE_CUES.isdisjoint(token.key for token in near)
            said = " ".join(token.text for token in near)
            running = not RUNNING.isdisjoint(token.text for token in near)
            yield _Value(token, frozenset(following), around, said, named, personal, changed, running, times_of(whole))


def _is_told_from_then(sentence: Clause, place: int) -> bool:
    """ "three days ago", "last Tuesday": it depends on the day of the telling, so another one contradicts nothing."""
    if any(near.text == "ago" for near in sentence.tokens[place + 1 : place + 4]):
        return True
    return sentence.tokens[place].kind is Kind.WEEKDAY and place > 0 and sentence.tokens[place - 1].text in GONE_BY


def _are_of_other_things(first: Passage, second: Passage, ours: tuple[_Value, ...], theirs: tuple[_Value, ...]) -> bool:
    """ "room 5" here and "room 6" there, or two short statements with other names or several other values."""
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


def _is_comparable(one: _Value, other: _Value, theirs: tuple[_Value, ...], ours: tuple[_Value, ...]) -> bool:
    """Two values of one kind and unit that differ, neither of which the other side has as well."""
    if one.token.kind is not other.token.kind or one.token.unit != other.token.unit or one.token.key == other.token.key:
        return False
    return all(one.token.key != value.token.key for value in theirs) and all(
        other.token.key != value.token.key for value in ours
    )


def _difference(
    one: _Value, other: _Value, shared: frozenset[str], similarity: float | None, first: Passage, second: Passage
) -> Evidence | None:
    near = one.around & other.around
    same_noun = bool(one.nouns & other.nouns)
    told = bool(near - LIGHT) or (same_noun and len(near) > 1)
    if not told or not _is_one_topic(len(shared), similarity):
        return None
    score = min(clamp(_score(one, other, same_noun, similarity)), _most(one, other, first, second))
    differing = ((one.token.text, other.token.text),)
    return Evidence(Reason.VALUE, score, one.clause, other.clause, differing, as_written(near, first))


def _score(one: _Value, other: _Value, same_noun: bool, similarity: float | None) -> float:
    """How likely it is that both values are of the same: the weights come from a logistic fit to labelled pairs."""
    topic = USUAL_TOPIC if similarity is None else clamp(similarity)
    return (
        BASE
        + 0.25 * _overlap(one.around - LIGHT, other.around - LIGHT)
        + 0.35 * topic
        + 0.03 * same_noun
        + 0.09 * (one.changed or other.changed)
        + 0.06 * (one.running + other.running)
        + (-0.2, 0.0, 0.18)[one.personal + other.personal]
    )


def _overlap(ours: frozenset[str], theirs: frozenset[str]) -> float:
    """The share of the words around one value that are around the other, too, of the fewer ones."""
    fewer = min(len(ours - _SAYS_NOTHING | ours & theirs), len(theirs - _SAYS_NOTHING | ours & theirs))
    return len(ours & theirs) / fewer if fewer else 0.0


def _most(one: _Value, other: _Value, first: Passage, second: Passage) -> float:
    """How strong the evidence may be at most: not enough to act on where both may hold, less in short statements."""
    if max(len(first.whole.tokens), len(second.whole.tokens)) <= SHORT_TOKENS:
        return _most_of_short(one, other, first.whole, second.whole)
    if not (one.personal or other.personal):
        return NOTICE_ONLY
    at_other_times = bool(one.times and other.times) and one.times.isdisjoint(other.times)
    told = one.changed or other.changed or one.token.kind is not Kind.NUMBER
    return NOTICE_ONLY if at_other_times and not told else 1.0


def _most_of_short(one: _Value, other: _Value, first: Clause, second: Clause) -> float:
    """Without a word of change, two things are told ("the budget project", "the design project") or two events.

    Where nothing but a value differs, `swap` knows better whether it lasts.
    """
    told = one.changed or other.changed or one.running or other.running
    beside = differ_beside(first, second)
    if told:
        return NOTICE_ONLY if beside or one.times != other.times or not (one.personal or other.personal) else 1.0
    event = one.token.kind is not Kind.NUMBER and not (lasts(first) and lasts(second))
    return UNLIKELY if beside or event or (one.token.kind is Kind.NUMBER and one.times != other.times) else NOTICE_ONLY


def _is_one_topic(shared: int, similarity: float | None) -> bool:
    if similarity is None:
        return shared >= MIN_SHARED
    return similarity >= MIN_TOPIC and shared >= (MIN_SHARED if similarity < NEAR_TOPIC else MIN_SHARED_NEAR)
