"""The JSON object of a block: found among noise, read strictly, else unwrapped and repaired (spec 000)."""

import html
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from apps.llm.domain.json_repair.repair import RepairResult
from apps.llm.domain.protocol.results import Fix
from apps.llm.domain.protocol.tokens import INVISIBLE, Layout, TokenKind

MAX_DEPTH = 64
MAX_REPAIRS = 3
JsonObject = dict[str, Any]


RepairJson = Callable[[str], RepairResult]


@dataclass(frozen=True)
class ObjectSpan:
    """Where a JSON object may be: text[start:end]. wider: as far as it reaches if a brace was none."""

    start: int
    end: int
    closed: bool
    wider: int | None = None


@dataclass(frozen=True)
class ExtractedObject:
    """The object of a block, and its place in the text. truncated: dotted paths of the values that its end cut."""

    value: JsonObject
    span: ObjectSpan
    fixes: tuple[Fix, ...]
    truncated: tuple[str, ...] = ()


def extract_object(text: str, spans: list[ObjectSpan], repair: RepairJson) -> ExtractedObject | None:
    """Return the last valid object; of damaged ones, where none is valid, the last that can be repaired.

    At most MAX_REPAIRS spans are tried with `repair`. Spans do not overlap, so each character is read a
    fixed number of times.
    """
    for span in reversed(spans):
        if span.closed and (value := read_object(text[span.start : span.end])) is not None:
            return ExtractedObject(value, span, ())
    for span in list(reversed(spans))[:MAX_REPAIRS]:
        wider = [] if span.wider is None else [ObjectSpan(span.start, span.wider, span.closed)]
        for reading in [*wider, span]:  # the likeliest end first
            if (found := repair_object(text[reading.start : reading.end], reading, repair)) is not None:
                return found
    return None


def repair_object(text: str, span: ObjectSpan, repair: RepairJson) -> ExtractedObject | None:
    """Return a damaged object unwrapped and repaired; None where it cannot be."""
    plain, fixes = unwrap(text)
    if (value := read_object(plain)) is not None:
        return ExtractedObject(value, span, fixes)
    repaired = repair(plain)
    if not repaired.ok or not isinstance(repaired.value, dict):
        return None
    truncated = tuple(".".join(map(str, path)) for path in repaired.truncated)
    return ExtractedObject(repaired.value, span, (*fixes, Fix.JSON), truncated)


def read_object(text: str) -> JsonObject | None:
    """Return `text` as a JSON object; None when it is none. Line breaks inside strings are accepted."""
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def is_usable(value: Any) -> bool:
    """Return whether a value can be sent on as JSON: finite numbers, valid characters, at most MAX_DEPTH levels."""
    level = [value]
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for parent in level:
            below += parent.values() if isinstance(parent, dict) else parent if isinstance(parent, list) else ()
        level = below
        if not level:
            break
    else:
        return False
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, TypeError):  # UnicodeEncodeError is a ValueError
        return False
    return True


# --- what wraps JSON on its way through other programs ------------------------------------------------------

_QUOTE_ENTITY = re.compile(r"&(?:quot|#34|#x22);", re.IGNORECASE)
_ESCAPED = re.compile(r'\\(["\\])')
_BARE_QUOTE = re.compile(r'(?<!\\)"')
_STRAIGHT = {ord("“"): '"', ord("”"): '"', ord("„"): '"'}
_ODD = {"\u00a0": " ", "\u2007": " ", "\u202f": " ", "\u3000": " ", "：": ":", "，": ","}
# A string, an escape, or an odd character outside both.
_STRING_OR_ODD = re.compile(rf'"(?:[^"\\]++|\\.)*+"|\\.|(?P<odd>[{INVISIBLE}{"".join(_ODD)}])', re.DOTALL)
# An escaped backslash stays; a backslash before punctuation that JSON does not escape goes.
_MARKDOWN_ESCAPE = re.compile(r"\\\\|\\([_*\[\]#~`>|.!()+-])")


