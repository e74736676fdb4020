"""What differs between two texts, line by line."""

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import pairwise

# Lines beside a change that are shown with it.
CONTEXT_LINES = 3
# Up to so many lines on both sides together are compared one by one, which takes their product.
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

    The time is bounded as in `changed_blocks`.
    """
    old, new = before.splitlines(), after.splitlines()
    if old == new:
        return [] if before == after else [DiffLine(LineKind.HUNK, "Only line ends differ.")]
    blocks = changed_blocks(old, new)
    # A change at the first or last line has no equal lines before or after it, but still an end of the text.
    if blocks[0][0] != "equal":
        blocks.insert(0, ("equal", 0, 0, 0, 0))
    if blocks[-1][0] != "equal":
        blocks.append(("equal", len(old), len(old), len(new), len(new)))
    return lines_of(old, new, blocks)


def changed_blocks(old: list[str], new: list[str]) -> list[tuple[str, int, int, int, int]]:
    """Return the blocks of lines that are equal, or take the place of each other, in order.

    Long parts are compared between the lines that both have once (patience diff): changes at both ends of a long text
    are two small ones. Only a long part without such a line is one block, for comparing takes the product of its lines.
    """
    blocks: list[tuple[str, int, int, int, int]] = []
    i = k = 0
    for start, beside, size in [*same_runs(old, new), (len(old), len(new), 0)]:
        if i < start or k < beside:
            tag = "insert" if i == start else "delete" if k == beside else "replace"
            blocks.append((tag, i, start, k, beside))
        if size:
            blocks.append(("equal", start, start + size, beside, beside + size))
        i, k = start + size, beside + size
    return blocks


def same_runs(old: list[str], new: list[str]) -> list[tuple[int, int, int]]:
    """Return the runs of lines that two texts share: where each begins in the one and the other, and its length."""
    runs: list[tuple[int, int, int]] = []
    for i, k in sorted(same_lines(old, new)):
        if runs and (runs[-1][0] + runs[-1][2], runs[-1][1] + runs[-1][2]) == (i, k):
            runs[-1] = (*runs[-1][:2], runs[-1][2] + 1)
        else:
            runs.append((i, k, 1))
    return runs


def same_lines(old: list[str], new: list[str]) -> list[tuple[int, int]]:
    """Return the places, from 0, of lines that two texts share in the same order."""
    found: list[tuple[int, int]] = []
    parts = [(0, len(old), 0, len(new))]
    while parts:
        i, j, k, m = parts.pop()
        while i < j and k < m and old[i] == new[k]:
            found.append((i, k))
            i, k = i + 1, k + 1
        while i < j and k < m and old[j - 1] == new[m - 1]:
            j, m = j - 1, m - 1
            found.append((j, m))
        if j - i + m - k <= MAX_COMPARED:
            matches = SequenceMatcher(None, old[i:j], new[k:m], autojunk=False).get_matching_blocks()
            found += [(i + a + each, k + b + each) for a, b, size in matches for each in range(size)]
        elif anchors := shared_once(old[i:j], new[k:m]):
            places = [(i, k), *((i + a, k + b) for a, b in anchors), (j, m)]
            parts += [(i, j, k, m) for (i, k), (j, m) in pairwise(places)]
    return found


def shared_once(old: list[str], new: list[str]) -> list[tuple[int, int]]:
    """Return the places of lines that each of two texts has once, as many as are in the same order in both."""
    places = {line: number for number, line in enumerate(new)}
    counts, others = Counter(old), Counter(new)
    unique = [(i, places[line]) for i, line in enumerate(old) if counts[line] == 1 == others[line]]
    # The longest rising sequence of places in the other text: the last one of each length, and what it follows.
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(unique):
        length = bisect_left(ends, place)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1], last[length : length + 1] = [place], [number]
    rising, number = [], last[-1] if last else -1
    while number >= 0:
        rising.append(unique[number])
        number = before[number]
    return rising[::-1]


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
