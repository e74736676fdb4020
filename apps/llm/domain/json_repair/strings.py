"""Where a string of a damaged JSON text ends, and how its content is spelled in JSON (pure).

A quote inside a string is taken for its end, for a part of its text, or for the start of the next string when the
end was forgotten; what surrounds the quote decides (spec 002 section 7 has only well-formed strings; the
choices are those a reader would make, and agree with the public repair libraries where those agree).
"""

import re
from bisect import bisect_left
from dataclasses import dataclass
from enum import Enum

from apps.llm.domain.json_repair.source import QUOTE_SIGNS, QUOTES, Source, closing_quotes
from apps.llm.domain.json_repair.types import RepairKind, RepairLog, WorkMeter


class StringPlace(Enum):
    """What a string is part of."""

    ROOT = "root"
    KEY = "key"
    VALUE = "value"
    ELEMENT = "element"


@dataclass(frozen=True, slots=True)
class StringEnd:
    """Content ends before `content_end`, reading continues at `resume`; `closed` if a quote was found there.

    is_cut: the text ended before the string did.
    """

    content_end: int
    resume: int
    closed: bool
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class QuoteSearch:
    """What a search that began at `start` found at `position`: the end of the content, or None at the end of text."""

    start: int
    position: int
    content_end: int | None


class StringEnds:
    """Finds the ends of strings; remembers what it found, so that no stretch is searched twice for the same."""

    def __init__(self, source: Source, meter: WorkMeter) -> None:
        self.source = source
        self.meter = meter
        self._searches: dict[tuple[str, StringPlace], QuoteSearch] = {}

    def find(self, opening: int, place: StringPlace, limit: int) -> StringEnd:
        """Return the end of the string opened at `opening`.

        limit: where the closers at the end of the text begin that fit the open containers.
        """
        key = closing_quotes(self.source.text[opening]), place
        search = self._searches.get(key)
        if search is None or not search.start <= opening < search.position:
            search = self._searches[key] = self.search(opening, place)
        end = search.content_end
        if end == search.position:
            return StringEnd(search.position, search.position + 1, closed=True)
        if place is StringPlace.KEY:
            # A name whose end quote was forgotten ends at its colon.
            before = self.source.size if end is None else end
            colon = self.source.text.find(":", opening + 1, before)
            end = end if colon < 0 else colon
        if end is None:
            return self.end_before_closers(opening, limit)
        return StringEnd(self.trim(opening, end), end, closed=False)

    def search(self, opening: int, place: StringPlace) -> QuoteSearch:
        """Search the quotes after `opening` for the first that ends the string, or shows that its end is missing."""
        quotes = self.source.unescaped_quotes_like(opening)
        for index in range(bisect_left(quotes, opening + 1), len(quotes)):
            self.meter.spend()
            position = quotes[index]
            if position >= self.source.size:
                break
            if self.is_end(position, place):
                return QuoteSearch(opening, position, position)
            forgotten = self.find_forgotten_end(position, place)
            if forgotten is not None:
                return QuoteSearch(opening, position, forgotten)
        return QuoteSearch(opening, self.source.size, None)

    def is_end(self, position: int, place: StringPlace) -> bool:
        """Return whether the quote at `position` ends a string, by what follows it."""
        source = self.source
        after = source.skip_ahead(position + 1)
        char = source.char(after)
        if not char or source.text.startswith("```", after):
            return True
        if char == "+":
            return source.char(source.skip_ahead(after + 1)) in QUOTE_SIGNS
        if place is StringPlace.KEY:
            return char in ":}],{[=" or char in QUOTES or char.isdigit()
        if place is StringPlace.ELEMENT:
            return char in ",]}[{)" or char in QUOTES or char.isdigit() or source.breaks_line(position, after)
        if place is StringPlace.ROOT:
            return char in ",)" or char in QUOTES or source.breaks_line(position, after)
        if char == ",":
            return self.may_start_member(source.skip_ahead(after + 1))
        if char in QUOTES:
            return source.is_quoted_key(after, sure=True)
        return char in "}])" or (source.breaks_line(position, after) and source.is_bare_key(after))

    def may_start_member(self, position: int) -> bool:
        """Return whether a member may start here, after a comma, or the object is continued or ended otherwise."""
        char = self.source.char(position)
        if not char or char in "}],{[" or self.source.text.startswith("...", position):
            return True
        if char in QUOTES:
            return self.source.is_quoted_key(position, sure=False)
        return self.source.is_bare_key(position)

    def find_forgotten_end(self, position: int, place: StringPlace) -> int | None:
        """Return where the string ended whose end quote was forgotten, if the quote here opens the next string."""
        source = self.source
        structural = ",{}[]:" if place is StringPlace.KEY else ",{}[]"
        start, last = position, ""
        while (before := source.solid_before(start)) >= 0 and source.text[before] in structural:
            self.meter.spend()
            last = last or source.text[before]
            start = before
        if not last:
            # A line that ends without quote and comma, before a line that begins with a name.
            end = source.solid_before(position) + 1
            is_forgotten = place is StringPlace.VALUE and source.breaks_line(end, position)
            return end if is_forgotten and source.is_quoted_key(position, sure=True) else None
        if place is StringPlace.KEY:
            return start
        if place is StringPlace.ROOT:
            return None
        if (place is StringPlace.ELEMENT or last == "[") and last != "{":
            closing = source.closing_quote(position)
            if closing is not None and source.char(source.skip_ahead(closing + 1)) in ("", ",", "]", "}"):
                return start
        return start if source.is_quoted_key(position, sure=True) else None

    def end_before_closers(self, opening: int, limit: int) -> StringEnd:
        """Return the end of a string in which the text ends, without the closers at its end that fit what is open."""
        source, end = self.source, limit
        if end == source.size:
            return StringEnd(end, end, closed=False, is_cut=True)
        # In a text that is not cut, quotes that make pairs with the opening one are ends, not parts, of strings.
        quotes = source.quotes_like(opening)
        following = bisect_left(quotes, source.size) - bisect_left(quotes, opening + 1)
        only = source.closing_quote(opening) if following % 2 else None
        if only is not None:
            return StringEnd(only, only + 1, closed=True)
        comma = source.solid_before(end)
        if comma > opening and source.text[comma] == ",":
            end = comma
        # A closer whose opener is in the string may be of the string, which then was cut.
        content = source.text[opening + 1 : end]
        is_cut = any(content.count(opener) > content.count(closer) for opener, closer in ("{}", "[]", "()"))
        return StringEnd(self.trim(opening, end), end, closed=False, is_cut=is_cut)

    def trim(self, opening: int, end: int) -> int:
        """Return the end of the content before `end`, without white space."""
        return max(self.source.solid_before(end), opening) + 1


