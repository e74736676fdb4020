"""A file of a source becomes an item, or is refused with a reason (spec 003; the conventions are "
"in the reference)."""

import hashlib
import re
from dataclasses import dataclass, replace

from apps.sync.domain.knowledge import Convention, ItemType, ParsedFile, ReadSettings, RefusedFile
from apps.sync.domain.readers.document import Document
from apps.sync.domain.readers.fields import found_in_fields, known_fields, status_default, type_default
from apps.sync.domain.readers.found import Found, merge
from apps.sync.domain.readers.front_matter import Node, parse_front_matter, split_front_matter
from apps.sync.domain.readers.headers import read_headers, split_headers
from apps.sync.domain.readers.limits import MAX_PATH_CHARS, MAX_TITLE_CHARS
from apps.sync.domain.readers.markdown import parse_markdown
from apps.sync.domain.readers.places import Place, place_of
from apps.sync.domain.readers.prose import summary_of, title_of, title_of_words, without_kind
from apps.sync.domain.readers.records import is_record, read_record, refuse_choice
from apps.sync.domain.readers.references import make_aliases, place_references, split_numbered
from apps.sync.domain.readers.refusals import Refusal, UnreadableError
from apps.sync.domain.readers.restructured import parse_restructured
from apps.sync.domain.readers.rules import constraints_of_document, severity_of
from apps.sync.domain.readers.text import UNPRINTABLE, clean, decode

MARKDOWN = (".md", ".markdown", ".mdx", ".mdown", ".mkd")
LINE_ENDS = re.compile("[\t-\r\x85\u2028\u2029]")
RESTRUCTURED = (".rst", ".rest")


@dataclass(frozen=True, slots=True)
class Parts:
    """A file in its parts. front_matter: its known fields; None without front matter. headers: its header lines."""

    front_matter: dict[str, Node] | None
    headers: dict[str, str]
    document: Document


def read_file(path: str, data: bytes, settings: ReadSettings) -> ParsedFile | RefusedFile:
    """Return what a file is as an item, or why it is none. Any bytes are read in bounded time and memory."""
    try:
        refuse_unusable(path, data, settings)
        place = place_of(path)
        parts = split_parts(path, decode(data), settings.convention)
        convention = convention_of(parts, place, settings.convention)
        refuse_other(parts, place, convention)
        found = combine(parts, place, convention)
        return finish(found, place, convention, settings, hashlib.sha256(data).hexdigest())
    except UnreadableError as error:
        return RefusedFile(path=path, code=error.code.value, detail=error.detail)


def refuse_unusable(path: str, data: bytes, settings: ReadSettings) -> None:
    """Raise UnreadableError for a name or a size that cannot be used."""
    if len(path) > MAX_PATH_CHARS:
        raise UnreadableError(Refusal.NAME_UNUSABLE, f"The path has more than {MAX_PATH_CHARS} characters.")
    if not path.strip() or path.endswith("/") or UNPRINTABLE.search(path) or LINE_ENDS.search(path):
        raise UnreadableError(Refusal.NAME_UNUSABLE, "The path is empty or has control characters.")
    if len(data) > settings.max_bytes:
        raise UnreadableError(Refusal.TOO_LARGE, f"The file has more than {settings.max_bytes:,} bytes.")


def split_parts(path: str, text: str, convention: Convention) -> Parts:
    """Return front matter, header lines and sections of a text. Raises UnreadableError."""
    yaml, body = split_front_matter(text, path.casefold().endswith(RESTRUCTURED))
    fields = None if yaml is None else known_fields(parse_front_matter(yaml))
    headers: dict[str, str] = {}
    if convention in {Convention.AUTO, Convention.HEADERS} and not fields:
        headers, body = split_headers(body)
    return Parts(fields, headers, parse_document(path, body))


def parse_document(path: str, text: str) -> Document:
    """Return the sections of a text, by the extension of its file; `.txt` is Markdown if it has such headings."""
    name = path.casefold()
    is_markdown = name.endswith(MARKDOWN)
    if not is_markdown and not name.endswith(RESTRUCTURED):
        is_markdown = text.startswith("# ") or "\n# " in text or "\n## " in text
    return parse_markdown(text) if is_markdown else parse_restructured(text)


