"""The status of the bridge: whether a warning suspends it, what is pending, and its lag."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.schemas.outputs import render
from apps.episodic.selectors import segment_count, suspending_warnings
from apps.events.selectors import undelivered
from apps.semantic.bridge import metrics
from apps.semantic.models import Ingestion, IngestionStatus, RoutingPolicy
from apps.semantic.schemas.status import BridgeOutput

SAVED_HANDLER = "apps.semantic.bridge.handlers.events_saved"
MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True)
class Suspension:
    """A warning of the timeline that suspends the bridge."""

    kind: str
    severity: str
    since: datetime


@dataclass(frozen=True)
class BridgeStatus:
    """The bridge at one moment, of all users, for operators.

    policies: how many are enabled. pending: events that wait to become memories. failed: those that could not.
    timeline_lag_ms: the age of the oldest event that has not been judged, or is pending; 0 for none.
    last_ingestion_lag_ms: from the recording of the event that became a memory last to its commit; None without one.
    """

    suspended_by: tuple[Suspension, ...]
    policies: int
    pending: int
    failed: int
    timeline_lag_ms: int
    last_ingestion_lag_ms: int | None
    segment_count: int

    @property
    def is_suspended(self) -> bool:
        """Return whether a warning suspends the bridge."""
        return bool(self.suspended_by)

    def as_json(self) -> BridgeOutput:
        """Return the status as the API shows it."""
        warnings = [
            {"kind": one.kind, "severity": one.severity, "since": one.since.isoformat()} for one in self.suspended_by
        ]
        return render(BridgeOutput, self, suspended=self.is_suspended, suspended_by=warnings)


def is_suspended() -> bool:
    """Return whether a warning keeps events from becoming memories (spec 000, Warning escalation)."""
    return suspending_warnings().exists()


def observe_suspension() -> bool:
    """Return whether the bridge is suspended, and show it in the metrics."""
    suspended = is_suspended()
    metrics.SUSPENDED.set(suspended)
    return suspended


def bridge_status(*, clock: Clock = SYSTEM_CLOCK) -> BridgeStatus:
    """Return the status from the database, the same in every process."""
    now = utcnow(clock)
    warnings = suspending_warnings().values_list("kind", "severity", "began_at")
    # By id, which rises with arrival and is in an index: a backlog may be long.
    unjudged = undelivered(SAVED_HANDLER, given_up=False).order_by("id").values_list("created_at", flat=True)
    unsaved = Ingestion.objects.pending().order_by("id").values_list("recorded_at", flat=True)
    oldest = [moment for moment in (unjudged.first(), unsaved.first()) if moment is not None]
    linked = Ingestion.objects.filter(status=IngestionStatus.LINKED).order_by("-ended_at")
    ended_at, recorded_at = linked.values_list("ended_at", "recorded_at").first() or (None, None)
    return BridgeStatus(
        suspended_by=tuple(Suspension(*warning) for warning in warnings),
        policies=RoutingPolicy.objects.filter(enabled=True).count(),
        pending=Ingestion.objects.pending().count(),
        failed=Ingestion.objects.filter(status=IngestionStatus.FAILED).count(),
        timeline_lag_ms=max(0, (now - min(oldest)) // MILLISECOND) if oldest else 0,
        last_ingestion_lag_ms=(max(0, (ended_at - recorded_at) // MILLISECOND) if ended_at and recorded_at else None),
        segment_count=segment_count(),
    )


def observe(*, clock: Clock = SYSTEM_CLOCK) -> BridgeStatus:
    """Return the status, and show it in the metrics."""
    status = bridge_status(clock=clock)
    metrics.SUSPENDED.set(status.is_suspended)
    metrics.PENDING.set(status.pending)
    metrics.TIMELINE_LAG.set(status.timeline_lag_ms)
    metrics.SEGMENTS.set(status.segment_count)
    return status
