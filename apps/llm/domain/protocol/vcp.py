"""VCP blocks: pairs `key:「始」value「末」` between `<<<[TOOL_REQUEST]>>>` and `<<<[END_TOOL_REQUEST]>>>`.

One of the pairs is `tool_name` (DESIGN section 6). Values are text, kept as it is but for white space around it.
"""

import re
from dataclasses import dataclass, field

from apps.llm.domain.protocol.abp import tool_name
from apps.llm.domain.protocol.objects import is_usable
from apps.llm.domain.protocol.results import Block, BlockRead, Fix, Protocol, RefusalReason, RefusedBlock, ToolRequest
from apps.llm.domain.protocol.tokens import INVISIBLE, MARKERS, Layout, OutputToken, TokenKind

NAME_KEY = "tool_name"
MAX_KEY_CHARS = 64
# How far before 「始」 its key is looked for.
_KEY_WINDOW = 200
_KEY = re.compile(
    rf"([^\W\d][\w.-]{{0,{MAX_KEY_CHARS - 1}}}+)[ \t*`\"{INVISIBLE}]{{0,20}}+[:：][\s*`\"{INVISIBLE}]{{0,20}}+\Z"
)
_EXACT = re.compile(r"<<<\[(?:END_)?TOOL_REQUEST\]>>>")


@dataclass
class _Reading:
    """A block while it is read.

    position: up to where; pairs: so far; cut_inside: the last value was ended by a marker; refused: what is wrong.
    """

    place: int
    position: int
    pairs: dict[str, str] = field(default_factory=dict)
    fixes: list[Fix] = field(default_factory=list)
    cut_inside: bool = False
    refused: RefusalReason | None = None

    def add(self, key: str | None, value: str) -> None:
        if key is None:
            self.refused = self.refused or RefusalReason.DAMAGED
        elif key in self.pairs:
            self.refused = self.refused or RefusalReason.REPEATED
        else:
            self.pairs[key] = value.strip()

    def note(self, fix: Fix) -> None:
        if fix not in self.fixes:
            self.fixes.append(fix)


def read_vcp(layout: Layout, place: int) -> BlockRead:
    """The block that begins with the marker at `place`.

    The end marker is not optional. Where a value is not closed, it ends before the next key or end marker; a block
    that begins inside it may be its text.
    """
    begin = layout.tokens[place]
    reading = _Reading(place + 1, begin.end)
    while (token := _next(layout, reading)) is not None and token.kind not in MARKERS:
        _read_value(layout, reading)
    if token is None or token.kind is not TokenKind.VCP_END:
        return _unended(layout, reading, begin)
    for marker in (begin, token):
        if not _EXACT.fullmatch(layout.text, marker.start, marker.end):
            reading.note(Fix.MARKER)
    span = begin.start, token.end
    return BlockRead(_block(reading, span), span[1], reading.cut_inside)


def _unended(layout: Layout, reading: _Reading, begin: OutputToken) -> BlockRead:
    """A block without its end marker: another marker, or the end of the text, came first."""
    nested = reading.place < len(layout.tokens) and reading.cut_inside
    end = layout.after_next_end(reading.place) if nested else reading.position
    code = RefusalReason.NESTED if nested else RefusalReason.UNTERMINATED
    return BlockRead(_refusal(reading, (begin.start, end), code), end)


def _next(layout: Layout, reading: _Reading) -> OutputToken | None:
    """The next marker or beginning of a value; a value's end without a beginning is noise."""
    while reading.place < len(layout.tokens):
        token = layout.tokens[reading.place]
        if token.kind in MARKERS or token.kind is TokenKind.VALUE_BEGIN:
            return token
        reading.place += 1
    return None


def _read_value(layout: Layout, reading: _Reading) -> None:
    """Read the value whose beginning stands at the place of the reading."""
    begin = layout.tokens[reading.place]
    key = _key_before(layout.text, reading.position, begin.start)
    marker = None
    for place in range(reading.place + 1, len(layout.tokens)):
        token = layout.tokens[place]
        if token.kind is TokenKind.VALUE_END:
            reading.add(key, layout.text[begin.end : token.start])
            reading.place, reading.position = place + 1, token.end
            return
        if token.kind is TokenKind.VALUE_BEGIN:
            break
        if token.kind in MARKERS and marker is None:
            marker = place
    else:
        place = len(layout.tokens)
    _close_value(layout, reading, key, begin.end, place if marker is None else marker)


def _close_value(layout: Layout, reading: _Reading, key: str | None, start: int, place: int) -> None:
    """End a value that is not closed at the token at `place`: a marker, the next value, or the end of the text."""
    end = layout.starts[place] if place < len(layout.tokens) else len(layout.text)
    if place < len(layout.tokens) and layout.tokens[place].kind is TokenKind.VALUE_BEGIN:
        following = _KEY.search(layout.text, max(start, end - _KEY_WINDOW), end)
        end = following.start() if following else end
    reading.add(key, layout.text[start:end].rstrip().removesuffix(","))
    reading.note(Fix.VALUE_END)
    reading.cut_inside = place < len(layout.tokens) and layout.tokens[place].kind in MARKERS
    reading.place, reading.position = place, end


def _key_before(text: str, start: int, end: int) -> str | None:
    match = _KEY.search(text, max(start, end - _KEY_WINDOW), end)
    return match[1] if match else None


def _block(reading: _Reading, span: tuple[int, int]) -> Block:
    if reading.refused is not None:
        return _refusal(reading, span, reading.refused)
    written = reading.pairs.get(NAME_KEY)
    name = None if written is None else tool_name(written)
    if name is None:
        return _refusal(reading, span, RefusalReason.NO_NAME if written is None else RefusalReason.BAD_NAME)
    parameters = {key: value for key, value in reading.pairs.items() if key != NAME_KEY}
    if not is_usable(parameters):
        return _refusal(reading, span, RefusalReason.UNUSABLE)
    return ToolRequest(Protocol.VCP, name, parameters, span, tuple(reading.fixes))


def _refusal(reading: _Reading, span: tuple[int, int], code: RefusalReason) -> RefusedBlock:
    return RefusedBlock(Protocol.VCP, tool_name(reading.pairs.get(NAME_KEY, "")), span, code)
