"""From the output of a model to what it requests: which blocks are meant, and which of them counts (spec 000).

A block is meant when its marker is among the model's own words: not in code, not on a quoted line, not between
quotation marks on its line, not inside a JSON object, not in another block, and not in a thought. Where a text can be
read in two ways, and in one of them a block is data, it is refused.
"""

import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass

from apps.core.domain.deadline import Deadline
from apps.llm.domain.json_repair.repair import RepairResult, repair_json
from apps.llm.domain.json_repair.types import MAX_SECONDS, RepairRefusal
from apps.llm.domain.protocol.abp import clean_tool_name, read_abp
from apps.llm.domain.protocol.objects import RepairJson
from apps.llm.domain.protocol.results import (
    Block,
    ParsedOutput,
    Protocol,
    ProtocolMode,
    RefusalReason,
    RefusedBlock,
    Span,
    ToolRequest,
)
from apps.llm.domain.protocol.thoughts import ThoughtFinder, without_thoughts
from apps.llm.domain.protocol.tokens import ABP_BEGINS, BEGINS, DAMAGED, ENDS, Layout, OutputToken, TokenKind
from apps.llm.domain.protocol.vcp import VcpReader

MAX_REFUSALS = 100
# Of one output. Repairing takes far longer than reading, and no model writes that many damaged blocks.
MAX_REPAIRS = 200
_CLOSING_QUOTE = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»"}
_APOSTROPHES = "'’"
_REST_IS_BLANK = re.compile(r"[ \t]*+(?:[\r\n]|\Z)")
# Scripts from here on are written without blanks, so a quote may open right after a letter.
_FIRST_WITHOUT_BLANKS = "\u2e80"
_CLOSES_BEFORE = ".!?%)]}'\"”’»"


def parse_output(
    text: str, *, mode: ProtocolMode = ProtocolMode.DUAL, repair: RepairJson = repair_json
) -> ParsedOutput:
    """Return what a model requests in its output. Never raises, in time linear in the length of `text`.

    mode: the protocols that are understood; the blocks of another one are plain text. repair: mends damaged JSON.
    """
    found = find_blocks(text, limit_repairs(repair))
    blocks = [block for block in found if mode in (ProtocolMode.DUAL, block.protocol)]
    requests = [block for block in blocks if isinstance(block, ToolRequest)]
    abp_requests = [request for request in requests if request.protocol is Protocol.ABP]
    winner = next(reversed(abp_requests or requests), None)
    refused = [
        RefusedBlock(block.protocol, block.name, block.span, RefusalReason.SUPERSEDED)
        if isinstance(block, ToolRequest)
        else block
        for block in blocks
        if block is not winner
    ]
    meant = [block for block in refused if block.was_meant]
    fallback = Protocol.TEXT if winner is None and meant else None
    if winner is not None and winner.protocol is Protocol.VCP and mode is ProtocolMode.DUAL:
        fallback = Protocol.VCP
    taken_out = [block.span for block in blocks if isinstance(block, ToolRequest) or block.was_meant]
    return ParsedOutput(
        protocol=winner.protocol if winner else Protocol.TEXT,
        requests=(winner,) if winner else (),
        text=remove_spans(text, taken_out) if winner else text,
        refused=tuple(refused[:MAX_REFUSALS]),
        refusals=Counter(block.code for block in refused),
        fallback=fallback,
        abp_failed=not abp_requests and any(block.protocol is Protocol.ABP for block in meant),
    )


def limit_repairs(repair: RepairJson) -> RepairJson:
    """Return a repair that refuses more than MAX_REPAIRS texts, and all once MAX_SECONDS are over."""
    repairs_left, deadline = MAX_REPAIRS, Deadline(MAX_SECONDS)

    def limited(damaged: str) -> RepairResult:
        nonlocal repairs_left
        repairs_left -= 1
        if repairs_left < 0:
            return RepairResult(None, refusal=RepairRefusal.TOO_MUCH_WORK)
        return RepairResult(None, refusal=RepairRefusal.OUT_OF_TIME) if deadline.expired else repair(damaged)

    return limited


