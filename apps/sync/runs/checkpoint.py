"""Checkpoints: the state of a source before a run (spec 003, checkpoint and rollback)."""

import hashlib
import json
import zlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef

from apps.core.domain.clock import Clock, utcnow
from apps.sync.domain.errors import StateCorruptedError
from apps.sync.domain.knowledge import ItemStatus, Layer
from apps.sync.domain.state import StoredItem
from apps.sync.models import KnowledgeSource, SyncChange, SyncCheckpoint, SyncRun
from apps.sync.runs.stored import Stored

KEPT = 20
_FIELDS = ("last_sync_at", "last_full_sync_at", "last_commit", "sessions_since_sync", "is_complete", "generation")


@dataclass(frozen=True)
class SavedState:
    """What a checkpoint holds: fields of the state, and items with their hashes and pointers, by id."""

    fields: dict[str, Any]
    items: dict[str, StoredItem]


def checkpoint_make(source: KnowledgeSource, run: SyncRun, stored: Stored, clock: Clock) -> SyncCheckpoint:
    """Save the state of a source before a run changes it."""
    state = {name: value_to_json(getattr(stored.state, name)) for name in _FIELDS}
    rows = [
        [one.item_id, one.hash, one.status, one.layer, one.pointer.hex if one.pointer else None]
        for one in stored.items.values()
    ]
    content = zlib.compress(json.dumps({"state": state, "items": rows}, separators=(",", ":")).encode(), 1)
    return SyncCheckpoint.objects.create(
        source=source,
        run=run,
        content=content,
        checksum=hashlib.sha256(content).hexdigest(),
        created_at=utcnow(clock),
    )


def checkpoint_read(checkpoint: SyncCheckpoint) -> SavedState:
    """Return what a checkpoint holds. Raises StateCorruptedError for a damaged one."""
    content = bytes(checkpoint.content)
    if hashlib.sha256(content).hexdigest() != checkpoint.checksum:
        raise StateCorruptedError("This checkpoint is damaged: choose another one.")
    data = json.loads(zlib.decompress(content))
    items = {
        item_id: StoredItem(item_id, hash_, ItemStatus(status), Layer(layer), UUID(pointer) if pointer else None)
        for item_id, hash_, status, layer, pointer in data["items"]
    }
    state = data["state"].items()
    fields = {name: datetime.fromisoformat(one["at"]) if isinstance(one, dict) else one for name, one in state}
    return SavedState(fields, items)


def value_to_json(value: Any) -> Any:
    """Return a field of the state for JSON."""
    return {"at": value.isoformat()} if isinstance(value, datetime) else value


def checkpoints_trim(source: KnowledgeSource) -> int:
    """Delete old checkpoints; return how many.

    The newest one stays, and the last twenty of runs that have changed something: those of idle runs, which may come
    every minute, would push them out.
    """
    checkpoints = SyncCheckpoint.objects.filter(source=source).order_by("-pk")
    of_changes = checkpoints.filter(Exists(SyncChange.objects.filter(run=OuterRef("run"))))
    kept = {*checkpoints.values_list("pk", flat=True)[:1], *of_changes.values_list("pk", flat=True)[:KEPT]}
    return checkpoints.exclude(pk__in=kept).delete()[0]
