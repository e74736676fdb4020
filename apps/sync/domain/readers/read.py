"""A file of a source becomes an item, or is refused with a reason (spec 003; the conventions are "
"in the reference)."""

import hashlib
import re
from dataclasses import dataclass, replace

from apps.sync.domain.knowledge import (
    Convention,
    ItemStatus,
    ItemType,
    ParsedFile,
    ReadMapping,
    ReadSettings,
    RefusedFile,
)
from apps.sync.domain.readers.document import Document
from apps.sync.domain.readers.fields import found_in_fields, known_fields
from apps.sync.domain.readers.found import FileValues, Refusal, UnreadableError, merge
from apps.sync.domain.readers.front_matter import Node, parse_front_matter, split_front_matter
from apps.sync.domain.readers.headers import NEEDED, read_headers, split_headers, unfold_opening
from apps.sync.domain.readers.headers import YAML as FENCED_YAML
from apps.sync.domain.readers.markdown import parse_markdown
from apps.sync.domain.readers.places import KINDS, NamedPath, is_common_folder, place_of
from apps.sync.domain.readers.prose import split_title, summary_of, title_of
from apps.sync.domain.readers.records import is_record, own_statuses, read_marks, read_record
from apps.sync.domain.readers.references import make_aliases, place_references, split_numbered
from apps.sync.domain.readers.restructured import parse_restructured
from apps.sync.domain.readers.rules import constraints_of_document, severity_of
from apps.sync.domain.readers.text import MAX_PATH_CHARS, MAX_TITLE_CHARS, UNPRINTABLE, clean, decode, fold

MARKDOWN = (".md", ".markdown", ".mdx", ".mdown", ".mkd")
YAML = (".yaml", ".yml")
# Fields that only documents of knowledge have.
KNOWING = frozenset({"id", "number", "type", "status", "layer", "constraints", "supersedes", "superseded_by"})
UNKNOWN_KIND_DETAIL = (
    "Nothing says what kind of document it is: of a whole repository only known kinds are read. Name a folder, "
    "patterns or a convention to read others."
)
# Markup whose headings are between or after `=`, and which otherwise reads as Markdown.
EQUALS = (".mediawiki", ".wiki", ".adoc", ".asciidoc")
EQUALS_HEADING = re.compile(r"(={1,6})[ \t]*([^=\s][^\n]{0,500}?)[ \t]*=*[ \t]*$", re.MULTILINE)
# What a template has in place of a value, and YAML does not read: `{{ title }}`, `{% if %}`, `<%= x %>`, `${x}`.
PLACEHOLDER = re.compile(r"\{\{|\{%|<%|\$\{|:[ \t]{1,10}\{[^{}\n]{1,300}\}|:[ \t]{1,10}\[[A-Z][A-Z _-]{1,50}\]|@@\w")
QUOTES = re.compile(r"'{2,3}")
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
        place = place_of(path, settings.mapping.kinds)
        if place.is_template:
            raise UnreadableError(Refusal.TEMPLATE, "The file is a template, according to its name.")
        parts = split_parts(path, decode(data), settings)
        convention = convention_of(parts, place, settings.convention)
        refuse_other(parts, place, convention, settings.convention)
        found = combine(parts, place, convention, settings)
        named = parts.headers or KNOWING & (parts.front_matter or {}).keys() or place.kind
        is_known = named or found.type is not None or found.status is not None or found.constraints
        if settings.only_known and not is_known:
            raise UnreadableError(Refusal.UNKNOWN_KIND, UNKNOWN_KIND_DETAIL)
        return finish(found, place, convention, settings, hashlib.sha256(data).hexdigest())
    except UnreadableError as error:
        return RefusedFile(path=path, code=error.code.value, detail=error.detail)


