"""One side denies what the other says: "there is no X" against "X", "I have never done X" against X being done."""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from apps.rules.domain.contradiction_evidence import (
    NOTICE_ONLY,
    Evidence,
    Reason,
    as_written,
    clamp,
    strongest,
    telling,
)
from apps.rules.domain.contradiction_text import Clause, Passage
from apps.rules.domain.contradiction_words import FILLERS, INTENTIONS, LIGHT, NEVER

# Negated words that the other side has, and words of the other side that the negated one has.
MIN_DENIED, MIN_SAID = 0.7, 0.5
MIN_PART_WORDS = 3
MAX_WHOLE_TOKENS = 40
MIN_DENIAL_COVERAGE = 0.34
MIN_DENIAL_WORDS = 2
# Without vectors, the share of the denied words has to speak for itself.
MIN_DENIAL_COVERAGE_ALONE = 0.6
TOPIC_FROM, TOPIC_TO = 0.2, 0.6
MIN_TOPIC = 0.3
SHORT_TOKENS = 15
ONE_NAME = 0.75


class _Denied(NamedTuple):
    """A clause with "never", and the keys of what it denies."""

    clause: Clause
    never: str
    words: frozenset[str]


def negation(first: Passage, second: Passage) -> Evidence | None:
    """One side says the other's words with a "not". 1 when all words agree, 0.5 at about three in four."""
    forth = strongest(_flip(denied, said, first, second) for denied, said in _opposed(first, second))
    back = strongest(_flip(denied, said, second, first) for denied, said in _opposed(second, first))
    return strongest((forth, back and back.swapped()))


def _opposed(first: Passage, second: Passage) -> Iterator[tuple[Clause, Clause]]:
    """Clauses of the first that deny, each with those of the second that do not."""
    if not first.whole.negators:
        return
    affirmed = [part for part in _parts(second) if not part.negators]
    for denied in _parts(first):
        if denied.negators:
            yield from ((denied, said) for said in affirmed)


def _parts(passage: Passage) -> list[Clause]:
    """A short text as a whole; of a longer one the clauses that say something."""
    if len(passage.clauses) == 1 or (len(passage.whole.tokens) <= MAX_WHOLE_TOKENS and len(passage.sentences) == 1):
        return [passage.whole]
    return [clause for clause in passage.clauses if len(telling(clause)) >= MIN_PART_WORDS]


def _flip(denied: Clause, said: Clause, first: Passage, second: Passage) -> Evidence | None:
    common = denied.content & said.content
    if not common:
        return None
    of_denied, of_said = len(common) / len(denied.content), len(common) / len(said.content)
    if of_denied < MIN_DENIED or of_said < MIN_SAID:
        return None
    if len(common) == 1 and of_said < 1:
        return None
    score = clamp(0.75 * of_denied + 0.5 * of_said - 0.25)
    if INTENTIONS & {token.key for token in said.tokens} - {token.key for token in denied.tokens}:
        score = min(score, NOTICE_ONLY)
    words = denied.tokens[denied.negators[0]].text
    return Evidence(Reason.NEGATION, score, denied.words, said.words, ((words, ""),), as_written(common, first))


def denial(first: Passage, second: Passage, similarity: float | None) -> Evidence | None:
    """Somebody says that they never did something, and there is evidence of just that.

    The words after "never" are looked for in the other text. similarity: the cosine of the texts, None where it is
    not known; then more of the words have to be there.
    """
    forth = strongest(_answered(denied, first, second, similarity) for denied in _denials(first))
    back = strongest(_answered(denied, second, first, similarity) for denied in _denials(second))
    return strongest((forth, back and back.swapped()))


@lru_cache(maxsize=4096)
def _denials(passage: Passage) -> tuple[_Denied, ...]:
    """What a passage says never happened."""
    found = []
    for clause in passage.clauses:
        place = _never(clause)
        if place is not None:
            after = {token.key for token in clause.tokens[place + 1 :] if token.is_content} - FILLERS
            found.append(_Denied(clause, clause.tokens[place].text, frozenset(after - LIGHT or after)))
    return tuple(denied for denied in found if denied.words)


def _never(clause: Clause) -> int | None:
    return next((place for place in clause.negators if clause.tokens[place].key in NEVER), None)


def _answered(denied: _Denied, first: Passage, second: Passage, similarity: float | None) -> Evidence | None:
    answer = max(second.clauses, key=lambda said: len(denied.words & said.content), default=None)
    if answer is None or _never(answer) is not None:
        return None
    common = denied.words & second.whole.content
    intended = any(token.key in INTENTIONS for token in answer.tokens)
    score = _denial_score(len(common), len(denied.words), similarity)
    if common == denied.words and not intended and _is_told_briefly(common, first, second):
        score = max(score or 0.0, ONE_NAME)
    if score is None:
        return None
    score = min(score, NOTICE_ONLY) if intended else score
    differing = ((denied.never, ""),)
    return Evidence(Reason.DENIAL, score, denied.clause.words, answer.words, differing, as_written(common, first))


def _is_told_briefly(denied: frozenset[str], first: Passage, second: Passage) -> bool:
    """ "I have never been to Paris", "I visited Paris": a name, and little else."""
    short = max(len(first.whole.tokens), len(second.whole.tokens)) <= SHORT_TOKENS
    return short and len(denied) == 1 and denied <= first.names and second.whole.is_anchored


def _denial_score(common: int, denied: int, similarity: float | None) -> float | None:
    coverage = common / denied if denied else 0.0
    if common < MIN_DENIAL_WORDS or coverage < MIN_DENIAL_COVERAGE:
        return None
    if similarity is None:
        return 0.25 + 0.5 * coverage if coverage >= MIN_DENIAL_COVERAGE_ALONE else None
    if similarity < MIN_TOPIC:
        return None
    topic = clamp((similarity - TOPIC_FROM) / (TOPIC_TO - TOPIC_FROM))
    return clamp(0.25 + 0.5 * coverage + 0.25 * topic)
