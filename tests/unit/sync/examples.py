"""Files, items and pointers of the tests of sync."""

import hashlib
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid5

from apps.sync.domain.knowledge import Convention, ItemStatus, ItemType, KnowledgeItem, Layer, ParsedFile
from apps.sync.domain.state import SeenPointer, StoredItem

NOW = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)
SPACE = UUID("6f1e7f64-6d0f-4d5c-9d8e-3a1f1f0c7b21")
ACCEPTED, PROPOSED, DRAFT = ItemStatus.ACCEPTED, ItemStatus.PROPOSED, ItemStatus.DRAFT
DEPRECATED, SUPERSEDED, REJECTED = ItemStatus.DEPRECATED, ItemStatus.SUPERSEDED, ItemStatus.REJECTED


def make_file(item_id="ADR-0001", path="", text="text", **values):
    """Return a file as it was read; its path is made of its id by default."""
    fields = {
        "path": path or f"adr/{item_id}.md",
        "item_id": item_id,
        "type": ItemType.ADR,
        "title": f"Title of {item_id}",
        "summary": "What was decided.",
        "status": ACCEPTED,
        "layer": Layer.TEAM,
        "text_hash": hashlib.sha256(text.encode()).hexdigest(),
        "convention": Convention.DECISION_RECORD,
    }
    return ParsedFile(**{**fields, **values})


def make_item(item_id="ADR-0001", **values):
    """Return an item; its hash is made of its status and of `text`."""
    text = values.pop("text", "text")
    fields = {
        "item_id": item_id,
        "path": f"adr/{item_id}.md",
        "type": ItemType.ADR,
        "title": f"Title of {item_id}",
        "summary": "What was decided.",
        "status": ACCEPTED,
        "layer": Layer.TEAM,
    }
    fields.update(values)
    fields.setdefault("hash", hashlib.sha256(f"{text} {fields['status']}".encode()).hexdigest())
    return KnowledgeItem(**fields)


def items_of(*items):
    return {item.item_id: item for item in items}


def pointer_uuid(item, number=0):
    return uuid5(SPACE, f"{item.item_id} {number}")


def store(*items):
    """Return what a sync of these items left."""
    return {one.item_id: StoredItem(one.item_id, one.hash, one.status, one.layer, pointer_uuid(one)) for one in items}


def point(item, number=0, **values):
    """Return the pointer that was written from an item; the one with a higher number is newer."""
    made = NOW + timedelta(seconds=number)
    fields = {"hash": item.hash, "status": item.status.value, "layer": item.layer.value, **values}
    return SeenPointer(pointer_uuid(item, number), item.item_id, created_at=made, updated_at=made, **fields)
