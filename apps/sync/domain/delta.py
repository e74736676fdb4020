"""Which items changed since the last sync, by their hashes (spec 003, delta detection)."""

from collections.abc import Mapping

from apps.sync.domain.knowledge import KnowledgeItem
from apps.sync.domain.state import Delta, StoredItem


def detect_delta(stored: Mapping[str, StoredItem], items: Mapping[str, KnowledgeItem]) -> Delta:
    """Return what is new, changed, gone and as it was, in one pass over each side."""
    added, updated, unchanged = [], [], []
    for item_id, item in items.items():
        before = stored.get(item_id)
        if before is None:
            added.append(item_id)
        elif before.hash == item.hash:
            unchanged.append(item_id)
        else:
            updated.append(item_id)
    deleted = stored.keys() - items.keys()
    return Delta(*(tuple(sorted(ids)) for ids in (added, updated, deleted, unchanged)))
