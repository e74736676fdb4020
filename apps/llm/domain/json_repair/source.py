"""Looking around in a damaged JSON text without ever walking the same way twice (pure).

Every look-up is a binary search in positions that are collected once, so that a repair stays linear (times a
logarithm) whatever its input (spec 002, testing considerations 3).
"""

import re
from bisect import bisect_left
from functools import cached_property

_SPACES_OF_MANY_WIDTHS = "".join(map(chr, range(0x2000, 0x200C)))
SPACE = f" \t\n\r\x0b\x0c\x85\xa0\u1680\u180e{_SPACES_OF_MANY_WIDTHS}\u2028\u2029\u202f\u205f\u3000\ufeff"
"""White space of JSON and of other writers; each character stands for itself."""

DOUBLE_QUOTES = '"“”'
SINGLE_QUOTES = "'‘’`´"
QUOTES = DOUBLE_QUOTES + SINGLE_QUOTES

_LOOK_AHEAD_COMMENTS = 3

_KEY_WITHOUT_QUOTES = re.compile(r"[\w$@][\w$@ .-]{0,80}[\"']?[ \t]{0,8}:(?!//)")


def closing_quotes(opener: str) -> str:
    """The characters that may close a string opened with `opener`."""
    if opener in "\"'":
        return opener
    return DOUBLE_QUOTES if opener in DOUBLE_QUOTES else SINGLE_QUOTES


class Source:
    """A text with quick answers about what stands before and after a position."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.size = len(text)
        self._quotes: dict[str, list[int]] = {}

    def _positions(self, pattern: str) -> list[int]:
        return [match.start() for match in re.finditer(pattern, self.text)]

    @cached_property
    def _solids(self) -> list[int]:
        return self._positions(f"[^{SPACE}]")

    @cached_property
    def _newlines(self) -> list[int]:
        return self._positions("\n")

    @cached_property
    def _comment_ends(self) -> list[int]:
        return self._positions(r"\*/")

    def char(self, position: int) -> str:
        """The character there, or nothing beyond the end."""
        return self.text[position] if position < self.size else ""

    def solid(self, position: int) -> int:
        """The first position from here on that holds no white space, or the size."""
        return self._first(self._solids, position)

    def solid_before(self, position: int) -> int:
        """The last position before this one that holds no white space, or -1."""
        index = bisect_left(self._solids, position)
        return self._solids[index - 1] if index else -1

    def newline(self, position: int) -> int:
        """The first line end from here on, or the size."""
        return self._first(self._newlines, position)

    def _first(self, positions: list[int], position: int) -> int:
        index = bisect_left(positions, position)
        return min(positions[index], self.size) if index < len(positions) else self.size

    def quotes(self, closers: str) -> list[int]:
        """Positions of all the given quotes, in order."""
        if closers not in self._quotes:
            self._quotes[closers] = self._positions(f"[{closers}]")
        return self._quotes[closers]

    def is_escaped(self, position: int) -> bool:
        """Whether an odd number of backslashes stands before the position."""
        start = position
        while start and self.text[start - 1] == "\\":
            start -= 1
        return (position - start) % 2 == 1

    def closing_quote(self, opening: int) -> int | None:
        """The first unescaped quote after the one at `opening` that could close it."""
        found = self.quotes(closing_quotes(self.text[opening]))
        for index in range(bisect_left(found, opening + 1), len(found)):
            if not self.is_escaped(found[index]):
                return found[index] if found[index] < self.size else None
        return None

    def comment_end(self, position: int) -> int | None:
        """Where the comment that starts here ends; None where no comment starts."""
        opening = self.text[position : position + 2]
        if opening == "/*":
            return min(self._first(self._comment_ends, position + 2) + 2, self.size)
        if opening == "//" or opening == "# ":
            return self.newline(position)
        return None

    def ahead(self, position: int) -> int:
        """The next position that holds neither white space nor one of at most three comments."""
        here = self.solid(position)
        for _ in range(_LOOK_AHEAD_COMMENTS):
            end = self.comment_end(here)
            if end is None:
                break
            here = self.solid(end)
        return here

    def breaks_line(self, start: int, end: int) -> bool:
        """Whether a line ends between the two positions."""
        return self.newline(start) < end

    def is_bare_key(self, position: int) -> bool:
        """Whether a name without quotes and its colon stand here."""
        return _KEY_WITHOUT_QUOTES.match(self.text, position, self.size) is not None

    def is_quoted_key(self, position: int, *, sure: bool) -> bool:
        """Whether the quote here opens a name; if not `sure`, a name that is cut or misses its colon will do."""
        end = self.closing_quote(position)
        if end is None:
            return not sure
        after = self.ahead(end + 1)
        if self.char(after) == ":":
            return True
        return not sure and (after >= self.size or self.text[after] in QUOTES or ":" in self.text[position + 1 : end])

    def is_element(self, position: int) -> bool:
        """Whether the quote here opens a string that ends as an element of a list does."""
        end = self.closing_quote(position)
        return end is not None and self.char(self.ahead(end + 1)) in ("", ",", "]", "}")
