"""ABP blocks: `[[ABP_TOOL:Name]]`, a JSON object, and an optional `[[END_ABP_TOOL]]` (DESIGN section 6)."""

import re
from dataclasses import dataclass, replace

from apps.llm.domain.protocol.objects import (
    ExtractedObject,
    ObjectSpan,
    RepairJson,
    extract_object,
    is_usable,
    segments_between,
)
from apps.llm.domain.protocol.results import BlockRead, Fix, Protocol, RefusalReason, RefusedBlock, Span, ToolRequest
from apps.llm.domain.protocol.tokens import ENDS, INVISIBLE, Layout, TokenKind

MAX_NAME_CHARS = 64
# Without an end marker, words this far after the marker belong to something else.
MAX_NOISE_CHARS_WITHOUT_END = 200
_NAME = re.compile(rf"[^\W\d][\w.-]{{0,{MAX_NAME_CHARS - 1}}}")
_AROUND_NAMES = re.compile(rf"[\s\\{INVISIBLE}]|^[*`'“”‘’]+|[*`'“”‘’]+$")
_EXACT_BEGIN = re.compile(r"\[\[ABP_TOOL:[^\s\\]*\]\]")
_EXACT_END = re.compile(r"\[\[END_ABP_TOOL\]\]")
_FENCE_LINE = re.compile(r"[ \t]*(?:\r\n|[\r\n])[ \t]*(?:`{3,}+|~{3,}+)[ \t]*(?=[\r\n]|\Z)")
_WORD = re.compile(r"[^\W_]")
_MARKUP = re.compile(r"(?:`{3,}+|~{3,}+)[^\S\r\n]*\w*")


@dataclass(frozen=True)
class _Body:
    """What may belong to a block, after its marker. end: the position at which it must end; marker: what stands there.

    nested_until: another block is inside, or may be; up to there nothing can be believed.
    """

    end: int
    marker: int | None
    cut_inside: bool = False
    nested_until: int | None = None


def tool_name(written: str) -> str | None:
    """The name in a marker without what is around it; None when that is no name."""
    name = _AROUND_NAMES.sub("", _AROUND_NAMES.sub("", written))
    return name if _NAME.fullmatch(name) else None


def read_abp(layout: Layout, place: int, repair: RepairJson) -> BlockRead:
    """The block that begins with the marker at `place`."""
    marker = layout.tokens[place]
    body = _body(layout, place)
    if body.nested_until is not None:
        until = body.nested_until
        return BlockRead(_refusal(tool_name(marker.value), (marker.start, until), RefusalReason.NESTED), until)
    ended = body.marker is not None and layout.tokens[body.marker].kind is TokenKind.ABP_END
    segments = _uncited(layout, segments_between(layout, place + 1, body.end))
    if not ended:
        segments = _at_hand(layout, marker.end, segments)
    found = extract_object(layout.text, segments, repair)
    span = marker.start, _block_end(layout, place, body, ended, segments, found)
    fixes = _fixes(layout, place, body.marker if ended else None, segments, found) if found else ()
    return BlockRead(_judged(tool_name(marker.value), span, bool(segments), found, fixes), span[1], body.cut_inside)


def _judged(
    name: str | None, span: Span, has_object: bool, found: ExtractedObject | None, fixes: tuple[Fix, ...]
) -> ToolRequest | RefusedBlock:
    if name is None:
        return _refusal(None, span, RefusalReason.BAD_NAME)
    if found is None:
        return _refusal(name, span, RefusalReason.DAMAGED if has_object else RefusalReason.NO_PARAMETERS)
    if not is_usable(found.value):
        return _refusal(name, span, RefusalReason.UNUSABLE)
    return ToolRequest(Protocol.ABP, name, found.value, span, fixes)


def _refusal(name: str | None, span: Span, code: RefusalReason) -> RefusedBlock:
    return RefusedBlock(Protocol.ABP, name, span, code)


