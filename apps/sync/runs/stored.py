"""What the last sync of a source left, whether it is as it was left, and checkpoints of it before a run (spec 003)."""

import hashlib
import json
import logging
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Exists, OuterRef

from apps.core.domain.clock import Clock, utcnow
from apps.semantic.selectors import managed_facts
from apps.sync.domain.as_json import digest_checksum, items_digest, parsed_from_json
from apps.sync.domain.errors import STATE_CORRUPTED, StateCorruptedError
from apps.sync.domain.knowledge import ItemStatus, Layer, ParsedFile, RefusedFile
from apps.sync.domain.state import SeenPointer, StoredItem
from apps.sync.metrics import FAILURES
from apps.sync.models import KnowledgeItem, KnowledgeSource, SyncChange, SyncCheckpoint, SyncRun, SyncState

logger = logging.getLogger(__name__)
ITEMS, FILES = "items", "files"
NO_ITEMS, NO_FILES = items_digest(()), hashlib.sha256(b"").hexdigest()
# Computed by the database, where the rows are: what it says of them is the same when they are read and written.
_FILES_SQL = """
SELECT encode(sha256(convert_to(coalesce(string_agg(
    concat_ws(E'\\t', path, blob, code, detail, md5(parsed::text)), E'\\n' ORDER BY path COLLATE "C"
), ''), 'UTF8')), 'hex')
FROM sync_knowledgefile WHERE source_id = %s
"""
_READ_FILES_SQL = "SELECT path, blob, parsed::text, code, detail FROM sync_knowledgefile WHERE source_id = %s"
KEPT = 20
_FIELDS = ("last_sync_at", "last_full_sync_at", "last_commit", "sessions_since_sync", "is_complete", "generation")


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file as it was read. parsed: None for one that never could be. code, detail: why it could not be read now."""

    path: str
    blob: str
    parsed: ParsedFile | None
    code: str = ""
    detail: str = ""

    @property
    def refused(self) -> RefusedFile | None:
        """Return why it could not be read as it is now."""
        return RefusedFile(self.path, self.code, self.detail) if self.code else None


@dataclass(frozen=True, slots=True)
class ItemPlace:
    """Where the text of a stored item is."""

    path: str
    commit: str


@dataclass
class Stored:
    """The state of a source with items, files and pointers. damaged: parts that are not as they were left.

    remembered: of damaged files those that can still be read, for what cannot be read in the source.
    items_digest, files_digest: of the rows as they are.
    """

    state: SyncState
    items: dict[str, StoredItem]
    places: dict[str, ItemPlace]
    files: dict[str, FileRow]
    damaged: tuple[str, ...] = ()
    pointers: list[SeenPointer] = field(default_factory=list)
    remembered: dict[str, FileRow] = field(default_factory=dict)
    items_digest: str = ""
    files_digest: str = ""


def load_stored(source: KnowledgeSource) -> Stored:
    """Load what the last sync left. What is damaged is left out, logged, and rebuilt from the pointers."""
    state, _ = SyncState.objects.get_or_create(source=source)
    damaged = []
    try:
        items, places = load_items(source)
        of_items = items_digest(items.values())
        is_intact = state_digest(state, of_items) == state.checksum
    except ValueError:
        items, places, of_items, is_intact = {}, {}, "", False
    if not is_intact:
        damaged.append(ITEMS)
    files: dict[str, FileRow] = {}
    of_files = files_digest(source)
    try:
        if files_checksum(state, of_files) != state.files_checksum:
            raise StateCorruptedError("The rows of files do not match their checksum.")
        files = load_files(source)
    except (StateCorruptedError, ValueError):
        damaged.append(FILES)
    # Metadata that no sync has written differ from every item.
    pointers = []
    for memory in managed_facts(source.manager, ("item_id", "hash", "status", "layer")):
        item_id, hash_, status, layer = memory.facts
        pointers.append(SeenPointer(memory.uuid, item_id, hash_, status, layer, memory.created_at, memory.updated_at))
    if ITEMS in damaged:
        items, places = items_of_pointers(pointers), {}
    stored = Stored(state, items, places, files, tuple(damaged), pointers, {}, of_items, of_files)
    if FILES in damaged:
        stored.remembered = load_files(source, strict=False)
    if damaged:
        logger.error(
            "%s: the state of source %s is damaged (%s): %d items are rebuilt from %d pointers, %d files are kept",
            STATE_CORRUPTED,
            source.uuid,
            ", ".join(stored.damaged),
            len(stored.items),
            len(stored.pointers),
            len(stored.files),
        )
        FAILURES.labels(STATE_CORRUPTED).inc()
    return stored


def load_items(source: KnowledgeSource) -> tuple[dict[str, StoredItem], dict[str, ItemPlace]]:
    """Return items and where they are, by id. Raises ValueError for a row that no sync has written."""
    columns = ("item_id", "hash", "status", "layer", "pointer", "path", "commit")
    items, places = {}, {}
    for item_id, hash_, status, layer, pointer, path, commit in KnowledgeItem.objects.filter(source=source).values_list(
        *columns
    ):
        items[item_id] = StoredItem(item_id, hash_, ItemStatus(status), Layer(layer), pointer)
        places[item_id] = ItemPlace(path, commit)
    return items, places


def load_files(source: KnowledgeSource, *, strict: bool = True) -> dict[str, FileRow]:
    """Return the files by path. strict: raise StateCorruptedError or ValueError for a row that no sync has written.

    Otherwise such a row is left out.
    """
    with connection.cursor() as cursor:
        cursor.execute(_READ_FILES_SQL, [source.pk])
        rows = cursor.fetchall()
    files = {}
    for path, blob, text, code, detail in rows:
        try:
            parsed = parsed_from_json(json.loads(text)) if text != "{}" else None
        except (StateCorruptedError, ValueError):
            if strict:
                raise
            continue
        files[path] = FileRow(path, blob, parsed, code, detail)
    return files


def state_digest(state: SyncState, items: str) -> str:
    """Return the checksum of a state and a digest of items; empty for a source that was never synced."""
    if items == NO_ITEMS and not state.last_commit and state.last_sync_at is None:
        return ""
    return digest_checksum(items, state.last_commit, state.last_sync_at)


def files_digest(source: KnowledgeSource) -> str:
    """Return the digest of the rows of files as they are."""
    with connection.cursor() as cursor:
        cursor.execute(_FILES_SQL, [source.pk])
        return str(cursor.fetchone()[0])


def files_checksum(state: SyncState, files: str) -> str:
    """Return the checksum of a digest of files, of their commit and the settings; empty where none were read."""
    if not state.files_commit and files == NO_FILES:
        return ""
    return hashlib.sha256(f"{state.files_commit}\n{state.read_digest}\n{files}".encode()).hexdigest()


def items_of_pointers(pointers: Iterable[SeenPointer]) -> dict[str, StoredItem]:
    """Return the items as their pointers say that they were (spec 003, regenerate the state)."""
    items = {}
    for pointer in sorted(pointers, key=lambda one: (one.created_at, one.updated_at, one.uuid)):
        try:
            status, layer = ItemStatus(pointer.status), Layer(pointer.layer)
        except ValueError:
            continue
        items[pointer.item_id] = StoredItem(pointer.item_id, pointer.hash, status, layer, pointer.uuid)
    return items


@dataclass(frozen=True)
class SavedState:
    """What a checkpoint holds: fields of the state, and items with their hashes and pointers, by id."""

    fields: dict[str, Any]
    items: dict[str, StoredItem]


def checkpoint_make(source: KnowledgeSource, run: SyncRun, stored: Stored, clock: Clock) -> SyncCheckpoint:
    """Save the state of a source before a run changes it."""
    fields = {name: getattr(stored.state, name) for name in _FIELDS}
    state = {name: {"at": one.isoformat()} if isinstance(one, datetime) else one for name, one in fields.items()}
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


def checkpoints_trim(source: KnowledgeSource) -> int:
    """Delete old checkpoints; return how many.

    The newest one stays, and the last twenty of runs that have changed something: those of idle runs, which may come
    every minute, would push them out.
    """
    checkpoints = SyncCheckpoint.objects.filter(source=source).order_by("-pk")
    of_changes = checkpoints.filter(Exists(SyncChange.objects.filter(run=OuterRef("run"))))
    kept = {*checkpoints.values_list("pk", flat=True)[:1], *of_changes.values_list("pk", flat=True)[:KEPT]}
    return checkpoints.exclude(pk__in=kept).delete()[0]
