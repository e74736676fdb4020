"""Matching texts with another number, date, time or weekday: "17 new ones" against "25 new postcards"."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from apps.rules.domain.contradiction_evidence import Evidence, Reason, as_written, clamp, strongest
from apps.rules.domain.contradiction_text import Clause, Kind, Passage, Token, is_identifier
from apps.rules.domain.contradiction_words import LIGHT, PERSONS, UPDATE_CUES

WINDOW = 12
NOUNS = 2
MIN_SHARED = 3
MIN_TOPIC = 0.25
MAX_VALUES = 40
SHORT_TOKENS = 25


class _Value(NamedTuple):
    """A value with what surrounds it. nouns: of what it is a number. around: the words near it in its sentence.

    names: the noun before it, when it is the number of a thing ("room 5"); else "". personal: the sentence is about
    the speaker. changed: it says that something changed.
    """

    token: Token
    nouns: frozenset[str]
    around: frozenset[str]
    clause: str
    names: str
    personal: bool
    changed: bool


def value(first: Passage, second: Passage, similarity: float | None) -> Evidence | None:
    """The same is said with another value.

    similarity: the cosine of the texts, None where it is not known.
    """
    ours, theirs = _values_of(first), _values_of(second)
    if not ours or not theirs:
        return None
    if _are_of_other_things(first, second, ours, theirs):
        return None
    shared = (first.whole.content & second.whole.content) - LIGHT
    return strongest(
        _difference(one, other, shared, similarity, first)
        for one in ours
        for other in theirs
        if _is_comparable(one, other, theirs, ours)
    )


@lru_cache(maxsize=4096)
def _values_of(passage: Passage) -> tuple[_Value, ...]:
    return tuple(islice(_values(passage), MAX_VALUES))


def _values(passage: Passage) -> Iterator[_Value]:
    for sentence in passage.sentences:
        whole = Clause(tuple(token for clause in sentence for token in clause.tokens))
        for place, token in whole.values:
            if token.function:
                continue
            following = [near.key for near in whole.tokens[place + 1 : place + 4] if near.is_content][:NOUNS]
            near = whole.tokens[max(0, place - WINDOW) : place + WINDOW + 1]
            around = frozenset(token.key for token in near if token.is_content)
            named = whole.tokens[place - 1].key if is_identifier(whole, place) else ""
            personal = not PERSONS.isdisjoint(token.text for token in whole.tokens)
            changed = not UPDATE_CUES.isdisjoint(token.key for token in near)
            said = " ".join(token.text for token in near)
            yield _Value(token, frozenset(following), around, said, named, personal, changed)


def _are_of_other_things(first: Passage, second: Passage, ours: tuple[_Value, ...], theirs: tuple[_Value, ...]) -> bool:
    """ "room 5" here and "room 6" there, or two short statements with other names or several other values."""
    numbered = [{(value.names, value.token.key) for value in side if value.names} for side in (ours, theirs)]
    if {name for name, _ in numbered[0]} & {name for name, _ in numbered[1]} and not numbered[0] & numbered[1]:
        return True
    if max(len(first.whole.tokens), len(second.whole.tokens)) > SHORT_TOKENS:
        return False
    mine, yours = ({value.token.key for value in side} for side in (ours, theirs))
    if min(len(mine - yours), len(yours - mine)) > 1:
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
    one: _Value, other: _Value, shared: frozenset[str], similarity: float | None, first: Passage
) -> Evidence | None:
    near = one.around & other.around
    same_noun = bool(one.nouns & other.nouns)
    told = bool(near - LIGHT) or (same_noun and len(near) > 1)
    if not told or not _is_one_topic(len(shared), similarity):
        return None
    slot = same_noun or one.token.unit != "" or one.token.kind is not Kind.NUMBER
    topic = 0.0 if similarity is None else clamp((similarity - MIN_TOPIC) / 0.4)
    score = 0.4 + 0.05 * min(len(near), 4) + 0.1 * slot + 0.1 * topic + _personal_weight(one, other)
    differing = ((one.token.text, other.token.text),)
    return Evidence(Reason.VALUE, clamp(score), one.clause, other.clause, differing, as_written(near, first))


def _is_one_topic(shared: int, similarity: float | None) -> bool:
    return shared >= MIN_SHARED and (similarity is None or similarity >= MIN_TOPIC)


def _personal_weight(one: _Value, other: _Value) -> float:
    """What people say of themselves is rather about the same thing, above all when they say that it changed."""
    if not one.personal and not other.personal:
        return -0.1
    return 0.1 if one.personal and other.personal and (one.changed or other.changed) else 0.0
