"""Whether a sentence says facts in their own words: all of them, in their order, and none besides.

Only words that add nothing are left out. Facts of which one goes on where the others end become that one; facts that
begin or end alike become one sentence with a list: "Ana likes tea." and "Ana likes milk." are "Ana likes tea and milk."
"""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import permutations

from apps.core.domain.caches import SizedCache
from apps.retrieval.domain.text.normal import nfkc

# Facts of one sentence that are tried in every order; more have to be listed in theirs.
MAX_ORDERED = 4
# One sign for everything that joins the parts of a list.
JOINED = "&"
_HAN = r"\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_TOKEN = re.compile(rf"[{_HAN}]|[^\W_{_HAN}]+(?:[.,:/'\-][^\W_{_HAN}]+)*|[^\w\s]|_")
_JOINS = frozenset({",", "、", "，", "and", "&", "和", "與", "与", "及", "跟"})
_ADDITIONS = frozenset({JOINED, "as", "at", "in", "on", "for", "from", "with", "by", "because", "near"})
_END = r"(?=[\s.!。！]*$)"
# Words that add nothing, and of a text that denies something, where they may be what is denied, only the last.
_FILLERS = re.compile(
    rf"\b(?:very much|a lot){_END}|\b(?:really|very|also)\b|非常|真的|十分(?![鐘钟之])", re.IGNORECASE
)
_FILLERS_DENIED = re.compile(rf"\bat all{_END}", re.IGNORECASE)


class Wording(StrEnum):
    """What is wrong with a sentence: a word of a fact is missing, one is new, or they have another order."""

    MISSING = "missing"
    NEW = "new"
    ORDER = "order"


def find_fault(sentence: str, facts: Sequence[str], *, is_denied: bool) -> Wording | None:
    """Return what is wrong with the words of a sentence; None where it says just what its facts say.

    is_denied: whether any of the texts denies something.
    """
    own = tokens_of(sentence, is_denied=is_denied)
    theirs = [tokens_of(fact, is_denied=is_denied) for fact in facts]
    known = frozenset().union(*theirs)
    if any(token not in own for token in known):
        return Wording.MISSING
    if any(token not in known and token != JOINED for token in own):
        return Wording.NEW
    return None if says_all(own, theirs) else Wording.ORDER


@SizedCache("lines of notes", megabytes=1).remember
def tokens_of(text: str, *, is_denied: bool) -> tuple[str, ...]:
    """Return the words and signs of a text in their order, without what adds nothing and the last stop."""
    plain = nfkc(text).replace("\u2019", "'")
    tokens = _TOKEN.findall((_FILLERS_DENIED if is_denied else _FILLERS).sub(" ", plain).rstrip(" .。"))
    tokens[:1] = [token.casefold() for token in tokens[:1]]
    found = list[str]()
    for token in (JOINED if token in _JOINS else token for token in tokens):
        if token != JOINED or found[-1:] != [JOINED]:  # ", and" joins once
            found.append(token)
    return tuple(found)


def says_all(own: tuple[str, ...], facts: Sequence[tuple[str, ...]]) -> bool:
    """Return whether a sentence is one of its facts, of which the others are parts, or a list of them."""
    if own in facts:
        return all(is_part(fact, own) for fact in facts)
    different = list(dict.fromkeys(facts))
    orders = permutations(different) if len(different) <= MAX_ORDERED else iter([tuple(different)])
    return len(different) > 1 and any(own == joined for order in orders for joined in joined_ways(order, len(own)))


def is_part(fact: tuple[str, ...], whole: tuple[str, ...]) -> bool:
    """Return whether a fact is all of another one, or its beginning up to a word that begins an addition."""
    return fact == whole or (whole[: len(fact)] == fact and whole[len(fact)] in _ADDITIONS)


def joined_ways(facts: Sequence[tuple[str, ...]], length: int) -> Iterator[tuple[str, ...]]:
    """Yield the sentences of a length that say facts as a list, with what they share at the beginning and the end."""
    first, shortest = facts[0], min(map(len, facts))
    before, after = shared(facts), shared([fact[::-1] for fact in facts])
    total = sum(map(len, facts)) + len(facts) - 1
    for begin in range(min(before, shortest - 1) + 1):
        spared = total - length - begin * (len(facts) - 1)
        end, rest = divmod(spared, len(facts) - 1)
        if rest or not 0 <= end <= after or begin + end >= shortest:
            continue
        parts = [fact[begin : len(fact) - end] for fact in facts]
        listed = [token for part in parts for token in (JOINED, *part)][1:]
        yield (*first[:begin], *listed, *first[len(first) - end :])


def shared(facts: Sequence[tuple[str, ...]]) -> int:
    """Return how many words facts begin with alike."""
    return next(
        (place for place, each in enumerate(zip(*facts, strict=False)) if len(set(each)) > 1), min(map(len, facts))
    )
