"""The pieces of a model's output that matter for finding blocks: markers, braces, quotes, code and line starts.

One pass of one expression, in which no part can be read twice: possessive repeats, and no two neighbours that
take the same characters.
"""

import re
from bisect import bisect_left
from enum import IntEnum
from typing import NamedTuple

# Characters that nobody sees: soft hyphen, joiners, fillers, direction marks, variation selectors, BOM, tags.
INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e007f"
)
MAX_MARKER_NAME_CHARS = 200
MAX_INDENT = 80


class TokenKind(IntEnum):
    """What a token is."""

    ABP_BEGIN = 1
    ABP_END = 2
    VCP_BEGIN = 3
    VCP_END = 4
    VALUE_BEGIN = 5
    VALUE_END = 6
    FENCE = 7
    CITED = 8
    OPEN = 9
    CLOSE = 10
    QUOTE = 11
    OTHER_QUOTE = 12
    CODE = 13
    NEWLINE = 14


BEGINS = frozenset({TokenKind.ABP_BEGIN, TokenKind.VCP_BEGIN})
ENDS = frozenset({TokenKind.ABP_END, TokenKind.VCP_END})
MARKERS = BEGINS | ENDS


class OutputToken(NamedTuple):
    """A piece of the text, [start, end). value: the name in an ABP marker, else the piece itself."""

    kind: TokenKind
    start: int
    end: int
    value: str


_GAP = rf"[\\{INVISIBLE}]*+"
_BLANK = rf"[ \t\u00a0\\{INVISIBLE}]*+"
_LEFT, _RIGHT = "(?:<|&lt;)", "(?:>|&gt;)"
_NAME = rf'[^\[\]{{}}"\r\n]{{0,{MAX_MARKER_NAME_CHARS}}}+'


def _spelled(word: str) -> str:
    """An expression for a word whose letters may have characters between them that nobody sees."""
    return _GAP.join(word)


_ABP_LEFT = rf"\\?\[{_GAP}\[{_BLANK}"
_ABP_RIGHT = rf"\]{_GAP}\]"
_VCP_LEFT = rf"\\?{_GAP.join([_LEFT] * 3)}{_BLANK}\[{_BLANK}"
_VCP_RIGHT = rf"{_BLANK}\]{_BLANK}{_GAP.join([_RIGHT] * 3)}"
_LINE_START = rf"(?:^|(?<=\r))[ \t{INVISIBLE}]*+"

_TOKEN = re.compile(
    "|".join(
        [
            rf"(?P<ABP_BEGIN>{_ABP_LEFT}{_spelled('ABP_TOOL')}{_BLANK}[:：](?P<name>{_NAME}){_ABP_RIGHT})",
            rf"(?P<ABP_END>{_ABP_LEFT}{_spelled('END_ABP_TOOL')}{_BLANK}(?:[:：]{_NAME})?+{_ABP_RIGHT})",
            rf"(?P<VCP_BEGIN>{_VCP_LEFT}{_spelled('TOOL_REQUEST')}{_VCP_RIGHT})",
            rf"(?P<VCP_END>{_VCP_LEFT}{_spelled('END_TOOL_REQUEST')}{_VCP_RIGHT})",
            rf"(?P<VALUE_BEGIN>「{_GAP}始{_GAP}」)",
            rf"(?P<VALUE_END>「{_GAP}末{_GAP}」)",
            rf"(?P<FENCE>{_LINE_START}(?:`{{3,}}+(?=[^`\r\n]*+(?:[\r\n]|\Z))|~{{3,}}+))",
            rf"(?P<CITED>{_LINE_START}(?:>|&gt;))",
            r"(?P<OPEN>\{)",
            r"(?P<CLOSE>\})",
            r"(?P<escape>\\[\\\x22\x27{}`“”‘’«»])",
            r'(?P<QUOTE>")',
            r"(?P<OTHER_QUOTE>['“”‘’«»])",
            r"(?P<CODE>`++)",
            r"(?P<NEWLINE>\r\n|[\n\r])",
        ]
    ),
    re.ASCII | re.IGNORECASE | re.MULTILINE,
)


def _tokens(text: str) -> list[OutputToken]:
    found = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind == "escape" or kind is None:
            continue
        value = match["name"] if kind == "ABP_BEGIN" else match[0]
        found.append(OutputToken(TokenKind[kind], match.start(), match.end(), value))
    return found