def refuse_unusable(path: str, data: bytes, settings: ReadSettings) -> None:
    """Raise UnreadableError for a name or a size that cannot be used."""
    if len(path) > MAX_PATH_CHARS:
        raise UnreadableError(Refusal.NAME_UNUSABLE, f"The path has more than {MAX_PATH_CHARS} characters.")
    if not path.strip() or path.endswith("/") or UNPRINTABLE.search(path) or LINE_ENDS.search(path):
        raise UnreadableError(Refusal.NAME_UNUSABLE, "The path is empty or has control characters.")
    if not data.strip() and not path.casefold().endswith((*MARKDOWN, *RESTRUCTURED)):
        raise UnreadableError(Refusal.NOT_AN_ITEM, "The file is empty.")
    if len(data) > settings.max_bytes:
        raise UnreadableError(Refusal.TOO_LARGE, f"The file has more than {settings.max_bytes:,} bytes.")


def split_parts(path: str, text: str, settings: ReadSettings) -> Parts:
    """Return front matter, header lines and sections of a text. Raises UnreadableError."""
    mapping = settings.mapping
    if path.casefold().endswith(YAML):
        return Parts(known_fields(parse_front_matter(text), mapping.fields), {}, parse_document(path, ""))
    yaml, body = split_front_matter(text, path.casefold().endswith(RESTRUCTURED))
    fields = None if yaml is None else known_fields(read_yaml(yaml), mapping.fields)
    headers: dict[str, str] = {}
    if settings.convention in {Convention.AUTO, Convention.HEADERS} and not fields:
        headers, body = split_headers(body)
        if not headers:
            fenced, headers, body = split_opening(body, mapping)
            fields = fenced or fields
    return Parts(fields, headers, parse_document(path, body))


def read_yaml(text: str) -> dict[str, Node]:
    """Return the mapping that front matter is. Raises UnreadableError, as a template where it is to be filled in."""
    try:
        return parse_front_matter(text)
    except UnreadableError as error:
        if error.code is Refusal.FRONT_MATTER_INVALID and PLACEHOLDER.search(text):
            detail = "The front matter has places to be filled in, as in a template."
            raise UnreadableError(Refusal.TEMPLATE, detail) from error
        raise


def split_opening(text: str, mapping: ReadMapping) -> tuple[dict[str, Node], dict[str, str], str]:
    """Return the YAML or the header lines that are in a fence, `<pre>` or columns before a text, and the text.

    What is neither stays part of the text.
    """
    opening, rest, kind = unfold_opening(text)
    if not opening:
        return {}, {}, text
    if kind in FENCED_YAML:
        try:
            fields = known_fields(parse_front_matter(opening), mapping.fields)
        except UnreadableError:
            fields = {}
        return (fields, {}, rest) if NEEDED & fields.keys() else ({}, {}, text)
    headers, left = split_headers(f"{opening}\n")
    return ({}, headers, rest) if headers and not left.strip() else ({}, {}, text)


def parse_document(path: str, text: str) -> Document:
    """Return the sections of a text, by the extension of its file; `.txt` is Markdown if it has such headings."""
    name = path.casefold()
    if name.endswith(EQUALS):
        marked = EQUALS_HEADING.sub(lambda match: f"{'#' * len(match.group(1))} {match.group(2)}", text)
        return parse_markdown(QUOTES.sub("**", marked))
    is_markdown = name.endswith(MARKDOWN)
    if not is_markdown and not name.endswith(RESTRUCTURED):
        is_markdown = text.startswith("# ") or "\n# " in text or "\n## " in text
    return parse_markdown(text) if is_markdown else parse_restructured(text)


def convention_of(parts: Parts, place: NamedPath, wanted: Convention) -> Convention:
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


