"""What shows that the stored state of a source is damaged."""

import hashlib
import json
from collections.abc import Iterable
from datetime import UTC, datetime

from apps.sync.domain.state import StoredItem


def state_checksum(rows: Iterable[StoredItem], commit: str, last_sync_at: datetime | None) -> str:
    """Return the sha-256 in hex of items in any order, of the commit and of the time of the last sync."""
    at = last_sync_at.astimezone(UTC).isoformat() if last_sync_at else ""
    digest = hashlib.sha256(json.dumps([commit, at]).encode())
    for row in sorted(rows, key=lambda row: row.item_id):
        pointer = row.pointer.hex if row.pointer else ""
        digest.update(json.dumps([row.item_id, row.hash, row.status, row.layer, pointer]).encode())
    return digest.hexdigest()
