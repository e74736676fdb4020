"""Whether two Chinese texts contradict each other, by characters and words (simplified and traditional)."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, product

from apps.rules.domain.contradiction.chinese import ends, spans
from apps.rules.domain.contradiction.chinese.frames import (
    LIKELY,
    SURE,
    WEAK,
    ChineseFrame,
    Clause,
    Relation,
    analyse_chinese,
)
from apps.rules.domain.contradiction.chinese.values import ValueKind, are_equal, kind_of
from apps.rules.domain.contradiction.evidence import Evidence, Reason, strongest
from apps.rules.domain.statements import chinese_words as words
from apps.rules.domain.statements.chinese import fold_chinese

# One statement is a small part of a longer memory: superseding that for it would lose the rest.
MAX_ACTED_CHARS, MAX_ACTED_CLAUSES = 500, 12
MAX_PAIRS = 400
# Clauses that have only these in common do not have the same words.
COMMON_CHARACTERS = frozenset("我你他她它的了在是不有们这那也都就还")

_PERSON = re.compile(rf"(?:{words.PERSONS})")
_OWN = re.compile("^(?:我们|我)")
_SINGLE = re.compile(rf"(?:{words.SINGLE_HEADS})$")
_MULTIPLE = re.compile(rf"(?:{words.MULTIPLE_HEADS})$")
_JOB = re.compile(rf"(?:{words.JOBS})$")
_PART = re.compile(rf"(?:{words.PARTS})$")
_LARGE = re.compile(rf"(?:{words.PLACES_OF_SIZE})")
_SMALL = re.compile(rf"(?:{words.SMALL_PLACES})$")
_HELD = re.compile(rf"(?:{words.HELD})$")
_PROMOTED = re.compile(words.PROMOTED)
_SEVERAL = re.compile("[、和跟与及或]|之一|等$")
_NO_PLACE = re.compile("家|远程|线上|外面|这里|那里")

# The relations of an older statement that a newer one may replace.
_REPLACES = {
    Relation.LIVES: {Relation.LIVES},
    Relation.WORKS: {Relation.WORKS},
    Relation.PLACE: {Relation.PLACE, Relation.BECOMES},
    Relation.EQUALS: {Relation.EQUALS, Relation.BECOMES, Relation.PLACE},
    Relation.BECOMES: {Relation.BECOMES, Relation.EQUALS, Relation.PLACE},
}


def find_chinese(older: str, newer: str) -> Evidence | None:
    """Return the strongest evidence that a newer Chinese text contradicts an older one; None for none.

    The first passage and the first of each differing pair are of the older text. Accepts any str.
    """
    if restates_chinese(older, newer) == 1:
        return None
    clauses = analyse_chinese(older)
    found = strongest(compare(*pair) for pair in pairs_of(clauses, analyse_chinese(newer)))
    if found and (len(older) > MAX_ACTED_CHARS or len(clauses) > MAX_ACTED_CLAUSES) and found.score > LIKELY:
        return replace(found, score=LIKELY)
    return found


def pairs_of(older: tuple[Clause, ...], newer: tuple[Clause, ...]) -> Iterator[tuple[Clause, Clause]]:
    """Yield at most MAX_PAIRS pairs of clauses that share something of the matter."""
    deciding = ([clause for clause in side if clause.statement.can_decide] for side in (older, newer))
    pairs = ((one, other) for one, other in product(*deciding) if not one.matter.isdisjoint(other.matter))
    return islice(pairs, MAX_PAIRS)


def compare(older: Clause, newer: Clause) -> Evidence | None:
    """Return the strongest evidence that one clause contradicts an older one; both are asserted."""
    found = [compare_frames(older, newer, *pair) for pair in product(older.frames, newer.frames)]
    if not COMMON_CHARACTERS.issuperset(older.matter & newer.matter):
        found += spans.find_flip(older, newer), spans.find_span(older, newer)
    sure = strongest((*found, ends.find_end(older, newer)))
    if sure and sure.score > LIKELY and (newer.statement.additive or not (older.is_present and newer.is_present)):
        return replace(sure, score=WEAK)
    return sure


def compare_frames(older: Clause, newer: Clause, one: ChineseFrame, other: ChineseFrame) -> Evidence | None:
    """Return the evidence that two clauses have for one topic different values."""
    own, theirs = _OWN.sub("", one.topic), _OWN.sub("", other.topic)  # "我体重" is "体重"
    is_one_topic = one.topic == other.topic or (own == theirs and len(own) > 1)
    if other.relation not in _REPLACES[one.relation] or not is_one_topic:
        return None
    if are_equal(one.value, other.value):
        return None
    changes = other.is_change or newer.now
    score = score_of(one, replace(other, is_change=other.is_change or newer.statement.corrects), changes=changes)
    if score == 0:
        return None
    reason = Reason.REPLACED if kind_of(one.value)[0] in (ValueKind.WORDS, ValueKind.CODE) else Reason.VALUE
    return Evidence(reason, score, older.text, newer.text, ((one.value, other.value),), (one.topic,))


def score_of(one: ChineseFrame, other: ChineseFrame, *, changes: bool) -> float:
    """Return how sure it is that the second value takes the place of the first."""
    if _SEVERAL.search(one.value) or _SEVERAL.search(other.value):
        return WEAK
    if not changes and (one.value in other.value or other.value in one.value):
        return 0
    match one.relation:
        case Relation.LIVES:
            return SURE if changes or are_of_one_size(one.value, other.value) else WEAK
        case Relation.WORKS:
            is_part = _PART.search(one.value) or _PART.search(other.value) or _NO_PLACE.search(other.value)
            return WEAK if is_part and not other.is_change else SURE
        case Relation.PLACE:
            return score_place(one, other, changes=changes)
    return score_equals(one, other, changes=changes)


def score_place(one: ChineseFrame, other: ChineseFrame, *, changes: bool) -> float:
    """Return the score of two places or times of one thing."""
    value, others = cut_equal_end(one.value, other.value)
    kind, kind_other = kind_of(value), kind_of(others)
    if ValueKind.TIME in (kind[0], kind_other[0]) and kind[0] is not kind_other[0]:
        return 0 if not other.is_change else WEAK
    tail = one.value[len(value) :]
    if (tail and not _HELD.search(tail)) or (_MULTIPLE.search(one.topic) and not other.is_change):
        return WEAK
    if is_person(one.topic) and (not other.is_change or other.relation is Relation.BECOMES):
        return WEAK
    if not changes and not are_of_one_size(value, others):
        return WEAK
    return SURE


def cut_equal_end(one: str, other: str) -> tuple[str, str]:
    """Return two values without what both end with, such as a verb."""
    found = re.search(rf"(?:{words.HELD})+$", one)
    if found and other.endswith(found[0]) and found.start() and len(other) > len(found[0]):
        return one[: found.start()], other[: -len(found[0])]
    if found and found.start() and not _HELD.search(other):
        return one[: found.start()], other
    return one, other


def score_equals(one: ChineseFrame, other: ChineseFrame, *, changes: bool) -> float:
    """Return the score of two values of "is", "is called", or of what became another."""
    if _PROMOTED.match(other.verb):
        return SURE if _JOB.search(one.value) else WEAK
    kind, unit = kind_of(one.value)
    kind_other, unit_other = kind_of(other.value)
    is_value = kind in (ValueKind.NUMBER, ValueKind.TIME)
    if other.relation is Relation.PLACE and (not other.is_change or kind is ValueKind.WORDS or kind is not kind_other):
        return 0
    if is_value and (kind is not kind_other or unit != unit_other):
        return WEAK
    if other.is_change:
        return SURE if not is_person(one.topic) or one.relation is not Relation.EQUALS else LIKELY
    head = one.topic
    if _MULTIPLE.search(head) or one.verb.endswith("的是") != other.verb.endswith("的是"):
        return WEAK
    if _SINGLE.search(head) or (head.find("最喜欢") >= 0 and len(head) > 4):
        return SURE
    if is_value and not is_person(head):
        return SURE
    return SURE if changes and _JOB.search(one.value) and _JOB.search(other.value) else WEAK


def is_person(topic: str) -> bool:
    """Return whether a topic is only a person."""
    return _PERSON.fullmatch(topic) is not None


def are_of_one_size(one: str, other: str) -> bool:
    """Return whether neither of two places is likely to lie in the other."""
    if one in other or other in one or kind_of(one) != kind_of(other):
        return False
    return bool(_LARGE.fullmatch(one)) == bool(_LARGE.fullmatch(other)) and (
        bool(_SMALL.search(one)) == bool(_SMALL.search(other))
    )


def restates_chinese(first: str, second: str) -> float:
    """Return 1 where two texts are one but for script, width and punctuation, else 0. Symmetric."""
    return float(first == second or fold_chinese(first) == fold_chinese(second))