def refuse_other(parts: Parts, place: NamedPath, convention: Convention, wanted: Convention) -> None:
    """Raise UnreadableError for templates, tables of contents and files that do not follow the convention."""
    fields = parts.front_matter or {}
    is_about_folder = place.is_housekeeping or (place.is_general and not is_item_of_folder(parts, place, wanted))
    if is_about_folder and not {"id", "type"} & fields.keys():
        raise UnreadableError(
            Refusal.NOT_AN_ITEM, "The file describes its folder, according to its name, and has no id or type."
        )
    if convention is Convention.FRONT_MATTER and not fields:
        raise UnreadableError(Refusal.NOT_AN_ITEM, "The file has no front matter with a known field.")
    if convention is Convention.HEADERS and not parts.headers:
        raise UnreadableError(Refusal.NOT_AN_ITEM, "The file does not begin with header lines.")


def is_item_of_folder(parts: Parts, place: NamedPath, wanted: Convention) -> bool:
    """Return whether an `index.md` or a `README.md` is what its folder is named for, and not a table of contents.

    Where the source names a convention, every file below a folder that follows it is an item.
    """
    if "/" not in place.path:
        return False
    says_so = bool(parts.headers) or "status" in (parts.front_matter or {}) or is_record(parts.document)
    if wanted is Convention.DECISION_RECORD:
        return says_so or not is_common_folder(fold(place.path.split("/")[-2]))
    return says_so or wanted is not Convention.AUTO


def combine(parts: Parts, place: NamedPath, convention: Convention, settings: ReadSettings) -> FileValues:
    """Return what is said in front matter, else in header lines, else in the text, else by the path."""
    document = parts.document
    is_plain = convention is Convention.PLAIN
    fields = parts.front_matter if parts.front_matter and not is_plain else {}
    mapping = settings.mapping
    by_fields = found_in_fields(fields, own_statuses(mapping, place.kind))
    by_headers = read_headers(parts.headers, mapping) if parts.headers else FileValues()
    record = convention is Convention.DECISION_RECORD or (place.type is ItemType.ADR or is_record(document))
    by_record = FileValues()
    if record and not is_plain and not parts.headers:
        by_record = read_record(document, mapping, place.kind)
    elif settings.convention is not Convention.PLAIN and not parts.headers:
        by_record = read_marks(document, mapping, place.kind)
    by_headers = replace(by_headers, title=document.plain(by_headers.title))
    said = merge(by_fields, by_headers, by_record)
    heading, kind, number = ("", "", "") if said.title and parts.headers else title_of(document)
    bare = (said.title or heading).strip()
    if bare.startswith(("{", "[", "<")) and bare.endswith(("}", "]", ">")):
        raise UnreadableError(Refusal.TEMPLATE, "The title is a placeholder, as in a template.")
    by_place = FileValues(
        type=place.type or (ItemType.ADR if record and not parts.headers else None),
        layer=place.layer,
        status=place.status,
    )
    severity = fields.get("severity", "")
    by_text = FileValues(
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


def finish(
    found: FileValues, place: NamedPath, convention: Convention, settings: ReadSettings, text_hash: str
) -> ParsedFile:
    """Return the item with its id, the names it may be referred to by, and defaults for what nothing says."""
    item_id, kind, number = identify(found, place)
    words = place.words[:1].upper() + place.words[1:]
    bare, written_kind, _ = split_title(found.title)
    title = clean(bare if written_kind.casefold() in KINDS else found.title, MAX_TITLE_CHARS)
    # What says nothing is a specification, and in force.
    return ParsedFile(
        path=place.path,
        item_id=item_id,
        type=found.type or ItemType.SPEC,
        title=title or clean(words, MAX_TITLE_CHARS) or item_id,
        summary=found.summary,
        status=found.status or ItemStatus.ACCEPTED,
        layer=found.layer or settings.layer,
        text_hash=text_hash,
        convention=convention,
        constraints=found.constraints,
        tags=found.tags,
        aliases=make_aliases(item_id, place.path, kind, number),
        supersedes=place_references(found.supersedes, place.path, kind),
        superseded_by=place_references(found.superseded_by, place.path, kind),
    )


def identify(found: FileValues, place: NamedPath) -> tuple[str, str, str]:
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