_SPELLING = re.compile(r"\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\[\"\\/bfnrt]|\\[\s\S]?|[\"\x00-\x1f]")
_CUT_ESCAPE = re.compile(
    r"(?:\\u[dD][89abAB][0-9a-fA-F]{2})?(?:\\u[0-9a-fA-F]{0,3}|\\)$|\\u[dD][89abAB][0-9a-fA-F]{2}$"
)
_CONTROLS = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
_ESCAPED_BY = '"\\/bfnrt'


class StringSpelling:
    """Spells the content of strings as JSON does, keeping every character of the text; logs what it changes."""

    def __init__(self, text: str, log: RepairLog) -> None:
        self.text = text
        self.log = log

    def spell(self, start: int, end: int, *, at_end_of_text: bool) -> str:
        """Return the content between two positions; an escape that the end of the text cut through is dropped."""
        self._start = start
        self._has_inner_quote = False
        content = self.text[start:end]
        cut = _CUT_ESCAPE.search(content, max(0, len(content) - 12)) if at_end_of_text else None
        if cut is not None:
            before = content[: cut.start()]
            if (len(before) - len(before.rstrip("\\"))) % 2 == 0:
                self.log.add(RepairKind.ESCAPE, start + cut.start())
                content = before
        return _SPELLING.sub(self.respell, content)

    def respell(self, match: re.Match[str]) -> str:
        """Return an escape, a quote or a control character as JSON spells it."""
        found, position = match.group(), self._start + match.start()
        if found == '"':
            if not self._has_inner_quote:
                # One decision about where this string ends, however many quotes it holds.
                self.log.add(RepairKind.INNER_QUOTE, position)
                self._has_inner_quote = True
            return '\\"'
        if found[0] != "\\":
            self.log.add(RepairKind.CONTROL_CHARACTER, position)
            return _CONTROLS.get(found) or f"\\u{ord(found):04x}"
        escaped = found[1:2]
        if len(found) == 6 or (escaped and escaped in _ESCAPED_BY):
            return found
        self.log.add(RepairKind.ESCAPE, position)
        if len(found) == 4:
            return f"\\u00{found[2:]}"
        # A backslash that JSON does not know is kept before a letter or digit (a path) and dropped before a sign.
        if escaped < " ":
            return _CONTROLS.get(escaped, f"\\u{ord(escaped):04x}") if escaped else "\\\\"
        return f"\\\\{escaped}" if escaped.isalnum() else escaped
