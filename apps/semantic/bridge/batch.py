"""Save one batch of events as memories, and link each event to its memory."""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from rest_framework.exceptions import ValidationError

from apps.core.domain.clock import Clock, utcnow
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import system_access
from apps.core.schemas.serializers import validate
from apps.semantic.bridge import metrics
from apps.semantic.bridge.policies import policies_named, routing_table
from apps.semantic.conflicts.candidate import Candidate
from apps.semantic.domain.memory import EVENT_KEY, POLICY_KEY, TYPE_KEY, MemoryDraft
from apps.semantic.domain.routing import BRIDGE_ACTOR
from apps.semantic.memories.save import SaveOutcome, save_prepare, save_write
from apps.semantic.memories.writer import SaveResult
from apps.semantic.models import Ingestion, IngestionStatus, Memory, RoutingPolicy
from apps.semantic.schemas.memories import MemoryInput, make_draft
from apps.semantic.store.embedding_space import with_current_space

# What it makes of an event has the origin of the event, which no key has to allow.
BRIDGE = system_access(BRIDGE_ACTOR, vouches=WriteOrigin.PERSON)
# The error of a dropped event that no policy wants any more.
UNWANTED = "unwanted"

_COLUMNS = ("status", "policy", "on_prune", "error", "action", "memory_id", "conflict", "came_from_events")
# A failed event keeps its content, to be retried; nothing else needs it any more. One statement, because it runs while
# the writers of these users wait, and the ORM takes longer over it than saving takes.
_UPDATE = f"""
UPDATE {Ingestion._meta.db_table} AS old
SET {", ".join(f"{name} = ended.{name}" for name in _COLUMNS)}, ended_at = %s,
    content = CASE WHEN ended.status = 'failed' THEN old.content ELSE '' END
FROM jsonb_to_recordset(%s::jsonb) AS ended (
    id bigint, status text, policy text, on_prune text, error text, action text, memory_id bigint, conflict uuid,
    came_from_events boolean
)
WHERE old.id = ended.id
"""  # noqa: S608  (names of our own table)


class UnusableEventError(Exception):
    """No memory can be made of an event; the text is a field and an error code, never the value."""


@dataclass
class BatchReport:
    """outcomes: action of saving, `failed` or `dropped` -> how many. skipped: rows that another transaction held."""

    outcomes: Counter[str] = field(default_factory=Counter)
    skipped: set[int] = field(default_factory=set)


@dataclass(frozen=True, eq=False)
class ReadyEvent:
    """An event, the policy that wants it, and the draft of its memory."""

    row: Ingestion
    policy: RoutingPolicy
    draft: MemoryDraft


def batch_save(*, batch: Sequence[Ingestion], clock: Clock) -> BatchReport:
    """Make memories of pending events. Call it outside a transaction.

    Raises:
        UnavailableError: the embedding model does not answer; then no memory was made.
    """
    report = BatchReport()
    ready = select_ready(batch, report, clock)
    if ready:
        with_current_space(lambda _: save_ready(ready, report, clock))
    for outcome, count in report.outcomes.items():
        metrics.INGESTED.labels(outcome).inc(count)
    return report


def rows_end(*, rows: Collection[Ingestion], status: IngestionStatus, error: str, clock: Clock) -> int:
    """End the course of events without a memory. Failed ones keep their content, to be retried."""
    content = {} if status == IngestionStatus.FAILED else {"content": ""}
    pending = Ingestion.objects.pending().filter(pk__in=[row.pk for row in rows])
    return pending.update(status=status, error=error, ended_at=utcnow(clock), **content)


def select_ready(batch: Sequence[Ingestion], report: BatchReport, clock: Clock) -> list[ReadyEvent]:
    """Judge events once more, as policies may have changed, and make their drafts. End those that make no memory."""
    table = routing_table()
    chosen = {row.pk: criteria.name for row in batch if (criteria := table.judge(row.facts).policy)}
    policies = policies_named(chosen.values())
    ready, unwanted = [], []
    for row in batch:
        policy = policies.get(chosen.get(row.pk, ""))
        if policy is None:
            unwanted.append(row)
            continue
        try:
            ready.append(ReadyEvent(row, policy, draft_event(row, policy)))
        except UnusableEventError as error:
            failed = rows_end(rows=[row], status=IngestionStatus.FAILED, error=str(error), clock=clock)
            report.outcomes["failed"] += failed
    if unwanted:
        dropped = rows_end(rows=unwanted, status=IngestionStatus.DROPPED, error=UNWANTED, clock=clock)
        report.outcomes["dropped"] += dropped
    return ready


