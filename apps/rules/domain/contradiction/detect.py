"""Whether two texts contradict each other, by cheap evidence that a person can check (DESIGN D6)."""

import re
from dataclasses import replace
from itertools import product
from typing import NamedTuple

from apps.rules.domain.contradiction.evidence import NOTICE_ONLY, Evidence, Reason, as_written, strongest
from apps.rules.domain.contradiction.negation import find_denial, find_negation
from apps.rules.domain.contradiction.subjects import have_other_speakers
from apps.rules.domain.contradiction.swaps import find_swap
from apps.rules.domain.contradiction.text import Clause, Passage, analyse
from apps.rules.domain.contradiction.values import MIN_SHARED_NEAR, find_value
from apps.rules.domain.contradiction.words import CHANGES, FILLERS, LIGHT, SPEAKER

# One statement is a small part of a longer memory: superseding that for it would lose the rest.
MAX_ACTED_CHARS = 1500

# Changes: similarity of the texts, common words, their share of the fewer words, and the score.
MIN_TOPIC = 0.4
MIN_COMMON = 3
MIN_COVERAGE = 0.3
CHANGE_SCORE = 0.6

# Short statements about one of several things.
SHORT_CHARS = 150
_RELATIONS = """cousin|friend|son|daughter|brother|sister|colleague|coworker|aunt|uncle|neighbou?r|cat|dog|pet|child|kid
    |nephew|niece|student|pupil|classmate|roommate|flatmate|grandson|granddaughter|grandchild|teammate|client|customer
    |patient|horse|rabbit|bird|hamster|grandmother|grandfather"""
# "my cousin", "Ana's older sister", "the twins' dog": a person has one, and may have another.
_ONE_OF_SEVERAL = re.compile(
    rf"\b(?:my|his|her|their|our|your|its|\w+['’]s|\w+s['’]) (?:\w+ )?({_RELATIONS})\b".replace("\n    ", ""),
    re.IGNORECASE,
)
# A past state may have occurred several times.
_PAST = re.compile(r"\b(?:worked|lived|resided|stayed|studied|was|were)\b", re.IGNORECASE)
_TIMES_OF_DAY = re.compile(
    r"\b(?:morning|noon|lunch|lunchtime|afternoon|evening|dinner|night|midnight|breakfast|weekend|weekday|spring|summer"
    r"|autumn|fall|winter)s?\b",
    re.IGNORECASE,
)


class SpokenSentence(NamedTuple):
    """A sentence with a pronoun of the speaker, its content words, and whether it says that something changed."""

    whole: Clause
    words: frozenset[str]
    changes: bool


def find_contradiction(first: str, second: str, similarity: float | None = None) -> Evidence | None:
    """Return the strongest evidence that two texts contradict each other; None for none.

    similarity: the cosine of their embeddings, None where it is not known. Symmetric but for the order of the pairs
    in the evidence. Accepts any str.
    """
    one, other = analyse(first), analyse(second)
    if one is other or one.sentences == other.sentences or have_other_speakers(one, other):
        return None
    # Most memories have little in common, so each search has a condition that is cheap to check.
    shared = len(one.whole.content & other.whole.content)
    found = strongest(
        (
            find_negation(one, other) if shared else None,
            find_denial(one, other, similarity) if shared else None,
            find_swap(one, other),
            find_value(one, other, similarity) if shared >= MIN_SHARED_NEAR else None,
            find_change(one, other, similarity) if shared >= MIN_COMMON else None,
        )
    )
    if found and (max(len(first), len(second)) > MAX_ACTED_CHARS or may_both_hold(found.reason, first, second)):
        return replace(found, score=min(found.score, NOTICE_ONLY))
    return found


def find_change(first: Passage, second: Passage, similarity: float | None) -> Evidence | None:
    """Return the evidence that one text reports a change of the other's subject, without comparable values.

    "My friend Rachel lives in the city", "my friend Rachel has moved back to the suburbs". It does not show which of
    the two holds, so it is for noticing only. similarity: the cosine of the texts; without it nothing is found, since
    the words alone are too weak.
    """
    if similarity is None or similarity < MIN_TOPIC:
        return None
    found = []
    for one, other in product(first.once(spoken_sentences), second.once(spoken_sentences)):
        if not (one.changes or other.changes):
            continue
        common = one.words & other.words
        fewer = min(len(one.words), len(other.words))
        if len(common) >= MIN_COMMON and len(common) >= MIN_COVERAGE * fewer and len(common) != fewer:
            written = as_written(common, first)
            found.append(Evidence(Reason.CHANGE, CHANGE_SCORE, one.whole.words, other.whole.words, common=written))
    return strongest(found)


def spoken_sentences(passage: Passage) -> tuple[SpokenSentence, ...]:
    """Return the sentences of a passage with a pronoun of the speaker."""
    wholes = (Clause(tuple(token for clause in clauses for token in clause.tokens)) for clauses in passage.sentences)
    return tuple(
        SpokenSentence(whole, whole.content - LIGHT - FILLERS - CHANGES, bool(whole.content & CHANGES))
        for whole in wholes
        if any(token.text in SPEAKER for token in whole.tokens)
    )


def may_both_hold(reason: Reason, first: str, second: str) -> bool:
    """Return whether two short statements may be about different ones of several things. Symmetric.

    Two cousins, two jobs one after the other, morning and evening: the evidence is for noticing only.
    """
    if max(len(first), len(second)) > SHORT_CHARS:
        return False
    times = [{found.lower() for found in _TIMES_OF_DAY.findall(text)} for text in (first, second)]
    if all(times) and times[0].isdisjoint(times[1]):
        return True
    if reason is Reason.REPLACED and _PAST.search(first) and _PAST.search(second):
        return True
    of = [{found.lower() for found in _ONE_OF_SEVERAL.findall(text)} for text in (first, second)]
    return reason in {Reason.REPLACED, Reason.VALUE, Reason.ATTRIBUTE} and not of[0].isdisjoint(of[1])
