"""Save one batch of events as memories, and link each event to its memory."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from rest_framework.exceptions import ValidationError

from apps.core.domain.clock import Clock, utcnow
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import system_access
from apps.semantic.bridge import metrics
from apps.semantic.bridge.policies import policies_named, routing_table
from apps.semantic.conflicts.candidate import Candidate
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.memories.save import SaveOutcome, save_prepare, save_write
from apps.semantic.memories.writer import SaveResult
from apps.semantic.models import Ingestion, IngestionStatus, Memory, RoutingPolicy
from apps.semantic.schemas.memories import MemoryInput, make_draft
from apps.semantic.store.embedding_space import with_current_space

_COLUMNS = ("status", "policy", "on_prune", "error", "action", "memory_id", "conflict", "came_from_events")
# What failed keeps its words, to be tried again; nothing else needs them any more.
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


@dataclass(frozen=True)
class EndedRow:
    """What one event has come to: see the fields of `Ingestion`."""

    id: int
    status: str
    policy: str
    on_prune: str
    error: str = ""
    action: str = ""
    memory_id: int | None = None
    conflict: str | None = None
    came_from_events: bool = False


def links_write(rows: Sequence[EndedRow], at: datetime) -> None:
    """End rows that are locked by this transaction."""
    with connection.cursor() as cursor:
        cursor.execute(_UPDATE, [at, json.dumps([asdict(row) for row in rows])])


# By these a reader of a memory finds the event that it was made of, and the policy that wanted it.
EVENT_KEY, TYPE_KEY, POLICY_KEY = "episodic_event_id", "episodic_event_type", "routing_policy"


@dataclass(frozen=True)
class Unusable:
    """Why no memory can be made of an event: field and code, never the value."""

    error: str


def draft_from(row: Ingestion, policy: RoutingPolicy, form: MemoryInput) -> MemoryDraft | Unusable:
    """The memory that an event becomes by a policy, with the way back to it in its metadata.

    form: checks it; making one takes longer than using it.
    """
    assert row.timestamp is not None
    fields = {
        **row.scope.named(),
        "content": row.content,
        "type": policy.memory_type,
        "decay_policy": policy.decay_policy,
        "importance": row.importance,
        "confidence": policy.confidence,
        "source": policy.source,
        "occurred_at": row.timestamp.isoformat(),
        "metadata": {EVENT_KEY: str(row.event_id), TYPE_KEY: row.event_type, POLICY_KEY: policy.name},
    }
    try:
        return make_draft(form.run_validation(fields))
    except ValidationError as error:
        return Unusable(_first_code(error.get_codes()))


def _first_code(codes: Any) -> str:
    if isinstance(codes, dict):
        name, inner = next(iter(codes.items()))
        return f"{name}: {_first_code(inner)}"
    return _first_code(codes[0]) if isinstance(codes, list) else str(codes)


BRIDGE = system_access("bridge")
# Why an event was dropped: no policy wants it any more.
UNWANTED = "unwanted"


@dataclass
class BatchReport:
    """outcomes: what saving did, `failed` or `dropped` -> how many. passed: rows that somebody else held."""

    outcomes: Counter[str] = field(default_factory=Counter)
    passed: set[int] = field(default_factory=set)


@dataclass(frozen=True, eq=False)
class _Ready:
    """An event with all that its memory takes."""

    row: Ingestion
    policy: RoutingPolicy
    draft: MemoryDraft


def batch_save(*, batch: Sequence[Ingestion], clock: Clock) -> BatchReport:
    """Make memories of waiting events. Call it outside a transaction.

    Raises UnavailableError when the embedding model does not answer; then no memory was made.
    """
    report = BatchReport()
    ready = _drafted(_still_wanted(batch, report, clock), report, clock)
    if ready:
        with_current_space(lambda _: _save(ready, report, clock))
    for outcome, count in report.outcomes.items():
        metrics.INGESTED.labels(outcome).inc(count)
    return report


def rows_end(*, rows: Collection[Ingestion], status: IngestionStatus, error: str, clock: Clock) -> int:
    """End the way of events that no memory is made of. What failed keeps its words, to be tried again."""
    words = {} if status == IngestionStatus.FAILED else {"content": ""}
    waiting = Ingestion.objects.pending().filter(pk__in=[row.pk for row in rows])
    return waiting.update(status=status, error=error, ended_at=utcnow(clock), **words)


def _still_wanted(
    batch: Iterable[Ingestion], report: BatchReport, clock: Clock
) -> list[tuple[Ingestion, RoutingPolicy]]:
    """The events with the policies that want them now: what an operator switched off meanwhile makes no memories."""
    table = routing_table()
    judged = [(row, policy.name) for row in batch if (policy := table.judge(row.facts).policy)]
    policies = policies_named(name for _, name in judged)
    wanted = [(row, policies[name]) for row, name in judged if name in policies]
    unwanted = set(batch) - {row for row, _ in wanted}
    if unwanted:
        report.outcomes["dropped"] += rows_end(
            rows=unwanted, status=IngestionStatus.DROPPED, error=UNWANTED, clock=clock
        )
    return wanted


def _drafted(wanted: Iterable[tuple[Ingestion, RoutingPolicy]], report: BatchReport, clock: Clock) -> list[_Ready]:
    ready, form = [], MemoryInput()
    for row, policy in wanted:
        draft = draft_from(row, policy, form)
        if isinstance(draft, Unusable):
            report.outcomes["failed"] += rows_end(
                rows=[row], status=IngestionStatus.FAILED, error=draft.error, clock=clock
            )
        else:
            ready.append(_Ready(row, policy, draft))
    return ready


def _save(ready: Sequence[_Ready], report: BatchReport, clock: Clock) -> None:
    """Embed without a lock, then save, link and end in one transaction."""
    prepared = save_prepare(access=BRIDGE, drafts=[one.draft for one in ready])
    with transaction.atomic():
        held = _hold(ready)
        report.passed |= {one.row.pk for one in ready} - held
        mine = [(one, item) for one, item in zip(ready, prepared.items, strict=True) if one.row.pk in held]
        outcomes = save_write(prepared=replace(prepared, items=[item for _, item in mine]), clock=clock)
        now = utcnow(clock)
        ended = _ended(mine, outcomes)
        links_write(ended, now)
    report.outcomes.update(row.action or "failed" for row in ended)
    _observe_lag((one.row for (one, _), row in zip(mine, ended, strict=True) if row.action), now)


def _hold(ready: Sequence[_Ready]) -> set[int]:
    """Those that still wait, locked until the transaction ends. What somebody else holds is being pruned: waiting for
    them could mean that they wait for us."""
    rows = Ingestion.objects.pending().filter(pk__in=[one.row.pk for one in ready]).order_by("id")
    return set(rows.select_for_update(skip_locked=True).values_list("pk", flat=True))


def _ended(
    mine: Sequence[tuple[_Ready, Candidate | MemoryHubError]], outcomes: Sequence[SaveOutcome]
) -> list[EndedRow]:
    """What the events have come to, in their order."""
    made = _made(item.uuid for _, item in mine if isinstance(item, Candidate))
    results = [outcome.memory.pk for outcome in outcomes if isinstance(outcome, SaveResult)]
    from_events = {*made.values(), *_from_events(results)}
    return [
        _ended_row(one, item, outcome, made, from_events) for (one, item), outcome in zip(mine, outcomes, strict=True)
    ]


def _ended_row(
    one: _Ready,
    item: Candidate | MemoryHubError,
    outcome: SaveOutcome,
    made: Mapping[UUID, int],
    from_events: Collection[int],
) -> EndedRow:
    row = EndedRow(one.row.pk, IngestionStatus.LINKED.value, one.policy.name, one.policy.on_prune)
    if isinstance(outcome, MemoryHubError) or isinstance(item, MemoryHubError):
        return replace(row, status=IngestionStatus.FAILED.value, error=str(getattr(outcome, "code", "")))
    # Its own memory, even where that has lost or was merged; else the one that said the same already.
    memory = made.get(item.uuid, outcome.memory.pk)
    return replace(
        row,
        action=outcome.action,
        memory_id=memory,
        conflict=str(outcome.conflict) if outcome.conflict else None,
        came_from_events=memory in from_events,
    )


def _made(uuids: Iterable[UUID]) -> dict[UUID, int]:
    """The memories that were made of drafts of this batch."""
    return dict(Memory.objects.filter(uuid__in=uuids).values_list("uuid", "pk"))


def _from_events(memories: Iterable[int]) -> set[int]:
    """Which of these memories came from earlier events."""
    links = Ingestion.objects.filter(memory__in=set(memories), came_from_events=True)
    return {pk for pk in links.values_list("memory", flat=True) if pk is not None}


def _observe_lag(rows: Iterable[Ingestion], now: datetime) -> None:
    for row in rows:
        if row.recorded_at is not None:
            metrics.INGESTION_LAG.observe(max(0.0, (now - row.recorded_at).total_seconds()))
