"""Header lines that do not stand open at the beginning: in a fence or `<pre>`, below the title, or in two columns."""

import re
from collections.abc import Sequence
from textwrap import dedent

from apps.sync.domain.readers.text import MAX_HEADER_LINES

FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})[ \t]*([\w-]{0,20})[^`]{0,100}$")
PRE = re.compile(r"[ \t]{0,3}<pre\b[^<>]{0,200}>(?:<code>)?(.{0,300})$", re.IGNORECASE)
PRE_END = re.compile(r"(?:</code>)?</pre>", re.IGNORECASE)
YAML = frozenset({"yaml", "yml"})
TITLE = re.compile(r"(?:#{1,2}|={1,2})[ \t]+\S")
REQUEST = re.compile(r"Request for Comments:[ \t]{1,5}(\d{1,6})\b", re.IGNORECASE)
COLUMN = re.compile(r"[ \t]{3,}")


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
