"""Parts of a note that are searched on their own: items of lists, paragraphs, blocks of code, and bare headings.

A chunk is a range of lines with the headings above it. The time is linear in the length of the text, whatever it holds.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from apps.notes.domain.text import front_matter_end, title_of

# An embedder reads about so much of a text; a longer block is cut at its lines.
MAX_CHARS = 1_000
# Neighbours under the same headings, other than items, become one chunk that is no longer than this.
GROUP_CHARS = 240
# A note of more blocks is grouped up to MAX_CHARS, so that a file of single letters is not a million chunks.
MAX_BLOCKS = 5_000
# Of the headings above a chunk at most so many characters are kept, the last ones.
MAX_HEADING_CHARS = 300
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+|$)")
_ITEM = re.compile(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(?:(=+)|-{2,})[ \t]*$")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A range of lines of a note. heading: those above it, as `Plans > March`. Lines count from 1, both included."""

    heading: str
    first_line: int
    last_line: int
    text: str
    is_item: bool = False

    @property
    def digest(self) -> bytes:
        """Return the SHA-256 of heading and text, by which a chunk that only moved is recognised."""
        return hashlib.sha256(f"{self.heading}\0{self.text}".encode()).digest()


@dataclass(slots=True)
class NoteSection:
    """A heading with what is below it. line: of the heading. chunks: whether any chunk was made of its content."""

    level: int
    title: str
    line: int
    source: str
    has_chunks: bool = False


@dataclass(slots=True)
class Reader:
    """Reads the lines of a note one after the other, and collects chunks.

    kind: of the open block: "" for none, "text", "item" or "code". fence: of an open block of code. base: indentation
    of an open item. blank: the open item is followed by empty lines.
    """

    chunks: list[Chunk] = field(default_factory=list)
    sections: list[NoteSection] = field(default_factory=list)
    heading: str = ""
    lines: list[str] = field(default_factory=list)
    first: int = 0
    kind: str = ""
    fence: str = ""
    base: int = 0
    blank: bool = False

    def read(self, number: int, line: str) -> None:
        """Read a line."""
        if self.fence:
            self.lines.append(line)
            if line.strip().startswith(self.fence) and not line.strip().strip(self.fence[0]):
                self.close_fence()
        elif not line.strip():
            self.read_blank(line)
        elif fence := self.fence_of(line):
            self.open_fence(number, line, fence)
        elif heading := _HEADING.match(line):
            self.open_section(number, len(heading[1]), title_of(line[heading.end() :].encode()), line)
        elif self.kind == "text" and len(self.lines) == 1 and (underline := _UNDERLINE.match(line)):
            source, first = self.lines[0], self.first
            self.lines, self.kind = [], ""
            self.open_section(first, 1 if underline[1] else 2, source.strip(), f"{source}\n{line}")
        elif _RULE.match(line):
            self.close()
        else:
            self.read_text(number, line)

    def read_blank(self, line: str) -> None:
        """Read an empty line: it ends a paragraph, and may end an item."""
        if self.kind == "item":
            self.blank = True
            self.lines.append(line)
        elif self.kind:
            self.close()

    def read_text(self, number: int, line: str) -> None:
        """Read a line of an item or a paragraph."""
        indent = len(line) - len(line.lstrip())
        item = _ITEM.match(line)
        if self.kind == "item":
            continues = indent > self.base if item or self.blank else True
            if continues:
                self.lines.append(line)
                self.blank = False
                return
            self.close()
        if item or not self.kind:
            self.close()
            self.open(number, line, "item" if item else "text")
            self.base = indent
        else:
            self.lines.append(line)

    def fence_of(self, line: str) -> str:
        """Return the mark with which a line opens a block of code; nothing where it opens none."""
        found = _FENCE.match(line)
        if found is None or (found[1][0] == "`" and "`" in line[found.end() :]):
            return ""
        indent = found.start(1)
        return found[1] if indent <= 3 or (self.kind == "item" and indent > self.base) else ""

    def open_fence(self, number: int, line: str, fence: str) -> None:
        """Open a block of code: its own, or inside the open item that it is indented below."""
        indent = len(line) - len(line.lstrip())
        if self.kind == "item" and indent > self.base:
            self.lines.append(line)
        else:
            self.close()
            self.open(number, line, "code")
        self.fence = fence

    def close_fence(self) -> None:
        """Close a block of code; the item around it stays open."""
        self.fence = ""
        if self.kind == "code":
            self.close()

    def open_section(self, number: int, level: int, title: str, source: str) -> None:
        """Begin what is below a heading."""
        self.close()
        self.leave_sections(level)
        self.sections.append(NoteSection(level, title, number, source))
        self.heading = " > ".join(each.title for each in self.sections if each.title)[-MAX_HEADING_CHARS:]

    def leave_sections(self, level: int) -> None:
        """End the sections of a level and deeper ones; one without any content becomes a chunk of its own."""
        while self.sections and self.sections[-1].level >= level:
            ended = self.sections.pop()
            self.heading = " > ".join(each.title for each in self.sections if each.title)[-MAX_HEADING_CHARS:]
            if not ended.has_chunks and ended.title:
                last = ended.line + ended.source.count("\n")
                self.chunks += cut(Chunk(self.heading, ended.line, last, ended.source))
            if self.sections:
                self.sections[-1].has_chunks = True

    def open(self, number: int, line: str, kind: str) -> None:
        """Begin a block."""
        self.lines, self.first, self.kind, self.blank = [line], number, kind, False

    def close(self) -> None:
        """End the open block, without the empty lines at its end."""
        while self.lines and not self.lines[-1].strip():
            self.lines.pop()
        if self.lines:
            last = self.first + len(self.lines) - 1
            text = "\n".join(self.lines)
            self.chunks += cut(Chunk(self.heading, self.first, last, text, is_item=self.kind == "item"))
            if self.sections:
                self.sections[-1].has_chunks = True
        self.lines, self.kind, self.fence = [], "", ""


