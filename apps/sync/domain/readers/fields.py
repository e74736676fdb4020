"""The fields of front matter and of metadata lines such as `* Status: accepted`, in whatever way they are named."""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from apps.sync.domain.knowledge import ItemStatus
from apps.sync.domain.readers.found import FileValues, Refusal, UnreadableError
from apps.sync.domain.readers.front_matter import FIRST_LINE, Node, invalid
from apps.sync.domain.readers.places import LAYER_BY_WORD, TYPE_BY_WORD
from apps.sync.domain.readers.references import split_references
from apps.sync.domain.readers.rules import constraints_of_node, severity_of
from apps.sync.domain.readers.statuses import NO_OWN, read_status
from apps.sync.domain.readers.text import (
    MAX_CONSTRAINT_CHARS,
    MAX_ID_CHARS,
    MAX_MARKED_CHARS,
    MAX_REFERENCES,
    MAX_STATUS_CHARS,
    MAX_TAG_CHARS,
    MAX_TAGS,
    MAX_TITLE_CHARS,
    WRITTEN_SUMMARY_CHARS,
    clean,
    cut_at_sentence,
    fold,
    word_set,
)

MAX_NUMBER_CHARS = 6
YES = frozenset({"true", "yes", "on"})
STATUS_KEYS = frozenset({"name", "status", "state", "value", "current", "title"})
NAMES = {
    "id": "id identifier uid docname",
    "title": "title name 標題 标题 名稱 名称 featurename",
    "summary": "summary description abstract excerpt tldr synopsis 摘要 概要 說明 说明",
    "number": "number adr rfc pep rfd kep kepnumber rfcnumber adrnumber bip eip",
    "status": (
        "status state adrstatus decisionstatus rfcstatus currentstatus documentstatus proposalstatus recordstatus "
        "disposition stage lifecycle lifecyclestage phase maturity 狀態 状态"
    ),
    "type": "type kind doctype 類型 类型",
    "layer": "layer level scope 層級 层级",
    "severity": "severity enforcement 嚴重性 严重性",
    "constraints": "constraints constraint rules 約束 约束 規則 规则",
    "tags": "tags tag keywords labels topics topic categories 標籤 标签 關鍵字 关键字",
    "supersedes": "supersedes supercedes replaces obsoletes 取代",
    "superseded_by": "supersededby supercededby replacedby obsoletedby deprecatedby "
    "proposedreplacement successor 被取代 取代者",
}
NO_FIELDS: Mapping[str, str] = MappingProxyType({})
# Marks of front matter that say what a status would.
FLAGS = {name: name for name in ("draft", "deprecated", "archived", "obsolete", "retired", "superseded", "rejected")}
FIELD_BY_NAME = {name: field for field, names in NAMES.items() for name in names.split()}
LINE = re.compile(
    r"\s{0,10}(?:[-*+>]\s{1,5})?(?:\*\*|__|\*|_)?([^\W\d_][\w /&-]{0,40})"
    r"(?:\*\*|__|\*|_)?\s{0,5}[:：](?:\*\*|__|\*|_)?\s{0,10}"
)
# `:Status: accepted`, and no role such as :pep:`8`.
FIELD = re.compile(r":([^\W\d_][\w -]{0,40}):(?:\s{1,10}|$)")
ROW = re.compile(r"\s{0,10}\|\s{0,20}(?:\*\*|__)?([^|*_]{1,40})(?:\*\*|__)?\s{0,20}\|([^|]{0,2000})\|")
# What else is written beside a status. It is no prose, and is not read.
OTHERS = word_set(
    "date dates decider deciders decisionmaker decisionmakers decidedby author authors owner owners "
    "consulted informed "
    "technicalstory story ticket issue issues pr prs reviewer reviewers approver approvers "
    "approvedby updated created "
    "lastupdated lastmodified lastreviewed version discussion discussionsto startdate rfcpr rustissue related "
    "relatedto stakeholders impact driver approver contributors outcome duedate epic jira effectivedate decisiondate "
    "trackingissue implementationissue champion champions number adr rfc amends amendedby dependson "
    "requires supersede "
    "日期 作者 決策者 决策者 負責人 负责人 版本 更新 建立 相關 相关 審核者 审核者 修訂 修订"
)


def known_fields(values: Mapping[str, Node], own: Mapping[str, str] = NO_FIELDS) -> dict[str, Node]:
    """Return the values of front matter by our names. Raises UnreadableError where one is there twice.

    own: which of our names folded names mean here, before the others.
    """
    found: dict[str, Node] = {own[fold(key)]: value for key, value in values.items() if value and fold(key) in own}
    names: dict[str, str] = {}
    taken = frozenset(found)
    for key, value in values.items():
        name = fold(key)
        field = FIELD_BY_NAME.get(name)
        if field is None or field in taken or name in own or value in ("", [], {}):
            continue
        if names.get(field) == name:
            raise invalid(FIRST_LINE, f"the field `{field}` appears twice, spelled differently")
        # The order of the table decides between names of one field.
        order = NAMES[field].split().index
        if field not in names or order(name) < order(names[field]):
            found[field], names[field] = value, name
    if "status" not in found:
        said = [fold(key) for key, one in values.items() if isinstance(one, str) and one.casefold() in YES]
        flags = [FLAGS[key] for key in said if key in FLAGS]
        if flags:
            found["status"] = flags[0]
    return found


