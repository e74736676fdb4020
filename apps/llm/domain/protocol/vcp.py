"""VCP blocks: pairs `key:「始」value「末」` between `<<<[TOOL_REQUEST]>>>` and `<<<[END_TOOL_REQUEST]>>>`.

One of the pairs is `tool_name` (DESIGN section 6). Values are text, kept as it is but for white space around it. In a
value between `「始ESCAPE」` and `「末ESCAPE」` marks and markers are text, too.
"""

import re

from apps.llm.domain.protocol.abp import clean_tool_name
from apps.llm.domain.protocol.objects import is_usable
from apps.llm.domain.protocol.results import Block, BlockRead, Fix, Protocol, RefusalReason, RefusedBlock, ToolRequest
from apps.llm.domain.protocol.tokens import INVISIBLE, MARKERS, VALUE_BEGINS, Layout, OutputToken, TokenKind

NAME_KEY = "tool_name"
MAX_KEY_CHARS = 64
# How far before 「始」 its key is searched.
_KEY_WINDOW = 200
_KEY = re.compile(
    rf"([^\W\d][\w.-]{{0,{MAX_KEY_CHARS - 1}}}+)[ \t*`\"{INVISIBLE}]{{0,20}}+[:：][\s*`\"{INVISIBLE}]{{0,20}}+\Z"
)
_EXACT = re.compile(r"<<<\[(?:END_)?TOOL_REQUEST\]>>>")


class VcpReader:
    """Reads the block that begins with the marker at `place`.

    The end marker is not optional. Where a value is not closed, it ends before the next key or end marker; a block
    that begins inside it may be its text.
    """

    def __init__(self, layout: Layout, place: int) -> None:
        self.layout = layout
        self.begin = layout.tokens[place]
        self.place = place + 1
        self.position = self.begin.end  # in the text, up to which it was read
        self.pairs: dict[str, str] = {}
        self.fixes: dict[Fix, None] = {}
        self.cut_inside = False  # the last value was ended by a marker
        self.truncated: tuple[str, ...] = ()
        self.reason: RefusalReason | None = None

    def read(self) -> BlockRead:
        """Return the block."""
        while (token := self.next_token()) is not None and token.kind in VALUE_BEGINS:
            self.read_value(token)
        if token is None or token.kind is not TokenKind.VCP_END:
            # Another marker, or the end of the text, came first.
            is_nested = self.cut_inside and token is not None
            end = self.layout.after_next_end(self.place) if is_nested else self.position
            reason = RefusalReason.NESTED if is_nested else RefusalReason.UNTERMINATED
            return BlockRead(self.refuse((self.begin.start, end), reason), end)
        for marker in (self.begin, token):
            if not _EXACT.fullmatch(self.layout.text, marker.start, marker.end):
                self.fixes[Fix.MARKER] = None
        return BlockRead(self.judge((self.begin.start, token.end)), token.end, self.cut_inside)

    def next_token(self) -> OutputToken | None:
        """Move to the next marker or beginning of a value; a value's end without a beginning is noise."""
        while self.place < len(self.layout.tokens):
            token = self.layout.tokens[self.place]
            if token.kind in MARKERS or token.kind in VALUE_BEGINS:
                return token
            self.place += 1
        return None

    def read_value(self, begin: OutputToken) -> None:
        """Read the value that begins at the place, with the key before it."""
        layout = self.layout
        match = _KEY.search(layout.text, max(self.position, begin.start - _KEY_WINDOW), begin.start)
        key = match[1] if match else None
        escaped_end = layout.end_of_value(self.place) if begin.kind is TokenKind.ESCAPED_BEGIN else None
        if escaped_end is not None:
            if layout.has_escaped_begin(self.place, escaped_end):
                self.reason = self.reason or RefusalReason.NESTED
            self.take(key, begin, escaped_end)
            return
        marker = None
        for place in range(self.place + 1, len(layout.tokens)):
            token = layout.tokens[place]
            if token.kind is TokenKind.VALUE_END:
                self.take(key, begin, place)
                return
            if token.kind in VALUE_BEGINS:
                break
            if token.kind in MARKERS and marker is None:
                marker = place
        else:
            place = len(layout.tokens)
        self.end_value(key, begin.end, place if marker is None else marker)

    def take(self, key: str | None, begin: OutputToken, place: int) -> None:
        """Add the value that ends with the token at `place`, and read on behind it."""
        end = self.layout.tokens[place]
        self.add(key, self.layout.text[begin.end : end.start])
        self.place, self.position = place + 1, end.end
        if (begin.kind is TokenKind.ESCAPED_BEGIN) != (end.kind is TokenKind.ESCAPED_END):
            self.fixes[Fix.VALUE_END] = None

    def end_value(self, key: str | None, start: int, place: int) -> None:
        """End a value that is not closed at the token at `place`: a marker, the next value, or the end of the text."""
        layout = self.layout
        kind = layout.tokens[place].kind if place < len(layout.tokens) else None
        end = len(layout.text) if kind is None else layout.starts[place]
        if kind in VALUE_BEGINS:
            following = _KEY.search(layout.text, max(start, end - _KEY_WINDOW), end)
            end = following.start() if following else end
        self.add(key, layout.text[start:end].rstrip().removesuffix(","))
        self.fixes[Fix.VALUE_END] = None
        self.cut_inside = kind in MARKERS
        if self.cut_inside and key is not None:
            self.truncated = (key,)
        self.place, self.position = place, end

    def add(self, key: str | None, value: str) -> None:
        """Add a pair; one without a key, or with a key that was read before, makes the block unusable."""
        if key is None:
            self.reason = self.reason or RefusalReason.DAMAGED
        elif key in self.pairs:
            self.reason = self.reason or RefusalReason.REPEATED
        else:
            self.pairs[key] = value.strip()

    def judge(self, span: tuple[int, int]) -> Block:
        """Return the request that the pairs make, or why they make none."""
        if self.reason is not None:
            return self.refuse(span, self.reason)
        if NAME_KEY not in self.pairs:
            return self.refuse(span, RefusalReason.NO_NAME)
        name = clean_tool_name(self.pairs[NAME_KEY])
        if name is None:
            return self.refuse(span, RefusalReason.BAD_NAME)
        parameters = {key: value for key, value in self.pairs.items() if key != NAME_KEY}
        if not is_usable(parameters):
            return self.refuse(span, RefusalReason.UNUSABLE)
        return ToolRequest(Protocol.VCP, name, parameters, span, tuple(self.fixes), self.truncated)

    def refuse(self, span: tuple[int, int], reason: RefusalReason) -> RefusedBlock:
        """Return the block as refused."""
        return RefusedBlock(Protocol.VCP, clean_tool_name(self.pairs.get(NAME_KEY, "")), span, reason)
