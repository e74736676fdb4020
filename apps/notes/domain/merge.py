"""Bringing two texts together that were made of the same one, line by line (the algorithm of diff3).

Nothing of either is lost: where both changed the same lines, both stay, one after the other, with what both added once.

A text that went through a field of a browser has CRLF at every line end and hides a mark at its beginning. Only what a
person changed is to change in the file: its line ends and its mark stay.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from apps.core.domain.diff import changed_blocks, same_lines

_END = re.compile(r"\r\n|\r|\n")
_MARK = "\ufeff"


@dataclass(frozen=True)
class Merged:
    """Two texts as one. clashes: in how many places both had changed the same lines."""

    text: str = field(repr=False)
    clashes: int


@dataclass(frozen=True)
class Edit:
    """Lines of a text, from `start` to `stop`, and the lines that take their place."""

    start: int
    stop: int
    lines: tuple[str, ...] = field(repr=False)


def merge_texts(base: str, theirs: str, mine: str) -> Merged:
    """Return both texts as one. base: what both were made of. Where they clash, theirs comes before mine."""
    lines = lines_of(base)
    sides = find_edits(lines, lines_of(theirs)), find_edits(lines, lines_of(mine))
    parts: list[str] = []
    done, clashes = 0, 0
    for start, stop, groups in join_edits(*sides):
        parts += lines[done:start]
        before = lines[start:stop]
        first, second = (apply_edits(before, start, edits) for edits in groups)
        if second in (before, first):
            parts += first
        elif first == before:
            parts += second
        else:
            clashes += 1
            # What the first lines do not have as often: a line and the indented ones below it are one item.
            spare, rest = Counter(tuple(closed(item)) for item in items_of(closed(first))), list[str]()
            for item in items_of(second):
                key = tuple(closed(item))
                if item[0].strip() and spare[key] > 0:
                    spare[key] -= 1
                else:
                    rest += item
            parts += [*closed(first), *rest]
        done = stop
    parts += lines[done:]
    return Merged("".join([*closed(parts[:-1]), *parts[-1:]]), clashes)


def lines_of(text: str) -> list[str]:
    """Return the lines of a text with their ends; the last one may have none."""
    return [line for line in re.split(r"(?<=\n)", text) if line]


def find_edits(before: list[str], after: list[str]) -> list[Edit]:
    """Return what leads from one text to another, in order. The time is bounded as in `changed_blocks`."""
    return [Edit(i, j, tuple(after[k:m])) for tag, i, j, k, m in changed_blocks(before, after) if tag != "equal"]


def join_edits(theirs: Sequence[Edit], mine: Sequence[Edit]) -> list[tuple[int, int, tuple[list[Edit], list[Edit]]]]:
    """Return the parts of the first text that either side changed, each with the edits of both that touch it."""
    found: list[tuple[int, int, tuple[list[Edit], list[Edit]]]] = []
    marked = [(edit, 0) for edit in theirs] + [(edit, 1) for edit in mine]
    for edit, side in sorted(marked, key=lambda each: (each[0].start, each[0].stop)):
        if found and edit.start <= found[-1][1]:
            start, stop, groups = found.pop()
        else:
            start, stop, groups = edit.start, edit.stop, ([], [])
        groups[side].append(edit)
        found.append((start, max(stop, edit.stop), groups))
    return found


def apply_edits(lines: list[str], start: int, edits: Sequence[Edit]) -> list[str]:
    """Return a part of a text, that begins at line `start`, as edits within it leave it."""
    parts, done = list[str](), 0
    for edit in edits:
        parts += [*lines[done : edit.start - start], *edit.lines]
        done = edit.stop - start
    return parts + lines[done:]


def items_of(lines: list[str]) -> list[list[str]]:
    """Return lines as items: each with the indented ones below it."""
    items: list[list[str]] = []
    for line in lines:
        if items and line[:1] in " \t" and line.strip():
            items[-1].append(line)
        else:
            items.append([line])
    return items


def closed(lines: list[str]) -> list[str]:
    """Return lines of which each ends, so that more can follow."""
    return [line if line.endswith("\n") else f"{line}\n" for line in lines]


def plain_ends(text: str) -> str:
    """Return a text whose lines end with a line feed."""
    return _END.sub("\n", text)


def as_in_file(typed: str, before: str) -> str:
    """Return what a person typed with the line ends and the mark of the text that they had opened."""
    mark = _MARK if before.startswith(_MARK) else ""
    typed, old = plain_ends(typed).removeprefix(mark), before.removeprefix(mark)
    if typed == plain_ends(old):
        return before
    ends = _END.findall(old)
    kinds = set(ends)
    if len(kinds) > 1:  # a CR before a line that ends with LF would become one end of both
        return mark + (typed if "\r" in kinds else with_mixed_ends(typed, old, ends))
    return mark + typed.replace("\n", ends[0] if ends else "\n")


def with_mixed_ends(typed: str, before: str, ends: list[str]) -> str:
    """Return a text of which each line that stayed has the end that it had; new ones have the first of the ends."""
    old, new = _END.split(before), typed.split("\n")
    same = {other: number for number, other in same_lines(old, new)}
    ends = [*ends, ends[0]]
    written = [line + ends[same.get(number, -1)] for number, line in enumerate(new[:-1])]
    return "".join([*written, new[-1]])
