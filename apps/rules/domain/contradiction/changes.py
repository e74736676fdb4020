"""Somebody tells of a change in words that the other text has, too, without a value that could be compared.

"My friend Rachel lives in the city", "my friend Rachel has moved back to the suburbs". Which of the two holds cannot be
told from such evidence, so it is for noticing only.
"""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from apps.rules.domain.contradiction.evidence import Evidence, Reason, as_written, strongest
from apps.rules.domain.contradiction.text import Clause, Passage
from apps.rules.domain.contradiction.words import CHANGES, FILLERS, LIGHT, SPEAKER

MIN_TOPIC = 0.4
MIN_COMMON = 3
MIN_COVERAGE = 0.3
WORTH_A_LOOK = 0.6


class _Sentence(NamedTuple):
    """A sentence in which the speaker occurs, its telling words, and whether it tells of a change."""

    whole: Clause
    words: frozenset[str]
    changes: bool


def change(first: Passage, second: Passage, similarity: float | None) -> Evidence | None:
    """One side tells of a change of what the other one speaks of, and each says something that the other does not.

    similarity: the cosine of the texts; without it nothing is found, since the words alone are too weak.
    """
    if similarity is None or similarity < MIN_TOPIC:
        return None
    return strongest(
        _between(one, other, first)
        for one, other in product(first.once(_sentences), second.once(_sentences))
        if one.changes or other.changes
    )


def _sentences(passage: Passage) -> tuple[_Sentence, ...]:
    return tuple(_spoken(passage))


def _spoken(passage: Passage) -> Iterator[_Sentence]:
    for clauses in passage.sentences:
        whole = Clause(tuple(token for clause in clauses for token in clause.tokens))
        if any(token.text in SPEAKER for token in whole.tokens):
            yield _Sentence(whole, whole.content - LIGHT - FILLERS - CHANGES, bool(whole.content & CHANGES))


def _between(one: _Sentence, other: _Sentence, first: Passage) -> Evidence | None:
    common = one.words & other.words
    fewer = min(len(one.words), len(other.words))
    if len(common) < MIN_COMMON or len(common) < MIN_COVERAGE * fewer or len(common) == fewer:
        return None
    return Evidence(Reason.CHANGE, WORTH_A_LOOK, one.whole.words, other.whole.words, common=as_written(common, first))
