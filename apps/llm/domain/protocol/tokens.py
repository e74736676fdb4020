"""The pieces of a model's output that matter for finding blocks: markers, braces, quotes, code and line starts.

One pass of one expression, in which no part can be read twice: possessive repeats, and no two neighbours that
take the same characters.
"""

import re
from bisect import bisect_left
from enum import IntEnum
from typing import NamedTuple

# Invisible characters: soft hyphen, joiners, fillers, direction marks, variation selectors, BOM, tags.
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
    ABP_DAMAGED = 15
    VCP_DAMAGED = 16
    ESCAPED_BEGIN = 17
    ESCAPED_END = 18
    THOUGHT_BEGIN = 19
    THOUGHT_END = 20
    ABP_LOOSE = 21


DAMAGED = frozenset({TokenKind.ABP_DAMAGED, TokenKind.VCP_DAMAGED})
ABP_BEGINS = frozenset({TokenKind.ABP_BEGIN, TokenKind.ABP_LOOSE})
BEGINS = ABP_BEGINS | DAMAGED | {TokenKind.VCP_BEGIN}
ENDS = frozenset({TokenKind.ABP_END, TokenKind.VCP_END})
MARKERS = BEGINS | ENDS
VALUE_BEGINS = frozenset({TokenKind.VALUE_BEGIN, TokenKind.ESCAPED_BEGIN})
THOUGHTS = frozenset({TokenKind.THOUGHT_BEGIN, TokenKind.THOUGHT_END})


class OutputToken(NamedTuple):
    """A piece of the text, [start, end). value: the name in an ABP marker that can be read, else the piece itself."""

    kind: TokenKind
    start: int
    end: int
    value: str


_GAP = rf"[\\{INVISIBLE}]*+"
_BLANK = rf"[ \t\u00a0\\{INVISIBLE}]*+"
_LEFT, _RIGHT = "(?:<|&lt;)", "(?:>|&gt;)"
_NAME = rf'[^\[\]{{}}"\r\n]{{0,{MAX_MARKER_NAME_CHARS}}}+'


_ABP_LEFT = rf"\\?\[{_GAP}\[{_BLANK}"
_ABP_RIGHT = rf"\]{_GAP}\]"
# A start marker that is damaged and can be read in one way only: brackets that are missing, single or wide, another
# sign than the colon. Closing brackets may be missing before the brace of the object.
_BRACKETS = rf"\\?[\[［【〔](?:{_GAP}[\[［【〔]){{0,2}}+{_BLANK}"
_LOOSE_NAME = rf"[^\s\[\]{{}}\x22:：=［］【】〔〕]{{1,{MAX_MARKER_NAME_CHARS}}}+"
_LOOSE_RIGHT = rf"{_BLANK}(?:[\]］】〕](?:{_GAP}[\]］】〕]){{0,2}}+|(?=\s*+\{{))"
_LOOSE = rf"ABP[_ -]?TOOLS?+(?:{_BLANK}[:：=]{_BLANK}|[ \t]++)(?P<loose>{_LOOSE_NAME}){_LOOSE_RIGHT}"
# What was meant as a start marker, and cannot be read: broken off, in letters that only look alike, without brackets.
_ALIKE = r"[AАΑ][BВΒ][PРΡ][_ -]?[TТΤ][OОΟ0][OОΟ0]L"
_BARE = rf"(?<![\w\[])ABP_TOOL{_BLANK}[:：]{_BLANK}[\w.-]{{1,{MAX_MARKER_NAME_CHARS}}}+(?=[\])}}>]|\s*+\{{)"
_VCP_LEFT = rf"\\?{_GAP.join([_LEFT] * 3)}{_BLANK}\[{_BLANK}"
_VCP_RIGHT = rf"{_BLANK}\]{_BLANK}{_GAP.join([_RIGHT] * 3)}"
_LINE_START = rf"(?:^|(?<=\r))[ \t{INVISIBLE}]*+"

_THOUGHT = r"(?:think(?:ing)?+|thoughts?+|reasoning)"