def found_in_fields(values: Mapping[str, Node], own: Mapping[str, ItemStatus] = NO_OWN) -> FileValues:
    """Return what fields say. own: what words of a status mean here.

    Raises UnreadableError for an id that cannot be used, and for a template.
    """
    said = values.get("status", "")
    if isinstance(said, dict):  # of a mapping such as `{name: accepted, date: 2026-01-31}` its name
        said = next((one for key, one in said.items() if fold(key) in STATUS_KEYS and one), said)
    status = read_status(one_text(said, "\n"), own)
    severity = severity_of(one_text(values.get("severity", "")))
    number = one_text(values.get("number", "")).lstrip("#")
    node = values.get("tags", "")
    texts = texts_of(node)
    if isinstance(node, str):
        texts = node[:MAX_STATUS_CHARS].replace(" #", ",").replace("、", ",").replace("，", ",").split(",")
    tags = dict.fromkeys(clean(text.strip().lstrip("#"), MAX_TAG_CHARS) for text in texts)
    return FileValues(
        item_id=usable_id(one_text(values.get("id", ""))),
        number=number if number.isascii() and number.isdigit() and len(number) <= MAX_NUMBER_CHARS else "",
        type=TYPE_BY_WORD.get(fold(one_text(values.get("type", "")))),
        title=clean(one_text(values.get("title", "")), MAX_TITLE_CHARS),
        summary=cut_at_sentence(one_text(values.get("summary", ""))[:MAX_MARKED_CHARS], WRITTEN_SUMMARY_CHARS),
        status=status.status,
        layer=LAYER_BY_WORD.get(fold(one_text(values.get("layer", "")))),
        constraints=constraints_of_node(values.get("constraints", []), severity),
        tags=tuple([tag for tag in tags if tag][:MAX_TAGS]),
        supersedes=(*references_of(values.get("supersedes", "")), *status.supersedes)[:MAX_REFERENCES],
        superseded_by=(*references_of(values.get("superseded_by", "")), *status.superseded_by)[:MAX_REFERENCES],
    )


def usable_id(text: str) -> str:
    """Return an id on one line, without control characters. Raises UnreadableError where it is too long."""
    bare = clean(text, MAX_CONSTRAINT_CHARS)
    if len(bare) > MAX_ID_CHARS:
        raise UnreadableError(Refusal.ID_UNUSABLE, f"The id has more than {MAX_ID_CHARS} characters.")
    if text and (not bare or "{" in bare or bare.startswith("<")):
        raise UnreadableError(Refusal.TEMPLATE, "The id is a placeholder, as in a template.")
    return bare


def one_text(node: Node, separator: str = ", ") -> str:
    """Return a value as one text: the texts of a list, or the keys of a mapping such as `{proposed | accepted}`."""
    if isinstance(node, str):
        return node[:MAX_MARKED_CHARS]
    return separator.join(one for one in node if isinstance(one, str))[:MAX_MARKED_CHARS]


def texts_of(node: Node) -> list[str]:
    """Return a value as a list of texts; mappings in lists as `key: value`."""
    if isinstance(node, str):
        return [node]
    if isinstance(node, dict):
        return [f"{key}: {value}" if isinstance(value, str) and value else key for key, value in node.items()]
    return [text for one in node for text in ([one] if isinstance(one, str) else texts_of(one))]


def references_of(node: Node) -> list[str]:
    """Return the references of a value; mappings are read by their `id` or `path`."""
    if isinstance(node, dict):
        node = next((node[key] for key in ("id", "path", "ref", "link") if key in node), [])
    if isinstance(node, str):
        return split_references(node)
    if isinstance(node, dict):
        return []
    return [
        one for part in node[:MAX_REFERENCES] for one in (references_of(part) if not isinstance(part, list) else [])
    ]


def metadata_of(line: str, own: Mapping[str, str] = NO_FIELDS) -> tuple[str, str] | None:
    """Return field (empty for one that is not read) and value of a metadata line, or None for another line.

    own: which of our names folded names mean in the source.
    """
    match = (FIELD if line.startswith(":") else LINE).match(line[:3_000])
    if not match:
        return None
    name = fold(match.group(1))
    field = own.get(name) or FIELD_BY_NAME.get(name)
    if field:
        return field, line[match.end() :].strip().rstrip("\\")
    return ("", "") if name in OTHERS else None


def cells_of(line: str) -> list[str]:
    """Return the cells of a row of a table, without emphasis; none of another line."""
    bare = line[:3_000].strip()
    return [cell.strip(" \t*_") for cell in bare.strip("|").split("|")] if bare.startswith("|") else []


def columns_of(lines: Sequence[str], index: int) -> dict[str, str]:
    """Return the fields of a table whose head is at a line, such as `| Created | Status |`, of its first row."""
    head, rule, row = (cells_of(line) for line in [*lines[index : index + 3], "", "", ""][:3])
    if len(head) < 2 or len(head) != len(row) or not rule or any(cell.strip("-: ") for cell in rule):
        return {}
    return {field: value for name, value in zip(head, row, strict=True) if (field := FIELD_BY_NAME.get(fold(name)))}


def row_of(line: str) -> tuple[str, str] | None:
    """Return field and value of a row of a table with two columns, or None."""
    match = ROW.match(line[:3_000])
    if not match:
        return None
    field = FIELD_BY_NAME.get(fold(match.group(1)))
    return (field, match.group(2).strip()) if field else None
