"""The events of a user that some actors recorded: found, counted, and removed for good."""

from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Unpack

from django.db.models import Q

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.scope import Access, Scope
from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.retention import cutoff_for_scope
from apps.episodic.domain.window import EventQuery
from apps.episodic.events import EventSaved, PruneReason
from apps.episodic.maintenance.remove import Removal, RemovalReport, events_remove
from apps.episodic.maintenance.runner import RunnerOptions, maintenance_run
from apps.episodic.models import Segment
from apps.episodic.queries.export import events_export
from apps.events.services import payloads_redact

WAIT_SECONDS = 60.0


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