def convention_of(parts: Parts, place: Place, wanted: Convention) -> Convention:
    """Return how a file is read: as the source says, else as it looks."""
    if wanted is not Convention.AUTO:
        return wanted
    if parts.front_matter:
        return Convention.FRONT_MATTER
    if parts.headers:
        return Convention.HEADERS
    if place.type is ItemType.ADR or is_record(parts.document):
        return Convention.DECISION_RECORD
    return Convention.PLAIN


def refuse_other(parts: Parts, place: Place, convention: Convention) -> None:
    """Raise UnreadableError for templates, tables of contents and files that do not follow the convention."""
    if place.is_template:
        raise UnreadableError(Refusal.TEMPLATE, "The file is a template, by its name.")
    fields = parts.front_matter or {}
    if (place.is_general or place.is_housekeeping) and not {"id", "type"} & fields.keys():
        raise UnreadableError(Refusal.NOT_AN_ITEM, "The file is about the folder, by its name, and has no id or type.")
    if convention is Convention.FRONT_MATTER and not fields:
        raise UnreadableError(Refusal.NOT_AN_ITEM, "The file has no front matter with a field that is known.")
    if convention is Convention.HEADERS and not parts.headers:
        raise UnreadableError(Refusal.NOT_AN_ITEM, "The file does not begin with header lines.")


def combine(parts: Parts, place: Place, convention: Convention) -> Found:
    """Return what is said in front matter, else in header lines, else in the text, else by the path."""
    document = parts.document
    is_plain = convention is Convention.PLAIN
    fields = parts.front_matter if parts.front_matter and not is_plain else {}
    by_fields = found_in_fields(fields)
    by_headers = read_headers(parts.headers) if parts.headers else Found()
    record = convention is Convention.DECISION_RECORD or (place.type is ItemType.ADR or is_record(document))
    by_record = read_record(document) if record and not is_plain and not parts.headers else Found()
    by_headers = replace(by_headers, title=document.plain(by_headers.title))
    said = merge(by_fields, by_headers, by_record)
    heading, kind, number = ("", "", "") if said.title and parts.headers else title_of(document)
    refuse_choice(said.title or heading)
    by_place = Found(
        type=place.type or (ItemType.ADR if record and not parts.headers else None),
        layer=place.layer,
        status=place.status,
    )
    severity = fields.get("severity", "")
    by_text = Found(
        kind=kind,
        number=number,
        title=heading,
        summary=said.summary or summary_of(document, prefers_context=record),
        constraints=said.constraints
        or (
            ()
            if is_plain
            else constraints_of_document(document, severity_of(severity if isinstance(severity, str) else ""))
        ),
    )
    return merge(said, by_text, by_place)


def finish(found: Found, place: Place, convention: Convention, settings: ReadSettings, text_hash: str) -> ParsedFile:
    """Return the item with its id, the names it may be referred to by, and defaults for what nothing says."""
    item_id, kind, number = identify(found, place)
    return ParsedFile(
        path=place.path,
        item_id=item_id,
        type=type_default(found.type),
        title=clean(without_kind(found.title), MAX_TITLE_CHARS) or title_of_words(place.words) or item_id,
        summary=found.summary,
        status=status_default(found.status),
        layer=found.layer or settings.layer,
        text_hash=text_hash,
        convention=convention,
        constraints=found.constraints,
        tags=found.tags,
        aliases=make_aliases(item_id, place.path, kind, number),
        supersedes=place_references(found.supersedes, place.path, kind),
        superseded_by=place_references(found.superseded_by, place.path, kind),
    )


def identify(found: Found, place: Place) -> tuple[str, str, str]:
    """Return id, kind and number: of a field or header line, else of the name of the file, else of the heading."""
    if found.item_id:
        kind, number = split_numbered(found.item_id)
        return found.item_id, kind or (found.type.value.upper() if found.type and number else ""), number
    is_adr = found.type is ItemType.ADR
    numbered = replace(found, kind=place.kind, number=place.number) if place.number else found
    kind = numbered.kind or ("ADR" if is_adr else "")
    if numbered.number and kind and (place.number or is_adr):
        item_id = place.numbered_id(kind, numbered.number)
        if len(item_id) <= 200:
            return item_id, kind, numbered.number
    return place.path_id(), "", ""
