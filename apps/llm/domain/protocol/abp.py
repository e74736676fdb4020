"""ABP blocks: `[[ABP_TOOL:Name]]`, a JSON object, and an optional `[[END_ABP_TOOL]]` (DESIGN section 6).

A marker that is damaged is believed only where the object follows it at once.
"""

import re
from dataclasses import dataclass

from apps.llm.domain.protocol.headless import HeadlessBody, extract_headless, find_headless
from apps.llm.domain.protocol.objects import (
    ExtractedObject,
    ObjectSpan,
    RepairJson,
    extract_object,
    find_objects,
    is_usable,
)
from apps.llm.domain.protocol.results import BlockRead, Fix, Protocol, RefusalReason, RefusedBlock, ToolRequest
from apps.llm.domain.protocol.tokens import ENDS, INVISIBLE, Layout, OutputToken, TokenKind

MAX_NAME_CHARS = 64
# Without an end marker, words this far after the marker belong to something else.
MAX_NOISE_CHARS_WITHOUT_END = 200
_NAME = re.compile(rf"[^\W\d][\w.-]{{0,{MAX_NAME_CHARS - 1}}}")
_AROUND_NAMES = re.compile(rf"[\s\\{INVISIBLE}]|^[*`'“”‘’]+|[*`'“”‘’]+$")
_EXACT_BEGIN = re.compile(r"\[\[ABP_TOOL:[^\s\\]*\]\]")
_EXACT_END = re.compile(r"\[\[END_ABP_TOOL\]\]")
_FENCE_LINE = re.compile(r"[ \t]*(?:\r\n|[\r\n])[ \t]*(?:`{3,}+|~{3,}+)[ \t]*(?=[\r\n]|\Z)")
_ONLY_MARKUP = re.compile(r"\s*+(?:(?:`{3,}+|~{3,}+)[^\S\r\n]*+\w*+\s*+)?+")
_WORD = re.compile(r"[^\W_]")
_MARKUP = re.compile(r"(?:`{3,}+|~{3,}+)[^\S\r\n]*\w*")


@dataclass(frozen=True)
class BlockBody:
    """What may belong to a block, after its marker. end: the position at which it must end; marker: the one there.

    nested_until: another block is inside, or may be; up to there nothing can be believed.
    """

    end: int
    marker: int | None = None
    cut_inside: bool = False
    nested_until: int | None = None


def clean_tool_name(written: str) -> str | None:
    """Return the name in a marker without what surrounds it; None when that is no name."""
    name = _AROUND_NAMES.sub("", _AROUND_NAMES.sub("", written))
    return name if _NAME.fullmatch(name) else None


def read_abp(layout: Layout, place: int, repair: RepairJson) -> BlockRead:
    """Return the block that begins with the marker at `place`."""
    marker = layout.tokens[place]
    name = clean_tool_name(marker.value)
    body = find_body(layout, place)
    headless = find_headless(layout, place, has_objects=layout.has_object(place, body.end))
    if headless is not None:
        return read_headless(layout, place, headless, repair)
    if body.nested_until is not None:
        span = marker.start, body.nested_until
        return BlockRead(RefusedBlock(Protocol.ABP, name, span, RefusalReason.NESTED), span[1])
    end_marker = None if body.marker is None else layout.tokens[body.marker]
    if end_marker is not None and end_marker.kind is not TokenKind.ABP_END:
        end_marker = None
    objects = [found for found in find_objects(layout, place + 1, body.end) if not is_cited(layout, found.start)]
    if end_marker is None:
        objects = keep_near(layout.text, marker.end, objects)
    found = extract_object(layout.text, objects, repair)
    span = marker.start, end_marker.end if end_marker else find_block_end(layout, place, objects, found)
    # A damaged marker needs its object behind nothing but blanks and a code fence.
    is_believed = objects and _ONLY_MARKUP.fullmatch(layout.text, marker.end, objects[0].start)
    if marker.kind is TokenKind.ABP_LOOSE and not is_believed:
        reason = RefusalReason.DAMAGED_MARKER
    elif name is None:
        reason = RefusalReason.BAD_NAME
    elif found is None:
        reason = RefusalReason.DAMAGED if objects else RefusalReason.NO_PARAMETERS
    elif not is_usable(found.value):
        reason = RefusalReason.UNUSABLE
    else:
        fixes = collect_fixes(layout, marker, end_marker, objects, found)
        return BlockRead(
            ToolRequest(Protocol.ABP, name, found.value, span, fixes, found.truncated), span[1], body.cut_inside
        )
    return BlockRead(RefusedBlock(Protocol.ABP, name, span, reason), span[1], body.cut_inside)


