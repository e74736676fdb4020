"""What becomes of memories whose events were pruned (spec 000, Pruned event reconciliation).

Each memory is looked at in a short transaction of its own, in which it is changed, unlinked and the audit record
written: a worker that is killed leaves it as it was or done. Nothing is destroyed: what is demoted has its values of
before in its history, and what is deleted can be restored.
"""

import logging
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ConflictError
from apps.events.domain.retry import describe_error
from apps.semantic.bridge.audit import Pruning, audit
from apps.semantic.bridge.batch import BRIDGE
from apps.semantic.bridge.jobs import request_reconcile
from apps.semantic.bridge.policies import policies_named
from apps.semantic.conflicts.review import Winner, conflict_override
from apps.semantic.domain.routing import LinkedMemory, OnPrune, Remedy, demoted, remedy, strictest
from apps.semantic.memories.lifecycle import memory_delete
from apps.semantic.models import (
    AuditAction,
    Conflict,
    ConflictOutcome,
    Ingestion,
    IngestionStatus,
    Memory,
    MemoryStatus,
    RevisionAction,
)
from apps.semantic.store.unit_of_work import UnitOfWork, lock_shards

logger = logging.getLogger(__name__)

REASON = "episodic_pruned"
RUN_SECONDS = 20.0
MAX_LINKS = 500
# By themselves, or in what they were merged into in turn.
_STANDING = (MemoryStatus.ACTIVE, MemoryStatus.MERGED)
ACTIONS = {
    Remedy.DEMOTE: AuditAction.DEMOTED,
    Remedy.DELETE: AuditAction.DELETED,
    Remedy.SEPARATE: AuditAction.DELETED,
    Remedy.KEEP: AuditAction.KEPT,
}


@dataclass(frozen=True)
class _Done:
    """What was done about a memory. why: one word. changes: field -> [before, after]."""

    action: AuditAction
    why: str
    changes: Mapping[str, Any]


def links_reconcile(*, seconds: float = RUN_SECONDS, clock: Clock = SYSTEM_CLOCK) -> Counter[str]:
    """Look at the memories of pruned events, for about `seconds`; gives what was done -> to how many.

    Then it asks for another run if there are more. Call it outside a transaction. Safe beside others of its kind.
    """
    end, passed, done = clock.now() + int(seconds * 1000), set[int](), Counter[str]()
    while memory := _next_memory(passed):
        if clock.now() >= end:
            request_reconcile()
            break
        if action := _tried(memory, clock):
            done[action.value] += 1
        else:
            passed.add(memory)
    return done


def _tried(memory_id: int, clock: Clock) -> AuditAction | None:
    """What was done about one memory; None when another worker is at it, or it went wrong: the schedule comes again."""
    try:
        return _reconcile(memory_id, clock)
    except Exception as error:  # noqa: BLE001  (one memory must not keep the others from being looked at)
        logger.warning("a memory of pruned events could not be looked at: %s", describe_error(error, []))
        return None


def _next_memory(passed: Collection[int]) -> int | None:
    rows = Ingestion.objects.unlinking().exclude(memory__in=passed).order_by("id")
    return rows.values_list("memory", flat=True).first()


@transaction.atomic
def _reconcile(memory_id: int, clock: Clock) -> AuditAction | None:
    """Do what the policy says about one memory; None when another worker is at it."""
    links = Ingestion.objects.unlinking().filter(memory=memory_id).order_by("id")
    rows = list(links.select_for_update(skip_locked=True)[:MAX_LINKS])
    if not rows:
        return None
    now, user = utcnow(clock), rows[0].user_id
    versions = lock_shards([user])
    memory = Memory.objects.select_related("superseded_by").get(pk=memory_id)
    done = _apply(memory, rows, UnitOfWork(BRIDGE.actor, now, versions), clock)
    for pruning in sorted({_pruning(row) for row in rows}, key=lambda one: (one.reason, one.actor)):
        _audit(done, memory, [row for row in rows if _pruning(row) == pruning], pruning, now)
    Ingestion.objects.filter(pk__in=[row.pk for row in rows]).update(
        status=IngestionStatus.PRUNED, memory=None, ended_at=now
    )
    return done.action


def _pruning(row: Ingestion) -> Pruning:
    return Pruning(row.pruned_reason, row.pruned_by)


def _audit(done: _Done, memory: Memory, rows: Sequence[Ingestion], pruning: Pruning, now: datetime) -> None:
    audit(
        done.action,
        memory.scope,
        [row.event_id for row in rows],
        pruning,
        at=now,
        policy=rows[-1].policy,
        memory=memory.uuid,
        why=done.why,
        changes=done.changes,
    )


def _apply(memory: Memory, rows: Sequence[Ingestion], unit: UnitOfWork, clock: Clock) -> _Done:
    on_prune = _on_prune(rows)
    what, why = remedy(on_prune, _facts(memory, rows))
    if what is Remedy.DEMOTE:
        return _Done(ACTIONS[what], why.value, _demote(memory, unit))
    if what is Remedy.SEPARATE and (refusal := _separate(memory, clock)):
        return _Done(AuditAction.KEPT, refusal, {})
    if what in {Remedy.SEPARATE, Remedy.DELETE}:
        before = Memory.objects.get(pk=memory.pk).status
        memory_delete(access=BRIDGE, uuid=memory.uuid, reason=REASON, clock=clock)
        return _Done(ACTIONS[what], why.value, {"status": [before, MemoryStatus.DELETED.value]})
    return _Done(ACTIONS[what], why.value, {})


def _on_prune(rows: Sequence[Ingestion]) -> OnPrune:
    """What the policies that wanted the events say now; of one that is gone, what it said then."""
    policies = policies_named(row.policy for row in rows)
    return strictest(OnPrune(policies[row.policy].on_prune if row.policy in policies else row.on_prune) for row in rows)


def _facts(memory: Memory, rows: Sequence[Ingestion]) -> LinkedMemory:
    others = Ingestion.objects.filter(memory=memory).exclude(pk__in=[row.pk for row in rows])
    # Saving the same content with more confidence leaves this trace, whoever does it.
    saved_again = memory.revisions.filter(action=RevisionAction.UPDATED, conflict=None).exclude(actor=BRIDGE.actor)
    return LinkedMemory(
        status=str(memory.status),
        came_from_events=any(row.came_from_events for row in rows),
        has_other_events=others.exists(),
        saved_by_others=saved_again.exists(),
    )


def _demote(memory: Memory, unit: UnitOfWork) -> dict[str, Any]:
    after = demoted(memory.importance, memory.base_confidence)
    changes = {name: [getattr(memory, name), value] for name, value in after.items()}
    unit.update(memory, after, reason=REASON)
    unit.write()
    return changes


def _separate(memory: Memory, clock: Clock) -> str:
    """Let the other of two merged memories stand by itself again; gives why that cannot be done, or nothing.

    Where what they became does not stand any more, neither does the other: there is nothing to be done.
    """
    of_memory = Q(candidate=memory) | Q(existing=memory)
    receipts = Conflict.objects.in_force().filter(of_memory, outcome=ConflictOutcome.MERGED).select_related("result")
    receipt = receipts.newest_first().first()
    if receipt is None or receipt.result is None or receipt.result.status not in _STANDING:
        return ""
    winner = Winner.EXISTING if receipt.candidate_id == memory.pk else Winner.CANDIDATE
    try:
        conflict_override(access=BRIDGE, uuid=receipt.uuid, winner=winner, clock=clock)
    except ConflictError as error:
        return error.code
    return ""
