"""Two short statements that are the same but for one place: "lives in Berlin", "lives in Munich"."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from apps.rules.domain.contradiction_evidence import Evidence, Reason, as_written
from apps.rules.domain.contradiction_lexicon import are_exclusive, are_opposites
from apps.rules.domain.contradiction_text import VALUES, Clause, Kind, Passage, Token, is_identifier
from apps.rules.domain.contradiction_words import ATTITUDES, PARTICLES, SINGLE_VALUED, STATES, UPDATE_CUES

MAX_TOKENS = 30
MAX_REPLACED = 3
# What differs in a statement about somebody or something certain leaves room for one of the two only.
CERTAIN, LIKELY, UNLIKELY = 0.9, 0.75, 0.4
FAVOURITES = frozenset(("favourit", "favorit"))


@dataclass(frozen=True)
class Swap:
    """Where two statements differ, and what stands before that place in both."""

    first: tuple[Token, ...]
    second: tuple[Token, ...]
    before: tuple[Token, ...]
    common: frozenset[str]
    anchored: bool
    states: bool
    identifiers: bool


def swap(first: Passage, second: Passage) -> Evidence | None:
    """Evidence from the one place where two short statements differ; None when they differ in more places."""
    # What the matcher finds may depend on the order of its arguments.
    if _keys(second.whole) < _keys(first.whole):
        turned = swap(second, first)
        return turned and turned.swapped()
    found = _only_difference(first.whole, second.whole)
    judged = _judge(found) if found else None
    if not found or not judged:
        return None
    reason, score = judged
    differing = ((_text(found.first), _text(found.second)),)
    common = as_written(found.common, first)
    return Evidence(reason, score, first.whole.words, second.whole.words, differing, common)


def _keys(clause: Clause) -> list[str]:
    return [token.key for token in clause.tokens]


def _only_difference(first: Clause, second: Clause) -> Swap | None:
    if max(len(first.tokens), len(second.tokens)) > MAX_TOKENS or bool(first.negators) != bool(second.negators):
        return None
    common = first.content & second.content
    if max(len(first.content), len(second.content)) - len(common) > MAX_REPLACED:
        return None
    if not common and _frame(first) != _frame(second):
        return None
    one, other = significant(first), significant(second)
    ones, others = [token.key for token in one], [token.key for token in other]
    blocks = [code for code in SequenceMatcher(None, ones, others, autojunk=False).get_opcodes() if code[0] != "equal"]
    if len(blocks) != 1 or blocks[0][0] != "replace":
        return None
    _, i, j, k, m = blocks[0]
    if max(j - i, m - k) > MAX_REPLACED:
        return None
    return Swap(
        one[i:j], other[k:m], one[:i], common,
        anchored=first.is_anchored and second.is_anchored,
        states=_states(first) and _states(second),
        identifiers=_names_a_thing(first, one[i:j]) or _names_a_thing(second, other[k:m]),
    )  # fmt: skip


def _frame(clause: Clause) -> list[str]:
    return [token.text for token in clause.tokens if token.function]


def significant(clause: Clause) -> tuple[Token, ...]:
    """The words that make a statement what it is: content, values, and the small words that turn the meaning."""
    return tuple(
        token
        for token in clause.tokens
        if (token.is_content and token.key not in UPDATE_CUES - SINGLE_VALUED)
        or (token.kind in VALUES and not token.function)
        or token.text in PARTICLES
    )


def _states(clause: Clause) -> bool:
    return any(
        token.text in STATES or token.key in UPDATE_CUES or token.key in SINGLE_VALUED for token in clause.tokens
    )


def _names_a_thing(clause: Clause, tokens: Sequence[Token]) -> bool:
    return any(is_identifier(clause, place) for place, token in clause.values if token in tokens)


def _judge(found: Swap) -> tuple[Reason, float] | None:
    if _has_values(found):
        return None if found.identifiers else (Reason.VALUE, _value_score(found))
    pairs = [(one.key, other.key) for one in found.first for other in found.second]
    single = any(token.key in SINGLE_VALUED for token in found.before)
    lasting = found.states or single or any(pair[0] in ATTITUDES for pair in pairs)
    if any(are_opposites(*pair) for pair in pairs):
        return Reason.OPPOSITE, _weighed(found.anchored, lasting, LIKELY)
    if any(are_exclusive(*pair) for pair in pairs):
        return Reason.ATTRIBUTE, _weighed(found.anchored, lasting, UNLIKELY)
    if single and found.anchored and found.common and not _is_particle(found):
        return Reason.REPLACED, CERTAIN if _is_definite(found) else LIKELY
    return None


def _weighed(anchored: bool, lasting: bool, passing: float) -> float:
    """passing: the score of what may have happened one way and another time the other way."""
    if not anchored:
        return UNLIKELY
    return CERTAIN if lasting else passing


def _has_values(found: Swap) -> bool:
    kinds = [
        {(token.kind, token.unit) for token in side if token.kind in VALUES} for side in (found.first, found.second)
    ]
    return bool(kinds[0] & kinds[1])


def _value_score(found: Swap) -> float:
    return _weighed(found.anchored, found.states, LIKELY)


def _is_definite(found: Swap) -> bool:
    """Both sides name something, or it is a favourite, of which there is one."""
    named = all(any(token.name for token in side) for side in (found.first, found.second))
    return named or any(token.key in FAVOURITES for token in found.before)


def _is_particle(found: Swap) -> bool:
    return all(token.kind is Kind.WORD and not token.is_content for token in (*found.first, *found.second))


def _text(tokens: Sequence[Token]) -> str:
    return " ".join(token.text for token in tokens)
