"""Statements that deny the other text: "I do not smoke", "I smoke"; "I have never done X" against X being done."""

from collections.abc import Iterator
from typing import NamedTuple

from apps.rules.domain.contradiction.evidence import (
    NOTICE_ONLY,
    Evidence,
    Reason,
    as_written,
    clamp,
    strongest,
)
from apps.rules.domain.contradiction.text import (
    SPEAKER,
    Clause,
    Passage,
    are_of_others,
    numbers_of,
    person_of,
    times_of,
)
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

# Share of the negated words that the other side has, and of its words that the negated side has.
MIN_DENIED, MIN_SAID = 0.7, 0.5
MIN_PART_WORDS = 3
MAX_WHOLE_TOKENS = 40
MIN_DENIAL_COVERAGE = 0.34
MIN_DENIAL_WORDS = 2
# Without vectors, more of the denied words must occur.
MIN_DENIAL_COVERAGE_ALONE = 0.6
TOPIC_FROM, TOPIC_TO = 0.2, 0.6
MIN_TOPIC = 0.3
ENDED = 0.1
_SAYS_NOTHING = FILLERS | LIGHT | UPDATE_CUES


class Denial(NamedTuple):
    """The words that one "not" denies, None for those of the whole statement, and the first word of its part."""

    words: frozenset[str] | None
    opener: str


class ClauseDenials(NamedTuple):
    """A clause, or several as one, and what each "not" of it denies."""

    clause: Clause
    denials: tuple[Denial, ...]


class NeverClause(NamedTuple):
    """A clause with "never", the keys of what it denies, and those of what precedes "never"."""

    clause: Clause
    never: str
    words: frozenset[str]
    subject: frozenset[str]


def find_negation(first: Passage, second: Passage) -> Evidence | None:
    """Return the evidence that one text has the other's words with a "not".

    The score is 1 when all words agree, 0.5 at about three in four.
    """
    if not (first.whole.negators or second.whole.negators) or first.sentences == second.sentences:
        return None
    forth = strongest(flip(denied, said, first) for denied, said in opposed_clauses(first, second))
    back = strongest(flip(denied, said, second) for denied, said in opposed_clauses(second, first))
    return strongest((forth, back and back.swapped()))


def opposed_clauses(first: Passage, second: Passage) -> Iterator[tuple[ClauseDenials, Clause]]:
    """Yield the parts of the first text that deny, each with the clauses of the second that do not."""
    if not first.whole.negators:
        return
    affirmed = [part.clause for part in second.once(parts_of) if not part.denials]
    for denied in first.once(parts_of):
        if denied.denials:
            yield from ((denied, said) for said in affirmed)


def parts_of(passage: Passage) -> tuple[ClauseDenials, ...]:
    """Return a short text as a whole; of a longer one the clauses with enough content."""
    if len(passage.clauses) == 1 or (len(passage.whole.tokens) <= MAX_WHOLE_TOKENS and len(passage.sentences) == 1):
        return (
            ClauseDenials(
                passage.whole, tuple(own for clause in passage.clauses for own in denials_of(clause, passage))
            ),
        )
    return tuple(
        ClauseDenials(clause, tuple(denials_of(clause, passage)))
        for clause in passage.clauses
        if len(clause.content - LIGHT) >= MIN_PART_WORDS
    )


def denials_of(clause: Clause, passage: Passage) -> Iterator[Denial]:
    """Yield what each "not" of a clause denies: the words of its part up to the next "when", "who", "but"."""
    for place in clause.negators:
        start = max((at for at in range(place + 1) if clause.tokens[at].text in OPENERS), default=0)
        after = range(place + 1, len(clause.tokens))
        end = next((at for at in after if clause.tokens[at].text in ENDERS), len(clause.tokens))
        words = frozenset(token.key for token in clause.tokens[start:end] if token.is_content) - FILLERS
        opener = clause.tokens[start].text if clause.tokens[start].text in OPENERS else ""
        is_all = not words and opener != "without"
        yield Denial(None if is_all or words >= passage.whole.content - FILLERS else words, opener)


