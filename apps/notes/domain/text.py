"""Adding to the text of a note, and taking out of it, without touching the rest: ends and marks stay.

Texts are bytes: a file that is not valid UTF-8 is added to like any other, and kept as it is.
"""

import hashlib
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from apps.notes.domain.blocks import LineRole, kinds

_FENCE = re.compile(rb" {0,3}(`{3,}|~{3,})")
# A line that may be one of them, with the line end before it.
_MARKED = re.compile(rb"[\r\n] {0,3}[#`~][^\r\n]*")
_HEADING = re.compile(rb" {0,3}(#{1,6})[ \t]+")
# Of the headings of categories.
CATEGORY_LEVEL = 2
_NEAR_LINES = 64
# What ends an item although it is not indented and no blank line is before it: code, a quote, markup, a line across.
_ENDS = re.compile(rb" ?(?:`{3}|~{3}|>|<|([-*_])[ \t]*(?:\1[ \t]*){2,}\r?$)")


@dataclass(frozen=True)
class Insertion:
    """Bytes that are inserted at an offset of a text."""

    offset: int
    inserted: bytes

    def apply(self, text: bytes) -> bytes:
        """Return the text with them."""
        return text[: self.offset] + self.inserted + text[self.offset :]

    def followed(self, more: bytes) -> "Insertion":
        """Return the insertion of these bytes and more."""
        return Insertion(self.offset, self.inserted + more)


@dataclass(frozen=True)
class Heading:
    """A heading of a text, by its level and title."""

    level: int
    title: str


def digest(text: bytes) -> str:
    """Return the SHA-256 of a text, by which a caller says which one it has read."""
    return hashlib.sha256(text).hexdigest()


def appended_since(text: bytes, base: str) -> bytes | None:
    """Return what follows the text of a digest in another one; None where that is not its beginning, or empty.

    The text of the digest ends with a line. Few lines follow it as a rule: those places are tried first.
    """
    near = len(text)
    for _ in range(_NEAR_LINES):
        near = text.rfind(b"\n", 0, max(near - 1, 0)) + 1
    for first, last in ((near, len(text)), (0, near)):
        known, start = hashlib.sha256(memoryview(text)[:first]), first
        while start < last:
            if start and known.hexdigest() == base:
                return text[start:]
            end = text.find(b"\n", start) + 1 or len(text)
            known.update(text[start:end])
            start = end
    return None


def line_end(text: bytes) -> bytes:
    """Return the line end that a text uses at its first line; a line feed where it has none."""
    first = text.find(b"\n")
    return b"\r\n" if first > 0 and text[first - 1 : first] == b"\r" else b"\n"


def add_entry(text: bytes, entry: str, category: str = "") -> Insertion:
    """Return the insertion of an entry at the end of the section of a category, or of the text without one.

    A category that has no heading yet gets one of the second level at the end.
    """
    # Further lines of an entry are indented, so that they stay in its item.
    end = line_end(text)
    lines = entry.strip().splitlines()
    indented = [f"- {lines[0]}", *(f"  {line}" if line.strip() else "" for line in lines[1:])]
    return add_item(text, end.join(line.rstrip().encode() for line in indented) + end, category)


def add_item(text: bytes, item: bytes, category: str = "") -> Insertion:
    """Return the insertion of the lines of an item, as `add_entry` does."""
    end = line_end(text)
    if not category:
        return Insertion(len(text), b"" if text.endswith(b"\n") or not text else end).followed(item)
    section = find_section(text, category)
    if section is None:
        gap = b"" if not text.strip(b"\xef\xbb\xbf") else end if text.endswith(b"\n") else end + end
        return Insertion(len(text), gap + b"#" * CATEGORY_LEVEL + b" " + category.encode() + end + end).followed(item)
    start, stop = section
    kept = text[start:stop].rstrip(b" \t\r\n")
    gap = b"" if is_item(kept) else end
    stopped = text.find(b"\n", start + len(kept), stop)  # spaces at the end of the line stay in it
    if stopped >= 0:
        return Insertion(stopped + 1, gap).followed(item)
    return Insertion(stop, end + gap).followed(item)


def is_wide(text: bytes) -> bool:
    """Return whether a text is in UTF-16 or UTF-32, by its mark or first characters."""
    return text.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in text[:2]


def is_item(text: bytes) -> bool:
    """Return whether the last line of a text belongs to a list."""
    return bool(re.match(rb"[ \t]+\S|[-*+] |\d+[.)] ", text.rsplit(b"\n", 1)[-1]))


def find_section(text: bytes, category: str) -> tuple[int, int] | None:
    """Return where the section of a category begins, at its heading, and where the next one of its level does."""
    wanted, found = title_of(category.encode()).casefold(), None
    for start, level, title in headings(text):
        if found is not None and level <= found[1]:
            return found[0], start
        if found is None and title.casefold() == wanted:
            found = start, level
    return None if found is None else (found[0], len(text))


def headings(text: bytes) -> list[tuple[int, int, str]]:
    """List the headings outside of code: offset, level and title."""
    found, offset, fence = [], front_matter_end(text), b""
    for line in _MARKED.finditer(b"\n" + text[offset:]):
        bare = line[0][1:]
        mark = _FENCE.match(bare)
        if fence:
            if mark and mark[1].startswith(fence) and not bare.strip().strip(fence[:1]):
                fence = b""
        elif mark:
            fence = mark[1]
        elif heading := _HEADING.match(bare):
            found.append((offset + line.start(), len(heading[1]), title_of(bare[heading.end() :])))
    return found


def title_of(text: bytes) -> str:
    """Return the title of a heading, without the hash signs that may close it."""
    title = text.strip(b" \t")
    bare = title.rstrip(b"#")
    return (bare if not bare or bare[-1:] in b" \t" else title).strip(b" \t").decode(errors="replace")