def find_blocks(text: str, repair: RepairJson) -> list[Block]:
    """Return every block and every marker that begins none, in order; of those in thoughts only that they are there."""
    layout = Layout(text)
    thoughts = ThoughtFinder(layout).find() if layout.thoughts else []
    if not thoughts:
        return OutputScanner(layout, repair).scan()
    shown = [
        refused_marker(layout.tokens[place], RefusalReason.IN_THOUGHT)
        for start, end in thoughts
        for place in layout.markers_between(layout.at(start), layout.at(end))
        if layout.tokens[place].kind in BEGINS
    ]
    meant = OutputScanner(Layout(without_thoughts(text, thoughts)), repair).scan()
    apart = [block for block in shown if not is_within(block, meant)]
    return sorted([*apart, *meant], key=lambda block: block.span)


def is_within(block: Block, others: list[Block]) -> bool:
    """Return whether a block is inside one of others, which are in order: a thought may precede an object."""
    place = bisect_right(others, block.span[0], key=lambda other: other.span[0]) - 1
    return place >= 0 and others[place].span[1] > block.span[0]


def refused_marker(token: OutputToken, reason: RefusalReason) -> RefusedBlock:
    """Return a marker as refused."""
    is_abp = token.kind in ABP_BEGINS or token.kind in (TokenKind.ABP_END, TokenKind.ABP_DAMAGED)
    name = clean_tool_name(token.value) if token.kind in ABP_BEGINS else None
    return RefusedBlock(Protocol.ABP if is_abp else Protocol.VCP, name, (token.start, token.end), reason)


def remove_spans(text: str, spans: list[Span]) -> str:
    """Return the text without the spans; of the white space around one a paragraph, a line or a blank is kept."""
    parts: list[str] = []
    blank, position = "", 0
    for start, end in [*spans, (len(text), len(text))]:
        piece, position = text[position:start], end
        words = piece.strip()
        if not words:
            blank += piece
            continue
        if parts:
            blank += piece[: len(piece) - len(piece.lstrip())]
            lines = blank.count("\n")
            parts.append("\n\n" if lines > 2 else "\n" if lines else " " if blank else "")
        parts.append(words)
        blank = piece[len(piece.rstrip()) :]
    return "".join(parts)


# --- which blocks are meant -----------------------------------------------------------------------------------


@dataclass
class LineState:
    """What the words before a place on its line open. cited: the line is a quotation; closer: of what is open."""

    cited: bool = False
    closer: str | None = None

    @property
    def refusal(self) -> RefusalReason | None:
        """Return why a marker here is not meant; None for one that is."""
        if self.closer is not None and self.closer.startswith("`"):
            return RefusalReason.IN_CODE
        return RefusalReason.IN_QUOTE if self.cited or self.closer is not None else None