def read_headless(layout: Layout, place: int, body: HeadlessBody, repair: RepairJson) -> BlockRead:
    """Return the block whose object lacks its opening brace."""
    marker = layout.tokens[place]
    name = clean_tool_name(marker.value)
    if body.nested_until is not None:
        span = marker.start, body.nested_until
        return BlockRead(RefusedBlock(Protocol.ABP, name, span, RefusalReason.NESTED), span[1])
    found = extract_headless(layout, place, body, repair)
    end_marker = None if body.marker is None else layout.tokens[body.marker]
    end = end_marker.end if end_marker else body.end if found is None else found.span.end
    span = marker.start, end
    if name is None or found is None or not is_usable(found.value):
        reason = RefusalReason.BAD_NAME if name is None else RefusalReason.UNUSABLE if found else RefusalReason.DAMAGED
        return BlockRead(RefusedBlock(Protocol.ABP, name, span, reason), end, body.in_string)
    fixes = collect_fixes(layout, marker, end_marker, [found.span], found)
    return BlockRead(ToolRequest(Protocol.ABP, name, found.value, span, fixes, found.truncated), end, body.in_string)


def find_body(layout: Layout, place: int) -> BlockBody:
    """Return where a block ends at the latest: at the first marker that is not the text of a JSON string.

    Inside a string that is not delimited as JSON strings are, a marker may be part of the content or the end of a
    truncated block; these look alike, so that marker counts as one outside strings.
    """
    while True:
        place += 1
        brace, marker = layout.next_open(place), layout.next_marker(place)
        if brace is None or (marker is not None and marker < brace):
            return body_until(layout, marker)
        closing = layout.closing.get(brace)
        if closing is None:
            return find_unclosed_body(layout, brace, marker)
        for inner in layout.markers_between(brace, closing):
            is_in_string = layout.in_string_of(brace, inner)
            if is_in_string and layout.in_proper_string(inner):
                continue
            if layout.tokens[inner].kind in ENDS and not is_in_string:
                return body_until(layout, inner, cut_inside=True)
            return BlockBody(0, nested_until=layout.tokens[closing].end)
        place = closing


def find_unclosed_body(layout: Layout, brace: int, marker: int | None) -> BlockBody:
    """Return the body of a block whose object is cut. What looks like the next block may be text of its open string.

    A block that begins on a line of its own, outside the strings, is believed. So is an end marker, as a cut string
    is likelier than one about end markers; but what follows it on the same line is not.
    """
    if marker is None:
        return body_until(layout, marker)
    if layout.tokens[marker].kind in ENDS:
        return body_until(layout, marker, cut_inside=True)
    if layout.in_string_of(brace, marker) or not layout.begins_line(marker):
        return BlockBody(0, nested_until=layout.after_next_end(marker))
    return body_until(layout, marker)


def body_until(layout: Layout, marker: int | None, *, cut_inside: bool = False) -> BlockBody:
    """Return the body that ends at a marker; None for the end of the text."""
    return BlockBody(len(layout.text) if marker is None else layout.starts[marker], marker, cut_inside)


def is_cited(layout: Layout, position: int) -> bool:
    """Return whether the text before a position begins a quoted line."""
    place = layout.at(position) - 1
    return place >= 0 and layout.tokens[place].kind is TokenKind.CITED


def keep_near(text: str, position: int, objects: list[ObjectSpan]) -> list[ObjectSpan]:
    """Return the first object near the marker, and those that follow it without a word between."""
    near: list[ObjectSpan] = []
    for found in objects:
        if near and _WORD.search(_MARKUP.sub("", text[near[-1].end : found.start])):
            break
        if not near and found.start - position > MAX_NOISE_CHARS_WITHOUT_END:
            break
        near.append(found)
    return near


def find_block_end(layout: Layout, place: int, objects: list[ObjectSpan], found: ExtractedObject | None) -> int:
    """Return where a block without an end marker ends: with its last object and the code fence around that."""
    if not objects:
        return layout.tokens[place].end
    last = max(objects[-1].end, found.span.end if found else 0)
    if found is not None and not objects[-1].closed:
        last = max(found.span.end, objects[-1].start)
    between = layout.tokens[place : layout.at(objects[0].start)]
    has_fence = any(token.kind is TokenKind.FENCE for token in between)
    closing = _FENCE_LINE.match(layout.text, last) if has_fence else None
    return closing.end() if closing else last


def collect_fixes(
    layout: Layout, begin: OutputToken, end: OutputToken | None, objects: list[ObjectSpan], found: ExtractedObject
) -> tuple[Fix, ...]:
    """Return what was repaired or stripped on the way to a request."""
    text, fixes = layout.text, []
    is_exact = _EXACT_BEGIN.fullmatch(text, begin.start, begin.end)
    if not is_exact or (end is not None and not _EXACT_END.fullmatch(text, end.start, end.end)):
        fixes.append(Fix.MARKER)
    after = text[found.span.end : end.start] if end is not None else ""
    if text[begin.end : objects[0].start].strip() or (found.span.end >= objects[-1].end and after.strip()):
        fixes.append(Fix.NOISE)
    if len(objects) > 1:
        fixes.append(Fix.SEVERAL_OBJECTS)
    return (*fixes, *found.fixes)
