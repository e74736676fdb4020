"""Rows of items, files and conflicts as a sync writes them: only those that change."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import TypeVar
from uuid import UUID

from django.db import transaction

from apps.core.personal.columns import Columns
from apps.events.services import emit
from apps.sync.domain.as_json import constraints_from_json, constraints_to_json, parsed_to_json
from apps.sync.domain.knowledge import ItemStatus, ItemType, Layer
from apps.sync.domain.knowledge import KnowledgeItem as Item
from apps.sync.domain.pointers import item_uuid
from apps.sync.domain.state import Resolution, SyncConflict
from apps.sync.events import ConflictFound
from apps.sync.models import KnowledgeFile, KnowledgeItem, KnowledgeSource, PointerConflict, SyncConflictState, SyncRun
from apps.sync.runs.stored import FileRow

T = TypeVar("T")
BATCH = 1_000
COLUMNS = Columns(KnowledgeItem)
_ITEM_FIELDS = [name for name in COLUMNS.names if name not in {"uuid", "item_id"}]
_FILE_FIELDS = ["blob", "parsed", "code", "detail"]
Resolved = Iterable[tuple[SyncConflict, Resolution]]


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


def write_conflicts(
    run: SyncRun,
    resolved: Resolved,
    *,
    looked_at: Collection[str] | None = None,
    left: Collection[str] = (),
    now: datetime,
    resolved_by: str = "",
) -> int:
    """Write the conflicts of a run, and return how many it found. In the caller's transaction.

    Those that wait for a person stay open, and are shown once. looked_at: ids of the items that the run was about, None
    for all of the source: what was open about them and was not found any more is outdated. left: ids of those that a
    later run looks at. resolved_by: the person who decided; empty for the settings of the source.
    """
    assert transaction.get_connection().in_atomic_block
    open_rows = PointerConflict.objects.filter(source=run.source).open().exclude(item_id__in=left)
    if looked_at is not None:
        open_rows = open_rows.filter(item_id__in=looked_at)
    waiting = {(row.type, row.item_id): row for row in open_rows.select_for_update()}
    new: list[PointerConflict] = []
    found = 0
    for conflict, resolution in resolved:
        found += 1
        row = waiting.pop((conflict.type.value, conflict.item_id), None)
        is_known = row is not None
        row = row or PointerConflict(source=run.source, run=run, detected_at=now)
        row.type, row.item_id = conflict.type.value, conflict.item_id
        row.pointers, row.detail = list(conflict.pointers), dict(conflict.detail)
        row.suggested = conflict.suggested.value
        if resolution is not Resolution.MANUAL:
            row.state, row.resolution = SyncConflictState.RESOLVED, resolution.value
            row.resolved_at, row.resolved_by = now, resolved_by
        if is_known:
            row.save()
        else:
            new.append(row)
    PointerConflict.objects.bulk_create(new, batch_size=1_000)
    for row in new:
        if row.state == SyncConflictState.OPEN:
            emit(
                ConflictFound(
                    source_id=run.source.uuid,
                    run_id=run.uuid,
                    user_id=run.source.user_id,
                    at=now,
                    conflict_id=row.uuid,
                    type=str(row.type),
                    item_id=row.item_id,
                )
            )
    outdated = PointerConflict.objects.filter(pk__in=[row.pk for row in waiting.values()])
    outdated.update(state=SyncConflictState.OUTDATED, resolved_at=now)
    return found
