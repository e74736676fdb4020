"""Header lines before a text, as in PEPs: `PEP: 8`, `Title: ...`, `Status: Active`, `Superseded-By: 465`."""

import re

from apps.sync.domain.knowledge import ReadMapping
from apps.sync.domain.readers.fields import FIELD_BY_NAME, found_in_fields, known_fields
from apps.sync.domain.readers.found import Found
from apps.sync.domain.readers.places import KINDS, TYPE_BY_WORD
from apps.sync.domain.readers.refusals import Refusal, UnreadableError
from apps.sync.domain.readers.statuses import BY_KIND
from apps.sync.domain.readers.text import MAX_HEADER_LINES, clean, fold

HEADER = re.compile(r"([A-Za-z][A-Za-z0-9 _-]{0,40}):(?:[ \t]+|$)")
NEEDED = frozenset({"title", "status", "id"})


def split_headers(text: str) -> tuple[dict[str, str], str]:
    """Return the header lines before a text by their folded names, and the text; no headers where it has none."""
    start = len(text) - len(text.lstrip("\n"))
    headers: dict[str, str] = {}
    name = ""
    for _ in range(MAX_HEADER_LINES):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        line = text[start:end]
        match = HEADER.match(line)
        if not line.strip():
            break
        if match:
            name = fold(match.group(1))
            headers.setdefault(name, line[match.end() : 3_000].strip())
        elif name and line[0].isspace():
            headers[name] = f"{headers[name][:3_000]} {line[:3_000].strip()}".strip()
        else:
            return {}, text
        start = end + 1
        if end == len(text):
            break
    # One line with a colon is a paragraph.
    is_header = len(headers) > 1 and any(name in KINDS or FIELD_BY_NAME.get(name) in NEEDED for name in headers)
    return (headers, text[start:]) if is_header else ({}, text)


def read_headers(headers: dict[str, str], mapping: ReadMapping) -> Found:
    """Return what header lines say. Raises UnreadableError."""
    values = known_fields(headers, mapping.fields)
    kind, number = number_of(headers)
    found = found_in_fields(values, {**BY_KIND.get(kind.casefold(), {}), **mapping.statuses})
    return Found(
        item_id=found.item_id or (f"{kind}-{number}" if kind else ""),
        kind=kind,
        number=number,
        type=found.type or TYPE_BY_WORD.get(kind.casefold()),
        title=found.title,
        summary=found.summary,
        status=found.status,
        layer=found.layer,
        constraints=found.constraints,
        tags=found.tags,
        supersedes=found.supersedes,
        superseded_by=found.superseded_by,
    )


def number_of(headers: dict[str, str]) -> tuple[str, str]:
    """Return kind and number, such as `PEP` and `8`; empty where there is none. Raises UnreadableError for `NNNN`."""
    for name, value in headers.items():
        if name not in KINDS:
            continue
        bare = clean(value, 50)
        if bare.isascii() and bare.isdigit() and len(bare) <= 6:
            return name.upper(), bare
        if bare and (bare.startswith("<") or not bare.casefold().strip("nx?")):
            raise UnreadableError(Refusal.TEMPLATE, "The number is a placeholder, as in a template.")
    return "", ""