def flip(part: ClauseDenials, said: Clause, first: Passage) -> Evidence | None:
    """Return the evidence of a part that denies and a clause that does not, where they have enough in common."""
    denied = part.clause
    common = denied.content & said.content
    if not common or are_of_others(denied, said):
        return None
    ours, theirs = times_of(denied), times_of(said)
    if ours and theirs and ours.isdisjoint(theirs):  # "I ran on Monday", "I did not run on Tuesday"
        return None
    of_denied, of_said = len(common) / len(denied.content), len(common) / len(said.content - (HABITS - common))
    if of_denied < MIN_DENIED or of_said < MIN_SAID or (len(common) == 1 and of_said < 1):
        return None
    # The other side says what is denied, not only what is beside it: "mended it when no one was there".
    repeated = [
        own
        for own in part.denials
        if own.words is None or (own.words and len(own.words & said.content) >= MIN_DENIED * len(own.words))
    ]
    if not repeated:
        return None
    has_ended = any(token.text in ENDINGS for token in denied.tokens)  # "no longer", "not any more"
    score = clamp(0.75 * of_denied + 0.5 * of_said - 0.25 + ENDED * has_ended)
    if are_compatible(denied, said) or all(own.opener in OCCASIONS for own in repeated):
        score = min(score, NOTICE_ONLY)
    words = denied.tokens[denied.negators[0]].text
    return Evidence(Reason.NEGATION, score, denied.words, said.words, ((words, ""),), as_written(common, first))


def are_compatible(denied: Clause, said: Clause) -> bool:
    """Return whether both may hold: one is intended, or about another person, thing, number, time or place.

    What is denied may also be narrower: who does not like sweet wine may like wine.
    """
    if INTENTIONS & {token.key for token in said.tokens} - {token.key for token in denied.tokens}:
        return True
    if denied.content - said.content - _SAYS_NOTHING or (person_of(denied) == SPEAKER) != (person_of(said) == SPEAKER):
        return True
    if times_of(denied) != times_of(said) or numbers_of(denied) - numbers_of(said):
        return True
    ours, theirs = ({token.text for token in clause.tokens if token.text in PARTICLES} for clause in (denied, said))
    return bool(ours - theirs) and bool(theirs - ours)


def find_denial(first: Passage, second: Passage, similarity: float | None) -> Evidence | None:
    """Return the evidence that one text says "never" about what the other one shows.

    The words after "never" are looked up in the other text. similarity: the cosine of the texts, None where it is not
    known; then more of the words must occur.
    """
    if not (first.whole.negators or second.whole.negators):
        return None
    forth = strongest(answer_denial(denied, first, second, similarity) for denied in first.once(never_clauses))
    back = strongest(answer_denial(denied, second, first, similarity) for denied in second.once(never_clauses))
    return strongest((forth, back and back.swapped()))


def never_clauses(passage: Passage) -> tuple[NeverClause, ...]:
    """Return the clauses of a passage that say that a thing never happened."""
    if not passage.whole.negators:
        return ()
    found = []
    for clause in passage.clauses:
        place = next((place for place in clause.negators if clause.tokens[place].key in NEVER), None)
        if place is not None:
            after = {token.key for token in clause.tokens[place + 1 :] if token.is_content} - FILLERS
            before = frozenset(token.key for token in clause.tokens[:place] if token.is_content)
            found.append(NeverClause(clause, clause.tokens[place].text, frozenset(after - LIGHT or after), before))
    return tuple(denied for denied in found if denied.words)


def answer_denial(denied: NeverClause, first: Passage, second: Passage, similarity: float | None) -> Evidence | None:
    """Return the evidence of the clause in the second text that has most of the denied words."""
    answer = max(second.clauses, key=lambda said: len(denied.words & said.content), default=None)
    if answer is None or answer.negators or are_of_others(denied.clause, answer):
        return None
    common = denied.words & second.whole.content
    # The answer is an intention, or about another person: "my brother never smokes", "I smoke".
    may_both = (
        any(token.key in INTENTIONS for token in answer.tokens)
        or person_of(denied.clause) != person_of(answer)
        or bool(denied.subject - answer.content - _SAYS_NOTHING)
    )
    score = denial_score(len(common), len(denied.words), similarity)
    if score is None:
        return None
    score = min(score, NOTICE_ONLY) if may_both else score
    differing = ((denied.never, ""),)
    return Evidence(Reason.DENIAL, score, denied.clause.words, answer.words, differing, as_written(common, first))


def denial_score(common: int, denied: int, similarity: float | None) -> float | None:
    """Return the score of a denial with so many of its words in the other text; None for too few."""
    coverage = common / denied if denied else 0.0
    if common < MIN_DENIAL_WORDS or coverage < MIN_DENIAL_COVERAGE:
        return None
    if similarity is None:
        return 0.35 + 0.5 * coverage if coverage >= MIN_DENIAL_COVERAGE_ALONE else None
    if similarity < MIN_TOPIC:
        return None
    topic = clamp((similarity - TOPIC_FROM) / (TOPIC_TO - TOPIC_FROM))
    return clamp(0.35 + 0.5 * coverage + 0.25 * topic)
