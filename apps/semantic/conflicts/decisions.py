"""Apply a verdict: which memories are superseded, what two are merged into, and the receipt of it (DESIGN D3, D5)."""

from dataclasses import asdict, replace
from datetime import datetime
from uuid import UUID

from django.conf import settings

from apps.core.domain.origin import WriteOrigin, lowest_origin
from apps.retrieval.domain.content import content_hash
from apps.rules.domain.engine.detection import cosine_of
from apps.rules.domain.engine.merge import MergeResult, merge
from apps.rules.domain.engine.verdict import VerdictOutcome, notice_only
from apps.semantic.conflicts.candidate import Case, SaveContext
from apps.semantic.conflicts.receipts import build_receipt, complete_receipt, decided_event
from apps.semantic.conflicts.restatement import change, enrich_candidate, enrich_existing, enrich_merged, restated
from apps.semantic.domain.confidence import DecayPolicy
from apps.semantic.domain.details import add_sessions, merge_metadata
from apps.semantic.domain.memory import ATTRIBUTES, MemoryDraft
from apps.semantic.domain.state import Transition
from apps.semantic.models import Conflict, Memory, MemoryStatus, RevisionAction
from apps.semantic.store.details import details_of, set_details
from apps.semantic.store.rows import dated_key, new_memory, word_columns
from apps.semantic.store.unit_of_work import UnitOfWork, state_of

# The one that lasts longest first.
_LASTING = (DecayPolicy.STABLE, DecayPolicy.REINFORCEABLE, DecayPolicy.CONTEXTUAL)


def decision_apply(unit: UnitOfWork, context: SaveContext, case: Case) -> Conflict:
    """Do what a verdict says. Return its receipt, whose `result` is the memory that is active, None where both are.

    Where `context.vectors` has something missing afterwards, the transaction must not be committed.
    """
    merged = None
    if case.verdict.outcome is VerdictOutcome.MERGED:
        existing, limit = case.verdict.main.conflict.existing, settings.MEMORYHUB.max_content_chars
        merged = merge(existing, case.record, cosine_of(case.record, existing), case.rule.merge)
        if len(merged.content) > limit:  # nothing is merged, and nothing lost
            reason = (
                f"Merged, they would be longer than {limit:,} characters: the conflict is noticed, and both are kept."
            )
            case, merged = replace(case, verdict=notice_only(case.verdict, reason)), None
    receipt = build_receipt(case, context.rules)
    if merged is None:
        result, transitions = keep(unit, context, case, receipt.uuid)
    else:
        receipt.merge = {  # all but the content, which is that of the resulting memory
            "strategy": merged.strategy.value,
            "common_keywords": list(merged.common_keywords),
            "statistics": asdict(merged.statistics),
        }
        result, transitions = merge_memories(unit, context, case, merged, receipt.uuid)
    complete_receipt(receipt, actor=unit.actor, at=unit.now, result=result, transitions=transitions)
    unit.receipts.append(receipt)
    unit.events.append(decided_event(receipt))
    return receipt


def keep(unit: UnitOfWork, context: SaveContext, case: Case, receipt: UUID) -> tuple[Memory | None, list[Transition]]:
    """Apply a verdict by which one of the memories wins, or neither. Return the winner, and what changed."""
    match case.verdict.outcome:
        case VerdictOutcome.SUPERSEDED_EXISTING:
            changed = settle(unit, context, case, MemoryStatus.ACTIVE, None, receipt)
            changed += enrich_candidate(unit, case, receipt)
            changed += [supersede(unit, one, case.candidate, receipt) for one in (case.existing, *case.also)]
            return case.candidate, changed
        case VerdictOutcome.KEPT_EXISTING:
            changed = settle(unit, context, case, MemoryStatus.SUPERSEDED, case.existing, receipt)
            return case.existing, changed + enrich_existing(unit, case, receipt)
        case VerdictOutcome.REJECTED:
            return case.existing, settle(unit, context, case, MemoryStatus.REJECTED, case.existing, receipt)
        case _:
            return None, settle(unit, context, case, MemoryStatus.ACTIVE, None, receipt)


