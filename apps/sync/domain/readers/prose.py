"""Title and summary from the text itself."""

import re
from collections.abc import Iterator

from apps.sync.domain.readers.document import Block, BlockKind, Document, Section
from apps.sync.domain.readers.fields import metadata_of
from apps.sync.domain.readers.rules import item_text
from apps.sync.domain.readers.text import (
    MAX_MARKED_CHARS,
    MAX_TITLE_CHARS,
    SUMMARY_CHARS,
    clean,
    cut_at_sentence,
    word_set,
)

SUMMARIES = word_set("summary abstract tl;dr tldr executivesummary 摘要 概要 總結 总结")
CONTEXTS = word_set(
    "contextandproblemstatement context problem problemstatement contextandproblem background motivation "
    "背景 背景與問題 背景与问题 上下文 脈絡 問題陳述 问题陈述"
)
# Headings that are no title.
GENERIC = (
    SUMMARIES
    | CONTEXTS
    | word_set(
        "status introduction overview decision decisions consequences metadata date rationale "
        "content contents 狀態 状态 決策 决策"
    )
)
# Sections without prose of the item.
ASIDE = word_set(
    "status date deciders metadata tableofcontents contents toc changelog history revisionhistory links references "
    "moreinformation acknowledgements copyright license authors author 狀態 状态 目錄 目录 參考 参考 修訂紀錄 "
    "修订记录"
)
NUMBERED = re.compile(
    r"\[?(?:([A-Za-z]{2,10})[-_ #]{0,3})?(\d{1,6})\s{0,5}(?:[\].:：)]{1,2}\s|[-–—|]\s|\s[-–—|]\s)\s{0,5}"
)
MAX_ITEMS = 20
LETTERS = re.compile(r"[^\W\d_]")


def title_of(document: Document) -> tuple[str, str, str]:
    """Return title, kind and number of a first heading such as `ADR 12: Use Postgres`; empty where there is none."""
    headings = [section for section in document.sections[:50] if section.title.strip()]
    if not headings or headings[0].name in GENERIC:
        return "", "", ""
    return split_title(clean(document.plain(headings[0].title), MAX_TITLE_CHARS))


def split_title(title: str) -> tuple[str, str, str]:
    """Return title, kind and number of a title such as `ADR 12: Use Postgres`."""
    match = NUMBERED.match(title)
    if match and match.end() < len(title):
        return title[match.end() :], (match.group(1) or "").upper(), match.group(2)
    return title, "", ""


def summary_of(document: Document, prefers_context: bool) -> str:
    """Return the first paragraph of a summary, else of the context of a decision, else of the text."""
    preferred = [SUMMARIES, CONTEXTS] if prefers_context else [SUMMARIES]
    for names in preferred:
        section = document.named(names)
        text = first_text(document, document.within(section)) if section else ""
        if text:
            return text
    rest = [section for section in document.sections if section.name not in ASIDE]
    return first_text(document, iter(rest)) or first_text(document, iter(document.sections))


def first_text(document: Document, sections: Iterator[Section]) -> str:
    """Return the first paragraph of prose, with the list that it announces; without any the first list or quotation."""
    fallback = ""
    for section in sections:
        if not section.lines:
            continue
        opening, listed = first_of_section(document, section)
        if opening:
            return cut_at_sentence(f"{opening} {listed}", SUMMARY_CHARS)
        fallback = fallback or listed
    return cut_at_sentence(fallback, SUMMARY_CHARS)


def first_of_section(document: Document, section: Section) -> tuple[str, str]:
    """Return the first paragraph of a section, and the list that it announces; without one the lists and quotations."""
    opening = ""
    items: list[str] = []
    for block in document.blocks(section.lines):
        if block.kind is BlockKind.ITEM or (block.kind is BlockKind.QUOTE and not opening):
            if len(items) < MAX_ITEMS:
                items.append(other_prose(document, block))
        elif opening:
            break
        elif block.kind is BlockKind.TEXT and (opening := prose_of(document, block)):
            items = []
            if not opening.endswith((":", "：")):
                break
    items = [item for item in items if item]
    return opening, items[0] if len(items) == 1 else "; ".join(item.rstrip(" .;。；") for item in items)


def prose_of(document: Document, block: Block) -> str:
    """Return the text of a paragraph without metadata; empty if nothing is left but images and signs."""
    lines = []
    size = 0
    for line in block.lines:
        if size < MAX_MARKED_CHARS and metadata_of(line) is None:
            lines.append(line.strip())
            size += len(line)
    text = document.plain(" ".join(lines))
    return text if LETTERS.search(text) else ""


def other_prose(document: Document, block: Block) -> str:
    """Return the text of an item of a list or of a quotation, unless it is metadata."""
    if metadata_of(block.lines[0]) is not None:
        return ""
    lines = tuple(line.lstrip().lstrip(">") for line in block.lines[:50])
    text = document.plain(item_text(Block(block.kind, lines)))
    return text if LETTERS.search(text) else ""
