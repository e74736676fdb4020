"""What shows that the stored state of a source is damaged."""

import hashlib
import json
from collections.abc import Iterable
from datetime import UTC, datetime

from apps.sync.domain.state import StoredItem


def items_digest(rows: Iterable[StoredItem]) -> str:
    """Return the sha-256 in hex of items in any order."""
    values = sorted((row.item_id, row.hash, row.status, row.layer, str(row.pointer)) for row in rows)
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()


def state_checksum(rows: Iterable[StoredItem], commit: str, last_sync_at: datetime | None) -> str:
    """Return the sha-256 in hex of items in any order, of the commit and of the time of the last sync."""
    return digest_checksum(items_digest(rows), commit, last_sync_at)


def digest_checksum(items: str, commit: str, last_sync_at: datetime | None) -> str:
    """Return what `state_checksum` returns, of a digest of the items."""
    at = last_sync_at.astimezone(UTC).isoformat() if last_sync_at else ""
    return hashlib.sha256(json.dumps([items, commit, at]).encode()).hexdigest()
