"""The JSON object of a block: found among noise, read strictly, else unwrapped and repaired (spec 000)."""

import html
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from apps.llm.domain.protocol.results import Fix
from apps.llm.domain.protocol.tokens import INVISIBLE, Layout, TokenKind

MAX_DEPTH = 64
MAX_REPAIRS = 3
JsonObject = dict[str, Any]


class Repaired(Protocol):
    """What a repair came to. value: the JSON value; ok: whether there is one."""

    @property
    def ok(self) -> bool: ...

    @property
    def value(self) -> Any: ...


RepairJson = Callable[[str], Repaired]


@dataclass(frozen=True)
class StrictlyRead:
    """The answer of `no_repair`."""

    ok: bool
    value: Any


def no_repair(text: str) -> StrictlyRead:
    """The repair that repairs nothing."""
    value = strict_object(text)
    return StrictlyRead(value is not None, value)


@dataclass(frozen=True)
class ObjectSpan:
    """Where a JSON object may stand: text[start:end]. wider: as far as it reaches if a brace was none."""

    start: int
    end: int
    closed: bool
    wider: int | None = None


@dataclass(frozen=True)
class ExtractedObject:
    """The object of a block, and where it stands."""

    value: JsonObject
    segment: ObjectSpan
    fixes: tuple[Fix, ...]


def extract_object(text: str, segments: list[ObjectSpan], repair: RepairJson) -> ExtractedObject | None:
    """The last valid object; of damaged ones, where none is valid, the last that can be repaired.

    At most MAX_REPAIRS segments are tried with `repair`. Segments do not overlap, so each character is read a
    fixed number of times.
    """
    for segment in reversed(segments):
        if segment.closed and (value := strict_object(text[segment.start : segment.end])) is not None:
            return ExtractedObject(value, segment, ())
    for segment in list(reversed(segments))[:MAX_REPAIRS]:
        for part in _readings(text, segment):
            if (found := _repaired(text[part.start : part.end], repair)) is not None:
                return ExtractedObject(found[0], part, found[1])
    return None


def strict_object(text: str) -> JsonObject | None:
    """`text` as a JSON object; None when it is none. Line breaks inside strings are let through."""
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def is_usable(value: Any) -> bool:
    """Whether a value can be sent on as JSON: finite numbers, characters that exist, at most MAX_DEPTH levels."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [item for parent in level for item in _children(parent)]
        if not level:
            return _is_writable(value)
    return False


def _children(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _is_writable(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, TypeError):  # UnicodeEncodeError is a ValueError
        return False
    return True


def _readings(text: str, segment: ObjectSpan) -> Iterator[ObjectSpan]:
    """Where a damaged object may end, the likeliest first."""
    if segment.wider is not None:
        yield ObjectSpan(segment.start, segment.wider, segment.closed)
    yield segment


def _repaired(text: str, repair: RepairJson) -> tuple[JsonObject, tuple[Fix, ...]] | None:
    plain, fixes = _unwrapped(text)
    value = strict_object(plain)
    if value is not None:
        return value, fixes
    outcome = repair(plain)
    if outcome.ok and isinstance(outcome.value, dict):
        return outcome.value, (*fixes, Fix.JSON)
    return None


# --- what wraps JSON on its way through other programs ------------------------------------------------------


def _unwrapped(text: str) -> tuple[str, tuple[Fix, ...]]:
    fixes = []
    for fix, unwrap in _UNWRAPPING:
        plain = unwrap(text)
        if plain != text:
            fixes.append(fix)
            text = plain
    return text, tuple(fixes)


def _without_entities(text: str) -> str:
    """HTML entities resolved, where the quotes themselves are entities; elsewhere they are somebody's text."""
    return html.unescape(text) if '"' not in text and _QUOTE_ENTITY.search(text) else text


def _without_escaped_quotes(text: str) -> str:
    r"""One level of escaping taken off, where every quote is escaped: {\"a\": \"b\"}."""
    return _ESCAPED.sub(r"\1", text) if '\\"' in text and not _BARE_QUOTE.search(text) else text


def _with_straight_quotes(text: str) -> str:
    return text if '"' in text else text.translate(_STRAIGHT)


def _without_invisible(text: str) -> str:
    """Outside strings: no characters that nobody sees, plain blanks and ASCII punctuation."""
    return _STRING_OR_ODD.sub(lambda match: _ODD.get(match["odd"], "") if match["odd"] else match[0], text)


def _without_markdown_escapes(text: str) -> str:
    return _MARKDOWN_ESCAPE.sub(lambda match: match[1] or match[0], text)