class OutputScanner:
    """Reads a text once, from marker to marker. awaits_end: the end marker of a block that was refused is to come."""

    def __init__(self, layout: Layout, repair: RepairJson) -> None:
        self.layout = layout
        self.repair = repair
        self.awaits_end = False
        self.line = LineState()
        self.fence: str | None = None
        self.blocks: list[Block] = []

    def scan(self) -> list[Block]:
        """Return every block and every marker that begins none, in order."""
        place = 0
        if self.layout.markers:
            while place < len(self.layout.tokens):
                place = self.step(place)
        return self.blocks

    def step(self, place: int) -> int:
        """Read the token at `place`; return the place of the next one to read."""
        token = self.layout.tokens[place]
        if token.kind in BEGINS:
            return self.read_block(place)
        if self.fence is not None:
            # A fence is closed by one of the same character that is at least as long, alone on its line.
            is_fence = token.kind is TokenKind.FENCE and fence_run(token).startswith(self.fence)
            if is_fence and _REST_IS_BLANK.match(self.layout.text, token.end):
                self.fence = None
        elif token.kind in ENDS:
            self.refuse_end(token)
        elif token.kind is TokenKind.OPEN and not self.line.refusal:
            return self.skip_object(place)
        else:
            self.read_prose(token)
        return place + 1

    def read_block(self, place: int) -> int:
        """Read the block that begins at `place`, unless it is only shown; return the place after it."""
        token = self.layout.tokens[place]
        shown = RefusalReason.IN_CODE if self.fence is not None else self.line.refusal
        if shown is None and token.kind in DAMAGED:
            shown = RefusalReason.DAMAGED_MARKER
        self.awaits_end = shown is not None
        if shown is not None:
            self.blocks.append(refused_marker(token, shown))
            return place + 1
        if token.kind in ABP_BEGINS:
            read = read_abp(self.layout, place, self.repair)
        else:
            read = VcpReader(self.layout, place).read()
        self.blocks.append(read.block)
        self.awaits_end = isinstance(read.block, RefusedBlock)
        self.line = LineState(cited=read.cut_inside)
        return max(place + 1, self.layout.at(read.end))

    def skip_object(self, place: int) -> int:
        """Pass over a JSON object in the text: blocks inside it are its data. Return the place after it.

        So may be a block that begins inside the open string of an object that is cut.
        """
        layout = self.layout
        closing, end = layout.closing.get(place), layout.next_marker(place)
        if closing is not None:
            following = closing + 1
        elif end is not None and layout.opens_json(place) and layout.in_string_of(place, end):
            following = layout.at(layout.after_next_end(end))
        else:
            return place + 1
        for marker in layout.markers_between(place, following):
            token = layout.tokens[marker]
            if token.kind in DAMAGED and not layout.opens_json(place):  # {{ABP_TOOL:name}}
                self.blocks.append(refused_marker(token, RefusalReason.DAMAGED_MARKER))
            elif token.kind in BEGINS:
                self.blocks.append(refused_marker(token, RefusalReason.IN_JSON))
        self.line = LineState()
        return following

    def refuse_end(self, token: OutputToken) -> None:
        """Add an end marker as refused, unless it is that of a block which was refused: a block counts once.

        One right behind an object or a value ends a block whose start marker cannot be recognised.
        """
        is_end = self.layout.last_visible(token.start) in tuple("}`」")
        reason = RefusalReason.DAMAGED_MARKER if is_end else RefusalReason.STRAY_END
        if not self.awaits_end:
            self.blocks.append(refused_marker(token, self.line.refusal or reason))
        self.awaits_end = False

    def read_prose(self, token: OutputToken) -> None:
        """Keep account of what a token in prose opens and closes."""
        line, text = self.line, self.layout.text
        if token.kind is TokenKind.NEWLINE:
            self.line = LineState()
        elif token.kind is TokenKind.FENCE:
            self.fence = fence_run(token)
        elif token.kind is TokenKind.CITED:
            line.cited = True
        elif token.kind is TokenKind.CODE:
            line.closer = token.value if line.closer is None else None if line.closer == token.value else line.closer
        elif token.kind not in (TokenKind.QUOTE, TokenKind.OTHER_QUOTE):
            return
        elif line.closer is None:
            # The mark of 5" or of it's opens nothing.
            before = text[token.start - 1 : token.start]
            is_letter = before.isalnum() and before < _FIRST_WITHOUT_BLANKS
            may_open = not is_letter and (not before or before not in _CLOSES_BEFORE)
            if token.value in _CLOSING_QUOTE and may_open:
                line.closer = _CLOSING_QUOTE[token.value]
        elif line.closer == token.value:
            is_apostrophe = token.value in _APOSTROPHES and text[token.end : token.end + 1].isalnum()
            line.closer = line.closer if is_apostrophe else None


def fence_run(token: OutputToken) -> str:
    """Return the backticks or tildes of a fence, without what the line begins with."""
    return token.value[token.value.index("`" if "`" in token.value else "~") :]