def _body(layout: Layout, place: int) -> _Body:
    """Where a block ends at the latest: at the first marker that is not the text of a JSON string."""
    place += 1
    while True:
        brace, marker = layout.next_open(place), layout.next_marker(place)
        if brace is None or (marker is not None and marker < brace):
            return _until(layout, marker)
        closing = layout.closing.get(brace)
        if closing is None:
            return _unclosed_body(layout, brace, marker)
        astray = _marker_astray(layout, brace, closing)
        if astray is not None:
            is_end = layout.tokens[astray].kind in ENDS and not layout.in_string_of(brace, astray)
            return replace(_until(layout, astray), cut_inside=True) if is_end else _nested(layout.tokens[closing].end)
        place = closing + 1


def _unclosed_body(layout: Layout, brace: int, marker: int | None) -> _Body:
    """The body of a block whose object is cut. What looks like the next block may be the text of its open string.

    A block that begins on a line of its own, outside the strings, is believed. So is an end marker, as a cut string
    is likelier than one about end markers; but what follows it on the same line is not.
    """
    if marker is None:
        return _until(layout, marker)
    if layout.tokens[marker].kind in ENDS:
        return replace(_until(layout, marker), cut_inside=True)
    if layout.in_string_of(brace, marker) or not layout.begins_line(marker):
        return _nested(layout.after_next_end(marker))
    return _until(layout, marker)


def _nested(until: int) -> _Body:
    return _Body(0, None, nested_until=until)


def _until(layout: Layout, marker: int | None) -> _Body:
    return _Body(len(layout.text) if marker is None else layout.starts[marker], marker)


def _marker_astray(layout: Layout, brace: int, closing: int) -> int | None:
    """The first marker between two braces that is not inside a JSON string.

    Inside a string that is not delimited as JSON strings are, a marker may be somebody's text or the end of a
    truncated block. Nobody can tell, so that is astray too.
    """
    for marker in layout.markers_between(brace, closing):
        if not (layout.in_string_of(brace, marker) and layout.in_proper_string(marker)):
            return marker
    return None


def _uncited(layout: Layout, segments: list[ObjectSpan]) -> list[ObjectSpan]:
    """The segments that do not begin on a quoted line."""
    return [segment for segment in segments if not _is_cited(layout, segment.start)]


def _is_cited(layout: Layout, position: int) -> bool:
    place = layout.at(position) - 1
    return place >= 0 and layout.tokens[place].kind is TokenKind.CITED


def _at_hand(layout: Layout, position: int, segments: list[ObjectSpan]) -> list[ObjectSpan]:
    """Without an end marker: the first object near the marker, and those that follow it without a word between."""
    near: list[ObjectSpan] = []
    for segment in segments:
        if near and _WORD.search(_MARKUP.sub("", layout.text[near[-1].end : segment.start])):
            break
        if not near and segment.start - position > MAX_NOISE_CHARS_WITHOUT_END:
            break
        near.append(segment)
    return near


def _block_end(
    layout: Layout, place: int, body: _Body, ended: bool, segments: list[ObjectSpan], found: ExtractedObject | None
) -> int:
    """Where a block ends: with its end marker, else with its last object and the code fence around that."""
    if ended:
        assert body.marker is not None
        return layout.tokens[body.marker].end
    if not segments:
        return layout.tokens[place].end
    last = max(segments[-1].end, found.segment.end if found else 0)
    if found is not None and not segments[-1].closed:
        last = max(found.segment.end, segments[-1].start)
    fences = [token for token in layout.tokens[place : layout.at(segments[0].start)] if token.kind is TokenKind.FENCE]
    closing = _FENCE_LINE.match(layout.text, last) if fences else None
    return closing.end() if closing else last


def _fixes(
    layout: Layout, place: int, end_marker: int | None, segments: list[ObjectSpan], found: ExtractedObject
) -> tuple[Fix, ...]:
    text, marker = layout.text, layout.tokens[place]
    begin, end = text[marker.start : marker.end], layout.tokens[end_marker] if end_marker is not None else None
    fixes = []
    if not _EXACT_BEGIN.fullmatch(begin) or (end is not None and not _EXACT_END.fullmatch(text[end.start : end.end])):
        fixes.append(Fix.MARKER)
    after = text[found.segment.end : end.start] if end is not None else ""
    if text[marker.end : segments[0].start].strip() or (found.segment.end >= segments[-1].end and after.strip()):
        fixes.append(Fix.NOISE)
    if len(segments) > 1:
        fixes.append(Fix.SEVERAL_OBJECTS)
    return (*fixes, *found.fixes)
