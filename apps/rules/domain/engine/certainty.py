"""What the judge of pairs is not trusted with, however certain it is: where its answer hangs on one word of a frame.

Of two texts that share most of their words, the rest says what differs: another number may name another thing, and a
negation with more words denies less. What happened once took place whatever happens next.
"""

import re

from apps.rules.domain.contradiction.frames import frames_of
from apps.rules.domain.contradiction.judgement import denies, read_text
from apps.rules.domain.engine.terms import distinct_terms
from apps.rules.domain.statements.contrasts import are_counterparts
from apps.rules.domain.statements.language import ENGLISH, language_of

FRAME_SHARE = 0.5
_DIGITS = re.compile(r"\d+")
_SUBJECT = re.compile(
    r"(\w+['’]s|i|you|he|she|we|they|my|your|his|her|our|their|je|tu|il|elle|nous|ils|elles|ich|du|er|sie|wir|yo|él|ella|mi|su)\b",
    re.IGNORECASE,
)


def may_replace_alone(older: str, newer: str) -> bool:
    """Return whether the judge may act alone on an older and a newer text that it finds to be a replacement."""
    if is_occurrence(older) or are_counterparts(older, newer) or have_other_persons(older, newer):
        return False
    words, others = distinct_terms(older), distinct_terms(newer)
    if not have_one_frame(words, others):
        return True
    if max(len(words - others), len(others - words)) <= 1:
        return False
    return not (differ_in_numbers(older, newer) or denies_less(older, newer, words, others))


def may_join_alone(older: str, newer: str) -> bool:
    """Return whether the judge may take two texts for the same: not of other persons, and not but for one word.

    Of two occurrences in one frame that differ in both, each took place.
    """
    if have_other_persons(older, newer):
        return False
    words, others = distinct_terms(older), distinct_terms(newer)
    left, right = words - others, others - words
    if not (left or right):
        return True
    if left and right and have_one_frame(words, others) and is_occurrence(older) and is_occurrence(newer):
        return False
    return max(len(left), len(right)) > 1


def have_one_frame(words: frozenset[str], others: frozenset[str]) -> bool:
    """Return whether two texts share most of their words."""
    return len(words & others) >= FRAME_SHARE * min(len(words), len(others))


def is_occurrence(text: str) -> bool:
    """Return whether all that a text says is that something happened, as far as its language can be read."""
    if language_of(text) != ENGLISH:
        return False
    frames = [frame for statement in read_text(text) for frame in frames_of(statement)]
    return bool(frames) and all(frame.is_event for frame in frames)


def have_other_persons(older: str, newer: str) -> bool:
    """Return whether both texts begin with a pronoun or an owner, and with another one."""
    one, other = _SUBJECT.match(older), _SUBJECT.match(newer)
    return bool(one and other) and one[1].casefold() != other[1].casefold()  # type: ignore[index]


def differ_in_numbers(older: str, newer: str) -> bool:
    """Return whether both texts have numbers, and not the same ones."""
    one, other = _DIGITS.findall(older), _DIGITS.findall(newer)
    return bool(one and other) and sorted(one) != sorted(other)


def denies_less(older: str, newer: str, words: frozenset[str], others: frozenset[str]) -> bool:
    """Return whether one of two texts denies what the other one says, and says more: of cats, "cats that scratch"."""
    if denies(older) is denies(newer):
        return False
    return bool(others - words) if denies(newer) else bool(words - others)
