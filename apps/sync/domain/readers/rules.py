"""Constraints: rules in front matter, and lists below a heading `Constraints`."""

import re

from apps.sync.domain.knowledge import Constraint, Severity
from apps.sync.domain.readers.document import Block, BlockKind, Document
from apps.sync.domain.readers.front_matter import Node
from apps.sync.domain.readers.text import MAX_CONSTRAINT_CHARS, MAX_CONSTRAINTS, clean, fold, word_set

SECTIONS = word_set("constraints constraint rules 約束 约束 約束條件 约束条件 限制 限制條件 限制条件 規則 规则")
TEXT_KEYS = ("text", "description", "rule", "constraint", "statement", "requirement", "name")
SEVERITY_KEYS = ("severity", "level", "enforcement", "priority")
SEVERITIES = {
    **dict.fromkeys(
        word_set(
            "blocking blocker block error critical fatal high must mustnot shall required mandatory "
            "never 阻擋 阻断 必須 必须 嚴重 严重"
        ),
        Severity.BLOCKING,
    ),
    **dict.fromkeys(
        word_set("warning warn medium moderate should shouldnot recommended advisory 警告 建議 建议 應 应"),
        Severity.WARNING,
    ),
    **dict.fromkeys(
        word_set("info information informational low may optional note hint 資訊 信息 提示 可選 可选"), Severity.INFO
    ),
}
BLOCKING = re.compile(
    r"\b(?:must|shall|required|mandatory|never|forbidden|prohibited|may not|cannot|not allowed)\b"
    r"|必須|必须|不得|禁止|嚴禁|严禁|不可|不允許|不允许|務必|务必",
    re.IGNORECASE,
)
WARNING = re.compile(
    r"\b(?:should|recommended|ought to|avoid|prefer)\b|應該|应该|應當|应当|建議|建议|避免", re.IGNORECASE
)
INFO = re.compile(r"\b(?:MAY|OPTIONAL|Optional)\b|可以|可選|可选")
# `[blocking] Use TLS`, `**Warning:** Use TLS`
MARKED = re.compile(r"[\[(]?([^\W\d_]{2,15}(?: not)?)(?:[\])]:?|[:：])\s{0,5}(?=\S)", re.IGNORECASE)
BULLET = re.compile(r"\s{0,40}(?:[-*+•]|\d{1,9}[.)]|#\.|\([0-9a-zA-Z]\))\s+(?:\[[ xX]\]\s+)?")


def severity_of(word: str) -> Severity | None:
    """Return the severity that a word names, or None."""
    return SEVERITIES.get(fold(word))


def make_constraint(text: str, severity: Severity | None, default: Severity | None) -> Constraint | None:
    """Return a constraint. Its severity: what is named, else by its words, else the one of the "
    "item, else blocking."""
    text = clean(text, MAX_CONSTRAINT_CHARS)
    if severity is None and (match := MARKED.match(text)) and (named := severity_of(match.group(1))):
        severity = named
        if fold(match.group(1)) not in {"must", "mustnot", "should", "shouldnot", "never", "may", "shall"}:
            text = text[match.end() :]
    if not text:
        return None
    return Constraint(text, severity or by_words(text) or default or Severity.BLOCKING)


def by_words(text: str) -> Severity | None:
    """Return the severity that words such as MUST and SHOULD stand for, the strictest first."""
    if BLOCKING.search(text):
        return Severity.BLOCKING
    if WARNING.search(text):
        return Severity.WARNING
    return Severity.INFO if INFO.search(text) else None


def constraints_of_node(node: Node, default: Severity | None) -> tuple[Constraint, ...]:
    """Return the constraints of front matter: a text, or a list of texts and mappings."""
    if isinstance(node, dict) and not any(fold(key) in TEXT_KEYS for key in node):
        nodes: list[Node] = [{key: value} for key, value in node.items()]
    else:
        nodes = node if isinstance(node, list) else [node]
    found = [constraint_of_node(one, default) for one in nodes[:MAX_CONSTRAINTS]]
    return tuple(one for one in found if one is not None)


def constraint_of_node(node: Node, default: Severity | None) -> Constraint | None:
    """Return one constraint of front matter, or None for an empty one."""
    if isinstance(node, str):
        return make_constraint(node, None, default)
    if isinstance(node, list):
        return make_constraint(" ".join(one for one in node if isinstance(one, str)), None, default)
    values = {fold(key): value for key, value in node.items() if isinstance(value, str)}
    text = next((values[key] for key in TEXT_KEYS if values.get(key)), "")
    severity = next((severity_of(values[key]) for key in SEVERITY_KEYS if values.get(key)), None)
    if not text:
        # `- MUST: use TLS` is a mapping in YAML.
        text = "; ".join(f"{key}: {value}" for key, value in node.items() if isinstance(value, str))
    return make_constraint(text, severity, default)


def constraints_of_document(document: Document, default: Severity | None) -> tuple[Constraint, ...]:
    """Return the items of the lists below a heading `Constraints`."""
    section = document.named(SECTIONS)
    if section is None:
        return ()
    found: list[Constraint] = []
    for part in document.within(section):
        for block in document.blocks(part.lines):
            if len(found) == MAX_CONSTRAINTS:
                return tuple(found)
            if block.kind is BlockKind.ITEM:
                one = make_constraint(document.plain(item_text(block)), None, default)
                found += [one] if one else []
    return tuple(found)


def item_text(block: Block) -> str:
    """Return the text of an item of a list, with the items below it, without bullets."""
    return " ".join(
        BULLET.sub("", line, count=1).strip() if BULLET.match(line) else line.strip() for line in block.lines
    )
