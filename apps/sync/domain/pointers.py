"""What a pointer says of its item: short, the same each time, and nothing of the path (spec 003, pointer creation)."""

import unicodedata
from typing import Any
from uuid import UUID, uuid5

from apps.sync.domain.knowledge import ItemStatus, KnowledgeItem, Severity

MAX_TITLE_CHARS = 300
MAX_SUMMARY_CHARS = 500
MAX_CONSTRAINT_CHARS = 200
MAX_CONSTRAINTS = 3
MAX_SUCCESSORS = 3
MAX_NAME_CHARS = 100
MAX_SUCCESSORS_IN_METADATA = 20
MAX_KEYWORDS = 50
MAX_KEYWORD_CHARS = 100
# By status; what was accepted counts by its constraints instead.
IMPORTANCE = {
    ItemStatus.DRAFT: 0.4,
    ItemStatus.PROPOSED: 0.5,
    ItemStatus.DEPRECATED: 0.3,
    ItemStatus.SUPERSEDED: 0.2,
    ItemStatus.REJECTED: 0.2,
    ItemStatus.UNKNOWN: 0.4,
}
IMPORTANCE_BY_SEVERITY = {Severity.BLOCKING: 0.9, Severity.WARNING: 0.8, Severity.INFO: 0.7}
IMPORTANCE_WITHOUT_CONSTRAINTS = 0.7


def one_line(text: str, limit: int) -> str:
    """Return a text on one line and without control characters, cut at a word where it is longer than the limit."""
    printable = "".join(" " if unicodedata.category(one) in ("Cc", "Zl", "Zp", "Cs") else one for one in text)
    clean = " ".join(printable.split())
    if len(clean) <= limit:
        return clean
    cut = clean[: limit - 1]
    at_word = cut.rpartition(" ")[0]
    return (at_word if len(at_word) >= limit // 2 else cut).rstrip(" ,;:") + "…"


def pointer_content(item: KnowledgeItem, source_name: str) -> str:
    """Return the content of a pointer: title with status, summary, blocking constraints, and the item as reference.

    The title comes first and without its id, as questions name the matter; the words of the reference are found too.
    """
    lines = [f"{item.type.mark} {one_line(item.title, MAX_TITLE_CHARS)} ({status_words(item)})"]
    lines.append(one_line(item.summary, MAX_SUMMARY_CHARS))
    blocking = [one.text for one in item.constraints if one.severity is Severity.BLOCKING and one.text.strip()]
    lines += [f"Blocking: {one_line(text, MAX_CONSTRAINT_CHARS)}" for text in blocking[:MAX_CONSTRAINTS]]
    lines.append(f"Ref: {one_line(source_name, MAX_NAME_CHARS)}/{item.item_id}")
    return "\n".join(line for line in lines if line)


def status_words(item: KnowledgeItem) -> str:
    """Return the status with what took the item's place, such as `superseded by ADR-0123`."""
    if not item.superseded_by:
        return item.status.value
    shown = ", ".join(one_line(name, MAX_NAME_CHARS) for name in item.superseded_by[:MAX_SUCCESSORS])
    more = len(item.superseded_by) - MAX_SUCCESSORS
    by = f"superseded by {shown} and {more} more" if more > 0 else f"superseded by {shown}"
    return by if item.status is ItemStatus.SUPERSEDED else f"{item.status.value}, {by}"


def item_uuid(source: UUID, item_id: str) -> UUID:
    """Return the uuid of an item: the same for the same id in the same source, even after it was gone."""
    return uuid5(source, item_id)


def pointer_metadata(item: KnowledgeItem, source_name: str, uuid: UUID) -> dict[str, Any]:
    """Return the metadata of a pointer, which searches can filter by. uuid: of the item."""
    return {
        "source": source_name,
        "item": str(uuid),
        "item_id": item.item_id,
        "layer": item.layer.value,
        "status": item.status.value,
        "type": item.type.value,
        "hash": item.hash,
        "superseded_by": list(item.superseded_by[:MAX_SUCCESSORS_IN_METADATA]),
    }


def pointer_keywords(item: KnowledgeItem) -> tuple[str, ...]:
    """Return the words by which a pointer is found besides its content: the layer, and the tags in their order."""
    tags = (one_line(tag, MAX_KEYWORD_CHARS) for tag in item.tags)
    return tuple(dict.fromkeys((item.layer.value, *filter(None, tags))))[:MAX_KEYWORDS]


def pointer_importance(item: KnowledgeItem) -> float:
    """Return how important a pointer is, in [0, 1].

    What is in force comes first, and the more strictly its constraints hold the more: 0.9 with a blocking one, 0.8 with
    a warning, 0.7 otherwise. A proposal has 0.5, a draft 0.4, what is deprecated 0.3, superseded or rejected 0.2,
    and what has a status that is not known 0.4.
    """
    if item.status is not ItemStatus.ACCEPTED:
        return IMPORTANCE[item.status]
    severities = [IMPORTANCE_BY_SEVERITY[one.severity] for one in item.constraints]
    return max(severities, default=IMPORTANCE_WITHOUT_CONSTRAINTS)
