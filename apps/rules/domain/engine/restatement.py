"""Whether two texts say the same in nearly the same words, so that one of them can go."""

import re

from apps.rules.domain.contradiction.lexicon import are_opposites
from apps.rules.domain.contradiction.text import VALUES, Passage, Token, analyse
from apps.rules.domain.contradiction.words import PARTICLES

# Signs before numbers, currencies and shares: 5 is not -5, and $5 not €5.
_MARKS = re.compile(r"(?<!\w)[-+−](?=[$€£¥]?\d)|[$€£¥%‰°]")


def restated_share(first: str, second: str) -> float:
    """How much of two texts is the same, in [0, 1]; symmetric. 1 for equal texts.

    The share of common content words. 0 when neither text has all content words of the other, when they stand in
    another order ("Ana owes Ben", "Ben owes Ana"), or when a value, a name, a negation or a small word that turns
    the meaning is on one side only.
    """
    if first == second:
        return 1.0
    if _MARKS.findall(first) != _MARKS.findall(second):
        return 0.0
    one, other = analyse(first), analyse(second)
    words, others = one.whole.content, other.whole.content
    common = words & others
    if not common or _fixed(one) != _fixed(other) or _values(one) != _values(other):
        return 0.0
    if common not in (words, others) or is_reordered(one, other):
        return 0.0
    if any(are_opposites(extra, word) for extra in (words | others) - common for word in common):
        return 0.0
    return len(common) / max(len(words), len(others))


def _fixed(passage: Passage) -> frozenset[str]:
    """What must not differ: values, names, small words that turn the meaning, whether something is denied."""
    tokens = passage.whole.tokens
    fixed = {token.key for token in tokens if token.kind in VALUES or token.name or _turns(token)}
    return frozenset(fixed | ({"not"} if passage.whole.negators else set()))


def _turns(token: Token) -> bool:
    """ "up" and "down", "never too late"."""
    return token.text in PARTICLES or (token.function and " " in token.text)


def _values(passage: Passage) -> tuple[str, ...]:
    """Every value in order, as often as it is said: "3 of 4 rooms" is not "4 of 3 rooms"."""
    return tuple(token.key for token in passage.whole.tokens if token.kind in VALUES)


def is_reordered(one: Passage, other: Passage) -> bool:
    """Whether the common content words of two texts stand in different orders."""
    common = one.whole.content & other.whole.content
    return _order(one, common) != _order(other, common)


def _order(passage: Passage, words: frozenset[str]) -> tuple[str, ...]:
    """Words in the order in which they are first said."""
    return tuple(dict.fromkeys(token.key for token in passage.whole.tokens if token.key in words))
