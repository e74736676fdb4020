"""What differs between two texts, line by line."""

from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

# Lines beside a change that are shown with it.
CONTEXT_LINES = 3
# Beyond so many lines on both sides together, a changed part is shown as a whole: comparing takes their product.
MAX_COMPARED = 2_000


class LineKind(StrEnum):
    """Whether a line is in both texts. hunk: where the next lines are."""

    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"
    HUNK = "hunk"


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of a comparison."""

    kind: LineKind
    text: str

    @property
    def marked(self) -> str:
        """Return the line with its mark, as in a unified diff."""
        return {"same": " ", "added": "+", "removed": "-", "hunk": ""}[self.kind] + self.text


def compare_lines(before: str, after: str) -> list[DiffLine]:
    """Return the lines that differ, with CONTEXT_LINES around them; none for equal texts.

    The time is linear in what the texts share at their beginning and end, and bounded for what is between.
    """
    old, new = before.splitlines(), after.splitlines()
    if old == new:
        return [] if before == after else [DiffLine(LineKind.HUNK, "Only line ends differ.")]
    first = shared_prefix(old, new)
    rest = min(len(old), len(new)) - first
    last = min(shared_prefix(old[::-1], new[::-1]), rest)
    middle = changed_blocks(old[first : len(old) - last], new[first : len(new) - last])
    blocks = [("equal", 0, first, 0, first)]
    blocks += [(tag, i + first, j + first, k + first, m + first) for tag, i, j, k, m in middle]
    blocks.append(("equal", len(old) - last, len(old), len(new) - last, len(new)))
    return lines_of(old, new, blocks)


def shared_prefix(first: list[str], second: list[str]) -> int:
    """Return how many lines two texts share at the beginning."""
    count = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        count += 1
    return count


def changed_blocks(old: list[str], new: list[str]) -> list[tuple[str, int, int, int, int]]:
    """Return the blocks of lines that are equal, or take the place of each other."""
    if len(old) + len(new) > MAX_COMPARED:
        return [("replace", 0, len(old), 0, len(new))]
    return [tuple(block) for block in SequenceMatcher(None, old, new, autojunk=False).get_opcodes()]  # type: ignore[misc]


def lines_of(old: list[str], new: list[str], blocks: list[tuple[str, int, int, int, int]]) -> list[DiffLine]:
    """Return the lines of blocks; of long equal ones only what is beside a change."""
    shown: list[DiffLine] = []
    final = len(blocks) - 1
    for number, (tag, i, j, k, m) in enumerate(blocks):
        if tag != "equal":
            shown += [DiffLine(LineKind.REMOVED, line) for line in old[i:j]]
            shown += [DiffLine(LineKind.ADDED, line) for line in new[k:m]]
            continue
        head = 0 if number == 0 else min(CONTEXT_LINES, j - i)
        tail = 0 if number == final else min(CONTEXT_LINES, j - i - head)
        shown += [DiffLine(LineKind.SAME, line) for line in old[i : i + head]]
        if j - i > head + tail and number != final:
            shown.append(DiffLine(LineKind.HUNK, f"@@ line {m - tail + 1} @@"))
        shown += [DiffLine(LineKind.SAME, line) for line in old[j - tail : j]]
    return shown
