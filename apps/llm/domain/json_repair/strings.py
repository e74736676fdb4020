"""Where a string of a damaged JSON text ends, and how its content is spelled in JSON (pure).

A quote inside a string is taken for its end, for a part of its text, or for the start of the next string when the
end was forgotten; what stands around the quote decides (spec 002 section 7 has only well-formed strings; the
choices are those a reader would make, and agree with the public repair libraries where those agree).
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum

from apps.llm.domain.json_repair.source import QUOTES, Source, closing_quotes
from apps.llm.domain.json_repair.types import RepairKind, RepairLog


class StringPlace(Enum):
    """Where a string stands."""

    ROOT = "root"
    KEY = "key"
    VALUE = "value"
    ELEMENT = "element"


@dataclass(frozen=True, slots=True)
class StringEnd:
    """Content ends before `content_end`, reading goes on at `resume`; `closed` if a quote stood there."""

    content_end: int
    resume: int
    closed: bool
    at_end_of_text: bool = False


@dataclass(frozen=True, slots=True)
class _Event:
    """What a search that began at `start` found at `position`: the end of the content, or None at the end of text."""

    start: int
    position: int
    content_end: int | None


class StringEnds:
    """Finds the ends of strings; remembers what it found, so that no stretch is searched twice for the same."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._events: dict[tuple[str, StringPlace], _Event] = {}

    def find(self, opening: int, place: StringPlace, closers: Iterable[str]) -> StringEnd:
        """The end of the string opened at `opening`; `closers` are those of the open containers, outermost first."""
        event = self._event(opening, place)
        if event.content_end == event.position:
            return StringEnd(event.position, event.position + 1, closed=True)
        if place is StringPlace.KEY:
            return self._end_of_key(opening, event, closers)
        if event.content_end is not None:
            return StringEnd(self._trimmed(opening, event.content_end), event.content_end, closed=False)
        return self._end_before_closers(opening, closers)

    def _event(self, opening: int, place: StringPlace) -> _Event:
        closing = closing_quotes(self._source.text[opening])
        known = self._events.get((closing, place))
        if known is not None and known.start <= opening < known.position:
            return known
        event = self._search(opening, place, self._source.quotes(closing))
        self._events[closing, place] = event
        return event

    def _search(self, opening: int, place: StringPlace, quotes: list[int]) -> _Event:
        for index in range(bisect_left(quotes, opening + 1), len(quotes)):
            position = quotes[index]
            if position >= self._source.size:
                break
            if self._source.is_escaped(position):
                continue
            if self._closes(position, place):
                return _Event(opening, position, position)
            forgotten = self._forgotten_end(position, place)
            if forgotten is not None:
                return _Event(opening, position, forgotten)
        return _Event(opening, self._source.size, None)

    def _closes(self, position: int, place: StringPlace) -> bool:
        after = self._source.ahead(position + 1)
        char = self._source.char(after)
        if not char or self._source.text.startswith("```", after):
            return True
        if char == "+":
            return self._source.char(self._source.ahead(after + 1)) in tuple(QUOTES)
        return _CLOSES[place](self._source, position, after, char)

    def _forgotten_end(self, position: int, place: StringPlace) -> int | None:
        """Where the string ended whose end quote was forgotten, if the quote here opens the next string."""
        structural = ",{}[]:" if place is StringPlace.KEY else ",{}[]"
        start, last = position, ""
        while (before := self._source.solid_before(start)) >= 0 and self._source.text[before] in structural:
            last = last or self._source.text[before]
            start = before
        if not last:
            return self._end_of_line_before(position, place)
        return start if self._opens_next(position, place, last) else None

    def _end_of_line_before(self, position: int, place: StringPlace) -> int | None:
        """A line that ends without quote and comma, before a line that begins with a name."""
        end = self._source.solid_before(position) + 1
        is_forgotten = place is StringPlace.VALUE and self._source.breaks_line(end, position)
        return end if is_forgotten and self._source.is_quoted_key(position, sure=True) else None

    def _opens_next(self, position: int, place: StringPlace, last: str) -> bool:
        if place is StringPlace.KEY:
            return True
        if place is StringPlace.ROOT:
            return False
        if (place is StringPlace.ELEMENT or last == "[") and last != "{" and self._source.is_element(position):
            return True
        return self._source.is_quoted_key(position, sure=True)

    def _end_of_key(self, opening: int, event: _Event, closers: Iterable[str]) -> StringEnd:
        """A name whose end quote was forgotten ends at its colon."""
        limit = self._source.size if event.content_end is None else event.content_end
        colon = self._source.text.find(":", opening + 1, limit)
        if colon < 0 and event.content_end is None:
            return self._end_before_closers(opening, closers)
        end = limit if colon < 0 else colon
        return StringEnd(self._trimmed(opening, end), end, closed=False)

    def _end_before_closers(self, opening: int, closers: Iterable[str]) -> StringEnd:
        """The text ends inside the string; closers at the very end that fit what is open are not part of it."""
        end = self._source.size
        for closer in closers:
            last = self._source.solid_before(end)
            if last <= opening or self._source.text[last] != closer:
                break
            end = last
        if end == self._source.size:
            return StringEnd(end, end, closed=False, at_end_of_text=True)
        only = self._first_of_odd_quotes(opening)
        if only is not None:
            return StringEnd(only, only + 1, closed=True)
        comma = self._source.solid_before(end)
        if comma > opening and self._source.text[comma] == ",":
            end = comma
        return StringEnd(self._trimmed(opening, end), end, closed=False)

    def _first_of_odd_quotes(self, opening: int) -> int | None:
        """In a text that is not cut, quotes that make pairs with the opening one are ends, not parts, of strings."""
        quotes = self._source.quotes(closing_quotes(self._source.text[opening]))
        following = bisect_left(quotes, self._source.size) - bisect_left(quotes, opening + 1)
        return self._source.closing_quote(opening) if following % 2 else None

    def _trimmed(self, opening: int, end: int) -> int:
        return max(self._source.solid_before(end), opening) + 1


