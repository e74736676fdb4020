"""From the output of a model to what it asks for: which blocks are meant, and which of them counts (spec 000).

A block is meant when its marker stands in the model's own words: not in code, not on a quoted line, not between
quotation marks on its line, not inside a JSON object, and not in another block. Where a text can be read in two
ways, and in one of them a block is somebody's data, it is not acted upon.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from apps.llm.domain.json_repair.repair import repair_json
from apps.llm.domain.protocol.abp import read_abp, tool_name
from apps.llm.domain.protocol.objects import Repaired, RepairJson, StrictlyRead
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
from apps.llm.domain.protocol.tokens import BEGINS, ENDS, Layout, OutputToken, TokenKind
from apps.llm.domain.protocol.vcp import read_vcp

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
    """What a model asks for in its output. Never raises, in time linear in the length of `text`.

    mode: the protocols that are understood; the blocks of another one are plain text. repair: mends damaged JSON.
    """
    blocks = [
        block for block in _Scanner(text, _Budgeted(repair)).blocks() if mode in (ProtocolMode.DUAL, block.protocol)
    ]
    winner = _last(blocks, Protocol.ABP) or _last(blocks, Protocol.VCP)
    refused = [
        _superseded(block) if isinstance(block, ToolRequest) else block for block in blocks if block is not winner
    ]
    return ParsedOutput(
        protocol=winner.protocol if winner else Protocol.TEXT,
        requests=(winner,) if winner else (),
        text=_without(text, [block.span for block in blocks if _is_taken_out(block)]) if winner else text,
        refused=tuple(refused[:MAX_REFUSALS]),
        refused_count=len(refused),
        fallback=_fallback(mode, winner, refused),
        abp_failed=_failed(refused, Protocol.ABP) and _last(blocks, Protocol.ABP) is None,
    )


def _last(blocks: list[Block], protocol: Protocol) -> ToolRequest | None:
    found = [block for block in blocks if isinstance(block, ToolRequest) and block.protocol is protocol]
    return found[-1] if found else None


def _superseded(request: ToolRequest) -> RefusedBlock:
    return RefusedBlock(request.protocol, request.name, request.span, RefusalReason.SUPERSEDED)


def _is_taken_out(block: Block) -> bool:
    return isinstance(block, ToolRequest) or block.was_meant


def _failed(refused: list[RefusedBlock], protocol: Protocol | None = None) -> bool:
    return any(block.was_meant and protocol in (None, block.protocol) for block in refused)


def _fallback(mode: ProtocolMode, winner: ToolRequest | None, refused: list[RefusedBlock]) -> Protocol | None:
    """In dual mode every VCP request is a fallback; text is one where a block was meant but none can be used."""
    if winner is None:
        return Protocol.TEXT if _failed(refused) else None
    return Protocol.VCP if mode is ProtocolMode.DUAL and winner.protocol is Protocol.VCP else None


class _Budgeted:
    """A repair that gives up after MAX_REPAIRS calls."""

    def __init__(self, repair: RepairJson) -> None:
        self._repair = repair
        self._left = MAX_REPAIRS

    def __call__(self, text: str) -> Repaired:
        self._left -= 1
        return self._repair(text) if self._left >= 0 else StrictlyRead(ok=False, value=None)


# --- which blocks are meant -----------------------------------------------------------------------------------


@dataclass
class _Line:
    """What the words before a place on its line open. cited: the line is a quotation; closer: of what is open."""

    cited: bool = False
    closer: str | None = None

    @property
    def refusal(self) -> RefusalReason | None:
        if self.closer is not None and self.closer.startswith("`"):
            return RefusalReason.IN_CODE
        return RefusalReason.IN_QUOTE if self.cited or self.closer is not None else None


class _Scanner:
    """Reads a text once, from marker to marker."""

    def __init__(self, text: str, repair: RepairJson) -> None:
        self._layout = Layout(text)
        self._repair = repair
        self._line = _Line()
        self._fence: str | None = None
        self._blocks: list[Block] = []

    def blocks(self) -> list[Block]:
        """Every block and every marker that begins none, in order."""
        place = 0
        if self._layout.markers:
            while place < len(self._layout.tokens):
                place = self._step(place)
        return self._blocks

    def _step(self, place: int) -> int:
        """Read the token at `place`; gives the place of the next one to read."""
        token = self._layout.tokens[place]
        if token.kind in BEGINS:
            return self._begin(place)
        if self._fence is not None:
            self._end_fence(token)
        elif token.kind in ENDS:
            self._refuse(token, self._line.refusal or RefusalReason.STRAY_END)
        elif token.kind is TokenKind.OPEN and not self._line.refusal:
            return self._skip_object(place)
        else:
            self._read(token)
        return place + 1

    def _begin(self, place: int) -> int:
        token = self._layout.tokens[place]
        shown = RefusalReason.IN_CODE if self._fence is not None else self._line.refusal
        if shown is not None:
            self._refuse(token, shown)
            return place + 1
        is_abp = token.kind is TokenKind.ABP_BEGIN
        read = read_abp(self._layout, place, self._repair) if is_abp else read_vcp(self._layout, place)
        self._blocks.append(read.block)
        self._line = _Line(cited=read.cut_inside)
        return max(place + 1, self._layout.at(read.end))

    def _skip_object(self, place: int) -> int:
        """Pass over a JSON object in the text: blocks inside it are its data.

        So may be a block that begins inside the open string of an object that is cut.
        """
        layout = self._layout
        closing, end = layout.closing.get(place), layout.next_marker(place)
        if closing is not None:
            following = closing + 1
        elif end is not None and layout.opens_json(place) and layout.in_string_of(place, end):
            following = layout.at(layout.after_next_end(end))
        else:
            return place + 1
        for marker in layout.markers_between(place, following):
            if layout.tokens[marker].kind in BEGINS:
                self._refuse(layout.tokens[marker], RefusalReason.IN_JSON)
        self._line = _Line()
        return following

    def _refuse(self, token: OutputToken, code: RefusalReason) -> None:
        is_abp = token.kind in (TokenKind.ABP_BEGIN, TokenKind.ABP_END)
        name = tool_name(token.value) if token.kind is TokenKind.ABP_BEGIN else None
        protocol = Protocol.ABP if is_abp else Protocol.VCP
        self._blocks.append(RefusedBlock(protocol, name, (token.start, token.end), code))

    def _end_fence(self, token: OutputToken) -> None:
        """A fence is closed by one of the same character that is at least as long, alone on its line."""
        if token.kind is not TokenKind.FENCE or self._fence is None:
            return
        run = _fence_run(token)
        if run.startswith(self._fence) and _REST_IS_BLANK.match(self._layout.text, token.end):
            self._fence = None

    def _read(self, token: OutputToken) -> None:
        """Keep account of what a token in prose opens and closes."""
        line = self._line
        if token.kind is TokenKind.NEWLINE:
            self._line = _Line()
        elif token.kind is TokenKind.FENCE:
            self._fence = _fence_run(token)
        elif token.kind is TokenKind.CITED:
            line.cited = True
        elif token.kind is TokenKind.CODE:
            line.closer = token.value if line.closer is None else None if line.closer == token.value else line.closer
        elif token.kind in (TokenKind.QUOTE, TokenKind.OTHER_QUOTE):
            self._read_quote(token)

    def _read_quote(self, token: OutputToken) -> None:
        line, text = self._line, self._layout.text
        if line.closer is None:
            if token.value in _CLOSING_QUOTE and _may_open(text[token.start - 1 : token.start]):
                line.closer = _CLOSING_QUOTE[token.value]
        elif line.closer == token.value:
            is_apostrophe = token.value in _APOSTROPHES and text[token.end : token.end + 1].isalnum()
            line.closer = line.closer if is_apostrophe else None


def _fence_run(token: OutputToken) -> str:
    """The backticks or tildes of a fence, without what the line begins with."""
    return token.value[token.value.index("`" if "`" in token.value else "~") :]


def _may_open(before: str) -> bool:
    """Whether a quotation mark after this character opens something: the mark of 5" or of it's does not."""
    is_letter = before.isalnum() and before < _FIRST_WITHOUT_BLANKS
    return not is_letter and (not before or before not in _CLOSES_BEFORE)


# --- the text without the blocks --------------------------------------------------------------------------------


def _without(text: str, spans: list[Span]) -> str:
    """The text without the spans; where one stood, the white space around it is kept once."""
    parts: list[str] = []
    blank = ""
    for piece in _pieces(text, spans):
        words = piece.strip()
        if not words:
            blank += piece
            continue
        if parts:
            parts.append(_parting(blank + piece[: piece.index(words[0])]))
        parts.append(words)
        blank = piece[len(piece.rstrip()) :]
    return "".join(parts)


def _pieces(text: str, spans: list[Span]) -> Iterator[str]:
    position = 0
    for start, end in spans:
        yield text[position:start]
        position = end
    yield text[position:]


def _parting(blank: str) -> str:
    """What parts two texts between which a block stood: a paragraph, a line, a blank or nothing, as before."""
    lines = blank.count("\n")
    return "\n\n" if lines > 2 else "\n" if lines else " " if blank else ""
