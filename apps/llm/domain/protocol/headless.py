"""The object of an ABP block whose opening brace is missing: `[[ABP_TOOL:Name]]"content": "..."}` (spec 000).

A name in quotes and its colon right behind the marker begin such an object. So does a bare name before a value, where a
closing brace without an opening one follows and no object does.
"""

import re
from dataclasses import dataclass

from apps.llm.domain.protocol.objects import ExtractedObject, ObjectSpan, RepairJson, read_object, repair_object
from apps.llm.domain.protocol.results import Fix
from apps.llm.domain.protocol.tokens import ENDS, Layout, TokenKind

_BEFORE = r"\s*+(?:(?:`{3,}+|~{3,}+)[^\S\r\n]*+\w*+\s++)?+"
_QUOTED = re.compile(_BEFORE + r"""(?P<name>\\?["'“”][^"'“”\\\r\n]{1,64}+\\?["'“”]\s*+[:：])""")
_BARE = re.compile(_BEFORE + r"""(?P<name>[A-Za-z_]\w{0,63}+[ \t]*+[:：]\s*+(?=["'“\d\[tfn-]))""")


@dataclass(frozen=True)
class HeadlessBody:
    """Where an object without an opening brace may be. end: of the block; marker: the one that ends it, if one does.

    nested_until: another block is inside, or may be.
    """

    start: int
    end: int
    marker: int | None = None
    nested_until: int | None = None
    in_string: bool = False


def find_headless(layout: Layout, place: int, *, has_objects: bool) -> HeadlessBody | None:
    """Return the body behind the marker at `place`, if its object lacks the opening brace."""
    quoted = _QUOTED.match(layout.text, layout.tokens[place].end)
    if quoted is not None:
        return find_headless_body(layout, place, quoted.start("name"))
    bare = None if has_objects else _BARE.match(layout.text, layout.tokens[place].end)
    if bare is None:
        return None
    body = find_headless_body(layout, place, bare.start("name"))
    return body if find_closing(layout, place, body.end) is not None else None


def find_headless_body(layout: Layout, place: int, start: int) -> HeadlessBody:
    """Return the body that reaches to the first marker which is not the text of a JSON string.

    A marker in a string that is not delimited as JSON strings are, or on a line of the object, may be its text.
    """
    inner = place
    while (marker := layout.next_marker(inner + 1)) is not None:
        inner = marker
        in_string = layout.in_string_of(place, inner)
        if in_string and layout.in_proper_string(inner):
            continue
        if layout.tokens[inner].kind in ENDS:
            return HeadlessBody(start, layout.starts[inner], inner, in_string=in_string)
        if in_string or not layout.begins_line(inner):
            return HeadlessBody(start, layout.starts[inner], nested_until=layout.after_next_end(inner))
        return HeadlessBody(start, layout.starts[inner])
    return HeadlessBody(start, len(layout.text))


def find_closing(layout: Layout, place: int, end: int) -> int | None:
    """Return the place of the first closing brace that closes nothing, outside strings and before `end`."""
    depth, in_string = 0, False
    for inner in range(place + 1, layout.at(end)):
        kind = layout.tokens[inner].kind
        if kind is TokenKind.QUOTE:
            in_string = not in_string
        elif in_string:
            continue
        elif kind is TokenKind.OPEN:
            depth += 1
        elif kind is TokenKind.CLOSE:
            if depth == 0:
                return inner
            depth -= 1
        elif layout.ends_paragraph(inner):
            return None
    return None


def extract_headless(layout: Layout, place: int, body: HeadlessBody, repair: RepairJson) -> ExtractedObject | None:
    """Return the object of a body, with the brace that is missing; None where it cannot be read."""
    closing = find_closing(layout, place, body.end)
    stop = body.end if closing is None else layout.tokens[closing].end
    if closing is None:
        paragraph = next(
            (inner for inner in range(place + 1, layout.at(body.end)) if layout.ends_paragraph(inner)), None
        )
        stop = stop if paragraph is None or layout.in_string_of(place, paragraph) else layout.starts[paragraph]
    text = "{" + layout.text[body.start : stop]
    span = ObjectSpan(body.start, stop, closed=closing is not None)
    value = read_object(text)
    if value is not None:
        return ExtractedObject(value, span, (Fix.JSON,))
    return repair_object(text, span, repair)
