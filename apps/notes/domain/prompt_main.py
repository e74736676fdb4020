"""Which parts of MEMORY.md are shown where all of it is too long: what was found, then the others from the end."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from apps.core.domain.origin import WriteOrigin
from apps.notes.domain.blocks import Block, all_above, block_of, count_tokens, split_blocks
from apps.notes.domain.places import MAIN

# The line that says what was left out there.
GAP_TOKENS = 14
# A token has at most so many bytes: of the end of MEMORY.md no more than these can be shown.
_TOKEN_BYTES = 4
# So many characters of its end are read besides, and before and after what was found.
_MORE_CHARS, _AROUND_CHARS = 20_000, 4_000
# After so many blocks in a row that do not fit, none is looked for.
_MAX_MISSES = 50
# The first line of an item, which is shown above others of it; and how much of the end of a line that is too long.
_MAX_OPENING_CHARS, _MAX_END_CHARS = 200, 1_000
_CUT = "[...]"
# Whom a memory comes from, as a model reads it.
SAID = {
    WriteOrigin.PERSON: "said by the person",
    WriteOrigin.APP: "saved by an application",
    WriteOrigin.DOCUMENT: "from a document",
    WriteOrigin.DERIVED: "derived from a conversation",
}
_SENTENCE_END = re.compile(r"[.!?](?=\s)|[。！？]")


@dataclass(frozen=True, slots=True)
class Passage:
    """Something to show besides MEMORY.md, the best first.

    path: of a note. memory: the id of a memory, else empty. origin: of a memory; a note has several writers.
    """

    text: str
    path: str = ""
    first_line: int = 0
    last_line: int = 0
    heading: str = ""
    memory: str = ""
    origin: WriteOrigin | None = None

    @property
    def label(self) -> str:
        """Return where it comes from, on one line."""
        if self.memory:
            return f"[memory {self.memory}{f', {SAID[self.origin]}' if self.origin else ''}]"
        is_one = self.first_line == self.last_line
        lines = f"line {self.first_line}" if is_one else f"lines {self.first_line}-{self.last_line}"
        heading = f", {' '.join(self.heading.split())}" if self.heading else ""
        return f"[{self.path}, {lines}{heading}]"

    @property
    def shown(self) -> str:
        """Return it as the model sees it."""
        return f"{self.label}\n{self.text.strip()}"


@dataclass
class Choice:
    """The lines of MEMORY.md that are shown, as long as they fit."""

    lines: Sequence[str]
    budget: int
    chosen: dict[int, None] = field(default_factory=dict)
    used: int = 0
    # Of lines that are too long, what is shown of them.
    parts: dict[int, list[str]] = field(default_factory=dict)

    def take(self, block: Block) -> bool:
        """Choose a block with its headings; return whether it fits."""
        if self.used + block.tokens > self.budget:
            return False
        above = [number for number in block.above if number not in self.chosen]
        cost = block.tokens + sum(count_tokens(self.lines[number - 1]) + 1 for number in above)
        cost += GAP_TOKENS * sum(not self.is_beside(number, number) for number in above)
        cost += GAP_TOKENS * (not self.is_beside(block.first, block.last))
        if self.used + cost > self.budget:
            return False
        self.used += cost
        self.chosen |= dict.fromkeys([*above, *range(block.first, block.last + 1)])
        return True

    def take_lines(self, block: Block, passage: Passage) -> None:
        """Choose of a block that is too long the lines of a passage; where these are too long, its words."""
        first, last = max(block.first, passage.first_line), min(block.last, passage.last_line)
        opening = self.lines[block.first - 1]
        above = block.above
        if block.first < first and len(opening) <= _MAX_OPENING_CHARS:
            above = (*above, block.first)
        if self.take(block_of(self.lines, first, last, above)):
            return
        for number in range(first, last + 1):
            if not self.take(block_of(self.lines, number, number, above)):
                self.take_words(number, passage.text.strip(), above)
                return

    def take_end(self, block: Block) -> None:
        """Choose of a block that is too long the last lines; where the last one is too long, its last words."""
        for number in range(block.last, block.first - 1, -1):
            if not self.take(block_of(self.lines, number, number, block.above)):
                if number not in self.chosen and not self.lines_of(block):
                    self.take_words(number, self.lines[number - 1][-_MAX_END_CHARS:].strip(), block.above)
                return

    def lines_of(self, block: Block) -> bool:
        """Return whether a line of a block is chosen that is not empty."""
        return any(
            number in self.chosen and self.lines[number - 1].strip()
            for number in range(block.last, block.first - 1, -1)
        )

    def take_words(self, number: int, words: str, above: tuple[int, ...]) -> bool:
        """Choose sentences of a line that is too long; return whether one of them fits."""
        shown = self.parts.get(number, [])
        if not words or words not in self.lines[number - 1] or words in shown:
            return False
        while words:
            block = Block(number, number, count_tokens(f"{_CUT} {words} {_CUT}\n") + 1, above)
            if self.take(block):
                self.parts[number] = [*shown, words]
                return True
            ends = [end.end() for end in _SENTENCE_END.finditer(words, 0, len(words) - 1)]
            words = words[: ends[-1]].strip() if ends else ""
        return False

    def text_of(self, number: int) -> str:
        """Return a line as it is shown."""
        parts = self.parts.get(number)
        return f"{_CUT} {f' {_CUT} '.join(parts)} {_CUT}" if parts else self.lines[number - 1]

    def is_beside(self, first: int, last: int) -> bool:
        """Return whether lines are next to others that are shown, so that there is no further gap."""
        return first - 1 in self.chosen or last + 1 in self.chosen


def choose(lines: Sequence[str], found: Sequence[Passage], budget: int) -> Choice:
    """Return what of MEMORY.md is shown within a budget of tokens. found: the passages of it that a search found."""
    choice = Choice(lines, budget)
    if budget <= 0:
        return choice
    inside = [each for each in found if 1 <= each.first_line <= len(lines)]
    blocks = blocks_near(lines, inside, budget)
    by_line = {number: block for block in blocks for number in range(block.first, block.last + 1)}
    for passage in inside:
        numbers = range(passage.first_line, min(passage.last_line, len(lines)) + 1)
        for block in dict.fromkeys(by_line[number] for number in numbers if number in by_line):
            if block.first not in choice.chosen and not choice.take(block):
                choice.take_lines(block, passage)
    misses = 0
    for block in reversed(blocks):
        if block.first not in choice.chosen:
            misses = 0 if choice.take(block) else misses + 1
        if misses > _MAX_MISSES:
            break
    if blocks and not any(choice.lines_of(block) for block in blocks if not is_heading(lines, block)):
        choice.take_end(next((each for each in reversed(blocks) if not is_heading(lines, each)), blocks[-1]))
    return choice


def is_heading(lines: Sequence[str], block: Block) -> bool:
    """Return whether a block is a heading alone."""
    return lines[block.first - 1].lstrip().startswith("#")


def blocks_near(lines: Sequence[str], found: Sequence[Passage], budget: int) -> list[Block]:
    """Return the blocks of a note around what was found and at its end, as far as a budget may reach."""
    ranges = [
        (reach(lines, each.first_line, -1, _AROUND_CHARS), reach(lines, each.last_line, 1, _AROUND_CHARS))
        for each in found
    ]
    ranges.append((reach(lines, len(lines), -1, _TOKEN_BYTES * budget + _MORE_CHARS), len(lines)))
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    above = all_above(lines, [first for first, _ in merged])
    return [block for first, last in merged for block in split_blocks(lines, first, last, above[first])]


def reach(lines: Sequence[str], number: int, step: int, most: int) -> int:
    """Return the number of the line to which so many characters before (step -1) or after (1) a line reach."""
    number = min(number, len(lines))
    while most > 0 and 1 <= number + step <= len(lines):
        number += step
        most -= len(lines[number - 1]) + 1
    return number


def runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of each row of numbers that follow each other."""
    first = None
    for number, following in zip(numbers, [*numbers[1:], None], strict=True):
        first = number if first is None else first
        if following != number + 1:
            yield first, number
            first = None


def body_and_gaps(choice: Choice, shown: Sequence[tuple[int, int]]) -> tuple[str, list[tuple[int, int]]]:
    """Return the lines that are shown, with a line for each gap between them, and the gaps that are not empty."""
    body: list[str] = []
    missing: list[tuple[int, int]] = []
    after = len(choice.lines) + 1
    before = 0
    for first, last in (*shown, (after, after)):
        if first > before + 1:
            gap = written(choice.lines, before + 1, first - 1)
            missing += [gap] if gap else []
            body.append(f"[lines {gap[0]}-{gap[1]} of {MAIN} are left out]" if gap else "")
        if first < after:
            body += [choice.text_of(number) for number in range(first, last + 1)]
        before = last
    return "\n".join(body), missing


def written(lines: Sequence[str], first: int, last: int) -> tuple[int, int] | None:
    """Return some lines without the empty ones at their ends; None where all are empty."""
    start = next((number for number in range(first, last + 1) if is_written(lines[number - 1])), None)
    if start is None:
        return None
    return start, next(number for number in range(last, start - 1, -1) if is_written(lines[number - 1]))


def is_written(line: str) -> bool:
    """Return whether a line is not empty."""
    return bool(line) and not line.isspace()
