"""What differs between two texts, as pages show it."""

import re
from typing import Any

from django.utils.translation import gettext as _

from apps.core.domain.diff import DiffLine, LineKind, compare_lines
from apps.core.pages.texts import cut

# More lines, and longer ones, are no use to a reader, and a burden to a browser.
MAX_LINES, MAX_LINE_CHARS = 1_000, 1_000
SIGNS = {LineKind.ADDED: "+", LineKind.REMOVED: "−", LineKind.SAME: " ", LineKind.HUNK: ""}


def difference(before: str, after: str) -> dict[str, Any]:
    """Return what differs between two texts: the lines, with some around them, and how many more are not shown.

    sign: of a line, which says besides its colour whether it is in both texts.
    """
    lines = compare_lines(before, after)
    kinds = [line.kind for line in lines]
    return {
        "lines": [
            {"kind": line.kind.value, "sign": SIGNS[line.kind], "text": words(line)} for line in lines[:MAX_LINES]
        ],
        "more": max(0, len(lines) - MAX_LINES),
        "added": kinds.count(LineKind.ADDED),
        "removed": kinds.count(LineKind.REMOVED),
        "is_same": not lines,
    }


def words(line: DiffLine) -> str:
    """Return the text of a line; of one that says where the next ones are, in words."""
    if line.kind is not LineKind.HUNK:
        return cut(line.text, MAX_LINE_CHARS)
    found = re.search(r"\d+", line.text)
    return _("From line %(number)s") % {"number": found[0]} if found else _("Only line ends differ.")