_QUOTE_ENTITY = re.compile(r"&(?:quot|#34|#x22);", re.IGNORECASE)
_ESCAPED = re.compile(r'\\(["\\])')
_BARE_QUOTE = re.compile(r'(?<!\\)"')
_STRAIGHT = {ord("“"): '"', ord("”"): '"', ord("„"): '"'}
_ODD = {
    "\u00a0": " ", "\u2007": " ", "\u202f": " ", "\u3000": " ", "：": ":", "，": ",",
}  # fmt: skip
# A string, an escape, or an odd character outside both.
_STRING_OR_ODD = re.compile(rf'"(?:[^"\\]++|\\.)*+"|\\.|(?P<odd>[{INVISIBLE}{"".join(_ODD)}])', re.DOTALL)
# An escaped backslash stays; a backslash before punctuation that JSON does not escape goes.
_MARKDOWN_ESCAPE = re.compile(r"\\\\|\\([_*\[\]#~`>|.!()+-])")
_UNWRAPPING: tuple[tuple[Fix, Callable[[str], str]], ...] = (
    (Fix.HTML_ENTITIES, _without_entities),
    (Fix.ESCAPED_QUOTES, _without_escaped_quotes),
    (Fix.CURLY_QUOTES, _with_straight_quotes),
    (Fix.INVISIBLE_CHARACTERS, _without_invisible),
    (Fix.MARKDOWN_ESCAPES, _without_markdown_escapes),
)


# --- where objects may stand --------------------------------------------------------------------------------


def segments_between(layout: Layout, place: int, end: int) -> list[ObjectSpan]:
    """Where JSON objects may stand among the tokens from `place` on, before the position `end` of the text.

    An object whose end is missing reaches to `end`, to an empty line outside its strings, or to the next brace
    that cannot stand inside it.
    """
    segments = []
    while (brace := layout.next_open(place)) is not None and layout.starts[brace] < end:
        closing = layout.closing.get(brace)
        if closing is not None and layout.starts[closing] < end:
            segments.append(_closed(layout, brace, closing, end))
            place = closing + 1
        else:
            segment = _unclosed(layout, brace, end)
            segments.append(segment)
            place = max(brace + 1, layout.at(segment.end))
    return segments


def _closed(layout: Layout, brace: int, closing: int, end: int) -> ObjectSpan:
    """An object with its closing brace. With apostrophes for quotes a brace in a string looks like the end."""
    start, stop = layout.starts[brace], layout.tokens[closing].end
    wider = None
    for place in range(closing + 1, layout.at(end)):
        token = layout.tokens[place]
        if token.kind is TokenKind.OPEN or _ends_paragraph(layout, place):
            break
        if token.kind is TokenKind.CLOSE:
            wider = token.end
    has_apostrophes = wider is not None and "'" in layout.text[start:stop]
    return ObjectSpan(start, stop, closed=True, wider=wider if has_apostrophes else None)


def _unclosed(layout: Layout, brace: int, end: int) -> ObjectSpan:
    stop, last_close = end, None
    place = brace + 1
    while place < len(layout.tokens) and layout.starts[place] < end:
        token = layout.tokens[place]
        outside = not layout.in_string_of(brace, place)
        if outside and (_ends_paragraph(layout, place) or _begins_anew(layout, place)):
            stop = token.start
            break
        if token.kind is TokenKind.CLOSE and outside:
            last_close = token.end
        place += 1
    wider = last_close if last_close is not None and _is_chatter(layout.text, last_close, stop) else None
    return ObjectSpan(layout.starts[brace], stop, closed=False, wider=wider)


def _ends_paragraph(layout: Layout, place: int) -> bool:
    """Whether an empty line begins at `place`."""
    if layout.tokens[place].kind is not TokenKind.NEWLINE or place + 1 == len(layout.tokens):
        return False
    following = layout.tokens[place + 1]
    gap = layout.text[layout.tokens[place].end : following.start]
    return following.kind is TokenKind.NEWLINE and not gap.strip()


def _begins_anew(layout: Layout, place: int) -> bool:
    """Whether a brace at `place` cannot be a value of the object before it."""
    token = layout.tokens[place]
    return token.kind is TokenKind.OPEN and layout.last_visible(0, token.start) not in tuple(":,[")


def _is_chatter(text: str, start: int, end: int) -> bool:
    """Whether what follows a closing brace is no more of the object that the brace stands in."""
    rest = text[start:end].lstrip()
    return bool(rest) and rest[0] not in ",]"
