"""Markdown, as far as readers need it: headings, paragraphs, lists, and text without marks. All in linear time."""

import html
import re
from collections.abc import Iterable, Iterator

from apps.sync.domain.readers.document import Block, BlockKind, Document, Section
from apps.sync.domain.readers.text import MAX_MARKED_CHARS, clean

FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+|$)")
KRAMDOWN_PART = re.compile(r"---[ \t]+([A-Za-z_]{1,30})")
# A line in bold that is used as a heading.
BOLD_LINE = re.compile(r"(\*\*|__)([^*_\s][^*_]{0,80})\1[ \t]{0,5}[:：]?[ \t]{0,5}")
BOLD_LEVEL = 7
ITEM = re.compile(r"(\s{0,40})(?:[-*+•]|\d{1,9}[.)])(?:\s|$)")
DEFINITION = re.compile(r" {0,3}\[[^\[\]]{1,300}\]:")
HTML_BLOCK = re.compile(
    r" {0,3}</?(?:address|article|aside|base|blockquote|body|br|center|details|div|dl|figure|form|h[1-6]|head|hr|html|"
    r"iframe|img|link|main|meta|nav|ol|p|picture|pre|script|section|style|summary|svg|table|td|th|tr|ul|video)\b"
    r"| {0,3}<[!?]",
    re.IGNORECASE,
)
DIRECTIVES = (":::", "!!!", "???", "{:", "{%", "{{", "[[", "[toc]", "import ", "export ", "$$")

CODE = re.compile(r"``((?:[^`]|`(?!`)){1,1000})``|`([^`]{1,1000})`")
IMAGE = re.compile(r"!\[[^\[\]]{0,500}\](?:\([^()]{0,1000}\)|\[[^\[\]]{0,100}\])")
LINK = re.compile(r"\[([^\[\]]{0,1000})\](?:\([^()]{0,1000}(?:\([^()]{0,300}\)[^()]{0,300})?\)|\[[^\[\]]{0,100}\])")
FOOTNOTE = re.compile(r"\[\^[^\[\]]{1,100}\]")
AUTOLINK = re.compile(r"<((?:https?|mailto):[^<>\s]{1,1000})>")
TAG = re.compile(r"</?[A-Za-z][^<>]{0,1000}>")
# In pairs, from the inside: `__init__`, `snake_case`, `2 * 3` and `except*` stay.
STAR = re.compile(r"(?<![A-Za-z0-9\\])(\*{1,2})(?=[^\s*])([^*]{1,1000})(?<=[^\s\\])\1(?![A-Za-z0-9])")
UNDERLINE = re.compile(r"(?<![\w\\])_(?=[^\s_])([^_]{1,1000}(?:_[^\W_][^_]{0,300}){0,5})(?<=[^\s\\])_(?!\w)")
BOLD = re.compile(r"(?<!\w)__(?=[^\s_])([^_]{1,1000})(?<=\S)__(?!\w)")
STRUCK = re.compile(r"~~([^~]{1,1000})~~")
ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
# Code is put aside while marks are taken out.
ASIDE = re.compile("\ue000(\\d{1,4})\ue001")


def parse_markdown(text: str) -> Document:
    """Return a Markdown text in sections, without code blocks and comments."""
    sections = [Section(0, "")]
    for line in visible_lines(text.split("\n")):
        current = sections[-1]
        if match := HEADING.match(line):
            title = line[match.end() :][:MAX_MARKED_CHARS].rstrip()
            bare = title.rstrip("#")  # number signs may close it
            title = bare.rstrip() if not bare or bare[-1].isspace() else title
            sections.append(Section(len(match.group(1)), title))
        elif match := KRAMDOWN_PART.match(line):
            sections.append(Section(1, match.group(1)))
        elif (match := BOLD_LINE.fullmatch(line)) and not (current.lines and current.lines[-1].strip()):
            sections.append(Section(BOLD_LEVEL, match.group(2)))
        elif level := underline_level(line, current.lines):
            sections.append(Section(level, current.lines.pop().strip()[:MAX_MARKED_CHARS]))
        else:
            current.lines.append(line)
    return Document(sections, markdown_blocks, plain_markdown)


