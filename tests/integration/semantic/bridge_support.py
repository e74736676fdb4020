"""Telling the bridge of events as the timeline does: through the outbox."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django_q.models import OrmQ

from apps.core.domain.scope import Scope
from apps.episodic.domain.alarms import Severity, WarningKind
from apps.episodic.events import EventSaved, EventsPruned, PruneReason
from apps.episodic.warnings import warning_end, warning_report
from apps.events.domain.payload import EventPayload
from apps.events.services import drain, emit_many
from apps.semantic.bridge.ingest import events_ingest
from apps.semantic.bridge.policies import policy_create
from apps.semantic.bridge.reconcile import links_reconcile
from apps.semantic.models import BridgeAudit, Ingestion, Memory, RoutingPolicy

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
SEGMENT = UUID("5e9e0000-0000-4000-8000-000000000001")
INGEST, RECONCILE = "apps.semantic.tasks.ingest_events", "apps.semantic.tasks.reconcile_events"


def saved(content: str = "Ana promised to call the bank", **fields: Any) -> EventSaved:
    """An important event of the user ana."""
    known: dict[str, Any] = {
        "event_id": uuid4(),
        "user_id": "ana",
        "household_id": None,
        "persona_id": None,
        "event_type": "promise",
        "timestamp": NOON,
        "importance": 0.9,
        "content": content,
        "source": "user",
        "segment_id": SEGMENT,
        "recorded_at": NOON,
        "actor": "key:ana",
    }
    return EventSaved(**{**known, **fields})


def pruned(*events: EventSaved, reason: PruneReason = PruneReason.RETENTION, **scope: Any) -> EventsPruned:
    """That events of one scope are gone."""
    whose = {name: getattr(events[0], name) for name in ("user_id", "household_id", "persona_id")}
    return EventsPruned(
        **{**whose, **scope},
        event_ids=tuple(event.event_id for event in events),
        hashes=tuple(event.event_id.hex for event in events),
        reason=reason,
        actor="timeline",
        at=NOON,
    )


def tell(*payloads: EventPayload) -> None:
    """Emit and deliver."""
    with transaction.atomic():
        emit_many(payloads)
    deliver()


def deliver() -> None:
    report = drain()
    assert (report.retried, report.failed) == (0, 0)


def policy(name: str = "important", **settings: Any) -> RoutingPolicy:
    return policy_create(name=name, settings={"enabled": True, "min_importance": 0.8, **settings})


def warn(severity: Severity = Severity.WARNING, kind: WarningKind = WarningKind.WRITE_LATENCY) -> None:
    """A warning of the timeline begins."""
    assert warning_report(kind=kind, severity=severity, detail="writing took 900 ms")


def recover(kind: WarningKind = WarningKind.WRITE_LATENCY) -> None:
    """It ends."""
    assert warning_end(kind=kind)


def ingestion(event: EventSaved) -> Ingestion:
    return Ingestion.objects.select_related("memory").get(event_id=event.event_id)


def memory_of(event: EventSaved) -> Memory:
    memory = ingestion(event).memory
    assert memory is not None
    return memory


def active(user: str = "ana") -> list[str]:
    """What searches may find of a user."""
    return sorted(Memory.objects.active().in_scope(Scope(user)).values_list("content", flat=True))


def queued(task: str) -> int:
    return sum(row.task["func"] == task for row in OrmQ.objects.all())


def remembered(*events: EventSaved) -> list[Memory]:
    """The memories of events that were told of and saved."""
    tell(*events)
    events_ingest()
    return [memory_of(event) for event in events]


def prune(*events: EventSaved, **fields: Any) -> dict[str, int]:
    """Tell that events are gone, and look at their memories; what was done."""
    tell(pruned(*events, **fields))
    return dict(links_reconcile())


def audited() -> list[tuple[str, str]]:
    """What the audit records say was done, and why."""
    return list(BridgeAudit.objects.order_by("id").values_list("action", "why"))
