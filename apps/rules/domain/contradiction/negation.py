"""One side denies what the other says: "there is no X" against "X", "I have never done X" against X being done."""

from collections.abc import Iterator
from typing import NamedTuple

from apps.rules.domain.contradiction.evidence import (
    NOTICE_ONLY,
    Evidence,
    Reason,
    as_written,
    clamp,
    strongest,
    telling,
)
from apps.rules.domain.contradiction.subjects import SPEAKER, are_of_others, numbers_of, somebody, times_of
from apps.rules.domain.contradiction.text import Clause, Passage
from apps.rules.domain.contradiction.words import (
    ENDERS,
    ENDINGS,
    FILLERS,
    HABITS,
    INTENTIONS,
    LIGHT,
    NEVER,
    OCCASIONS,
    OPENERS,
    PARTICLES,
    UPDATE_CUES,
)

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
ENDED = 0.1
_SAYS_NOTHING = FILLERS | LIGHT | UPDATE_CUES


class _Part(NamedTuple):
    """A clause, or several as one, and what each "not" of it denies."""

    clause: Clause
    denials: tuple["_Own", ...]


class _Own(NamedTuple):
    """The words that one "not" denies, None for those of the whole statement, and what its part begins with."""

    words: frozenset[str] | None
    opener: str


class _Denied(NamedTuple):
    """A clause with "never", the keys of what it denies, and those of what stands before "never"."""

    clause: Clause
    never: str
    words: frozenset[str]
    subject: frozenset[str]


def negation(first: Passage, second: Passage) -> Evidence | None:
    """One side says the other's words with a "not". 1 when all words agree, 0.5 at about three in four."""
    forth = strongest(_flip(denied, said, first, second) for denied, said in _opposed(first, second))
    back = strongest(_flip(denied, said, second, first) for denied, said in _opposed(second, first))
    return strongest((forth, back and back.swapped()))


def _opposed(first: Passage, second: Passage) -> Iterator[tuple[_Part, Clause]]:
    """Parts of the first that deny, each with the clauses of the second that do not."""
    if not first.whole.negators:
        return
    affirmed = [part.clause for part in second.once(_parts) if not part.denials]
    for denied in first.once(_parts):
        if denied.denials:
            yield from ((denied, said) for said in affirmed)


def _parts(passage: Passage) -> tuple[_Part, ...]:
    """A short text as a whole; of a longer one the clauses that say something."""
    if len(passage.clauses) == 1 or (len(passage.whole.tokens) <= MAX_WHOLE_TOKENS and len(passage.sentences) == 1):
        return (_Part(passage.whole, tuple(own for clause in passage.clauses for own in _denials_of(clause, passage))),)
    return tuple(
        _Part(clause, tuple(_denials_of(clause, passage)))
        for clause in passage.clauses
        if len(telling(clause)) >= MIN_PART_WORDS
    )


def _denials_of(clause: Clause, passage: Passage) -> Iterator[_Own]:
    """What each "not" of a clause denies: the words of its part up to the next "when", "who", "but"."""
    for place in clause.negators:
        start = max((at for at in range(place + 1) if clause.tokens[at].text in OPENERS), default=0)
        after = range(place + 1, len(clause.tokens))
        end = next((at for at in after if clause.tokens[at].text in ENDERS), len(clause.tokens))
        words = frozenset(token.key for token in clause.tokens[start:end] if token.is_content) - FILLERS
        opener = clause.tokens[start].text if clause.tokens[start].text in OPENERS else ""
        is_all = not words and opener != "without"
        yield _Own(None if is_all or words >= passage.whole.content - FILLERS else words, opener)


def _flip(part: _Part, said: Clause, first: Passage, second: Passage) -> Evidence | None:
    denied = part.clause
    common = denied.content & said.content
    if not common or are_of_others(denied, said) or _are_of_other_times(denied, said):
        return None
    told = said.content - (HABITS - common)
    of_denied, of_said = len(common) / len(denied.content), len(common) / len(told)
    if of_denied < MIN_DENIED or of_said < MIN_SAID:
        return None
    if len(common) == 1 and of_said < 1:
        return None
    repeated = [own for own in part.denials if _repeats(own, said)]
    if not repeated:
        return None
    score = clamp(0.75 * of_denied + 0.5 * of_said - 0.25 + ENDED * _says_it_ended(denied))
    if _may_both_hold(denied, said) or all(own.opener in OCCASIONS for own in repeated):
        score = min(score, NOTICE_ONLY)
    words = denied.tokens[denied.negators[0]].text
    return Evidence(Reason.NEGATION, score, denied.words, said.words, ((words, ""),), as_written(common, first))