def front_matter_end(text: bytes) -> int:
    """Return where the text begins after its front matter, if it has any."""
    found = re.match(rb"(?:\xef\xbb\xbf)?---[ \t]*\r?\n(?:.*\n)*?(?:---|\.\.\.)[ \t]*(?:\r?\n|$)", text)
    return found.end() if found else 0


def headings_above(found: Sequence[tuple[int, int, str]], offset: int) -> tuple[Heading, ...]:
    """Return the headings that an offset is below, the nearest one first, of the `headings` of a text."""
    above: list[Heading] = []
    for _, level, title in reversed(found[: bisect_left(found, (offset,))]):
        if not above or level < above[-1].level:
            above.append(Heading(level, title))
    return tuple(above)


def put_item(text: bytes, item: bytes, above: Sequence[Heading]) -> Insertion:
    """Return the insertion of an item below the nearest heading that it was under and that the text has.

    item: its lines, separated by line feeds. The heading of a category is added again; any other one is a person's, who
    has taken it out. Without one the item comes at the end.
    """
    end = line_end(text)
    lines = item.replace(b"\n", end) + end
    for heading in above:
        is_category = bool(heading.title) and heading.level == CATEGORY_LEVEL
        if is_category or find_section(text, heading.title) is not None:
            return add_item(text, lines, heading.title)
    return add_item(text, lines)


class Lines:
    """The lines of a text, whatever its line ends."""

    def __init__(self, text: bytes) -> None:
        self.lines = text.replace(b"\r\n", b"\n").split(b"\n")
        self._places: defaultdict[bytes, list[int]] = defaultdict(list)
        for number, line in enumerate(self.lines):
            self._places[line].append(number)

    def places(self, item: bytes) -> list[int]:
        """Return the numbers, from 0, of the lines at which an item begins; its lines follow each other."""
        wanted = item.split(b"\n")
        return [
            number for number in self._places.get(wanted[0], ()) if self.lines[number : number + len(wanted)] == wanted
        ]

    def count(self, item: bytes) -> int:
        """Return how often an item is in the text as lines of its own."""
        return len(self.places(item))


class Sections:
    """Under which headings the items of a text are."""

    def __init__(self, text: bytes) -> None:
        self._lines = Lines(text)
        self._starts = list(accumulate((len(line) + 1 for line in self._lines.lines), initial=0))
        self._headings = headings(b"\n".join(self._lines.lines))

    def above(self, item: bytes) -> tuple[Heading, ...]:
        """Return the headings that the last of these items is under, the nearest one first."""
        places = self._lines.places(item)
        return headings_above(self._headings, self._starts[places[-1]]) if places else ()


class Missing(dict[bytes, int]):
    """How much less often items are in a text than in another one; counted at the first use."""

    def __init__(self, reference: bytes, text: bytes) -> None:
        super().__init__()
        self._reference, self._text = Lines(reference), Lines(text)

    def __missing__(self, item: bytes) -> int:
        self[item] = self._reference.count(item) - self._text.count(item)
        return self[item]

    def take(self, item: bytes) -> bool:
        """Take one of the missing ones of an item; return whether there was one."""
        if self[item] <= 0:
            return False
        self[item] -= 1
        return True


def missing_lines(lines: bytes, reference: bytes, text: bytes) -> bytes:
    """Return the lines, with their ends, that a text has less often than a reference that has all of them."""
    missing = Missing(reference, text)
    return b"".join(line for line in lines.splitlines(keepends=True) if missing.take(line.rstrip(b"\r\n")))


def find_items(text: bytes, item: bytes) -> list[tuple[int, int]]:
    """List where an item of a list is in a text, from its begin to behind its line end.

    item: its lines, separated by line feeds, as `add_entry` made them. Only where the whole item is exactly this one:
    not in a block of code or front matter, and not where something was added below it.
    """
    wanted = rb"\r?\n".join(re.escape(line) for line in item.split(b"\n"))
    places = {found.start(): found.end() for found in re.finditer(rb"(?m)^" + wanted + rb"(?:\r?\n|\Z)", text)}
    if not places:
        return []
    lines = text.split(b"\n")
    found = list(kinds(line.decode(errors="replace") for line in lines))
    length, offset, begin, exact = item.count(b"\n") + 1, 0, front_matter_end(text), []
    for number, line in enumerate(lines):
        is_item = offset in places and offset >= begin and found[number][0] is LineRole.ITEM
        if is_item and not goes_on(lines, found, number + length):
            exact.append((offset, places[offset]))
        offset += len(line) + 1
    return exact


def goes_on(lines: Sequence[bytes], found: Sequence[tuple[LineRole, int]], number: int) -> bool:
    """Return whether an item goes on at a line, the first one being 0: with what is indented, or a further sentence."""
    first = number
    while number < len(lines) and not lines[number].strip():
        number += 1
    if number == len(lines):
        return False
    if lines[number].startswith((b"  ", b"\t")):
        return True
    is_text = found[number][0] in {LineRole.TEXT, LineRole.INDENTED}
    return number == first and is_text and not _ENDS.match(lines[number])


def remove_item(text: bytes, item: bytes, category: str = "", *, keep: int = 0) -> bytes | None:
    """Return a text without an item of a list; None where it is not there, or not more often than `keep`.

    Of several equal ones that in the section of the category is taken out, there the last one: the hub adds at the end.
    """
    places = find_items(text, item)
    if len(places) <= keep:
        return None
    start, stop = find_section(text, category) or (0, len(text)) if category else (0, len(text))
    inside = [place for place in places if start <= place[0] < stop]
    first, end = (inside or places)[-1]
    return text[:first] + text[end:]