def draft_event(row: Ingestion, policy: RoutingPolicy) -> MemoryDraft:
    """Return the memory that an event becomes by a policy, checked as in REST. Raises UnusableEventError."""
    assert row.timestamp is not None
    fields = {
        **row.scope.named(),
        "content": row.content,
        "type": policy.memory_type,
        "decay_policy": policy.decay_policy,
        "importance": row.importance,
        "confidence": policy.confidence,
        "source": policy.source,
        "origin": row.origin,
        "occurred_at": row.timestamp.isoformat(),
        "metadata": {EVENT_KEY: str(row.event_id), TYPE_KEY: row.event_type, POLICY_KEY: policy.name},
    }
    try:
        return make_draft(validate(MemoryInput, fields))
    except ValidationError as error:
        raise UnusableEventError(first_code(error.get_codes())) from error


def first_code(codes: Any) -> str:
    """Return the first of nested error codes, after the name of its field."""
    if isinstance(codes, dict):
        name, inner = next(iter(codes.items()))
        return f"{name}: {first_code(inner)}"
    return first_code(codes[0]) if isinstance(codes, list) else str(codes)


def save_ready(ready: Sequence[ReadyEvent], report: BatchReport, clock: Clock) -> None:
    """Embed without a lock, then save, link and end in one transaction."""
    prepared = save_prepare(access=BRIDGE, drafts=[event.draft for event in ready])
    with transaction.atomic():
        held = lock_pending(ready)
        report.skipped |= {event.row.pk for event in ready} - held
        mine = [(event, item) for event, item in zip(ready, prepared.items, strict=True) if event.row.pk in held]
        outcomes = save_write(prepared=replace(prepared, items=[item for _, item in mine]), clock=clock)
        now = utcnow(clock)
        ended = link_events(mine, outcomes)
        write_ended(ended, now)
    report.outcomes.update(row["action"] or "failed" for row in ended)
    observe_lag([event.row for (event, _), row in zip(mine, ended, strict=True) if row["action"]], now)


def lock_pending(ready: Sequence[ReadyEvent]) -> set[int]:
    """Lock the rows that are still pending until the transaction ends, and return their keys.

    What another transaction holds is being pruned, and skipped: to wait for it could be a deadlock.
    """
    rows = Ingestion.objects.pending().filter(pk__in=[event.row.pk for event in ready]).order_by("id")
    return set(rows.select_for_update(skip_locked=True).values_list("pk", flat=True))


def link_events(
    mine: Sequence[tuple[ReadyEvent, Candidate | MemoryHubError]], outcomes: Sequence[SaveOutcome]
) -> list[dict[str, Any]]:
    """Return the columns with which the course of each event ends, in their order: linked to its memory, or failed."""
    uuids = [item.uuid for _, item in mine if isinstance(item, Candidate)]
    made = dict(Memory.objects.filter(uuid__in=uuids).values_list("uuid", "pk"))
    saved = {outcome.memory.pk for outcome in outcomes if isinstance(outcome, SaveResult)}
    earlier = Ingestion.objects.filter(memory__in=saved, came_from_events=True)
    from_events = {*made.values(), *earlier.values_list("memory", flat=True)}
    ended = []
    for (event, item), outcome in zip(mine, outcomes, strict=True):
        row: dict[str, Any] = {
            "id": event.row.pk, "status": IngestionStatus.LINKED.value, "policy": event.policy.name,
            "on_prune": event.policy.on_prune, "error": "", "action": "", "memory_id": None, "conflict": None,
            "came_from_events": False,
        }  # fmt: skip
        if isinstance(outcome, MemoryHubError) or isinstance(item, MemoryHubError):
            row |= {"status": IngestionStatus.FAILED.value, "error": str(getattr(outcome, "code", ""))}
        else:
            # Its own memory, even if that was superseded or merged; else the one that already said the same.
            memory = made.get(item.uuid, outcome.memory.pk)
            conflict = str(outcome.conflict) if outcome.conflict else None
            row |= {"action": outcome.action, "memory_id": memory, "conflict": conflict}
            row["came_from_events"] = memory in from_events
        ended.append(row)
    return ended


def write_ended(rows: Sequence[Mapping[str, Any]], at: datetime) -> None:
    """Write how events end, whose rows are locked by this transaction."""
    with connection.cursor() as cursor:
        cursor.execute(_UPDATE, [at, json.dumps(rows)])


def observe_lag(rows: Sequence[Ingestion], now: datetime) -> None:
    """Show in the metrics how long ago the events of new memories were recorded."""
    for row in rows:
        if row.recorded_at is not None:
            metrics.INGESTION_LAG.observe(max(0.0, (now - row.recorded_at).total_seconds()))
