"""Texts that say the same in nearly the same words, so that one of them can be dropped."""

import re

from apps.rules.domain.contradiction.lexicon import are_opposites
from apps.rules.domain.contradiction.text import VALUES, Passage, analyse
from apps.rules.domain.contradiction.words import PARTICLES

# Signs before numbers, currencies and percentages: 5 is not -5, and $5 not €5.
_MARKS = re.compile(r"(?<!\w)[-+−](?=[$€£¥]?\d)|[$€£¥%‰°]")


def restated_share(first: str, second: str) -> float:
    """Return the share of common content words of two texts, in [0, 1]; symmetric, and 1 for equal texts.

    It is 0 when neither text has all content words of the other, when they are in another order ("Ana owes Ben", "Ben
    owes Ana"), or when a value, a name, a negation or a particle that turns the meaning is on one side only.
    """
    if first == second:
        return 1.0
    if _MARKS.findall(first) != _MARKS.findall(second):
        return 0.0
    one, other = analyse(first), analyse(second)
    words, others = one.whole.content, other.whole.content
    common = words & others
    if not common or fixed_words(one) != fixed_words(other) or value_keys(one) != value_keys(other):
        return 0.0
    if common not in (words, others) or is_reordered(one, other):
        return 0.0
    if any(are_opposites(extra, word) for extra in (words | others) - common for word in common):
        return 0.0
    return len(common) / max(len(words), len(others))


def fixed_words(passage: Passage) -> frozenset[str]:
    """Return what must not differ: values, names, particles and idioms that turn the meaning, and a negation."""
    fixed = {
        token.key
        for token in passage.whole.tokens
        if token.kind in VALUES or token.name or token.text in PARTICLES or (token.function and " " in token.text)
    }
    return frozenset(fixed | ({"not"} if passage.whole.negators else set()))


def value_keys(passage: Passage) -> tuple[str, ...]:
    """Return every value in order, with repeats: "3 of 4 rooms" is not "4 of 3 rooms"."""
    return tuple(token.key for token in passage.whole.tokens if token.kind in VALUES)


def is_reordered(one: Passage, other: Passage) -> bool:
    """Return whether the common content words of two texts are in different orders of first occurrence."""
    common = one.whole.content & other.whole.content
    orders = [
        list(dict.fromkeys(token.key for token in passage.whole.tokens if token.key in common))
        for passage in (one, other)
    ]
    return orders[0] != orders[1]
