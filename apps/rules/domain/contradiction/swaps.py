"""Two short statements that differ in one place: "lives in Berlin", "lives in Munich"."""

from collections.abc import Sequence
from difflib import SequenceMatcher

from apps.rules.domain.contradiction.evidence import UNLIKELY, Evidence, Reason, as_written
from apps.rules.domain.contradiction.lexicon import are_exclusive, are_opposites, key_of, size_of
from apps.rules.domain.contradiction.single import (
    Place,
    is_attitude,
    is_certain_time,
    is_certain_value,
    is_counted,
    is_lasting,
    is_named,
    is_numbered_place,
    is_own_time,
    is_port,
    is_role,
    is_state,
    lasts,
    names_a_thing,
    takes_one,
)
from apps.rules.domain.contradiction.subjects import are_of_others
from apps.rules.domain.contradiction.text import VALUES, Clause, Kind, Passage
from apps.rules.domain.contradiction.words import FAVOURITES, PARTICLES, SINGLE_VALUED, UPDATE_CUES

MAX_TOKENS = 30
MAX_REPLACED = 3
_MOVE, _LIVE = key_of("move"), key_of("live")
# The scores of places that have room for one of the two values only, and of places that probably have.
CERTAIN, LIKELY = 0.9, 0.75


def find_swap(first: Passage, second: Passage) -> Evidence | None:
    """Return the evidence of the one place where two short statements differ; None when they differ in more places."""
    one, other = first.whole, second.whole
    if max(len(one.tokens), len(other.tokens)) > MAX_TOKENS or not may_differ_once(one, other):
        return None
    # The result of the matcher may depend on the order of its arguments.
    if [token.key for token in other.tokens] < [token.key for token in one.tokens]:
        turned = find_swap(second, first)
        return turned and turned.swapped()
    found = only_difference(one, other)
    judged = judge(*found) if found else None
    if not found or not judged:
        return None
    reason, score = judged
    ours, theirs = (" ".join(token.text for token in place.tokens) for place in found)
    common = as_written(one.content & other.content, first)
    return Evidence(reason, score, one.words, other.words, ((ours, theirs),), common)


def may_differ_once(first: Clause, second: Clause) -> bool:
    """Return whether so few words of two statements differ that they may be in one place. Symmetric, and cheap."""
    if bool(first.negators) != bool(second.negators):
        return False
    ours, theirs = first.content, second.content
    return max(len(ours), len(theirs)) - len(ours & theirs) <= MAX_REPLACED


def only_difference(first: Clause, second: Clause) -> tuple[Place, Place] | None:
    """Return the only place where two statements differ; None for none, several or a large one."""
    common = first.content & second.content
    frames = [[token.text for token in clause.tokens if token.function] for clause in (first, second)]
    if (not common and frames[0] != frames[1]) or are_of_others(first, second):
        return None
    ones, others = significant_places(first), significant_places(second)
    matcher = SequenceMatcher(None, compared_keys(first, ones), compared_keys(second, others), autojunk=False)
    blocks = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    if len(blocks) != 1 or blocks[0][0] != "replace":
        return None
    _, i, j, k, m = blocks[0]
    if max(j - i, m - k) > MAX_REPLACED:
        return None
    return Place(first, ones[i], ones[j - 1] + 1), Place(second, others[k], others[m - 1] + 1)


def significant_places(clause: Clause) -> tuple[int, ...]:
    """Return the positions of content words, values and particles that turn the meaning."""
    return tuple(
        place
        for place, token in enumerate(clause.tokens)
        if (token.is_content and token.key not in UPDATE_CUES - SINGLE_VALUED)
        or (token.kind in VALUES and not token.function)
        or token.text in PARTICLES
    )


def compared_keys(clause: Clause, places: Sequence[int]) -> list[str]:
    """Return the keys of some words; who moved to a place lives in it."""
    keys = [clause.tokens[place].key for place in places]
    for at in range(len(keys) - 1):
        if keys[at] == _MOVE:
            keys[at : at + 2] = [_LIVE, "in" if keys[at + 1] == "to" else keys[at + 1]]
    return keys


def judge(one: Place, other: Place) -> tuple[Reason, float] | None:
    """Return reason and score of two differing places; None where both statements may hold."""
    pair = (one, other)
    anchored = one.clause.is_anchored and other.clause.is_anchored
    replaced = anchored and all(map(takes_one, pair)) and bool(one.clause.content & other.clause.content)
    if one.values & other.values:
        if replaced and one.content and other.content and one.content != other.content:
            return judge_replaced(one, other)
        return judge_values(one, other, anchored)
    # Nothing but two words differ, which are related: not "love painting" and "hate sailing".
    ours, theirs = one.words, other.words
    words = (*ours, *theirs) if len(ours) == len(theirs) == 1 else None
    opposed = words is not None and are_opposites(*words)
    if opposed or (words is not None and are_exclusive(*words)):
        reason, passing = (Reason.OPPOSITE, LIKELY) if opposed else (Reason.ATTRIBUTE, UNLIKELY)
        is_certain = all(map(is_state, pair)) or all(map(is_attitude, pair))
        return reason, CERTAIN if is_certain else weigh(anchored, all(map(is_lasting, pair)), passing)
    if replaced:
        return judge_replaced(one, other)
    if all(map(is_role, pair)) and one.clause.content & other.clause.content:
        return Reason.REPLACED, LIKELY
    return None


def judge_values(one: Place, other: Place, anchored: bool) -> tuple[Reason, float] | None:
    """Return reason and score of two places with values.

    Nothing else may differ: "3 cats" is compatible with "2 dogs".
    """
    pair = (one, other)
    if min(one.count, other.count) > 1 or one.content != other.content:
        return None
    if all(map(is_numbered_place, pair)):
        return Reason.VALUE, CERTAIN if all(map(is_port, pair)) else LIKELY
    if any(map(names_a_thing, pair)):
        return None
    anchored = anchored or all(map(is_certain_value, pair))
    if any(kind is Kind.NUMBER for kind, _ in one.values & other.values):
        return Reason.VALUE, weigh(anchored, all(map(is_counted, pair)), LIKELY)
    lasting = (lasts(one.clause) and lasts(other.clause)) or all(map(is_own_time, pair))
    return Reason.VALUE, weigh(anchored, any(map(is_certain_time, pair)), LIKELY if lasting else UNLIKELY)


def judge_replaced(one: Place, other: Place) -> tuple[Reason, float] | None:
    """Return reason and score of two places that hold the one value of a thing."""
    if not (one.content and other.content) or one.particles != other.particles:
        return None
    pair = (one, other)
    are_favourites = all(any(token.key in FAVOURITES for token in place.clause.tokens[: place.start]) for place in pair)
    is_within = size_of(one.content) != size_of(other.content)
    return Reason.REPLACED, CERTAIN if (are_favourites or all(map(is_named, pair))) and not is_within else LIKELY


def weigh(anchored: bool, certain: bool, passing: float) -> float:
    """Return the score of a difference. passing: of events that may have happened once each way."""
    if not anchored:
        return UNLIKELY
    return CERTAIN if certain else passing