def chunk_note(note: bytes) -> list[Chunk]:
    """Return the chunks of a note in the order of its lines, outside of its front matter. Accepts any bytes."""
    start = front_matter_end(note)
    text = note[start:].decode("utf-8", errors="replace").removeprefix("\ufeff")
    reader, first = Reader(), 1 + note.count(b"\n", 0, start)
    for number, line in enumerate(text.split("\n"), first):
        reader.read(number, line.removesuffix("\r"))
    reader.close()
    reader.leave_sections(0)
    chunks = sorted(reader.chunks, key=lambda chunk: chunk.first_line)
    if len(chunks) > MAX_BLOCKS:
        return list(group(chunks, MAX_CHARS, across_all=True))
    return list(group(chunks, GROUP_CHARS))


def group(chunks: Iterable[Chunk], most: int, *, across_all: bool = False) -> Iterator[Chunk]:
    """Yield chunks, of which neighbours that have at most so many characters together are one.

    An item of a list stays one of its own, and so does what is below another heading, unless it goes `across_all`.
    """
    parts: list[Chunk] = []
    size = 0
    for chunk in chunks:
        # Below the same headings, and none of them is an item.
        is_alike = parts and (
            across_all or (parts[0].heading == chunk.heading and not parts[0].is_item and not chunk.is_item)
        )
        if not is_alike or size + len(chunk.text) > most:
            yield from joined(parts)
            parts, size = [], 0
        parts.append(chunk)
        size += len(chunk.text) + 1
    yield from joined(parts)


def joined(parts: list[Chunk]) -> Iterator[Chunk]:
    """Yield one chunk of neighbours; nothing where there are none."""
    if len(parts) == 1:
        yield parts[0]
    elif parts:
        text = "\n".join(part.text for part in parts)
        yield Chunk(parts[0].heading, parts[0].first_line, parts[-1].last_line, text)


def cut(chunk: Chunk) -> Iterator[Chunk]:
    """Yield a chunk in parts of at most MAX_CHARS, cut between its lines; a longer line is cut inside."""
    if len(chunk.text) <= MAX_CHARS:
        yield chunk
        return
    parts: list[Chunk] = []
    for number, line in enumerate(chunk.text.split("\n"), chunk.first_line):
        parts.extend(Chunk(chunk.heading, number, number, piece) for piece in pieces(line))
    yield from group((part for part in parts if part.text.strip()), MAX_CHARS)


def pieces(line: str) -> Iterator[str]:
    """Yield a line in pieces of at most MAX_CHARS, cut at a space where there is one in the second half of a piece."""
    start = 0
    while len(line) - start > MAX_CHARS:
        space = line.rfind(" ", start + MAX_CHARS // 2, start + MAX_CHARS)
        end = start + MAX_CHARS if space < 0 else space + 1
        yield line[start:end]
        start = end
    yield line[start:]
