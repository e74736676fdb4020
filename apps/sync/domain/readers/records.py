"""Decision records: MADR of every version, Nygard's, log4brains', and whatever is near them."""

import re
from collections.abc import Iterable
from dataclasses import replace

from apps.sync.domain.knowledge import ItemStatus, ReadMapping
from apps.sync.domain.readers.document import Document, Section
from apps.sync.domain.readers.fields import columns_of, found_in_fields, metadata_of, row_of
from apps.sync.domain.readers.found import FileValues
from apps.sync.domain.readers.front_matter import Node
from apps.sync.domain.readers.statuses import BY_KIND, StatusText, read_relations
from apps.sync.domain.readers.text import MAX_TITLE_CHARS, word_set

STATUS = word_set("status state adrstatus decisionstatus currentstatus documentstatus statusofthisdocument 狀態 状态")
DECISION = word_set("decision decisionoutcome decisions 決策 决策 決定 决定 決策結果 决策结果")
CONTEXT = word_set("context contextandproblemstatement 背景 脈絡 上下文 背景與問題 背景与问题")
LINKS = word_set("links related relateddecisions moreinformation relations 相關 相关 相關決策 相关决策 連結 链接")
# Fields that a metadata line may set. The others are too easily prose.
LINE_FIELDS = frozenset({"id", "status", "type", "layer", "tags", "supersedes", "superseded_by", "title", "severity"})
RELATIONS = frozenset({"status", "supersedes", "superseded_by"})
METADATA = word_set("metadata meta documentcontrol documentinformation 元資料 元数据")
STATUS_HEADING = re.compile(r"(?:[\d.]{1,6}\s+)?(?:status|state|狀態|状态)\s*[:：–—-]\s*(\S.*)", re.IGNORECASE)
MAX_HEADINGS = 50
MAX_SHORT_STATUS_CHARS, MAX_SHORT_STATUS_WORDS = 120, 6
MAX_SCANNED_LINES = 200
NO_MAPPING = ReadMapping()
MAX_STATUS_LINES = 40


def is_record(document: Document) -> bool:
    """Return whether a text has the sections of a decision record."""
    has_status = document.named(STATUS) is not None or "status" in metadata_fields(document)
    has_decision = document.named(DECISION) is not None
    return has_decision and (has_status or document.named(CONTEXT) is not None)


def read_record(document: Document, mapping: ReadMapping, kind: str = "") -> FileValues:
    """Return what metadata lines and the sections for status and links say. Raises UnreadableError."""
    values = metadata_fields(document, mapping)
    if "status" not in values and (lines := status_lines(document)):
        values["status"] = [*lines]
    found = found_in_fields({**values, "title": ""}, own_statuses(mapping, kind))
    title = values.get("title", "")
    links = relations_of(document.named(LINKS))
    return FileValues(
        item_id=found.item_id,
        type=found.type,
        title=document.plain(title) if isinstance(title, str) else "",
        status=found.status,
        layer=found.layer,
        tags=found.tags,
        supersedes=found.supersedes or links.supersedes,
        superseded_by=found.superseded_by or links.superseded_by,
    )


def read_marks(document: Document, mapping: ReadMapping, kind: str = "") -> FileValues:
    """Return the status of a text that is no decision record, and what replaced what, where lines of it say so.

    Prose about states of other things is not taken for a status.
    """
    values = {name: value for name, value in metadata_fields(document, mapping).items() if name in RELATIONS}
    lines = [] if "status" in values else status_lines(document)[:1]
    if lines and is_short(lines[0]):
        values["status"] = lines[0]
    status = values.get("status", "")
    found = found_in_fields(values, own_statuses(mapping, kind))
    if found.status is ItemStatus.UNKNOWN and not is_short(str(status)):
        found = replace(found, status=None)
    return FileValues(status=found.status, supersedes=found.supersedes, superseded_by=found.superseded_by)


def is_short(text: str) -> bool:
    """Return whether a text is as short as a status is."""
    return len(text) <= MAX_SHORT_STATUS_CHARS and len(text.split()) <= MAX_SHORT_STATUS_WORDS


def own_statuses(mapping: ReadMapping, kind: str) -> dict[str, ItemStatus]:
    """Return what words mean in records of a kind, and what the source says of them."""
    return {**BY_KIND.get(kind.casefold(), {}), **mapping.statuses}


def status_lines(document: Document) -> list[str]:
    """Return the lines of the section for the status; of one such as `Status: accepted` what its heading says."""
    for headed in document.sections[:MAX_HEADINGS]:
        if match := STATUS_HEADING.match(headed.title[:MAX_TITLE_CHARS]):
            return [match.group(1)]
    section = document.named(STATUS)
    if section is None:
        return []
    # A word in bold on a line of its own is read as a heading.
    lines = [line for part in document.within(section) for line in (part.title, *part.lines[:MAX_SCANNED_LINES])][1:]
    return [line for line in lines if line.strip() and not line.startswith("|")][:MAX_STATUS_LINES]


def metadata_fields(document: Document, mapping: ReadMapping = NO_MAPPING) -> dict[str, Node]:
    """Return the metadata lines before the second heading, the first of each field."""
    values: dict[str, Node] = {}
    headed = 0
    for section in document.sections[:3]:
        headed += bool(section.title)
        if headed > 1 and section.name not in METADATA:
            break
        lines = section.lines[:MAX_SCANNED_LINES]
        for index, line in enumerate(lines):
            found = row_of(line) or metadata_of(line, mapping.fields)
            if found and found[0] in LINE_FIELDS and found[1]:
                values.setdefault(found[0], found[1])
            for name, value in columns_of(lines, index).items() if line.lstrip().startswith("|") else ():
                if name in LINE_FIELDS and value:
                    values.setdefault(name, value)
    return values


def relations_of(section: Section | None) -> StatusText:
    """Return the references of lines such as `* Supersedes [ADR-0001](0001-x.md)`."""
    lines: Iterable[str] = section.lines[:MAX_SCANNED_LINES] if section else ()
    relations = [read_relations(line[:1_000]) for line in lines]
    return StatusText(
        None,
        tuple(one for relation in relations for one in relation.supersedes),
        tuple(one for relation in relations for one in relation.superseded_by),
    )
