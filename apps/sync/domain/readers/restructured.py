"""reStructuredText, as far as readers need it: sections, paragraphs, lists, and text without marks."""

import re
from collections.abc import Iterable, Iterator

from apps.sync.domain.readers.document import Block, BlockKind, Document, Section
from apps.sync.domain.readers.text import MAX_MARKED_CHARS, clean

ADORNMENT = frozenset("=-~^\"'`#*+:._<>")
ITEM = re.compile(r"(?:[-*+•]|\d{1,3}[.)]|#\.|\([0-9a-zA-Z]\))\s")
FIELD = re.compile(r":[A-Za-z][^:\n]{0,60}:(?:\s|$)")

LITERAL = re.compile(r"``([^`]{1,1000})``")
ROLE = re.compile(r":([a-z][a-z:+-]{0,30}):`([^`<>]{1,500}?)(?:\s{0,5}<[^`<>]{1,500}>)?`")
LINK = re.compile(r"`([^`<>]{1,500}?)\s{0,5}<[^`<>]{1,1000}>`_{1,2}")
NAMED = re.compile(r"`([^`]{1,500})`_{0,2}")
FOOTNOTE = re.compile(r"\s?\[(?:\d{1,4}|#[\w-]{0,50}|\*)\]_")
TARGET = re.compile(r"(?<!\w)([^\W_]\w{0,200}?)_{1,2}(?=[\s.,;:!?)]|$)")
# In pairs: `except*` stays, and so does what is escaped.
STRONG = re.compile(r"(?<![\w*\\])(\*{1,2})(?=[^\s*])([^*\\]{1,1000})(?<=\S)\1(?![\w*])")
ASIDE = re.compile("\ue000(\\d{1,4})\ue001")


def parse_restructured(text: str) -> Document:
    """Return a reStructuredText in sections."""
    lines = text.split("\n")
    sections = [Section(0, "")]
    styles: list[str] = []
    index = 0
    while index < len(lines):
        size, style = heading_at(lines, index)
        if not size:
            sections[-1].lines.append(lines[index])
            index += 1
            continue
        if style not in styles:
            styles.append(style)
        title = lines[index + size - 2].strip()[:MAX_MARKED_CHARS]
        sections.append(Section(styles.index(style) + 1, title))
        index += size
    return Document(sections, restructured_blocks, plain_restructured)


def heading_at(lines: list[str], index: int) -> tuple[int, str]:
    """Return how many lines the heading at a line has (0 for none), and how it is adorned."""
    first = lines[index]
    following = lines[index + 1 : index + 3]
    if not first.strip() or (index and lines[index - 1].strip()):
        return 0, ""
    if mark := adornment_of(first):
        is_title = len(following) == 2 and following[0].strip() and adornment_of(following[1]) == mark
        return (3, mark * 2) if is_title else (0, "")
    if first[0].isspace() or not following:
        return 0, ""
    mark = adornment_of(following[0])
    return (2, mark) if mark and len(following[0].rstrip()) >= min(4, len(first.rstrip())) else (0, "")


def adornment_of(line: str) -> str:
    """Return the character that a line repeats, as below headings."""
    bare = line.rstrip()
    return bare[0] if len(bare) > 1 and bare[0] in ADORNMENT and not bare.strip(bare[0]) else ""


def restructured_blocks(lines: Iterable[str]) -> Iterator[Block]:
    """Yield the blocks of a section; what is indented belongs to the block before it."""
    kind = BlockKind.TEXT
    block: list[str] = []
    was_blank = True
    for line in lines:
        if not line.strip():
            was_blank = True
            continue
        is_indented = line[0].isspace()
        if block and continues(kind, block, is_indented, was_blank, line):
            block.append(line)
        else:
            if block:
                yield Block(kind, tuple(block))
            kind, block = kind_of(line), [line]
        was_blank = False
    if block:
        yield Block(kind, tuple(block))


def continues(kind: BlockKind, block: list[str], is_indented: bool, was_blank: bool, line: str) -> bool:
    """Return whether a line belongs to the block before it."""
    if block[0][0].isspace() or kind is BlockKind.TEXT:
        return not was_blank and (is_indented or kind_of(line) is not BlockKind.OTHER)
    return is_indented or (not was_blank and kind is BlockKind.OTHER and kind_of(line) is BlockKind.OTHER)


def kind_of(line: str) -> BlockKind:
    """Return what a block that begins with a line is."""
    if ITEM.match(line):
        return BlockKind.ITEM
    if line[0].isspace():
        return BlockKind.QUOTE
    if line.startswith(("..", "+-", "|", "__ ", ">>>")) or FIELD.match(line) or not line.strip("=-~ \t"):
        return BlockKind.OTHER
    return BlockKind.TEXT


def plain_restructured(text: str) -> str:
    """Return a piece of reStructuredText as it is read; the role `pep` with its word."""
    text = text[:MAX_MARKED_CHARS].replace("\ue000", "").replace("\ue001", "")
    codes: list[str] = []

    def put_aside(match: re.Match[str]) -> str:
        codes.append(match.group(1).strip())
        return f"\ue000{len(codes) - 1}\ue001"

    text = LITERAL.sub(put_aside, text)
    text = ROLE.sub(role_text, FOOTNOTE.sub("", text))
    text = NAMED.sub(r"\1", LINK.sub(r"\1", text))
    text = TARGET.sub(r"\1", STRONG.sub(r"\2", text)).replace("\\ ", "").replace("\\", "")
    if text.rstrip().endswith("::"):
        text = text.rstrip()[:-1]
    text = ASIDE.sub(lambda match: codes[int(match.group(1))] if int(match.group(1)) < len(codes) else "", text)
    return clean(text, MAX_MARKED_CHARS)


def role_text(match: re.Match[str]) -> str:
    """Return the text of a role: `PEP 8` of a number with the role `pep`."""
    role, text = match.group(1), match.group(2).strip()
    if role in {"pep", "rfc"} and text.isdigit():
        return f"{role.upper()} {text}"
    return text.lstrip("~!").rsplit(".", 1)[-1] if text.startswith("~") else text.lstrip("!")
