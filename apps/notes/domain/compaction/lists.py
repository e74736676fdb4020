"""The lists of MEMORY.md: which items there are, which bytes they take, and what they stand under.

Only plain items are ever changed: one paragraph of words. Whatever has more to it (code, links, HTML, a box to tick, a
list inside, numbers that count) is counted as a fact, and stays as it is, like everything outside of lists.
"""

import re
from dataclasses import dataclass, field

from apps.notes.domain.text import front_matter_end, title_of

MAX_FACT_CHARS = 1_000
_FENCE = re.compile(rb"[ \t]*(`{3,}|~{3,})(.*)")
_HEADING = re.compile(rb" {0,3}(#{1,6})(?:[ \t]+|$)")
_RULE = re.compile(rb" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*")
_ITEM = re.compile(rb"( {0,3}(?:[-*+]|\d{1,9}[.)])(?: {1,4}|\t))(?=\S)")
_NESTED = re.compile(rb"[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)|[ \t]*>")
_INDENTED = re.compile(rb"(?: {2,}|\t)")
# Beginnings of blocks, boxes to tick, links, code, HTML, tables and footnotes.
_NOT_PLAIN = re.compile(
    r"^(?:[-+*>#|=]|\d+[.)] |\[[ xX]\] )|`|~~|\]\(|\]\[|\[\[|\[\^|!\[|<|://|\||\$\$|\^[\w-]+$|(?:^|\s)#\w"
)


@dataclass
class Item:
    """An item of a list. start, end: its bytes, with the line end. mark: its bullet with the space around it.

    run: which list it belongs to; items between which anything else is written are of different ones. under: the titles
    above it. is_plain: whether it may be changed.
    """

    start: int
    end: int
    mark: bytes
    run: int
    under: tuple[str, ...]
    lines: list[bytes] = field(default_factory=list)
    is_plain: bool = True

    @property
    def text(self) -> str:
        """Return its words as one line."""
        return " ".join(line.decode(errors="replace").strip() for line in self.lines).strip()


def list_items(text: bytes) -> list[Item]:
    """Return the items of the lists of a text, in their order; those inside of others belong to them."""
    reader = ListReader()
    offset = front_matter_end(text)
    for line in text[offset:].splitlines(keepends=True):
        reader.read(line.rstrip(b"\r\n"), offset, offset + len(line))
        offset += len(line)
    for item in reader.items:
        item.is_plain = item.is_plain and is_plain(item)
    return reader.items


def is_plain(item: Item) -> bool:
    """Return whether an item is one paragraph of words."""
    if item.mark.strip() not in (b"-", b"*", b"+"):
        return False
    lines = [line.decode(errors="replace").strip() for line in item.lines]
    return len(item.text) <= MAX_FACT_CHARS and all(map(is_plain_text, (item.text, *lines)))


def is_plain_text(text: str) -> bool:
    """Return whether a text is one line of words, which begins no block and has nothing but words in it."""
    return bool(text.strip()) and len(text.splitlines()) == 1 and text.isprintable() and not _NOT_PLAIN.search(text)


class ListReader:
    """Reads a text line by line."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self._item: Item | None = None
        self._after_blank = False
        self._fence = b""
        self._in_comment = False
        # Whether the comment began inside of an item, with which it ends.
        self._is_of_item = False
        self._run = 0
        self._titles: list[tuple[int, str]] = []

    def read(self, line: bytes, start: int, end: int) -> None:
        """Read a line without its end, whose bytes are from `start` to `end`."""
        if self._is_of_item and not self.is_inside(line) and (_ITEM.match(line) or _HEADING.match(line)):
            self._in_comment = self._is_of_item = False
        if self._fence or self._in_comment:
            self.read_enclosed(line, end)
        elif not line.strip():
            self._after_blank = True
            return
        elif found := _FENCE.match(line):
            self.open_fence(found, line, end)
        elif heading := _HEADING.match(line):
            level, title = len(heading[1]), title_of(line[heading.end() :])
            self.leave()
            self._titles = [*(each for each in self._titles if each[0] < level), (level, title)]
        elif (mark := _ITEM.match(line)) and not _RULE.fullmatch(line) and not self.is_inside(line):
            item = Item(start, end, mark[1], self._run, tuple(title for _, title in self._titles))
            item.lines.append(line[mark.end() :])
            self.items.append(item)
            self._item = item
        else:
            self.read_other(line, end)
        self.note_comment(line)
        self._after_blank = False

    def note_comment(self, line: bytes) -> None:
        """Note that a line leaves a comment open, and whether it is of an item."""
        if not self._in_comment:
            self._in_comment = line.rfind(b"<!--") > line.rfind(b"-->")
            is_item = self._item is not None and (self.is_inside(line) or bool(_ITEM.match(line)))
            self._is_of_item = self._in_comment and is_item

    def is_inside(self, line: bytes) -> bool:
        """Return whether a line is indented so far that it belongs to the item before it."""
        return self._item is not None and bool(_INDENTED.match(line))

    def read_enclosed(self, line: bytes, end: int) -> None:
        """Read a line of code or of a comment, which is part of an item that has begun one."""
        if self._fence:
            mark = line.strip()
            if mark.startswith(self._fence) and not mark.strip(self._fence[:1]):
                self._fence = b""
        elif b"-->" in line:
            self._in_comment = False
        self.extend(end)

    def open_fence(self, found: re.Match[bytes], line: bytes, end: int) -> None:
        """Begin a block of code, inside of an item or after the list."""
        if not (found[1][:1] == b"`" and b"`" in found[2]):
            self._fence = found[1]
        if self.is_inside(line):
            self.extend(end)
        else:
            self.leave()

    def read_other(self, line: bytes, end: int) -> None:
        """Read a line that begins no item: the item goes on, or the list is over."""
        item = self._item
        if item is None or (self._after_blank and not self.is_inside(line)) or _RULE.fullmatch(line):
            self.leave()
        elif self.is_inside(line) and not self._after_blank and not _NESTED.match(line):
            item.lines.append(line)
            item.end = end
        else:  # a list or a paragraph inside, or a line that goes on without being indented
            self.extend(end)

    def extend(self, end: int) -> None:
        """Count a line that cannot be changed to the item before it, if there is one."""
        if self._item is not None:
            self._item.end, self._item.is_plain = end, False

    def leave(self) -> None:
        """End the list."""
        self._item = None
        self._run += 1
