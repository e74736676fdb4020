"""The subscribers of the bridge: quick notes only (spec 000, Episodic-Semantic Event Bridge).

A handler runs in the transaction of a delivery, together with many others. A memory saved or changed in it would keep
its user's writers waiting until that transaction ends, so the tasks of `ingest` and `reconcile` do that. Handlers may
be called again for the same event: what they note is noted once.
"""

import logging
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from apps.core.db.user_locks import hold_users, locked_among
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Scope
from apps.episodic.domain.alarms import Severity
from apps.episodic.events import EventSaved, EventsPruned, TimelineHealthy, TimelineWarned
from apps.events.domain.envelope import Envelope, takes_batches
from apps.events.selectors import undelivered
from apps.semantic.bridge.audit import Pruning, audit
from apps.semantic.bridge.jobs import request_ingest, request_reconcile
from apps.semantic.bridge.metrics import JUDGED, WARNINGS
from apps.semantic.bridge.policies import routing_table
from apps.semantic.bridge.status import SAVED_HANDLER, observe_suspension
from apps.semantic.domain.routing import EventFacts
from apps.semantic.models import AuditAction, Ingestion, IngestionStatus

logger = logging.getLogger(__name__)

WITHDRAWN = "withdrawn"
LEVELS = {Severity.NOTICE: logging.INFO, Severity.WARNING: logging.WARNING, Severity.CRITICAL: logging.ERROR}


@takes_batches
def events_saved(envelopes: Sequence[Envelope]) -> None:
    """Judge events by the routing policies, and have those that a policy wants saved as memories."""
    now, table, routed = utcnow(SYSTEM_CLOCK), routing_table(), []
    for event in (envelope.payload for envelope in envelopes):
        if not isinstance(event, EventSaved):
            continue
        if not event.content:  # purged before its delivery
            JUDGED.labels(WITHDRAWN).inc()
            continue
        decision = table.judge(EventFacts(event.household_id or "", event.event_type, event.importance))
        JUDGED.labels(decision.judgement.value).inc()
        if decision.policy is not None:
            routed.append(
                Ingestion(
                    event_id=event.event_id,
                    user_id=event.user_id,
                    household_id=event.household_id or "",
                    persona_id=event.persona_id or "",
                    event_type=event.event_type,
                    timestamp=event.timestamp,
                    importance=event.importance,
                    content=event.content,
                    recorded_at=event.recorded_at,
                    origin=event.origin,
                    policy=decision.policy.name,
                    created_at=now,
                    next_try_at=now,
                )
            )
    forgotten = locked_among(row.user_id for row in routed)
    if routed := [row for row in routed if row.user_id not in forgotten]:
        hold_users(row.user_id for row in routed)
        # An event that is delivered again has a row already, whatever became of it.
        Ingestion.objects.bulk_create(routed, ignore_conflicts=True)
        request_ingest()


@takes_batches
def events_pruned(envelopes: Sequence[Envelope]) -> None:
    """Keep pruned events from becoming memories, and have the memories of the others reconciled."""
    now = utcnow(SYSTEM_CLOCK)
    payloads = [envelope.payload for envelope in envelopes if isinstance(envelope.payload, EventsPruned)]
    note_undelivered(payloads, now)
    for pruned in payloads:
        end_or_unlink(pruned, now)


def note_undelivered(payloads: Sequence[EventsPruned], now: datetime) -> None:
    """Create ended rows for pruned events that were not delivered yet, so that no memories are made of them then."""
    by_id = {event_id: pruned for pruned in payloads for event_id in pruned.event_ids}
    late = undelivered(SAVED_HANDLER).filter(payload__event_id__in=[str(event_id) for event_id in by_id])
    rows = []
    for event_id in {UUID(found) for found in late.values_list("payload__event_id", flat=True)}:
        pruned = by_id[event_id]
        rows.append(
            Ingestion(
                event_id=event_id,
                user_id=pruned.user_id,
                household_id=pruned.household_id or "",
                persona_id=pruned.persona_id or "",
                status=IngestionStatus.PRUNED,
                pruned_reason=pruned.reason.value,
                pruned_by=pruned.actor,
                created_at=now,
                next_try_at=now,
                ended_at=now,
            )
        )
    if rows:
        Ingestion.objects.bulk_create(rows, ignore_conflicts=True)


def end_or_unlink(pruned: EventsPruned, now: datetime) -> None:
    """Have linked memories reconciled, and end the events that are no memories yet, with an audit record."""
    scope = Scope(pruned.user_id, pruned.household_id, pruned.persona_id)
    known = Ingestion.objects.exactly_in(scope).filter(event_id__in=pruned.event_ids)
    # Locked first, in one order: an event that is being saved concurrently is linked by the time it is read.
    rows = list(known.affected_by_pruning().order_by("id").select_for_update())
    linked = [row.pk for row in rows if row.status == IngestionStatus.LINKED]
    unmade = [row for row in rows if row.status != IngestionStatus.LINKED]
    why = {"pruned_reason": pruned.reason.value, "pruned_by": pruned.actor}
    if linked:
        Ingestion.objects.filter(pk__in=linked).update(status=IngestionStatus.UNLINKING, **why)
        request_reconcile()
    if unmade:
        Ingestion.objects.filter(pk__in=[row.pk for row in unmade]).update(
            status=IngestionStatus.PRUNED, content="", error="", ended_at=now, **why
        )
        pruning = Pruning(pruned.reason.value, pruned.actor)
        for policy in sorted({row.policy for row in unmade}):
            ids = [row.event_id for row in unmade if row.policy == policy]
            audit(AuditAction.DROPPED, scope, ids, pruning, policy=policy, at=now)


def timeline_warned(envelope: Envelope) -> None:
    """Log and count a warning of the timeline, with its severity and what to do about it."""
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
    """Resume with pending events once no warning suspends the bridge any more."""
    healthy = envelope.payload
    assert isinstance(healthy, TimelineHealthy)
    suspended = observe_suspension()
    logger.info(
        "timeline warning %s is over: segment=%s suspended=%s", healthy.kind.value, healthy.segment_id, suspended
    )
    if not suspended:
        request_ingest()
