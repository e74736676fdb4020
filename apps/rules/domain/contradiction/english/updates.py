"""Whether the newer of two statements replaces the older one: another value, a move, an end, a change of mind.

Both must be asserted, and their times must allow it: a past state replaces nothing. The subject must be the same; what
differs must be one thing of one kind, in a place that has room for one, or the newer side says that something changed.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import islice, product
from typing import NamedTuple

from apps.core.domain.caches import SizedCache
from apps.retrieval.domain.text.languages import STOPWORDS
from apps.rules.domain.contradiction.english.ends import (
    find_change_of_mind,
    find_end,
    find_new_holder,
    find_replacement,
)
from apps.rules.domain.contradiction.english.states import ACT, NOTICE, are_of_others, as_state, resolve
from apps.rules.domain.contradiction.english.values import (
    find_changed_value,
    find_corrected,
    find_new_value,
    find_value_of,
)
from apps.rules.domain.contradiction.english.vocabulary import SPANS
from apps.rules.domain.contradiction.evidence import Evidence, Reason
from apps.rules.domain.contradiction.frames import Frame, frame_of, frames_of, key_of_token
from apps.rules.domain.statements.read import split_into_sentences, statements_of
from apps.rules.domain.statements.statement import Mood, Tense

# Words that statements within longer texts must share.
MIN_COMMON = 2
MAX_PAIRS = 200
SHORT_CHARS = 150
MEDIUM_CHARS = 400
MAX_CHARS, MAX_SENTENCES, STEM_CHARS = 4000, 60, 5
# Pairs of sentences that one word may bring together, and pairs that are read of two texts.
MAX_HAVING, MAX_NEAR, MAX_NEAR_OF_LONG = 12, 20, 5
_WORD = re.compile(r"[^\W_]{3,}")
_claims = SizedCache("statements", megabytes=8, entry_bytes=2_000, char_bytes=60)
_sentences = SizedCache("sentences of texts", megabytes=5, entry_bytes=600, char_bytes=30)


class Sentences(NamedTuple):
    """The sentences of a text, and beginning of a word -> the places of those that have it."""

    texts: tuple[str, ...]
    having: Mapping[str, tuple[int, ...]]


def find_update(older: str, newer: str) -> Evidence | None:
    """Return the evidence that a statement of the newer text replaces one of the older text; None for none.

    The score is ACT where it may be acted on, NOTICE where a person should look. Accepts any str.
    """
    if older == newer:
        return None
    best: Evidence | None = None
    is_long = max(len(older), len(newer)) > SHORT_CHARS
    pairs = pairs_that_share(older, newer) if is_long else pairs_of(older, newer)
    for old, new in islice(pairs, MAX_PAIRS):
        found = compare(old, new)
        if found and (best is None or found.score > best.score):
            best = found
        if best and best.score >= ACT:
            break
    return best


@_claims.remember
def claims_of(text: str) -> tuple[Frame, ...]:
    """Return what a short text, or a sentence of a longer one, asserts of the present."""
    stated = (one for one in statements_of(text) if one.can_decide and one.tense is not Tense.PAST)
    return tuple(frame for statement in stated for frame in frames_of(statement))


def sentences_of(text: str) -> Sentences:
    """Return the sentences of a long text, at most MAX_SENTENCES, with their words by their beginnings."""
    return part_text(text[:MAX_CHARS])


@_sentences.remember
def part_text(text: str) -> Sentences:
    """Part a text into sentences, at most MAX_SENTENCES, with their words by their beginnings."""
    found = tuple(islice((one for one in split_into_sentences(text) if one.strip()), MAX_SENTENCES))
    having: dict[str, list[int]] = defaultdict(list)
    for place, sentence in enumerate(found):
        for key in {word[:STEM_CHARS] for word in _WORD.findall(sentence.lower()) if word not in STOPWORDS}:
            having[key].append(place)
    return Sentences(found, {key: tuple(places) for key, places in having.items()})


def pairs_of(older: str, newer: str) -> Iterator[tuple[Frame, Frame]]:
    """Yield the pairs of statements of two short texts that may decide about each other."""
    for new, old in product(claims_of(newer), claims_of(older)):
        is_of_one_kind = old.statement.mood is new.statement.mood or old.statement.mood is Mood.ASSERTION
        if is_of_one_kind and (old.content & new.content or old.subject_keys == new.subject_keys):
            yield old, new


def pairs_that_share(older: str, newer: str) -> Iterator[tuple[Frame, Frame]]:
    """Yield the pairs of statements of two texts that share a name or several words: the others are not even read."""
    ours, theirs = sentences_of(older), sentences_of(newer)
    shared: dict[tuple[int, int], int] = defaultdict(int)
    for key in ours.having.keys() & theirs.having.keys():
        one, other = ours.having[key], theirs.having[key]
        if len(one) * len(other) <= MAX_HAVING:  # else the word says nothing about the matter
            for pair in product(one, other):
                shared[pair] += 1
    needed = 1 if len(older) <= SHORT_CHARS else MIN_COMMON
    near = sorted((pair for pair, count in shared.items() if count >= needed), key=lambda pair: -shared[pair])
    for place, its_place in near[: MAX_NEAR if min(len(older), len(newer)) <= MEDIUM_CHARS else MAX_NEAR_OF_LONG]:
        for new, old in product(claims_of(theirs.texts[its_place]), claims_of(ours.texts[place])):
            is_of_one_kind = old.statement.mood is new.statement.mood or old.statement.mood is Mood.ASSERTION
            if is_of_one_kind and (len(old.content & new.content) >= MIN_COMMON or old.names & new.content):
                yield old, new


def may_decide(first: str, second: str) -> bool:
    """Return whether two texts may decide about each other: asserted, of one time, and not about different ones.

    Of longer texts only the statements are asked for, since evidence between them is found clause by clause.
    """
    if max(len(first), len(second)) > SHORT_CHARS:
        return True
    return any(
        one.can_decide
        and other.can_decide
        and (one.tense is Tense.PAST) is (other.tense is Tense.PAST)
        and (one.additive is other.additive or one.negative is not other.negative)
        and not are_of_others(frame_of(one), frame_of(other))
        for one in statements_of(first)
        for other in statements_of(second)
    )


def compare(old: Frame, new: Frame) -> Evidence | None:
    """Return the evidence that one statement replaces another."""
    if not old.verb:
        return None
    if not new.verb:
        judged = find_corrected(old, new)
        return judged and Evidence(judged[0], judged[1], old.statement.body, new.statement.body, (judged[2:],))
    old = as_state(old)
    old, new = resolve(old, new)
    if old.setting != new.setting and old.setting and new.setting:
        return None
    judged = (
        find_end(old, new)
        or find_replacement(old, new)
        or find_change_of_mind(old, new)
        or find_new_value(old, new)
        or find_new_value(old, as_state(new))
        or find_value_of(old, new)
        or find_changed_value(old, new)
        or find_corrected(old, new)
        or find_new_holder(old, new)
    )
    is_since = new.statement.changes and new.setting <= SPANS
    is_bound = old.setting != new.setting and not new.setting <= old.content and not is_since
    if judged and is_bound and not (new.is_event and all(":" in key for key in new.setting)):
        judged = (judged[0], min(judged[1], NOTICE), *judged[2:])
    if not judged:
        return None
    reason, score, first, second = judged
    is_more = new.statement.additive and not old.statement.additive
    if is_more and score >= ACT and reason is not Reason.ENDED:
        score = NOTICE
    shared = old.content & new.content
    common = tuple(sorted({token.text for token in old.tokens if key_of_token(token) in shared}))
    return Evidence(reason, score, old.statement.body, new.statement.body, ((first, second),), common)
