"""Rows of items and files as a sync writes them: only those that change."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, TypeVar
from uuid import UUID

from apps.core.personal.columns import Columns
from apps.sync.domain.as_json import constraints_from_json, constraints_to_json, parsed_to_json
from apps.sync.domain.knowledge import ItemStatus, ItemType, Layer
from apps.sync.domain.knowledge import KnowledgeItem as Item
from apps.sync.domain.pointers import item_uuid
from apps.sync.domain.state import StoredItem
from apps.sync.models import KnowledgeFile, KnowledgeItem, KnowledgeSource
from apps.sync.runs.stored import FileRow

T = TypeVar("T")
BATCH = 1_000
COLUMNS = Columns(KnowledgeItem)
_ITEM_FIELDS = [name for name in COLUMNS.names if name not in {"uuid", "item_id"}]
_FILE_FIELDS = ["blob", "parsed", "code", "detail"]


def batches(rows: Iterable[T]) -> Iterator[list[T]]:
    """Yield rows in lists that are written at once."""
    iterator = iter(rows)
    while batch := list(islice(iterator, BATCH)):
        yield batch


def item_row(source: KnowledgeSource, item: Item, pointer: UUID | None, commit: str, now: datetime) -> KnowledgeItem:
    """Return the unsaved row of an item. commit: at which it was read."""
    return KnowledgeItem(
        uuid=item_uuid(source.uuid, item.item_id),
        source=source,
        item_id=item.item_id,
        path=item.path,
        type=item.type.value,
        title=item.title,
        summary=item.summary,
        status=item.status.value,
        layer=item.layer.value,
        constraints=constraints_to_json(item.constraints),
        tags=list(item.tags),
        supersedes=list(item.supersedes),
        superseded_by=list(item.superseded_by),
        hash=item.hash,
        commit=commit,
        pointer=pointer,
        synced_at=now,
    )


def stored_of(row: KnowledgeItem) -> StoredItem:
    """Return a row as it is compared."""
    return StoredItem(row.item_id, row.hash, ItemStatus(row.status), Layer(row.layer), row.pointer)


def item_of(row: KnowledgeItem) -> Item:
    """Return the item that a row keeps."""
    return Item(
        item_id=row.item_id,
        path=row.path,
        type=ItemType(row.type),
        title=row.title,
        summary=row.summary,
        status=ItemStatus(row.status),
        layer=Layer(row.layer),
        hash=row.hash,
        constraints=constraints_from_json(row.constraints),
        tags=tuple(row.tags),
        supersedes=tuple(row.supersedes),
        superseded_by=tuple(row.superseded_by),
    )


def row_to_json(row: KnowledgeItem | None) -> dict[str, Any]:
    """Return a row as the change of a run keeps it; empty for none."""
    return COLUMNS.values(row) if row else {}


def read_rows(source: KnowledgeSource, item_ids: Iterable[str]) -> dict[str, KnowledgeItem]:
    """Return whole rows of items, by id."""
    found: dict[str, KnowledgeItem] = {}
    for batch in batches(sorted(item_ids)):
        found |= {row.item_id: row for row in KnowledgeItem.objects.filter(source=source, item_id__in=batch)}
    return found


def write_items(rows: Sequence[KnowledgeItem]) -> None:
    """Write rows of items, new or in the place of those with their ids."""
    for batch in batches(rows):
        KnowledgeItem.objects.bulk_create(
            batch, update_conflicts=True, unique_fields=["source", "item_id"], update_fields=_ITEM_FIELDS
        )


def delete_items(source: KnowledgeSource, item_ids: Iterable[str]) -> None:
    """Delete the rows of items."""
    for batch in batches(sorted(item_ids)):
        KnowledgeItem.objects.filter(source=source, item_id__in=batch).delete()


def write_files(source: KnowledgeSource, before: Mapping[str, FileRow], after: Mapping[str, FileRow]) -> bool:
    """Write the files that are not as they were, and delete those that are gone; return whether there are any.

    before: as the rows are.
    """
    changed = [file for path, file in after.items() if (former := before.get(path)) is not file and former != file]
    for batch in batches(changed):
        rows = [
            KnowledgeFile(
                source=source,
                path=file.path,
                blob=file.blob,
                parsed=parsed_to_json(file.parsed) if file.parsed else {},
                code=file.code,
                detail=file.detail,
            )
            for file in batch
        ]
        KnowledgeFile.objects.bulk_create(
            rows, update_conflicts=True, unique_fields=["source", "path"], update_fields=_FILE_FIELDS
        )
    gone = sorted(before.keys() - after.keys())
    for paths in batches(gone):
        KnowledgeFile.objects.filter(source=source, path__in=paths).delete()
    return bool(changed or gone)