def _repeats(own: _Own, said: Clause) -> bool:
    """The other side says what is denied, not only what stands beside it: "mended it when nobody looked"."""
    if own.words is None:
        return True
    return bool(own.words) and len(own.words & said.content) >= MIN_DENIED * len(own.words)


def _are_of_other_times(one: Clause, other: Clause) -> bool:
    """ "I ran on Monday", "I did not run on Tuesday"."""
    ours, theirs = times_of(one), times_of(other)
    return bool(ours and theirs) and ours.isdisjoint(theirs)


def _says_it_ended(denied: Clause) -> bool:
    """ "no longer", "not any more"."""
    return any(token.text in ENDINGS for token in denied.tokens)


def _may_both_hold(denied: Clause, said: Clause) -> bool:
    """What is said is only intended, is of somebody or something else, of another number, time or place.

    What is denied may be narrower, too: who does not like sweet wine may like wine.
    """
    if INTENTIONS & {token.key for token in said.tokens} - {token.key for token in denied.tokens}:
        return True
    if denied.content - said.content - _SAYS_NOTHING or (somebody(denied) == SPEAKER) != (somebody(said) == SPEAKER):
        return True
    if times_of(denied) != times_of(said) or numbers_of(denied) - numbers_of(said):
        return True
    return bool(_particles(denied) - _particles(said)) and bool(_particles(said) - _particles(denied))


def _particles(clause: Clause) -> frozenset[str]:
    return frozenset(token.text for token in clause.tokens if token.text in PARTICLES)


def denial(first: Passage, second: Passage, similarity: float | None) -> Evidence | None:
    """Somebody says that they never did something, and there is evidence of just that.

    The words after "never" are looked for in the other text. similarity: the cosine of the texts, None where it is
    not known; then more of the words have to be there.
    """
    forth = strongest(_answered(denied, first, second, similarity) for denied in first.once(_denials))
    back = strongest(_answered(denied, second, first, similarity) for denied in second.once(_denials))
    return strongest((forth, back and back.swapped()))


def _denials(passage: Passage) -> tuple[_Denied, ...]:
    """What a passage says never happened."""
    if not passage.whole.negators:
        return ()
    found = []
    for clause in passage.clauses:
        place = _never(clause)
        if place is not None:
            after = {token.key for token in clause.tokens[place + 1 :] if token.is_content} - FILLERS
            before = frozenset(token.key for token in clause.tokens[:place] if token.is_content)
            found.append(_Denied(clause, clause.tokens[place].text, frozenset(after - LIGHT or after), before))
    return tuple(denied for denied in found if denied.words)


def _never(clause: Clause) -> int | None:
    return next((place for place in clause.negators if clause.tokens[place].key in NEVER), None)


def _answered(denied: _Denied, first: Passage, second: Passage, similarity: float | None) -> Evidence | None:
    answer = max(second.clauses, key=lambda said: len(denied.words & said.content), default=None)
    if answer is None or answer.negators or are_of_others(denied.clause, answer):
        return None
    common = denied.words & second.whole.content
    open_yet = _may_be_open(denied, answer)
    score = _denial_score(len(common), len(denied.words), similarity)
    if common == denied.words and not open_yet and _is_told_briefly(common, first, second):
        score = max(score or 0.0, ONE_NAME)
    if score is None:
        return None
    score = min(score, NOTICE_ONLY) if open_yet else score
    differing = ((denied.never, ""),)
    return Evidence(Reason.DENIAL, score, denied.clause.words, answer.words, differing, as_written(common, first))


def _may_be_open(denied: _Denied, answer: Clause) -> bool:
    """The answer tells of an intention, or of somebody else: "my brother never smokes", "I smoke"."""
    if any(token.key in INTENTIONS for token in answer.tokens):
        return True
    return somebody(denied.clause) != somebody(answer) or bool(denied.subject - answer.content - _SAYS_NOTHING)


def _is_told_briefly(denied: frozenset[str], first: Passage, second: Passage) -> bool:
    """ "I have never been to Paris", "I visited Paris": a name, and little else."""
    short = max(len(first.whole.tokens), len(second.whole.tokens)) <= SHORT_TOKENS
    return short and len(denied) == 1 and denied <= first.names and second.whole.is_anchored


def _denial_score(common: int, denied: int, similarity: float | None) -> float | None:
    coverage = common / denied if denied else 0.0
    if common < MIN_DENIAL_WORDS or coverage < MIN_DENIAL_COVERAGE:
        return None
    if similarity is None:
        return 0.35 + 0.5 * coverage if coverage >= MIN_DENIAL_COVERAGE_ALONE else None
    if similarity < MIN_TOPIC:
        return None
    topic = clamp((similarity - TOPIC_FROM) / (TOPIC_TO - TOPIC_FROM))
    return clamp(0.35 + 0.5 * coverage + 0.25 * topic)
