"""What differs between two texts, as pages show it."""

import re
from dataclasses import dataclass

from django.utils.translation import gettext as _

from apps.core.domain.diff import DiffLine, LineKind, compare_lines
from apps.core.pages.texts import cut

# More lines, and longer ones, are no use to a reader, and a burden to a browser.
MAX_LINES, MAX_LINE_CHARS = 1_000, 1_000
SIGNS = {LineKind.ADDED: "+", LineKind.REMOVED: "−", LineKind.SAME: " ", LineKind.HUNK: ""}


@dataclass(frozen=True)
class ShownLine:
    """A line of a comparison. kind: whether it is in both texts. sign: what says so besides its colour."""

    kind: str
    sign: str
    text: str


@dataclass(frozen=True)
class Difference:
    """The lines that differ, with some around them. more: how many are not shown. is_same: whether the texts are."""

    lines: tuple[ShownLine, ...]
    more: int
    added: int
    removed: int

    @property
    def is_same(self) -> bool:
        """Return whether the texts are the same."""
        return not self.lines


def difference(before: str, after: str) -> Difference:
    """Return what differs between two texts."""
    lines = compare_lines(before, after)
    kinds = [line.kind for line in lines]
    shown = tuple(ShownLine(line.kind.value, SIGNS[line.kind], words(line)) for line in lines[:MAX_LINES])
    return Difference(shown, max(0, len(lines) - MAX_LINES), kinds.count(LineKind.ADDED), kinds.count(LineKind.REMOVED))


def words(line: DiffLine) -> str:
    """Return the text of a line; of one that says where the next ones are, in words."""
    if line.kind is not LineKind.HUNK:
        return cut(line.text, MAX_LINE_CHARS)
    found = re.search(r"\d+", line.text)
    return _("From line %(number)s") % {"number": found[0]} if found else _("Only line ends differ.")
