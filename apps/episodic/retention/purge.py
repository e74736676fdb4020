"""Removal of all events of a scope for good, because a person wants it."""

from typing import Unpack

from django.db.models import Q

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ConflictError
from apps.core.domain.scope import Access, Scope
from apps.episodic.domain.retention import cutoff_for_scope
from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.events import EventSaved, PruneReason
from apps.episodic.maintenance.remove import Removal, RemovalReport, events_remove, removal_preview
from apps.episodic.maintenance.runner import RunnerOptions, Watch, maintenance_run, no_progress
from apps.episodic.models import Segment
from apps.episodic.store.files import list_files
from apps.events.services import payloads_redact

WAIT_SECONDS = 60.0


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
