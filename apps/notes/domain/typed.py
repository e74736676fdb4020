"""A text that went through a field of a browser, which makes every line end a CRLF and hides a mark at the beginning.

Only what a person changed is to change in the file: its line ends and its mark stay.
"""

import re

from apps.core.domain.diff import same_lines

_END = re.compile(r"\r\n|\r|\n")
_MARK = "\ufeff"


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
