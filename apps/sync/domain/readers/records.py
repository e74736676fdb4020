"""Decision records: MADR of every version, Nygard's, log4brains', and whatever is near them."""

from collections.abc import Iterable

from apps.sync.domain.readers.document import Document, Section
from apps.sync.domain.readers.fields import found_in_fields
from apps.sync.domain.readers.found import Found
from apps.sync.domain.readers.front_matter import Node
from apps.sync.domain.readers.metadata import metadata_of, row_of
from apps.sync.domain.readers.refusals import Refusal, UnreadableError
from apps.sync.domain.readers.statuses import StatusText, read_relations
from apps.sync.domain.readers.text import word_set

STATUS = word_set("status state adrstatus decisionstatus 狀態 状态")
DECISION = word_set("decision decisionoutcome decisions 決策 决策 決定 决定 決策結果 决策结果")
CONTEXT = word_set("context contextandproblemstatement 背景 脈絡 上下文 背景與問題 背景与问题")
LINKS = word_set("links related relateddecisions moreinformation relations 相關 相关 相關決策 相关决策 連結 链接")
# Fields that a metadata line may set. The others are too easily prose.
LINE_FIELDS = frozenset({"id", "status", "type", "layer", "tags", "supersedes", "superseded_by", "title", "severity"})
MAX_SCANNED_LINES = 200
MAX_STATUS_LINES = 40


def is_record(document: Document) -> bool:
    """Return whether a text has the sections of a decision record."""
    has_status = document.named(STATUS) is not None or "status" in metadata_fields(document)
    has_decision = document.named(DECISION) is not None
    return has_decision and (has_status or document.named(CONTEXT) is not None)


def read_record(document: Document) -> Found:
    """Return what metadata lines and the sections for status and links say. Raises UnreadableError."""
    values = metadata_fields(document)
    section = document.named(STATUS)
    if section is not None and "status" not in values:
        lines = [line for line in section.lines[:MAX_SCANNED_LINES] if line.strip() and not line.startswith("|")]
        values["status"] = [*lines[:MAX_STATUS_LINES]]
    found = found_in_fields({**values, "title": ""})
    title = values.get("title", "")
    links = relations_of(document.named(LINKS))
    return Found(
        item_id=found.item_id,
        type=found.type,
        title=document.plain(title) if isinstance(title, str) else "",
        status=found.status,
        layer=found.layer,
        tags=found.tags,
        supersedes=found.supersedes or links.supersedes,
        superseded_by=found.superseded_by or links.superseded_by,
    )


def metadata_fields(document: Document) -> dict[str, Node]:
    """Return the metadata lines before the second heading, the first of each field."""
    values: dict[str, Node] = {}
    headed = 0
    for section in document.sections[:3]:
        headed += bool(section.title)
        if headed > 1 and section.name != "metadata":
            break
        for line in section.lines[:MAX_SCANNED_LINES]:
            found = row_of(line) or metadata_of(line)
            if found and found[0] in LINE_FIELDS and found[1]:
                values.setdefault(found[0], found[1])
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


def refuse_choice(text: str) -> None:
    """Raise UnreadableError for a title that a template leaves to be filled in."""
    bare = text.strip()
    if bare.startswith(("{", "[", "<")) and bare.endswith(("}", "]", ">")):
        raise UnreadableError(Refusal.TEMPLATE, "The title is a place to be filled in, as in a template.")
