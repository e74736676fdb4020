"""Removal of one event for good, because a caller wants it."""

from typing import Unpack
from uuid import UUID

from django.db.models import Q

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import UnavailableError
from apps.core.domain.scope import Access, Reach, Scope
from apps.episodic.domain.retention import ALL_TIMES
from apps.episodic.events import EventSaved, PruneReason
from apps.episodic.maintenance.archive import archived_rows_drop
from apps.episodic.maintenance.remove import Removal, events_remove
from apps.episodic.maintenance.runner import RunnerOptions, maintenance_run
from apps.episodic.models import Segment
from apps.episodic.queries.lookup import find_event
from apps.events.services import payloads_redact

# A request holds a thread of the web process for as long.
WAIT_SECONDS = 5.0


class EventKeptError(UnavailableError):
    """The event is still there."""

    code = "event_kept"


def event_delete(
    *,
    access: Access,
    uuid: UUID,
    clock: Clock = SYSTEM_CLOCK,
    wait_seconds: float = WAIT_SECONDS,
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