_TOKEN = re.compile(
    "|".join(
        [
            rf"(?P<ABP_BEGIN>{_ABP_LEFT}{_GAP.join('ABP_TOOL')}{_BLANK}[:：](?P<name>{_NAME}){_ABP_RIGHT})",
            rf"(?P<ABP_END>{_ABP_LEFT}{_GAP.join('END_ABP_TOOL')}{_BLANK}(?:[:：]{_NAME})?+{_ABP_RIGHT})",
            rf"(?P<ABP_LOOSE>{_BRACKETS}{_LOOSE})",
            rf"(?P<ABP_DAMAGED>{_BRACKETS}{_ALIKE}|{_BARE})",
            rf"(?P<VCP_BEGIN>{_VCP_LEFT}{_GAP.join('TOOL_REQUEST')}{_VCP_RIGHT})",
            rf"(?P<VCP_END>{_VCP_LEFT}{_GAP.join('END_TOOL_REQUEST')}{_VCP_RIGHT})",
            rf"(?P<VCP_DAMAGED>{_LEFT}{{1,2}}+{_BLANK}\[{_BLANK}TOOL_REQUEST{_BLANK}\]{_BLANK}{_RIGHT})",
            rf"(?P<VALUE_BEGIN>「{_GAP}始{_GAP}」)",
            rf"(?P<VALUE_END>「{_GAP}末{_GAP}」)",
            rf"(?P<ESCAPED_BEGIN>「{_GAP}始{_GAP}ESCAPE{_GAP}」)",
            rf"(?P<ESCAPED_END>「{_GAP}末{_GAP}ESCAPE{_GAP}」)",
            rf"(?P<THOUGHT_BEGIN>{_LEFT}{_THOUGHT}(?:[ \t][^<>\r\n]{{0,80}}+)?+{_RIGHT})",
            rf"(?P<THOUGHT_END>{_LEFT}[ \t]*+/[ \t]*+{_THOUGHT}[ \t]*+{_RIGHT})",
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


_VISIBLE = re.compile(r"\S")
_LINE_BEGIN = re.compile(r"(?:\A|[\r\n])[ \t]*+\Z")
_LINE_END = re.compile(r"[\r\n]")


_NAME_GROUPS = {"ABP_BEGIN": "name", "ABP_LOOSE": "loose"}


def tokenize(text: str) -> list[OutputToken]:
    """Return the tokens of a text; an escaped quote, brace or backslash is none."""
    found = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind == "escape" or kind is None:
            continue
        value = match[_NAME_GROUPS.get(kind, 0)]
        found.append(OutputToken(TokenKind[kind], match.start(), match.end(), value))
    return found


class Layout:
    """A text with its tokens, and which brace closes which. A place is an index into the tokens.

    Whether a brace is inside a string depends on where one begins to read. There are only two readings, as an
    odd or an even number of quotes precedes a place; every opening brace is matched in the one in which it
    is outside strings. So a stray quote in prose cannot hide what comes after it, and one pass is enough.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokenize(text)
        self.starts = [token.start for token in self.tokens]
        self.markers = self.places_of(MARKERS)
        self.opens = self.places_of({TokenKind.OPEN})
        self.quotes = self.places_of({TokenKind.QUOTE})
        self.ends = self.places_of(ENDS)
        self.value_ends = self.places_of({TokenKind.VALUE_END})
        self.escaped_begins = self.places_of({TokenKind.ESCAPED_BEGIN})
        self.escaped_ends = self.places_of({TokenKind.ESCAPED_END})
        self.thoughts = self.places_of(THOUGHTS)
        self.closing = self.match_braces()
        self._proper: dict[int, bool] = {}

    def places_of(self, kinds: frozenset[TokenKind] | set[TokenKind]) -> list[int]:
        """Return the places of all tokens of these kinds."""
        return [place for place, token in enumerate(self.tokens) if token.kind in kinds]

    def match_braces(self) -> dict[int, int]:
        """Return the place of the closing brace for each opening one that has one."""
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
        """Return the place of the first token that begins at `position` of the text or later."""
        return bisect_left(self.starts, position)

    def next_open(self, place: int) -> int | None:
        """Return the first opening brace at `place` or later."""
        return first_from(self.opens, place)

    def has_object(self, place: int, end: int) -> bool:
        """Return whether a brace opens after `place` and before the position `end` of the text."""
        brace = self.next_open(place)
        return brace is not None and self.starts[brace] < end

    def next_marker(self, place: int) -> int | None:
        """Return the first marker of either protocol at `place` or later."""
        return first_from(self.markers, place)

    def after_next_end(self, place: int) -> int:
        """Return the position behind the line of the first end marker at `place` or later; for none the text's end."""
        end = first_from(self.ends, place)
        line_end = None if end is None else _LINE_END.search(self.text, self.tokens[end].end)
        return line_end.start() if line_end else len(self.text)

    def end_of_value(self, place: int) -> int | None:
        """Return the first end of the kind that ends the VCP value which begins at `place`."""
        is_escaped = self.tokens[place].kind is TokenKind.ESCAPED_BEGIN
        return first_from(self.escaped_ends if is_escaped else self.value_ends, place)

    def has_escaped_begin(self, place: int, end: int) -> bool:
        """Return whether an escaped VCP value begins after `place` and before `end`."""
        following = first_from(self.escaped_begins, place + 1)
        return following is not None and following < end

    def thoughts_between(self, place: int, end: int) -> list[int]:
        """Return the marks of thoughts after `place` and before `end`."""
        return self.thoughts[bisect_left(self.thoughts, place) : bisect_left(self.thoughts, end)]

    def markers_between(self, place: int, end: int) -> list[int]:
        """Return the markers after `place` and before `end`."""
        return self.markers[bisect_left(self.markers, place) : bisect_left(self.markers, end)]

    def in_string_of(self, brace: int, place: int) -> bool:
        """Return whether `place` is inside a string, read from `brace` on."""
        return (bisect_left(self.quotes, place) - bisect_left(self.quotes, brace)) % 2 == 1

    def in_proper_string(self, place: int) -> bool:
        """Return whether the quotes around `place` are where those of a JSON string can be."""
        after = bisect_left(self.quotes, place)
        if after not in self._proper:
            is_proper = 0 < after < len(self.quotes)
            if is_proper:
                opening, closing = self.tokens[self.quotes[after - 1]], self.tokens[self.quotes[after]]
                before, behind = self.last_visible(opening.start), self.first_visible(closing.end)
                is_proper = before in tuple("{[,:") and behind in tuple(",:}]")
            self._proper[after] = is_proper
        return self._proper[after]

    def opens_json(self, brace: int) -> bool:
        """Return whether a quote follows an opening brace, as in an object of JSON."""
        return self.first_visible(self.tokens[brace].end) == '"'

    def begins_line(self, place: int) -> bool:
        """Return whether a token is the first on its line."""
        return _LINE_BEGIN.search(self.text, max(0, self.starts[place] - MAX_INDENT), self.starts[place]) is not None

    def ends_paragraph(self, place: int) -> bool:
        """Return whether an empty line begins at `place`."""
        if self.tokens[place].kind is not TokenKind.NEWLINE or place + 1 == len(self.tokens):
            return False
        following = self.tokens[place + 1]
        gap = self.text[self.tokens[place].end : following.start]
        return following.kind is TokenKind.NEWLINE and not gap.strip()

    def last_visible(self, end: int) -> str:
        """Return the last character before `end` that is no white space; blank for none."""
        while end > 0:
            end -= 1
            if not self.text[end].isspace():
                return self.text[end]
        return ""

    def first_visible(self, start: int) -> str:
        """Return the first character from `start` on that is no white space; blank for none."""
        match = _VISIBLE.search(self.text, start)
        return match[0] if match else ""


def first_from(places: list[int], place: int) -> int | None:
    """Return the first of `places` at `place` or later."""
    found = bisect_left(places, place)
    return places[found] if found < len(places) else None
