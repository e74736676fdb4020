"""Header lines before a text, as in PEPs: `PEP: 8`, `Title: ...`, `Status: Active`, `Superseded-By: 465`."""

import re
from collections.abc import Sequence
from dataclasses import replace
from textwrap import dedent

from apps.sync.domain.knowledge import ReadMapping
from apps.sync.domain.readers.fields import FIELD_BY_NAME, found_in_fields, known_fields
from apps.sync.domain.readers.found import FileValues, Refusal, UnreadableError
from apps.sync.domain.readers.places import KINDS, TYPE_BY_WORD
from apps.sync.domain.readers.statuses import BY_KIND
from apps.sync.domain.readers.text import MAX_HEADER_LINES, clean, fold

HEADER = re.compile(r"([A-Za-z][A-Za-z0-9 _-]{0,40}):(?:[ \t]+|$)")
NEEDED = frozenset({"title", "status", "id"})
FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})[ \t]*([\w-]{0,20})[^`]{0,100}$")
PRE = re.compile(r"[ \t]{0,3}<pre\b[^<>]{0,200}>(?:<code>)?(.{0,300})$", re.IGNORECASE)
PRE_END = re.compile(r"(?:</code>)?</pre>", re.IGNORECASE)
YAML = frozenset({"yaml", "yml"})
TITLE = re.compile(r"(?:#{1,2}|={1,2})[ \t]+\S")
REQUEST = re.compile(r"Request for Comments:[ \t]{1,5}(\d{1,6})\b", re.IGNORECASE)
COLUMN = re.compile(r"[ \t]{3,}")


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


def read_headers(headers: dict[str, str], mapping: ReadMapping) -> FileValues:
    """Return what header lines say. Raises UnreadableError."""
    values = known_fields(headers, mapping.fields)
    kind, number = number_of(headers)
    found = found_in_fields(values, {**BY_KIND.get(kind.casefold(), {}), **mapping.statuses})
    return replace(
        found,
        item_id=found.item_id or (f"{kind}-{number}" if kind else ""),
        kind=kind,
        number=number,
        type=found.type or TYPE_BY_WORD.get(kind.casefold()),
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


def unfold_opening(text: str) -> tuple[str, str, str]:
    """Return header lines that a fence, `<pre>` or two columns hold, the text without them, and the kind of the fence.

    The lines are empty where the text has none there.
    """
    lines = text.split("\n", MAX_HEADER_LINES + 40)
    start = first_written(lines, 0)
    if start < len(lines) and TITLE.match(lines[start]):
        after = first_written(lines, start + 1)
        block, end, kind = block_at(lines, after)
        return (block, "\n".join([lines[start], *lines[end:]]), kind) if block else ("", text, "")
    block, end, kind = block_at(lines, start)
    if block:
        return block, "\n".join(lines[end:]), kind
    block, end = columns_at(lines, start)
    return (block, "\n".join(lines[end:]), "") if block else ("", text, "")


def first_written(lines: Sequence[str], start: int) -> int:
    """Return the first line from one on that is neither blank nor a comment."""
    while start < len(lines):
        bare = lines[start].strip()
        if bare.startswith("<!--"):
            while start < len(lines) and "-->" not in lines[start]:
                start += 1
        elif bare:
            return start
        start += 1
    return start


def block_at(lines: Sequence[str], start: int) -> tuple[str, int, str]:
    """Return what is in the fence or `<pre>` that begins at a line, where it ends, and the word of the fence."""
    if start >= len(lines):
        return "", start, ""
    if match := FENCE.match(lines[start]):
        mark, kind, first = match.group(1), match.group(2).casefold(), ""
    elif match := PRE.match(lines[start]):
        mark, kind, first = "", "", match.group(1)
    else:
        return "", start, ""
    inner = [first] if first.strip() else []
    for index in range(start + 1, min(start + 1 + MAX_HEADER_LINES, len(lines))):
        line = lines[index]
        if mark and line.strip().startswith(mark) and not line.strip().strip(mark[0]):
            return dedent("\n".join(inner)), index + 1, kind
        if not mark and (end := PRE_END.search(line)):
            inner.append(line[: end.start()])
            return dedent("\n".join(inner)).strip("\n"), index + 1, kind
        inner.append(line)
    return "", start, ""


def columns_at(lines: Sequence[str], start: int) -> tuple[str, int]:
    """Return the header of an RFC of the IETF as header lines: its title, and the category as status."""
    head = lines[start : start + 30]
    number = next((match.group(1) for line in head if (match := REQUEST.match(line))), "")
    if not number:
        return "", start
    end = next((index for index, line in enumerate(head) if not line.strip()), len(head))
    left = [COLUMN.split(line.strip())[0] for line in head[:end]]
    named = dict(line.split(":", 1) for line in left if ":" in line)
    title_start = first_written(lines, start + end)
    title = []
    for line in lines[title_start : title_start + 5]:
        if not line.strip():
            break
        title.append(line.strip())
    found = [f"RFC: {number}", f"Title: {' '.join(title)}"]
    if category := named.get("Category", "").strip():
        found.append(f"Status: {'published' if category.casefold() == 'informational' else category}")
    found += [f"{name}:{value}" for name, value in named.items() if name in {"Obsoletes", "Obsoleted by"}]
    return "\n".join(found), title_start + len(title)