def _closes_key(source: Source, position: int, after: int, char: str) -> bool:
    return char in ":}],{[=" or char in QUOTES or char.isdigit()


def _closes_value(source: Source, position: int, after: int, char: str) -> bool:
    if char in "}])":
        return True
    if char == ",":
        return _starts_member(source, source.ahead(after + 1))
    if char in QUOTES:
        return source.is_quoted_key(after, sure=True)
    return source.breaks_line(position, after) and source.is_bare_key(after)


def _starts_member(source: Source, position: int) -> bool:
    char = source.char(position)
    if not char or char in "}],{[" or source.text.startswith("...", position):
        return True
    if char in QUOTES:
        return source.is_quoted_key(position, sure=False)
    return source.is_bare_key(position)


def _closes_element(source: Source, position: int, after: int, char: str) -> bool:
    return char in ",]}[{)" or char in QUOTES or char.isdigit() or source.breaks_line(position, after)


def _closes_root(source: Source, position: int, after: int, char: str) -> bool:
    return char in ",)" or char in QUOTES or source.breaks_line(position, after)


_CLOSES: dict[StringPlace, Callable[[Source, int, int, str], bool]] = {
    StringPlace.KEY: _closes_key,
    StringPlace.VALUE: _closes_value,
    StringPlace.ELEMENT: _closes_element,
    StringPlace.ROOT: _closes_root,
}


_SPELLING = re.compile(r"\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\[\"\\/bfnrt]|\\[\s\S]?|[\"\x00-\x1f]")
_CUT_ESCAPE = re.compile(
    r"(?:\\u[dD][89abAB][0-9a-fA-F]{2})?(?:\\u[0-9a-fA-F]{0,3}|\\)$|\\u[dD][89abAB][0-9a-fA-F]{2}$"
)
_CONTROLS = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
_ESCAPED_BY = '"\\/bfnrt'


class StringSpelling:
    """Spells the content of strings as JSON does, keeping every character of the text; notes what it changes."""

    def __init__(self, text: str, ledger: RepairLog) -> None:
        self._text = text
        self._ledger = ledger

    def spell(self, start: int, end: int, *, at_end_of_text: bool) -> str:
        """The content between the two positions; an escape that the end of the text cut through is dropped."""
        self._inner_quotes = False
        self._start = start
        content = self._text[start:end]
        if at_end_of_text:
            content = self._without_cut_escape(content)
        return _SPELLING.sub(self._spelled, content)

    def _without_cut_escape(self, content: str) -> str:
        cut = _CUT_ESCAPE.search(content, max(0, len(content) - 12))
        if cut is None or _backslashes_before(content, cut.start()) % 2:
            return content
        self._ledger.add(RepairKind.ESCAPE, self._start + cut.start())
        return content[: cut.start()]

    def _spelled(self, match: re.Match[str]) -> str:
        found, position = match.group(), self._start + match.start()
        if found[0] != "\\":
            return self._spelled_character(found, position)
        escaped = found[1:2]
        if len(found) == 6 or (escaped and escaped in _ESCAPED_BY):
            return found
        self._ledger.add(RepairKind.ESCAPE, position)
        if len(found) == 4:
            return f"\\u00{found[2:]}"
        return _respelled_escape(escaped)

    def _spelled_character(self, char: str, position: int) -> str:
        if char != '"':
            self._ledger.add(RepairKind.CONTROL_CHARACTER, position)
            return _CONTROLS.get(char) or f"\\u{ord(char):04x}"
        if not self._inner_quotes:
            # One decision about where this string ends, however many quotes it holds.
            self._ledger.add(RepairKind.INNER_QUOTE, position)
            self._inner_quotes = True
        return '\\"'


def _respelled_escape(escaped: str) -> str:
    """A backslash that JSON does not know: kept before a letter or digit (a path), dropped before a sign."""
    if escaped < " ":
        return _CONTROLS.get(escaped, f"\\u{ord(escaped):04x}") if escaped else "\\\\"
    return f"\\\\{escaped}" if escaped.isalnum() else escaped


def _backslashes_before(text: str, position: int) -> int:
    return position - len(text[:position].rstrip("\\"))
