"""What the bridge does when it hears from the timeline: quick notes only (spec 000, Episodic-Semantic Event Bridge).

A handler runs in the transaction of a delivery, together with many others. A memory saved or changed in it would keep
its user's writers waiting until that transaction ends, so the tasks of `bridge_ingesting` and `bridge_reconciling` do
that. Handlers may be called again for the same event: what they note is noted once.
"""

import logging
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Scope
from apps.episodic.domain.warnings import Severity
from apps.episodic.events import EventSaved, EventsPruned, TimelineHealthy, TimelineWarned
from apps.events.domain.envelope import Envelope, takes_batches
from apps.events.selectors import undelivered
from apps.semantic.bridge.audit import Pruning, audit
from apps.semantic.bridge.jobs import request_ingest, request_reconcile
from apps.semantic.bridge.metrics import JUDGED, WARNINGS
from apps.semantic.bridge.policies import routing_table
from apps.semantic.bridge.status import SAVED_HANDLER, observe_suspension
from apps.semantic.domain.routing import EventFacts, RoutingCriteria, RoutingTable
from apps.semantic.models import AuditAction, Ingestion, IngestionStatus

logger = logging.getLogger(__name__)

WITHDRAWN = "withdrawn"
LEVELS = {Severity.NOTICE: logging.INFO, Severity.WARNING: logging.WARNING, Severity.CRITICAL: logging.ERROR}


# Saved events


@takes_batches
def events_saved(envelopes: Sequence[Envelope]) -> None:
    """Judge events by the routing policies, and have those that a policy wants saved as memories."""
    now, table = utcnow(SYSTEM_CLOCK), routing_table()
    events = [envelope.payload for envelope in envelopes]
    routed = [
        _ingestion(event, policy, now)
        for event in events
        if isinstance(event, EventSaved) and (policy := _judged(event, table))
    ]
    if routed:
        # Of an event that is delivered again there is a row already, whatever became of it.
        Ingestion.objects.bulk_create(routed, ignore_conflicts=True)
        request_ingest()


def _judged(event: EventSaved, table: RoutingTable) -> RoutingCriteria | None:
    """The policy that wants an event. One without content was purged while the note of it was on its way."""
    if not event.content:
        JUDGED.labels(WITHDRAWN).inc()
        return None
    decision = table.judge(EventFacts(event.household_id or "", event.event_type, event.importance))
    JUDGED.labels(decision.judgement.value).inc()
    return decision.policy


def _ingestion(event: EventSaved, policy: RoutingCriteria, now: datetime) -> Ingestion:
    return Ingestion(
        event_id=event.event_id,
        user_id=event.user_id,
        household_id=event.household_id or "",
        persona_id=event.persona_id or "",
        event_type=event.event_type,
        timestamp=event.timestamp,
        importance=event.importance,
        content=event.content,
        recorded_at=event.recorded_at,
        policy=policy.name,
        created_at=now,
        next_try_at=now,
    )


# Pruned events


@takes_batches
def events_pruned(envelopes: Sequence[Envelope]) -> None:
    """Keep events that are gone from becoming memories, and have the memories of the others looked at."""
    now = utcnow(SYSTEM_CLOCK)
    told = [envelope.payload for envelope in envelopes if isinstance(envelope.payload, EventsPruned)]
    _note_unheard(told, now)
    for pruned in told:
        _prune(pruned, now)


def _note_unheard(told: Sequence[EventsPruned], now: datetime) -> None:
    """Keep a place for pruned events of which nobody has told us yet, so that nothing is made of them then."""
    by_id = {event_id: pruned for pruned in told for event_id in pruned.event_ids}
    late = undelivered(SAVED_HANDLER).filter(payload__event_id__in=[str(event_id) for event_id in by_id])
    ids = {UUID(found) for found in late.values_list("payload__event_id", flat=True)}
    places = [_place(event_id, by_id[event_id], now) for event_id in ids]
    if places:
        Ingestion.objects.bulk_create(places, ignore_conflicts=True)


def _place(event_id: UUID, pruned: EventsPruned, now: datetime) -> Ingestion:
    return Ingestion(
        event_id=event_id,
        user_id=pruned.user_id,
        household_id=pruned.household_id or "",
        persona_id=pruned.persona_id or "",
        status=IngestionStatus.PRUNED,
        created_at=now,
        next_try_at=now,
        ended_at=now,
        **_pruning(pruned),
    )


def _prune(pruned: EventsPruned, now: datetime) -> None:
    scope = Scope(pruned.user_id, pruned.household_id, pruned.persona_id)
    known = Ingestion.objects.exactly_in(scope).filter(event_id__in=pruned.event_ids)
    # Locked first, in one order: one that is being saved at this moment is linked by the time it is looked at.
    rows = list(known.affected_by_pruning().order_by("id").select_for_update())
    linked = [row.pk for row in rows if row.status == IngestionStatus.LINKED]
    never_made = [row for row in rows if row.status != IngestionStatus.LINKED]
    if linked:
        Ingestion.objects.filter(pk__in=linked).update(status=IngestionStatus.UNLINKING, **_pruning(pruned))
        request_reconcile()
    if never_made:
        Ingestion.objects.filter(pk__in=[row.pk for row in never_made]).update(
            status=IngestionStatus.PRUNED, content="", error="", ended_at=now, **_pruning(pruned)
        )
        pruning = Pruning(pruned.reason.value, pruned.actor)
        for policy in sorted({row.policy for row in never_made}):
            ids = [row.event_id for row in never_made if row.policy == policy]
            audit(AuditAction.DROPPED, scope, ids, pruning, policy=policy, at=now)


def _pruning(pruned: EventsPruned) -> dict[str, str]:
    return {"pruned_reason": pruned.reason.value, "pruned_by": pruned.actor}


# Warnings


def timeline_warned(envelope: Envelope) -> None:
    """Pass a warning on to whoever watches the log and the metrics, with its severity and what to do about it."""
    warning = envelope.payload
    assert isinstance(warning, TimelineWarned)
    WARNINGS.labels(warning.kind.value, warning.severity.value).inc()
    logger.log(
        LEVELS[warning.severity],
        "timeline warning %s: severity=%s segment=%s suspended=%s: %s Hint: %s",
        warning.kind.value, warning.severity.value, warning.segment_id, observe_suspension(), warning.detail,
        warning.hint,
    )  # fmt: skip


def timeline_healthy(envelope: Envelope) -> None:
    """Go on with what waited, once no warning stands in the way any more."""
    healthy = envelope.payload
    assert isinstance(healthy, TimelineHealthy)
    suspended = observe_suspension()
    logger.info(
        "timeline warning %s is over: segment=%s suspended=%s", healthy.kind.value, healthy.segment_id, suspended
    )
    if not suspended:
        request_ingest()
