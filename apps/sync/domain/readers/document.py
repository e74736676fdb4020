"""A text as sections with blocks, whichever markup it is written in."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from apps.sync.domain.readers.text import fold

SECTION_NUMBER = re.compile(r"(?:\d{1,3}\.){0,4}\d{0,3}\.?\s")


class BlockKind(StrEnum):
    """What a block is. OTHER: tables, code, definitions and whatever is no prose."""

    TEXT = "text"
    ITEM = "item"
    QUOTE = "quote"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Block:
    """Neighbouring lines of one kind; an item of a list with all that belongs to it."""

    kind: BlockKind
    lines: tuple[str, ...]


@dataclass(slots=True)
class Section:
    """A heading and the lines until the next one. level: 0 before the first heading, 1 for the highest ones."""

    level: int
    title: str
    lines: list[str] = field(default_factory=list)
    name: str = field(init=False)

    def __post_init__(self) -> None:
        """Set the name to compare by: the folded title without number and colon."""
        title = self.title[:200].strip()
        match = SECTION_NUMBER.match(title)
        self.name = fold(title[match.end() :] if match else title).strip("*_`#:：.")


@dataclass(frozen=True)
class Document:
    """A text in sections. blocks: splits lines; plain: takes the marks out of a piece of text."""

    sections: list[Section]
    blocks: Callable[[Iterable[str]], Iterator[Block]]
    plain: Callable[[str], str]

    def named(self, names: frozenset[str]) -> Section | None:
        """Return the first of the main sections with one of these folded names."""
        found = [self.by_name[name] for name in names if name in self.by_name]
        return min(found, key=lambda one: one[0])[1] if found else None

    @cached_property
    def by_name(self) -> dict[str, tuple[int, Section]]:
        """Return the main sections by name, each with its position; of several with one name the first."""
        levels = [section.level for section in self.sections if section.level]
        top = min(levels, default=1)
        below = [level for level in levels if level > top]
        limit = min(below, default=top) if levels.count(top) == 1 and levels[0] == top else top
        found: dict[str, tuple[int, Section]] = {}
        for position, section in enumerate(self.sections):
            if section.title and section.level <= limit:
                found.setdefault(section.name, (position, section))
        return found

    def within(self, section: Section) -> Iterator[Section]:
        """Yield a section and the ones below it."""
        start = next(index for index, one in enumerate(self.sections) if one is section)
        yield section
        for one in self.sections[start + 1 :]:
            if one.level <= section.level:
                return
            yield one