def visible_lines(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines; empty ones instead of code blocks and comments."""
    fence = ""
    is_comment = False
    for line in lines:
        bare = line.strip()
        if fence:
            if bare.startswith(fence) and not bare.strip(fence[0]):
                fence = ""
            yield ""
        elif is_comment:
            is_comment = "-->" not in line
            yield "" if is_comment else line.split("-->", 1)[1]
        elif (match := FENCE.match(line)) and not (match.group(1)[0] == "`" and "`" in line[match.end() :]):
            fence = match.group(1)
            yield ""
        elif bare.startswith("<!--") and "-->" not in line:
            is_comment = True
            yield ""
        else:
            yield without_comments(line)


def without_comments(line: str) -> str:
    """Return a line without the comments that end on it."""
    kept: list[str] = []
    while "<!--" in line:
        before, after = line.split("<!--", 1)
        if "-->" not in after or len(kept) > 20:
            break
        kept.append(before)
        line = after.split("-->", 1)[1]
    return "".join([*kept, line])


def underline_level(line: str, before: list[str]) -> int:
    """Return the level of the heading that a line of `===` or `---` makes of the single line "
    "before it; 0 for none."""
    bare = line.strip()
    if not bare or bare[0] not in "=-" or len(bare) < 2 or bare.strip(bare[0]):
        return 0
    if not before or not before[-1].strip() or (len(before) > 1 and before[-2].strip()):
        return 0
    title = before[-1].lstrip()
    if ITEM.match(title) or title.startswith(("|", ">", "<", "[", "---")):
        return 0
    return 1 if bare[0] == "=" else 2


def markdown_blocks(lines: Iterable[str]) -> Iterator[Block]:
    """Yield the blocks of a section."""
    kind = BlockKind.TEXT
    block: list[str] = []
    was_blank = False
    for line in lines:
        if not line.strip():
            was_blank = True
            continue
        is_same = continues(kind, block, line, was_blank)
        was_blank = False
        if block and not is_same:
            yield Block(kind, tuple(block))
            block = []
        if not block:
            kind = kind_of(line)
        block.append(line)
    if block:
        yield Block(kind, tuple(block))


def continues(kind: BlockKind, block: list[str], line: str, was_blank: bool) -> bool:
    """Return whether a line belongs to the block before it."""
    if not block:
        return False
    if kind is BlockKind.ITEM:
        match = ITEM.match(line)
        if match:
            return len(match.group(1)) >= len(block[0]) - len(block[0].lstrip()) + 2
        return line.startswith((" ", "\t")) or (not was_blank and kind_of(line) is BlockKind.TEXT)
    if was_blank:
        return False
    following = kind_of(line)
    if kind is BlockKind.OTHER:
        return following is not BlockKind.ITEM and not DEFINITION.match(block[0]) and not line.startswith("#")
    return (
        following is kind
        or (kind is BlockKind.QUOTE and following is BlockKind.TEXT)
        or (kind is BlockKind.TEXT and line.startswith(("    ", "\t")) and not ITEM.match(line))
    )


def kind_of(line: str) -> BlockKind:
    """Return what a block that begins with a line is."""
    bare = line.strip()
    if ITEM.match(line) and not is_break(bare):
        return BlockKind.ITEM
    if bare.startswith(">"):
        return BlockKind.QUOTE
    if line.startswith(("    ", "\t")) or bare.startswith("|") or bare.casefold().startswith(DIRECTIVES):
        return BlockKind.OTHER
    if is_break(bare) or HTML_BLOCK.match(line) or DEFINITION.match(line) or ("|" in bare and not bare.strip("|:- \t")):
        return BlockKind.OTHER
    return BlockKind.TEXT


def is_break(bare: str) -> bool:
    """Return whether a line is a thematic break."""
    return bare[0] in "-*_=" and len(bare) > 2 and not bare.strip(bare[0] + " \t")


def plain_markdown(text: str) -> str:
    """Return a piece of Markdown as it is read: links as their text, without emphasis, code marks and tags."""
    text = text[:MAX_MARKED_CHARS].replace("\ue000", "").replace("\ue001", "")
    codes: list[str] = []

    def put_aside(match: re.Match[str]) -> str:
        codes.append((match.group(1) or match.group(2)).strip())
        return f"\ue000{len(codes) - 1}\ue001"

    text = CODE.sub(put_aside, text)
    text = FOOTNOTE.sub("", IMAGE.sub("", text))
    text = LINK.sub(r"\1", LINK.sub(r"\1", text))
    text = TAG.sub("", AUTOLINK.sub(r"\1", text))
    for _ in range(3):
        text = STAR.sub(r"\2", text)
    text = BOLD.sub(lambda match: match.group(1) if " " in match.group(1) else match.group(), text)
    text = ESCAPE.sub(r"\1", STRUCK.sub(r"\1", UNDERLINE.sub(r"\1", text)))
    text = ASIDE.sub(lambda match: codes[int(match.group(1))] if int(match.group(1)) < len(codes) else "", text)
    return clean(html.unescape(text), MAX_MARKED_CHARS)