def merge_memories(
    unit: UnitOfWork, context: SaveContext, case: Case, merged: MergeResult, receipt: UUID
) -> tuple[Memory, list[Transition]]:
    """Replace two memories by what they are merged into. If a third one says exactly that already, by that one."""
    memory = merged_memory(case.existing, case.candidate, merged, unit.now)
    also = [one for one, _ in restated(case) if one is not case.existing]
    details = enrich_merged(details_of(memory), also, case.rule.merge)
    set_details(memory, asdict(details))
    leaving = [case.candidate, case.existing, *case.also]
    known = unit.find_pending_duplicate(dated_key(memory), exclude=leaving)
    if known is None:
        stored = [one.pk for one in leaving if one.pk is not None]
        same = Memory.objects.active().with_key(*dated_key(memory)).exclude(pk__in=stored)
        same = same.select_related("superseded_by")
        known = next((one for one in map(unit.attach, same) if one.status == MemoryStatus.ACTIVE), None)
    changed: list[Transition] = []
    if known is None:
        parents = [one for one in (case.record, case.verdict.main.conflict.existing) if one.embedding is not None]
        vectors = [one.embedding for one in parents if one.embedding is not None]
        same_text = (one.embedding for one in parents if one.content == merged.content)
        vector = next(same_text, None)
        if vector is None:
            vector = context.vectors.of(merged.content, vectors)
        unit.insert(memory, context.space, vector, is_given=False, reason="merged", receipt=receipt)
        changed.append(Transition(memory.uuid, None, state_of(memory)))
    else:
        changed += change(unit, known, enrich_merged(details_of(known), [memory], case.rule.merge), receipt)
    result = known or memory
    changed += settle(unit, context, case, MemoryStatus.MERGED, result, receipt)
    changed.append(
        unit.change_status(
            case.existing, MemoryStatus.MERGED, result, action=RevisionAction.MERGED, receipt=receipt, since=unit.now
        )
    )
    return result, changed + [supersede(unit, one, result, receipt) for one in case.also]


def settle(
    unit: UnitOfWork, context: SaveContext, case: Case, status: MemoryStatus, by: Memory | None, receipt: UUID
) -> list[Transition]:
    """Set the status of the candidate as decided; one that is not stored yet is inserted with it."""
    memory, arrival = case.candidate, case.arrival
    if arrival is None:
        if status == memory.status:
            return []
        action = RevisionAction(status.value) if status != MemoryStatus.ACTIVE else RevisionAction.UPDATED
        return [unit.change_status(memory, status, by, action=action, receipt=receipt, since=unit.now)]
    memory.status, memory.superseded_by = status, by
    memory.status_changed_at = None if status == MemoryStatus.ACTIVE else unit.now
    vector = context.vectors.of(memory.content) if arrival.vector is None else arrival.vector
    is_given = arrival.draft.embedding is not None
    unit.insert(memory, context.space, vector, is_given=is_given, reason=case.reason, receipt=receipt)
    return [Transition(memory.uuid, None, state_of(memory))]


def supersede(unit: UnitOfWork, memory: Memory, by: Memory, receipt: UUID) -> Transition:
    """Supersede a memory by another one."""
    status, action = MemoryStatus.SUPERSEDED, RevisionAction.SUPERSEDED
    return unit.change_status(memory, status, by, action=action, receipt=receipt, since=unit.now)


def merged_memory(existing: Memory, candidate: Memory, merged: MergeResult, now: datetime) -> Memory:
    """Return the unsaved row of two merged memories, in their scope.

    Where the rule says nothing, nothing is lost: attributes of the candidate before those of the existing one, the
    policy that lasts longer, the higher confidence, both contexts (each line once: a merged memory may be merged
    again), the metadata of both, of which the candidate's prevails. The origin is the lower one.
    """
    dates = [one.occurred_at for one in (candidate, existing) if one.occurred_at is not None]
    # In the offset of its writer, which the rule engine does not know.
    date = next((one for one in dates if one == merged.timestamp), merged.timestamp)
    lines = f"{existing.context}\n{candidate.context}".split("\n")
    attributes = {name: getattr(candidate, name) or getattr(existing, name) for name in ATTRIBUTES} | {
        "importance": merged.importance,
        "keywords": merged.keywords,
        "occurred_at": date if dates else None,
        "expires_at": None,
        "context": "\n".join(dict.fromkeys(line for line in lines if line)),
        "metadata": merge_metadata(existing.metadata, candidate.metadata, kept=candidate.metadata),
    }
    draft = MemoryDraft(
        content=merged.content,
        decay_policy=min(DecayPolicy(existing.decay_policy), DecayPolicy(candidate.decay_policy), key=_LASTING.index),
        source=merged.source,
        origin=lowest_origin(WriteOrigin(one.origin) for one in (existing, candidate)),
        **attributes,
    )
    words = word_columns(draft.content, draft.keywords, draft.context, draft.occurred_at)
    memory = new_memory(draft, candidate.scope, words, now)
    memory.content_hash = content_hash(draft.content)
    memory.further_sessions = list(add_sessions(details_of(candidate), details_of(existing)))
    memory.base_confidence = max(existing.base_confidence, candidate.base_confidence)
    reinforced = [one.last_reinforced_at for one in (existing, candidate) if one.last_reinforced_at is not None]
    memory.last_reinforced_at = max(reinforced, default=None)
    return memory
