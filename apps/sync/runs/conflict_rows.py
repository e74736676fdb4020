"""The conflicts that a run found, as rows."""

from collections.abc import Collection, Iterable
from datetime import datetime

from django.db import transaction

from apps.events.services import emit
from apps.sync.domain.state import Resolution, SyncConflict
from apps.sync.events import ConflictFound
from apps.sync.models import PointerConflict, SyncConflictState, SyncRun

Resolved = Iterable[tuple[SyncConflict, Resolution]]


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
            emit_found(run, row, now)
    outdated = PointerConflict.objects.filter(pk__in=[row.pk for row in waiting.values()])
    outdated.update(state=SyncConflictState.OUTDATED, resolved_at=now)
    return found


def emit_found(run: SyncRun, row: PointerConflict, now: datetime) -> None:
    """Emit that a conflict waits for a person."""
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