class Layout:
    """A text with its tokens, and which brace closes which.

    Whether a brace stands inside a string depends on where one begins to read. There are only two readings, as an
    odd or an even number of quotes lies before a place; every opening brace is matched in the one in which it
    stands outside strings. So a stray quote in prose cannot hide what comes after it, and one pass is enough.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.starts = [token.start for token in self.tokens]
        self.markers = self._places(MARKERS)
        self.opens = self._places({TokenKind.OPEN})
        self.quotes = self._places({TokenKind.QUOTE})
        self.ends = self._places(ENDS)
        self.closing = self._closing()
        self._proper: dict[int, bool] = {}

    def _places(self, kinds: frozenset[TokenKind] | set[TokenKind]) -> list[int]:
        return [place for place, token in enumerate(self.tokens) if token.kind in kinds]

    def _closing(self) -> dict[int, int]:
        """Opening brace -> its closing one, as places in `tokens`."""
        stacks: tuple[list[int], list[int]] = ([], [])
        odd, closing = 0, {}
        for place, token in enumerate(self.tokens):
            if token.kind is TokenKind.QUOTE:
                odd ^= 1
            elif token.kind is TokenKind.OPEN:
                stacks[odd].append(place)
            elif token.kind is TokenKind.CLOSE and stacks[odd]:
                closing[stacks[odd].pop()] = place
        return closing

    def at(self, position: int) -> int:
        """The place of the first token that begins at `position` of the text or later."""
        return bisect_left(self.starts, position)

    def next_open(self, place: int) -> int | None:
        """The first opening brace at `place` or later."""
        return _first_from(self.opens, place)

    def next_marker(self, place: int) -> int | None:
        """The first marker of either protocol at `place` or later."""
        return _first_from(self.markers, place)

    def after_next_end(self, place: int) -> int:
        """The position behind the line of the first end marker at `place` or later; the text's end for none."""
        end = _first_from(self.ends, place)
        if end is None:
            return len(self.text)
        line_end = _LINE_END.search(self.text, self.tokens[end].end)
        return line_end.start() if line_end else len(self.text)

    def markers_between(self, place: int, end: int) -> list[int]:
        """The markers after `place` and before `end`."""
        return self.markers[bisect_left(self.markers, place) : bisect_left(self.markers, end)]

    def in_string_of(self, brace: int, place: int) -> bool:
        """Whether `place` stands inside a string, read from `brace` on."""
        return (bisect_left(self.quotes, place) - bisect_left(self.quotes, brace)) % 2 == 1

    def in_proper_string(self, place: int) -> bool:
        """Whether the quotes around `place` stand where those of a JSON string do."""
        after = bisect_left(self.quotes, place)
        if after not in self._proper:
            self._proper[after] = 0 < after < len(self.quotes) and self._delimits(after - 1, after)
        return self._proper[after]

    def _delimits(self, before: int, after: int) -> bool:
        opening, closing = self.tokens[self.quotes[before]], self.tokens[self.quotes[after]]
        return (
            self.last_visible(0, opening.start) in tuple("{[,:") and self._first_visible(closing.end) in tuple(",:}]")
        )  # fmt: skip

    def opens_json(self, brace: int) -> bool:
        """Whether a quote follows an opening brace, as in an object of JSON."""
        return self._first_visible(self.tokens[brace].end) == '"'

    def begins_line(self, place: int) -> bool:
        """Whether nothing stands before a token on its line."""
        return _LINE_BEGIN.search(self.text, max(0, self.starts[place] - MAX_INDENT), self.starts[place]) is not None

    def last_visible(self, start: int, end: int) -> str:
        """The last character of text[start:end] that is no white space; blank for none."""
        while end > start:
            end -= 1
            if not self.text[end].isspace():
                return self.text[end]
        return ""

    def _first_visible(self, start: int) -> str:
        match = _VISIBLE.search(self.text, start)
        return match[0] if match else ""


_VISIBLE = re.compile(r"\S")
_LINE_BEGIN = re.compile(r"(?:\A|[\r\n])[ \t]*+\Z")
_LINE_END = re.compile(r"[\r\n]")


def _first_from(places: list[int], place: int) -> int | None:
    found = bisect_left(places, place)
    return places[found] if found < len(places) else None
