"""Demote or delete the memories whose events were pruned (spec 000, Pruned event reconciliation).

Each memory is reconciled in a short transaction of its own, in which it is changed, unlinked and the audit record
created: a worker that is killed leaves it as it was or done. Nothing is destroyed: a demoted memory has its previous
values in its history, and a deleted one can be restored.
"""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
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
from apps.semantic.memories.writer import revisions_by_others
from apps.semantic.models import (
    AuditAction,
    Conflict,
    ConflictOutcome,
    Ingestion,
    IngestionStatus,
    Memory,
    MemoryStatus,
)
from apps.semantic.store.unit_of_work import UnitOfWork, lock_shards

logger = logging.getLogger(__name__)

REASON = "episodic_pruned"
RUN_SECONDS = 20.0
MAX_LINKS = 500
# A merged memory counts where the one that it was merged into was merged in turn.
_IN_EFFECT = (MemoryStatus.ACTIVE, MemoryStatus.MERGED)
ACTIONS = {
    Remedy.DEMOTE: AuditAction.DEMOTED,
    Remedy.DELETE: AuditAction.DELETED,
    Remedy.SEPARATE: AuditAction.DELETED,
    Remedy.KEEP: AuditAction.KEPT,
}


def links_reconcile(*, seconds: float = RUN_SECONDS, clock: Clock = SYSTEM_CLOCK) -> Counter[str]:
    """Reconcile the memories of pruned events, for about `seconds`. Return action -> how many memories.

    Requests another run if there are more. Call it outside a transaction. Several may run concurrently.
    """
    end, skipped, done = clock.now() + int(seconds * 1000), set[int](), Counter[str]()
    links = Ingestion.objects.unlinking().order_by("id").values_list("memory", flat=True)
    while memory := links.exclude(memory__in=skipped).first():
        if clock.now() >= end:
            request_reconcile()
            break
        try:
            action = reconcile_memory(memory, clock)
        except Exception as error:  # noqa: BLE001  (one memory must not keep the others from being reconciled)
            logger.warning("a memory of pruned events could not be reconciled: %s", describe_error(error, []))
            action = None  # the schedule retries it
        if action is None:
            skipped.add(memory)
        else:
            done[action.value] += 1
    return done


@transaction.atomic
def reconcile_memory(memory_id: int, clock: Clock) -> AuditAction | None:
    """Do what the policy says about one memory; None when another worker has it."""
    links = Ingestion.objects.unlinking().filter(memory=memory_id).order_by("id")
    rows = list(links.select_for_update(skip_locked=True)[:MAX_LINKS])
    if not rows:
        return None
    now, user = utcnow(clock), rows[0].user_id
    versions = lock_shards([user])
    memory = Memory.objects.select_related("superseded_by").get(pk=memory_id)
    action, why, changes = apply_remedy(memory, rows, UnitOfWork(BRIDGE.actor, now, versions), clock)
    for reason, actor in sorted({(row.pruned_reason, row.pruned_by) for row in rows}):
        pruned = [row for row in rows if (row.pruned_reason, row.pruned_by) == (reason, actor)]
        audit(
            action,
            memory.scope,
            [row.event_id for row in pruned],
            Pruning(reason, actor),
            at=now,
            policy=pruned[-1].policy,
            memory=memory.uuid,
            why=why,
            changes=changes,
        )
    Ingestion.objects.filter(pk__in=[row.pk for row in rows]).update(
        status=IngestionStatus.PRUNED, memory=None, ended_at=now
    )
    return action


def apply_remedy(
    memory: Memory, rows: Sequence[Ingestion], work: UnitOfWork, clock: Clock
) -> tuple[AuditAction, str, Mapping[str, Any]]:
    """Change a memory as the strictest policy of its pruned events says.

    Return what was done, why in one word, and what changed: field -> [before, after].
    """
    policies = policies_named(row.policy for row in rows)
    # What the policies say now; of one that is deleted, what it said then.
    on_prune = strictest(
        OnPrune(policies[row.policy].on_prune if row.policy in policies else row.on_prune) for row in rows
    )
    others = Ingestion.objects.filter(memory=memory).exclude(pk__in=[row.pk for row in rows])
    linked = LinkedMemory(
        status=str(memory.status),
        came_from_events=any(row.came_from_events for row in rows),
        has_other_events=others.exists(),
        saved_by_others=revisions_by_others([memory.pk]).exists(),
    )
    what, why = remedy(on_prune, linked)
    if what is Remedy.DEMOTE:
        after = demoted(memory.importance, memory.base_confidence)
        changes = {name: [getattr(memory, name), value] for name, value in after.items()}
        work.update(memory, after, reason=REASON)
        work.write()
        return ACTIONS[what], why.value, changes
    if what is Remedy.SEPARATE and (refusal := separate(memory, clock)):
        return AuditAction.KEPT, refusal, {}
    if what in {Remedy.SEPARATE, Remedy.DELETE}:
        before = Memory.objects.get(pk=memory.pk).status
        memory_delete(access=BRIDGE, uuid=memory.uuid, reason=REASON, clock=clock)
        return ACTIONS[what], why.value, {"status": [before, MemoryStatus.DELETED.value]}
    return ACTIONS[what], why.value, {}


def separate(memory: Memory, clock: Clock) -> str:
    """Make the other of two merged memories active again. Return why that is not possible, or nothing.

    Where the merged memory is not in effect any more, neither is the other: there is nothing to be done.
    """
    of_memory = Q(candidate=memory) | Q(existing=memory)
    receipts = Conflict.objects.in_force().filter(of_memory, outcome=ConflictOutcome.MERGED).select_related("result")
    receipt = receipts.newest_first().first()
    if receipt is None or receipt.result is None or receipt.result.status not in _IN_EFFECT:
        return ""
    winner = Winner.EXISTING if receipt.candidate_id == memory.pk else Winner.CANDIDATE
    try:
        conflict_override(access=BRIDGE, uuid=receipt.uuid, winner=winner, clock=clock)
    except ConflictError as error:
        return error.code
    return ""
