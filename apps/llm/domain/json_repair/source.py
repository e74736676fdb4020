"""Look-ups in a damaged JSON text that never walk the same way twice (pure).

Every look-up is a binary search in positions that are collected once, so that a repair stays linear (times a
logarithm) whatever its input (spec 002, testing considerations 3).
"""

import re
from bisect import bisect_left

_SPACES_OF_MANY_WIDTHS = "".join(map(chr, range(0x2000, 0x200C)))
SPACE = f" \t\n\r\x0b\x0c\x85\xa0\u1680\u180e{_SPACES_OF_MANY_WIDTHS}\u2028\u2029\u202f\u205f\u3000\ufeff"
"""White space of JSON and of other writers; each character counts alone."""

DOUBLE_QUOTES = '"“”'
SINGLE_QUOTES = "'‘’`´"
QUOTES = DOUBLE_QUOTES + SINGLE_QUOTES
QUOTE_SIGNS = frozenset(QUOTES)
"""For membership: the empty text, which `Source.char` returns beyond the end, is in `QUOTES` but not in here."""

_LOOK_AHEAD_COMMENTS = 3
_SOLID = f"[^{SPACE}]"

_KEY_WITHOUT_QUOTES = re.compile(r"[\w$@][\w$@ .-]{0,80}[\"']?[ \t]{0,8}:(?!//)")


def closing_quotes(opener: str) -> str:
    """Return the characters that may close a string opened with `opener`."""
    if opener in "\"'":
        return opener
    return DOUBLE_QUOTES if opener in DOUBLE_QUOTES else SINGLE_QUOTES


class Source:
    """A text with quick answers about what comes before and after a position."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.size = len(text)
        self._positions: dict[str, list[int]] = {}
        self._unescaped: dict[str, list[int]] = {}
        self._escaped: set[int] | None = None

    def find_all(self, pattern: str) -> list[int]:
        """Return all positions at which `pattern` matches, in order; collected once."""
        if pattern not in self._positions:
            self._positions[pattern] = [match.start() for match in re.finditer(pattern, self.text)]
        return self._positions[pattern]

    def first_from(self, positions: list[int], position: int) -> int:
        """Return the first of `positions` from `position` on, or the size."""
        index = bisect_left(positions, position)
        return min(positions[index], self.size) if index < len(positions) else self.size

    def char(self, position: int) -> str:
        """Return the character there, or nothing beyond the end."""
        return self.text[position] if position < self.size else ""

    def skip_space(self, position: int) -> int:
        """Return the first position from here on that holds no white space, or the size."""
        return self.first_from(self.find_all(_SOLID), position)

    def solid_before(self, position: int) -> int:
        """Return the last position before this one that holds no white space, or -1."""
        solids = self.find_all(_SOLID)
        index = bisect_left(solids, position)
        return solids[index - 1] if index else -1

    def last_closers(self) -> list[int]:
        """Return the positions of the closers with nothing but white space between them and the end, the last first."""
        found, before = list[int](), self.size
        while (before := self.solid_before(before)) >= 0 and self.text[before] in "}])":
            found.append(before)
        return found

    def line_end(self, position: int) -> int:
        """Return the first line end from here on, or the size."""
        return self.first_from(self.find_all("\n"), position)

    def is_escaped(self, position: int) -> bool:
        """Return whether an odd number of backslashes precedes the position."""
        if self._escaped is None:
            runs = re.finditer(r"\\+", self.text)
            self._escaped = {run.end() for run in runs if (run.end() - run.start()) % 2}
        return position in self._escaped

    def quotes_like(self, opening: int) -> list[int]:
        """Return the positions of all quotes that could close the one at `opening`, in order."""
        return self.find_all(f"[{closing_quotes(self.text[opening])}]")

    def unescaped_quotes_like(self, opening: int) -> list[int]:
        """Return those of `quotes_like` that no backslash precedes, in order."""
        quotes = closing_quotes(self.text[opening])
        if quotes not in self._unescaped:
            self._unescaped[quotes] = [place for place in self.quotes_like(opening) if not self.is_escaped(place)]
        return self._unescaped[quotes]

    def closing_quote(self, opening: int) -> int | None:
        """Return the first unescaped quote after the one at `opening` that could close it."""
        found = self.first_from(self.unescaped_quotes_like(opening), opening + 1)
        return found if found < self.size else None

    def comment_end(self, position: int) -> int | None:
        """Return where the comment that starts here ends; None where no comment starts."""
        opening = self.text[position : position + 2]
        if opening == "/*":
            return min(self.first_from(self.find_all(r"\*/"), position + 2) + 2, self.size)
        if opening == "//" or opening == "# ":
            return self.line_end(position)
        return None

    def skip_ahead(self, position: int) -> int:
        """Return the next position that holds neither white space nor one of at most three comments."""
        here = self.skip_space(position)
        for _ in range(_LOOK_AHEAD_COMMENTS):
            end = self.comment_end(here)
            if end is None:
                break
            here = self.skip_space(end)
        return here

    def breaks_line(self, start: int, end: int) -> bool:
        """Return whether a line ends between the two positions."""
        return self.line_end(start) < end

    def is_bare_key(self, position: int) -> bool:
        """Return whether a name without quotes and its colon begin here."""
        return _KEY_WITHOUT_QUOTES.match(self.text, position, self.size) is not None

    def is_quoted_key(self, position: int, *, sure: bool) -> bool:
        """Return whether the quote here opens a name; if not `sure`, one that is cut or lacks its colon will do."""
        end = self.closing_quote(position)
        if end is None:
            return not sure
        after = self.skip_ahead(end + 1)
        if self.char(after) == ":":
            return True
        return not sure and (
            after >= self.size or self.text[after] in QUOTES or self.first_from(self.find_all(":"), position) < end
        )
