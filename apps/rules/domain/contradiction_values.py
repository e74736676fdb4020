"""Matching texts with another number, date, time or weekday: "17 new ones" against "25 new postcards"."""

from collections.abc import Iterator
from typing import NamedTuple

from apps.rules.domain.contradiction_evidence import Evidence, Reason, as_written, clamp, strongest
from apps.rules.domain.contradiction_text import Clause, Kind, Passage, Token, is_identifier
from apps.rules.domain.contradiction_words import LIGHT

WINDOW = 12
NOUNS = 2
MIN_SHARED = 3
MIN_TOPIC = 0.3
MAX_VALUES = 40
SHORT_TOKENS = 25


class _Value(NamedTuple):
    """A value with what surrounds it. nouns: of what it is a number. around: the words near it in its sentence.

    names: the noun before it, when it is the number of a thing ("room 5"); else "".
    """

    token: Token
    nouns: frozenset[str]
    around: frozenset[str]
    clause: str
    names: str


def value(first: Passage, second: Passage, similarity: float | None) -> Evidence | None:
    """The same is said with another value.

    similarity: the cosine of the texts, None where it is not known.
    """
    ours, theirs = list(_values(first))[:MAX_VALUES], list(_values(second))[:MAX_VALUES]
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
            yield _Value(token, frozenset(following), around, " ".join(token.text for token in near), named)


def _are_of_other_things(first: Passage, second: Passage, ours: list[_Value], theirs: list[_Value]) -> bool:
    """ "room 5" here and "room 6" there, or two short statements about different names."""
    numbered = [{(value.names, value.token.key) for value in side if value.names} for side in (ours, theirs)]
    if {name for name, _ in numbered[0]} & {name for name, _ in numbered[1]} and not numbered[0] & numbered[1]:
        return True
    if max(len(first.whole.tokens), len(second.whole.tokens)) > SHORT_TOKENS:
        return False
    return bool(first.names - second.names and second.names - first.names)


def _is_comparable(one: _Value, other: _Value, theirs: list[_Value], ours: list[_Value]) -> bool:
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
    if len(shared) < MIN_SHARED or not told or (similarity is not None and similarity < MIN_TOPIC):
        return None
    slot = same_noun or one.token.unit != "" or one.token.kind is not Kind.NUMBER
    topic = 0.0 if similarity is None else clamp((similarity - MIN_TOPIC) / 0.4)
    score = 0.4 + 0.05 * min(len(near), 4) + 0.1 * slot + 0.1 * topic
    differing = ((one.token.text, other.token.text),)
    return Evidence(Reason.VALUE, clamp(score), one.clause, other.clause, differing, as_written(near, first))
