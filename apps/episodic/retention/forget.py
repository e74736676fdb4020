"""Removal of a person's events of some time or kind for good, because the person wants it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Unpack

from django.db.models import Q

from apps.core.domain.batches import batched
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.scope import Access, Permission, Scope
from apps.episodic.domain.event import MICROSECOND, ScopeKey
from apps.episodic.domain.retention import ALL_TIMES, MAX_PRUNED_IDS, PrunedEvent
from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.domain.window import Window
from apps.episodic.events import EventSaved, PruneReason
from apps.episodic.jobs import request_forgetting
from apps.episodic.maintenance.remove import Removal, RemovalReport, events_remove
from apps.episodic.maintenance.runner import MaintenanceRunningError, RunnerOptions, maintenance_run
from apps.episodic.models import Segment
from apps.events.services import payloads_redact
from apps.live.services import person_changed

# A request holds a thread of the web process for about as long; the worker does the rest.
REQUEST_SECONDS = 5.0


@dataclass(frozen=True)
class Forgetting:
    """Which events of a user are to be forgotten. event_type: of this type alone; empty for all."""

    user_id: str
    window: Window
    event_type: str = ""

    def as_arguments(self) -> dict[str, Any]:
        """Return what a queued task is called with."""
        start, end = (None if one is None else one.isoformat() for one in (self.window.start, self.window.end))
        return {"user_id": self.user_id, "start": start, "end": end, "event_type": self.event_type}

    @classmethod
    def from_arguments(cls, *, user_id: str, start: str | None, end: str | None, event_type: str) -> "Forgetting":
        """Return what `as_arguments` was made of."""
        first, last = (None if one is None else datetime.fromisoformat(one) for one in (start, end))
        return cls(user_id, Window(first, last), event_type)

    @property
    def rows(self) -> Q:
        """Return the condition on rows."""
        found = Q(user_id=self.user_id)
        found &= Q() if self.window.start is None else Q(timestamp__gte=self.window.start)
        found &= Q() if self.window.end is None else Q(timestamp__lte=self.window.end)
        return found & (Q(event_type=self.event_type) if self.event_type else Q())

    @property
    def segments(self) -> Q:
        """Return the condition on segments that may hold such events."""
        found = Q() if self.window.start is None else Q(last_timestamp__gte=self.window.start)
        return found & (Q() if self.window.end is None else Q(first_timestamp__lte=self.window.end))

    def cutoff_of(self, key: ScopeKey) -> datetime | None:
        """Return before which moment the events of a scope are forgotten; None for those of others."""
        if key.user_id != self.user_id:
            return None
        return ALL_TIMES if self.window.end is None else self.window.end + MICROSECOND


@dataclass(frozen=True)
class Forgotten:
    """What was done. events: those gone. goes_on: the worker does the rest. damaged: files that may hold more."""

    events: int
    goes_on: bool = False
    damaged: int = 0


def events_forget(
    *,
    access: Access,
    forgetting: Forgetting,
    clock: Clock = SYSTEM_CLOCK,
    wait_seconds: float = REQUEST_SECONDS,
    **options: Unpack[RunnerOptions],
) -> Forgotten:
    """Remove events for good: rows, lines of files, and what they said in the outbox.

    Ends after a while and has the worker go on, also where another maintenance is at work. As when events are pruned, a
    hub event has the bridge follow with the memories made of them, and former files are removed a minute later. Safe to
    repeat. Raises ForbiddenError for another user than the caller's.
    """
    access.for_removal(Scope(forgetting.user_id))
    options = {"seconds": REQUEST_SECONDS, **options}
    try:
        with maintenance_run(wait_seconds, clock, **options) as runner:
            removal = removal_of(access, forgetting, clock)
            report = events_remove(removal, Segment.objects.filter(forgetting.segments), runner)
    except MaintenanceRunningError:
        report = RemovalReport(finished=False)
    if not report.finished:
        request_forgetting(actor=access.actor, **forgetting.as_arguments())
    person_changed(forgetting.user_id)
    quarantined = Segment.objects.filter(forgetting.segments, state=SegmentState.QUARANTINED).count()
    damaged = report.damaged + len(report.failures) + quarantined
    return Forgotten(report.events, not report.finished, damaged)


def forgetting_go_on(*, actor: str, seconds: float, wait_seconds: float, **arguments: Any) -> Forgotten:
    """Go on where a request ended. Requests itself again until all is done."""
    forgetting = Forgetting.from_arguments(**arguments)
    access = Access(Scope(forgetting.user_id), Permission.WRITE, actor)
    return events_forget(access=access, forgetting=forgetting, seconds=seconds, wait_seconds=wait_seconds)


def removal_of(access: Access, forgetting: Forgetting, clock: Clock) -> Removal:
    """Return the removal of events, which empties what the outbox keeps of them."""

    def redact(gone: Sequence[PrunedEvent]) -> None:
        for batch in batched(gone, MAX_PRUNED_IDS):
            among = {"event_id": [str(event.uuid) for event in batch]}
            own = {"user_id": forgetting.user_id}
            payloads_redact(name=EventSaved.name, matching=own, fields=["content"], until=utcnow(clock), among=among)

    return Removal(
        rows=forgetting.rows,
        cutoff_of=forgetting.cutoff_of,
        reason=PruneReason.MANUAL,
        actor=access.actor,
        on_removed=redact,
        since=forgetting.window.start,
        event_type=forgetting.event_type,
    )
