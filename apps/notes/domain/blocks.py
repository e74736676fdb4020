"""The blocks of a note: lines that are shown together, what is above them, and how many tokens they likely have."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]")
_ITEM = re.compile(r" ?(?:[-*+]|\d{1,9}[.)])[ \t]")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_MARKED = re.compile(r" {0,3}(?:(#{1,6})[ \t]|(`{3,}|~{3,}))")


class LineRole(Enum):
    """What a line of a note is. CODE: a further line of a block of code. INDENTED: plain text after white space."""

    BLANK = auto()
    HEADING = auto()
    ITEM = auto()
    CODE = auto()
    INDENTED = auto()
    TEXT = auto()


@dataclass(frozen=True, slots=True)
class Block:
    """Lines of MEMORY.md that are shown together. above: the numbers of the lines of the headings above them."""

    first: int
    last: int
    tokens: int
    above: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Above:
    """What is above a line: the headings, as level and number, and the mark of a block of code that is open."""

    headings: tuple[tuple[int, int], ...] = ()
    fence: str = ""


TOP = Above()


def count_tokens(text: str) -> int:
    """Return the likely number of tokens of a text, rather too many than too few for the usual tokenizers."""
    return -(-count_quarters(text) // 4)


def count_quarters(text: str) -> int:
    """Return the likely number of tokens of a text in quarters: that of a whole is the sum of those of its parts.

    One for each ASCII character, two for one of another alphabet, four for a Chinese, Japanese or Korean one, eight for
    an emoji: by the length in UTF-8.
    """
    if text.isascii():
        return len(text)
    ascii_count = len(text.encode("ascii", "ignore"))
    four = len(text.encode("utf-16-le", "surrogatepass")) // 2 - len(text)
    others = len(text) - ascii_count - four
    three = len(text.encode("utf-8", "surrogatepass")) - ascii_count - 4 * four - 2 * others
    return ascii_count + 2 * (others - three) + 4 * three + 8 * four


def split_blocks(lines: Sequence[str], first: int = 1, last: int | None = None, above: Above = TOP) -> list[Block]:
    """Split a note into headings, items of lists with what is indented below them, paragraphs and blocks of code.

    Of a part of it only the lines from `first` to `last`, with what is above them.
    """
    headings = list(above.headings)
    last = len(lines) if last is None else last
    starts: list[tuple[int, tuple[int, ...]]] = []
    is_open = has_item = False
    for number, (kind, level) in enumerate(kinds(lines[first - 1 : last], above.fence), first):
        if kind is LineRole.HEADING:
            headings = [each for each in headings if each[0] < level]
        is_cut = not starts and kind is LineRole.CODE
        if kind in {LineRole.HEADING, LineRole.ITEM} or is_cut or (not is_open and begins(kind, has_item)):
            starts.append((number, tuple(each for _, each in headings)))
            has_item = kind is LineRole.ITEM
        if kind is LineRole.HEADING:
            headings.append((level, number))
        is_open = kind not in {LineRole.BLANK, LineRole.HEADING}
    ends = [start - 1 for start, _ in starts[1:]] + [last]
    return [block_of(lines, start, end, under) for (start, under), end in zip(starts, ends, strict=True)]


def block_of(lines: Sequence[str], first: int, last: int, above: tuple[int, ...]) -> Block:
    """Return some lines as a block."""
    return Block(first, last, count_tokens("\n".join(lines[first - 1 : last])) + 1, above)


def all_above(lines: Sequence[str], wanted: Iterable[int]) -> dict[int, Above]:
    """Return what is above some lines; quick also for a note of millions of lines."""
    left = sorted(set(wanted), reverse=True)
    found: dict[int, Above] = {}
    latest = [0] * 7
    fence = ""
    for number in [number for number, line in enumerate(lines, 1) if line and line[0] in " #`~"]:
        while left and left[-1] <= number:
            found[left.pop()] = Above(headings_of(latest), fence)
        if not left:
            return found
        if not (mark := _MARKED.match(lines[number - 1])):
            continue
        if mark[2]:
            fence = ("" if mark[2].startswith(fence) else fence) if fence else mark[2]
        elif not fence:
            latest[len(mark[1])] = number
    return found | dict.fromkeys(left, Above(headings_of(latest), fence))


def headings_of(latest: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return the headings that are above a line, by the latest one of each level before it; 0 for none."""
    above: list[tuple[int, int]] = []
    for level, number in enumerate(latest):
        if number > (above[-1][1] if above else 0):
            above.append((level, number))
    return tuple(above)


def begins(kind: LineRole, has_item: bool) -> bool:
    """Return whether a line after a blank one or a heading begins a block, rather than going on with an item."""
    return kind is LineRole.TEXT or (kind is LineRole.INDENTED and not has_item)


def kinds(lines: Iterable[str], fence: str = "") -> Iterator[tuple[LineRole, int]]:
    """Yield what each line is, with the level of a heading. fence: the mark of a block of code that is open."""
    for line in lines:
        mark, heading = _FENCE.match(line), _HEADING.match(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
            yield LineRole.CODE, 0
        elif mark:
            fence = mark[1]
            yield LineRole.TEXT, 0
        elif heading:
            yield LineRole.HEADING, len(heading[1])
        elif _ITEM.match(line):
            yield LineRole.ITEM, 0
        else:
            yield LineRole.BLANK if not line.strip() else LineRole.INDENTED if line[0] in " \t" else LineRole.TEXT, 0
