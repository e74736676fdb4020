"""How the bridge is: whether a warning suspends it, what waits, and how far it is behind."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.episodic.selectors import segment_count, suspending_warnings
from apps.events.selectors import undelivered
from apps.semantic.bridge import metrics
from apps.semantic.models import Ingestion, IngestionStatus, RoutingPolicy
from apps.semantic.schemas.status import BridgeOutput

SAVED_HANDLER = "apps.semantic.bridge.handlers.events_saved"
MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True)
class Suspension:
    """A warning of the timeline for which events are not made into memories at present."""

    kind: str
    severity: str
    since: datetime


@dataclass(frozen=True)
class BridgeStatus:
    """The bridge at one moment, for operators: it counts everybody's.

    policies: how many are enabled. pending: events that wait to become memories. failed: those that could not.
    timeline_lag_ms: the age of the oldest event that has not been judged, or waits; 0 when there is none.
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
        return bool(self.suspended_by)

    def as_json(self) -> BridgeOutput:
        """Return the status as the API shows it."""
        return {
            "suspended": self.is_suspended,
            "suspended_by": [
                {"kind": one.kind, "severity": one.severity, "since": one.since.isoformat()}
                for one in self.suspended_by
            ],
            "policies": self.policies,
            "pending": self.pending,
            "failed": self.failed,
            "timeline_lag_ms": self.timeline_lag_ms,
            "last_ingestion_lag_ms": self.last_ingestion_lag_ms,
            "segment_count": self.segment_count,
        }


def is_suspended() -> bool:
    """Whether a warning keeps events from becoming memories (spec 000, Warning escalation)."""
    return suspending_warnings().exists()


def observe_suspension() -> bool:
    """Whether it is suspended, shown in the metrics, too."""
    suspended = is_suspended()
    metrics.SUSPENDED.set(suspended)
    return suspended


def bridge_status(*, clock: Clock = SYSTEM_CLOCK) -> BridgeStatus:
    """All of it, from the database: every process gives the same answer."""
    warnings = suspending_warnings().values_list("kind", "severity", "began_at")
    return BridgeStatus(
        suspended_by=tuple(Suspension(*warning) for warning in warnings),
        policies=RoutingPolicy.objects.filter(enabled=True).count(),
        pending=Ingestion.objects.pending().count(),
        failed=Ingestion.objects.filter(status=IngestionStatus.FAILED).count(),
        timeline_lag_ms=_timeline_lag_ms(utcnow(clock)),
        last_ingestion_lag_ms=_last_ingestion_lag_ms(),
        segment_count=segment_count(),
    )


def observe(*, clock: Clock = SYSTEM_CLOCK) -> BridgeStatus:
    """The status, shown in the metrics."""
    status = bridge_status(clock=clock)
    metrics.SUSPENDED.set(status.is_suspended)
    metrics.PENDING.set(status.pending)
    metrics.TIMELINE_LAG.set(status.timeline_lag_ms)
    metrics.SEGMENTS.set(status.segment_count)
    return status


def _timeline_lag_ms(now: datetime) -> int:
    # By id, which rises with arrival and is in an index: a backlog may be long.
    unjudged = undelivered(SAVED_HANDLER, given_up=False).order_by("id").values_list("created_at", flat=True)
    unsaved = Ingestion.objects.pending().order_by("id").values_list("recorded_at", flat=True)
    oldest = [moment for moment in (unjudged.first(), unsaved.first()) if moment is not None]
    return max(0, (now - min(oldest)) // MILLISECOND) if oldest else 0


def _last_ingestion_lag_ms() -> int | None:
    linked = Ingestion.objects.filter(status=IngestionStatus.LINKED).order_by("-ended_at")
    for ended_at, recorded_at in linked.values_list("ended_at", "recorded_at")[:1]:
        if ended_at and recorded_at:
            return max(0, (ended_at - recorded_at) // MILLISECOND)
    return None
