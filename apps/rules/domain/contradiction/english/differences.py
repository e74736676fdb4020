"""Where two statements about one thing differ."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from apps.rules.domain.contradiction.english.states import is_total, phrase, says_change
from apps.rules.domain.contradiction.english.vocabulary import ORDERED, REASONS
from apps.rules.domain.contradiction.frames import (
    CUES,
    DEFINITE,
    INDEFINITE,
    PREPOSITIONS,
    Frame,
    key_of_token,
    keys_of,
)
from apps.rules.domain.contradiction.text import VALUES, Token

MAX_DIFFERING = 4


@dataclass(frozen=True)
class Difference:
    """What two statements about one subject say differently. old, new: the words that differ, common: those shared."""

    old: tuple[Token, ...]
    new: tuple[Token, ...]
    common: frozenset[str]


def differences(old: Frame, new: Frame) -> Iterator[Difference]:
    """Yield how what is said differs: the place or employer, all of it, or with a word of change the first phrase."""
    rests = [(old.rest, until_reason(new.rest))]
    if old.relation in ("live", "work"):
        rests.insert(0, (place_of(old), place_of(new)))
    beside = [keys_of(side.rest[len(phrase(side.rest)) :]) for side in (old, new)]
    is_total_of_one = is_total(old) and is_total(new) and not any(":" not in key for key in beside[0] ^ beside[1])
    if says_change(new) or is_total_of_one:
        rests.append((phrase(old.rest), phrase(new.rest)))
    for ours, theirs in rests:
        found = difference(ours, theirs)
        if found:
            yield found


def is_one_difference(found: Difference) -> bool:
    """Return whether one thing differs that is not large, not two: "9 am in winter" against "8 am in summer"."""
    ours, theirs = keys_of(found.old), keys_of(found.new)
    if not ours or not theirs or ours & theirs or max(len(ours), len(theirs)) > MAX_DIFFERING:
        return False
    parts = [segments(side) for side in (found.old, found.new)]
    if min(map(len, parts)) < 2:
        return True
    # What only says which pharmacy it is: "at the pharmacy on Mill Lane", "at the Boots by the station".
    if parts[0][1][0].text != parts[1][1][0].text:
        return True
    return all(any(token.kind in VALUES for token in part) for side in parts for part in side)


def segments(tokens: Sequence[Token]) -> list[list[Token]]:
    """Return the phrases that prepositions begin."""
    found: list[list[Token]] = [[]]
    for token in tokens:
        if token.text in PREPOSITIONS and any(one.text not in PREPOSITIONS for one in found[-1]):
            found.append([])
        found[-1].append(token)
    return found


def until_reason(tokens: Sequence[Token]) -> tuple[Token, ...]:
    """Return some words without what they replace, or why: "60 requests instead of the old limit"."""
    for at, token in enumerate(tokens):
        following = tokens[at + 1].text if at + 1 < len(tokens) else ""
        if at and (
            token.text in REASONS
            or (token.text == "from" and following in ("this", "next", "the", "today", "tomorrow"))
        ):
            return tuple(tokens[: at - 1] if tokens[at - 1].text in ("and", "but") else tokens[:at])
    return tuple(tokens)


def place_of(frame: Frame) -> tuple[Token, ...]:
    """Return the place or the employer: the first phrase with its preposition, without who else is there."""
    rest = tuple(token for token in frame.rest if token.text not in CUES)
    return rest[:1] + phrase(rest[1:]) if rest and rest[0].text in PREPOSITIONS else phrase(rest)


def difference(old: Sequence[Token], new: Sequence[Token]) -> Difference | None:
    """Return the one place where two phrases differ; None where they do not, or in several places."""
    ours, theirs = significant(old), significant(new)
    start = 0
    while start < min(len(ours), len(theirs)) and key_of_token(ours[start]) == key_of_token(theirs[start]):
        start += 1
    end = 0
    while end < min(len(ours), len(theirs)) - start and key_of_token(ours[-1 - end]) == key_of_token(theirs[-1 - end]):
        end += 1
    left, right = ours[start : len(ours) - end], theirs[start : len(theirs) - end]
    if not left or not right:
        return None
    shared = keys_of(ours) & keys_of(theirs)
    return Difference(tuple(left), tuple(right), shared)


def significant(tokens: Sequence[Token]) -> list[Token]:
    """Return the words that tell statements apart: content, values and prepositions."""
    return [
        token
        for token in tokens
        if (token.is_content or (token.kind in VALUES and not token.function) or token.text in PREPOSITIONS)
        and token.text not in CUES
    ]


def follows_preposition(frame: Frame, found: Difference) -> bool:
    """Return whether what differs says how, where or by whom: "in Dutch", "by mail"; not "to call Ana"."""
    at = next((place for place, token in enumerate(frame.rest) if token is found.old[0]), 0)
    before = found.old[0].text if found.old[0].text in PREPOSITIONS else frame.rest[at - 1].text if at else ""
    while at > 1 and before in DEFINITE | INDEFINITE:
        at -= 1
        before = frame.rest[at - 1].text
    return before in ORDERED