def unwrap(text: str) -> tuple[str, tuple[Fix, ...]]:
    """Return the text without what other programs wrapped around its characters, and what was removed."""
    fixes = []
    for fix, unwrap_one in UNWRAPPERS.items():
        plain = unwrap_one(text)
        if plain != text:
            fixes.append(fix)
            text = plain
    return text, tuple(fixes)


UNWRAPPERS: dict[Fix, Callable[[str], str]] = {
    # Where the quotes themselves are entities; elsewhere entities are part of the content.
    Fix.HTML_ENTITIES: lambda text: html.unescape(text) if '"' not in text and _QUOTE_ENTITY.search(text) else text,
    # One level of escaping, where every quote is escaped: {\"a\": \"b\"}.
    Fix.ESCAPED_QUOTES: lambda text: (
        _ESCAPED.sub(r"\1", text) if '\\"' in text and not _BARE_QUOTE.search(text) else text
    ),
    Fix.CURLY_QUOTES: lambda text: text if '"' in text else text.translate(_STRAIGHT),
    # Outside strings, odd blanks and punctuation become ASCII, and invisible characters go.
    Fix.INVISIBLE_CHARACTERS: lambda text: _STRING_OR_ODD.sub(
        lambda match: _ODD.get(match["odd"], "") if match["odd"] else match[0], text
    ),
    Fix.MARKDOWN_ESCAPES: lambda text: _MARKDOWN_ESCAPE.sub(lambda match: match[1] or match[0], text),
}


# --- where objects may be -----------------------------------------------------------------------------------


def find_objects(layout: Layout, place: int, end: int) -> list[ObjectSpan]:
    """Return where JSON objects may be among the tokens from `place` on, before the position `end` of the text."""
    spans = []
    while (brace := layout.next_open(place)) is not None and layout.starts[brace] < end:
        closing = layout.closing.get(brace)
        if closing is not None and layout.starts[closing] < end:
            spans.append(span_of_closed(layout, brace, closing, end))
            place = closing + 1
        else:
            spans.append(span_of_unclosed(layout, brace, end))
            place = max(brace + 1, layout.at(spans[-1].end))
    return spans


def span_of_closed(layout: Layout, brace: int, closing: int, end: int) -> ObjectSpan:
    """Return the span to the closing brace. With apostrophes for quotes a brace in a string looks like the end."""
    start, stop = layout.starts[brace], layout.tokens[closing].end
    wider = None
    for place in range(closing + 1, layout.at(end)):
        token = layout.tokens[place]
        if token.kind is TokenKind.OPEN or layout.ends_paragraph(place):
            break
        if token.kind is TokenKind.CLOSE:
            wider = token.end
    has_apostrophes = wider is not None and "'" in layout.text[start:stop]
    return ObjectSpan(start, stop, closed=True, wider=wider if has_apostrophes else None)


def span_of_unclosed(layout: Layout, brace: int, end: int) -> ObjectSpan:
    """Return the span of an object whose end is missing.

    It reaches to `end`, to an empty line outside its strings, or to the next brace that cannot be a value in it.
    """
    stop, last_close = end, None
    place = brace + 1
    while place < len(layout.tokens) and layout.starts[place] < end:
        token = layout.tokens[place]
        if not layout.in_string_of(brace, place):
            starts_another = token.kind is TokenKind.OPEN and layout.last_visible(token.start) not in tuple(":,[")
            if starts_another or layout.ends_paragraph(place):
                stop = token.start
                break
            if token.kind is TokenKind.CLOSE:
                last_close = token.end
        place += 1
    rest = "" if last_close is None else layout.text[last_close:stop].lstrip()
    # Words after a closing brace are no more of the object that contains the brace.
    wider = last_close if rest and rest[0] not in ",]" else None
    return ObjectSpan(layout.starts[brace], stop, closed=False, wider=wider)
