"""What differs between texts, word by word, for people to look at."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from re import compile as pattern

# Han, kana and Thai write no spaces between words, so each sign is compared on its own.
_WORDS = pattern(
    r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]\s*|[^\W\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]+\s*|.\s*|\s+"
)
# Matching takes quadratic time. What is longer, apart from its beginning and end, is shown as wholly different.
MAX_COMPARED_WORDS = 1_000


@dataclass(frozen=True)
class Piece:
    """A part of a text. kind: `same` for what both have; for a merged text also `candidate`, `existing` or `new`."""

    text: str
    kind: str


def differences(one: str, other: str) -> tuple[list[Piece], list[Piece]]:
    """Both texts in pieces, each `same` or `changed`. Joined, the pieces of a text are the text."""
    first, second = _words(one), _words(other)
    common, shared = _common(first, second)
    kinds = {True: "same", False: "changed"}
    return _pieces(first, [kinds[mark] for mark in common]), _pieces(second, [kinds[mark] for mark in shared])


def provenance(merged: str, candidate: str, existing: str) -> list[Piece]:
    """A merged text in pieces by where they come from: `same` (both), `candidate`, `existing`, or `new`."""
    words = _words(merged)
    marks = zip(_common(words, _words(candidate))[0], _common(words, _words(existing))[0], strict=True)
    names = {(True, True): "same", (True, False): "candidate", (False, True): "existing", (False, False): "new"}
    return _pieces(words, [names[mark] for mark in marks])


def _words(text: str) -> list[str]:
    return [match.group() for match in _WORDS.finditer(text)]


def _common(one: Sequence[str], other: Sequence[str]) -> tuple[list[bool], list[bool]]:
    """Of each word whether the other text has it at that place. Blanks around words make no difference."""
    first, second = [word.strip() for word in one], [word.strip() for word in other]
    head = _equal_from_start(first, second)
    tail = _equal_from_start(first[head:][::-1], second[head:][::-1])
    marks, others = [False] * len(first), [False] * len(second)
    ends = len(first) - tail, len(second) - tail
    blocks = [(0, 0, head), (*ends, tail)]
    blocks += [(i + head, j + head, size) for i, j, size in _matches(first[head : ends[0]], second[head : ends[1]])]
    for start, at, size in blocks:
        marks[start : start + size] = others[at : at + size] = [True] * size
    return marks, others


def _equal_from_start(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for word, same in zip(one, other, strict=False):
        if word != same:
            break
        count += 1
    return count


def _matches(one: Sequence[str], other: Sequence[str]) -> Iterable[tuple[int, int, int]]:
    if max(len(one), len(other)) > MAX_COMPARED_WORDS:
        return []
    return SequenceMatcher(None, one, other).get_matching_blocks()


def _pieces(words: Sequence[str], kinds: Sequence[str]) -> list[Piece]:
    grouped = groupby(zip(words, kinds, strict=True), key=lambda pair: pair[1])
    return [Piece("".join(word for word, _ in group), kind) for kind, group in grouped]
