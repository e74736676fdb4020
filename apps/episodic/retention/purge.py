"""Removal of events for good because a person wants it: one, those of a scope, or those that actors recorded."""

from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Unpack
from uuid import UUID

from django.db.models import Q

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ConflictError, UnavailableError
from apps.core.domain.scope import Access, Reach, Scope
from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.retention import ALL_TIMES, cutoff_for_scope
from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.domain.window import EventQuery
from apps.episodic.events import EventSaved, PruneReason
from apps.episodic.maintenance.archive import archived_rows_drop
from apps.episodic.maintenance.remove import Removal, RemovalReport, events_remove, removal_preview
from apps.episodic.maintenance.runner import RunnerOptions, Watch, maintenance_run, no_progress
from apps.episodic.models import Segment
from apps.episodic.queries.event_list import find_event
from apps.episodic.queries.export import events_export
from apps.episodic.store.files import list_files
from apps.events.services import payloads_redact

WAIT_SECONDS = 60.0
# A request holds a thread of the web process for as long.
REQUEST_SECONDS = 5.0


class PurgeIncompleteError(ConflictError):
    """Some events of the scope may still be there."""

    code = "purge_incomplete"


def events_purge(
    *,
    access: Access,
    scope: Scope,
    clock: Clock = SYSTEM_CLOCK,
    wait_seconds: float = WAIT_SECONDS,
    **options: Unpack[RunnerOptions],
) -> RemovalReport:
    """Remove every event of a scope for good: rows, archived events, and their content in the outbox.

    What is recorded while it runs stays. The files from which events were taken are removed by maintenance a minute
    later; what the doctor has set aside (`quarantined_files`) is for a person to remove. Safe to repeat.
    Raises ForbiddenError outside the caller's bound, InvalidInputError when the scope names no user,
    MaintenanceRunningError, PurgeIncompleteError when a file that may hold events of the scope cannot be read.
    """
    scope, began = access.for_removal(scope), utcnow(clock)
    removal = Removal(Q(**scope.named()), cutoff_for_scope(scope), PruneReason.MANUAL, access.actor)
    with maintenance_run(wait_seconds, clock, **options) as runner:
        if damaged := Segment.objects.filter(state=SegmentState.QUARANTINED).count():
            raise PurgeIncompleteError(
                f"{damaged} damaged segments may hold events of this scope, so nothing was removed. "
                "Repair them with `manage.py timeline doctor --repair`, then purge again."
            )
        payloads_redact(name=EventSaved.name, matching=scope.named(), fields=["content"], until=began)
        report = events_remove(removal, Segment.objects.all(), runner)
    if report.damaged or report.failures:
        raise PurgeIncompleteError(
            f"{report.events} events were removed, but not all: {report.damaged} files are damaged, "
            f"and {len(report.failures)} could not be rewritten. "
            "Repair them with `manage.py timeline doctor --repair`, then purge again."
        )
    return report


def purge_preview(*, access: Access, scope: Scope, watch: Watch = no_progress) -> RemovalReport:
    """Return what `events_purge` would remove now, and change nothing. Raises ForbiddenError, InvalidInputError."""
    scope = access.for_removal(scope)
    return removal_preview(Q(**scope.named()), cutoff_for_scope(scope), Segment.objects.all(), watch)


def quarantined_files() -> tuple[str, ...]:
    """Return the names of files that were taken out of service; they may still hold events of any scope."""
    return list_files().quarantined


def events_written(access: Access, user_id: str, actors: Collection[str]) -> Iterator[EventRecord]:
    """Yield the events of a user that these actors recorded, of rows and files, by time.

    Reads all events of the user. Of events that were recorded before the hub noted by whom, none is known. Raises
    UnavailableError, AccessStoppedError.
    """
    return (event for event in events_export(access, EventQuery(scope=Scope(user_id))) if event.actor in actors)


def events_written_remove(
    *,
    access: Access,
    user_id: str,
    actors: Collection[str],
    until: datetime,
    clock: Clock = SYSTEM_CLOCK,
    wait_seconds: float = WAIT_SECONDS,
    **options: Unpack[RunnerOptions],
) -> RemovalReport:
    """Remove the events of a user that these actors had recorded by a moment for good, and their outbox content.

    As when events are purged: rows and lines of files, with hub events that the bridge follows. Safe to repeat.
    report.damaged, report.failures: files that could not be read or rewritten, which may still hold some. Raises
    ForbiddenError outside the caller's bound, MaintenanceRunningError.
    """
    scope = access.for_removal(Scope(user_id))
    removal = Removal(
        rows=Q(user_id=user_id, actor__in=actors, recorded_at__lte=until),
        cutoff_of=cutoff_for_scope(scope),
        reason=PruneReason.MANUAL,
        actor=access.actor,
        wanted=lambda record: record.actor in actors and record.recorded_at <= until,
    )
    with maintenance_run(wait_seconds, clock, **options) as runner:
        for actor in actors:
            matching = {"user_id": user_id, "actor": actor}
            payloads_redact(name=EventSaved.name, matching=matching, fields=["content"], until=utcnow(clock))
        return events_remove(removal, Segment.objects.all(), runner)


class EventKeptError(UnavailableError):
    """The event is still there."""

    code = "event_kept"


def event_delete(
    *,
    access: Access,
    uuid: UUID,
    clock: Clock = SYSTEM_CLOCK,
    wait_seconds: float = REQUEST_SECONDS,
    **options: Unpack[RunnerOptions],
) -> None:
    """Remove an event for good: its row, or its line in a file, which is written without it; and its outbox content.

    As when events are pruned, a hub event notifies the bridge, which follows with the memory made of it, and
    maintenance removes the former file a minute later. Killed at any step, it leaves the event either there or gone.
    Raises NotFoundError for an event that the caller cannot see, ForbiddenError for one of a higher origin than the
    caller's, unless an operator, MaintenanceRunningError, EventKeptError.
    """
    own_rows = Reach(access.for_read(Scope()))
    # Without the lock, so that a caller learns by no delay what others have.
    access.require_origin(find_event(own_rows, uuid).record.origin)
    with maintenance_run(wait_seconds, clock, **options) as runner:
        archived_rows_drop(runner)
        found = find_event(own_rows, uuid)
        own = found.record.key
        removal = Removal(
            rows=Q(uuid=uuid, **own._asdict()),
            cutoff_of=lambda key: ALL_TIMES if key == own else None,
            reason=PruneReason.MANUAL,
            actor=access.actor,
            only=uuid,
        )
        payloads_redact(name=EventSaved.name, matching={"event_id": str(uuid)}, fields=["content"], until=utcnow(clock))
        candidates = Segment.objects.filter(pk__in=[] if found.segment_id is None else [found.segment_id])
        report = events_remove(removal, candidates, runner)
    if report.damaged:
        detail = (
            "The file that holds it is damaged. Repair it with `manage.py timeline doctor --repair`, then try again."
        )
        raise EventKeptError(detail, retry_after=60)
    if not report.events:
        detail = "The file that holds it could not be written without it; the warnings of the timeline say why."
        raise EventKeptError(detail, retry_after=60)
