"""Taking an entry out of the text of a note, so that everything else stays as it is."""

import re
from collections.abc import Sequence

from apps.notes.domain.blocks import Kind, kinds
from apps.notes.domain.text import find_section, front_matter_end

# What ends an item although it is not indented and no blank line is before it: code, a quote, markup, a line across.
_ENDS = re.compile(rb" ?(?:`{3}|~{3}|>|<|([-*_])[ \t]*(?:\1[ \t]*){2,}\r?$)")


def find_items(text: bytes, item: bytes) -> list[tuple[int, int]]:
    """List where an item of a list is in a text, from its begin to behind its line end.

    item: its lines, separated by line feeds, as `add_entry` made them. Only where the whole item is exactly this one:
    not in a block of code or front matter, and not where something was added below it.
    """
    wanted = rb"\r?\n".join(re.escape(line) for line in item.split(b"\n"))
    places = {found.start(): found.end() for found in re.finditer(rb"(?m)^" + wanted + rb"(?:\r?\n|\Z)", text)}
    if not places:
        return []
    lines = text.split(b"\n")
    found = list(kinds(line.decode(errors="replace") for line in lines))
    length, offset, begin, exact = item.count(b"\n") + 1, 0, front_matter_end(text), []
    for number, line in enumerate(lines):
        is_item = offset in places and offset >= begin and found[number][0] is Kind.ITEM
        if is_item and not goes_on(lines, found, number + length):
            exact.append((offset, places[offset]))
        offset += len(line) + 1
    return exact


def goes_on(lines: Sequence[bytes], found: Sequence[tuple[Kind, int]], number: int) -> bool:
    """Return whether an item goes on at a line, the first one being 0: with what is indented, or a further sentence."""
    first = number
    while number < len(lines) and not lines[number].strip():
        number += 1
    if number == len(lines):
        return False
    if lines[number].startswith((b"  ", b"\t")):
        return True
    is_text = found[number][0] in {Kind.TEXT, Kind.INDENTED}
    return number == first and is_text and not _ENDS.match(lines[number])


def remove_item(text: bytes, item: bytes, category: str = "", *, keep: int = 0) -> bytes | None:
    """Return a text without an item of a list; None where it is not there, or not more often than `keep`.

    Of several equal ones that in the section of the category is taken out, there the last one: the hub adds at the end.
    """
    places = find_items(text, item)
    if len(places) <= keep:
        return None
    start, stop = find_section(text, category) or (0, len(text)) if category else (0, len(text))
    inside = [place for place in places if start <= place[0] < stop]
    first, end = (inside or places)[-1]
    return text[:first] + text[end:]
