"""Taking an entry out of the text of a note, so that everything else stays as it is."""

import re

from apps.notes.domain.text import find_section


def remove_item(text: bytes, item: bytes, category: str = "") -> bytes | None:
    """Return a text without an item of a list; None where no line of it is exactly this item.

    item: its lines, separated by line feeds, as `add_entry` made them. Of several equal ones that in the section of the
    category is taken out, there the last one: the hub adds at the end.
    """
    lines = rb"\r?\n".join(re.escape(line) for line in item.split(b"\n"))
    places = [found.span() for found in re.finditer(rb"(?m)^" + lines + rb"(?:\r?\n|\Z)", text)]
    if not places:
        return None
    start, stop = find_section(text, category) or (0, len(text)) if category else (0, len(text))
    inside = [place for place in places if start <= place[0] < stop]
    first, end = (inside or places)[-1]
    return text[:first] + text[end:]
