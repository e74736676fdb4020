"""Applying prepared drafts to the rows, inside one transaction (DESIGN D5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from apps.llm.selectors import EmbeddingSpace
from apps.rules.domain.engine.arbitration import DetectedConflict
from apps.rules.domain.engine.detection import detect
from apps.rules.domain.engine.record import MemoryRecord
from apps.rules.domain.engine.verdict import Verdict, VerdictOutcome, decide
from apps.rules.selectors import RuleSet
from apps.semantic.conflicts.decisions import Arrival, Case, Vectors, VectorsMissingError, decision_apply
from apps.semantic.conflicts.records import record_from_memory
from apps.semantic.domain.duplicates import DuplicateAction, DuplicateDecision, decide_duplicate
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.memories.comparison import Comparison, Subject, catch_up
from apps.semantic.memories.prepare import (
    Candidate,
    Key,
    active_by_key,
    duplicate_key,
    find_already_decided,
    new_memory,
)
from apps.semantic.models import Conflict as Receipt
from apps.semantic.models import Memory, MemoryStatus, Origin
from apps.semantic.store.unit_of_work import UnitOfWork

ALREADY_DECIDED = "already_decided"


@dataclass(frozen=True)
class SaveResult:
    """What a save did, why in one word, the memory that stands now, and the receipt if memories disagreed.

    action: `inserted`, `updated`, `skipped`, or what was decided: `superseded_existing`, `kept_existing`, `merged`,
    `rejected`. A conflict that was only noticed is `inserted` with a receipt.
    """

    action: str
    reason: str
    memory: Memory
    conflict: UUID | None = None


@dataclass(frozen=True, eq=False)
class Writing:
    """What the drafts of one transaction have in common."""

    space: EmbeddingSpace
    rules: RuleSet
    vectors: Vectors


class Writer:
    """Decides about each draft in turn, the later ones against what became of the earlier ones."""

    def __init__(self, unit: UnitOfWork, writing: Writing, comparison: Comparison) -> None:
        self._ledger, self._writing, self._comparison = unit, writing, comparison
        self._merged: list[Memory] = []

    def write(self, prepared: Sequence[Candidate], versions: Mapping[str, int]) -> list[SaveResult]:
        """Save the drafts; the shards of their users are locked. Raises VectorsMissingError, SpaceChangedError."""
        catch_up(self._comparison, versions, self._writing.space)
        stored = active_by_key(item.key for item in prepared)
        self._stored = {key: self._ledger.row(memory) for key, memory in stored.items()}
        self._settled = find_already_decided(prepared)
        for key, memory in self._stored.items():
            self._note_moment(key, memory)
        self._memories = {key: self._ledger.row(memory) for key, memory in _partners(self._comparison).items()}
        self._records = _records(self._comparison)
        results = [self._write_one(place, item) for place, item in enumerate(prepared)]
        if self._writing.vectors.missing:
            raise VectorsMissingError
        self._ledger.write()
        return results

    def _write_one(self, place: int, item: Candidate) -> SaveResult:
        stored = self._stored.get(item.key)
        if stored is None or stored.status != MemoryStatus.ACTIVE:
            return self._write_new(place, item)
        decision = decide_duplicate(item.draft.base_confidence, stored.base_confidence)
        if decision.action is DuplicateAction.UPDATE:
            self._ledger.update(stored, _improvements(stored, item.draft, decision), reason=decision.reason)
            return SaveResult("updated", decision.reason, stored)
        return SaveResult("skipped", decision.reason, stored)

    def _write_new(self, place: int, item: Candidate) -> SaveResult:
        moment = (item.key, item.draft.occurred_at)
        if moment in self._settled:
            return SaveResult("skipped", ALREADY_DECIDED, self._settled[moment])
        # None is the vector of a duplicate seen before the transaction that is gone inside it.
        vector = self._writing.vectors.of(item.draft.content) if item.vector is None else item.vector
        decision = decide_duplicate(item.draft.base_confidence, None)
        memory = new_memory(item.draft, item.scope, item.words, self._ledger.now)
        memory.uuid, memory.content_hash, memory.base_confidence = item.uuid, item.key[3], decision.confidence
        subject = self._comparison.subjects[place]
        verdict = decide(subject.record, self._conflicts(place, subject), subject.rule.arbitration)
        if verdict is not None and (receipt := self._lost_before(memory, verdict)) is not None:
            return SaveResult(verdict.outcome.value, ALREADY_DECIDED, receipt.existing, receipt.uuid)
        arrival = Arrival(vector, item.draft.embedding is not None, decision.reason)
        self._memories[str(memory.uuid)] = self._stored[item.key] = memory
        self._note_moment(item.key, memory)
        if verdict is None:
            self._ledger.insert(memory, self._writing.space, vector, is_given=arrival.is_given, reason=arrival.reason)
            return SaveResult("inserted", decision.reason, memory)
        return self._apply(subject, verdict, arrival)

    def _lost_before(self, memory: Memory, verdict: Verdict) -> Receipt | None:
        """The decision by which the same words lost to the same memory before. Repeating them adds nothing."""
        existing = self._memories[verdict.main.conflict.existing.key]
        if verdict.outcome not in {VerdictOutcome.KEPT_EXISTING, VerdictOutcome.REJECTED} or existing.pk is None:
            return None
        before = Receipt.objects.in_force().filter(
            existing=existing,
            outcome=verdict.outcome.value,
            candidate__content_hash=memory.content_hash,
            candidate__superseded_by=existing,
        )
        return before.select_related("existing__superseded_by").newest_first().first()

    def _note_moment(self, key: Key, memory: Memory) -> None:
        """Remember an active memory for when a later draft has settled it."""
        if memory.occurred_at is not None:
            self._settled[key, memory.occurred_at] = memory

    def _apply(self, subject: Subject, verdict: Verdict, arrival: Arrival) -> SaveResult:
        case = Case(
            verdict=verdict,
            record=subject.record,
            memories=self._memories,
            rule=subject.rule,
            rules=self._writing.rules,
            origin=Origin.SAVE,
            space=self._writing.space,
            vectors=self._writing.vectors,
            arrival=arrival,
        )
        receipt = decision_apply(self._ledger, case)
        if receipt.outcome == VerdictOutcome.NOTICED:
            return SaveResult("inserted", arrival.reason, receipt.candidate, receipt.uuid)
        assert receipt.result is not None
        if receipt.outcome == VerdictOutcome.MERGED:
            self._merged.append(receipt.result)
            self._stored[duplicate_key(receipt.result)] = receipt.result
        return SaveResult(str(receipt.outcome), receipt.strategy, receipt.result, receipt.uuid)

    def _conflicts(self, place: int, subject: Subject) -> list[DetectedConflict]:
        """With the memories that still stand, with those that others left for, and with what was merged."""
        known = self._comparison.found[place]
        found = [conflict for key, conflict in known.items() if self._stands(key)]
        others = self._with_those_left_for(subject, known) + self._with_merged(subject)
        return list({conflict.existing.key: conflict for conflict in found + others}.values())

    def _stands(self, key: str) -> bool:
        return key in self._memories and self._memories[key].status == MemoryStatus.ACTIVE

    def _with_those_left_for(self, subject: Subject, known: Mapping[str, DetectedConflict]) -> list[DetectedConflict]:
        """With what stands in the place of those that left: all that were compared may have gone in this batch."""
        left = (self._memories[key] for key in known if key in self._memories and not self._stands(key))
        standing = {str(_stand_in(memory).uuid) for memory in left} - known.keys()
        records = [self._records[key] for key in sorted(standing) if key in self._records and self._stands(key)]
        pairs = [DetectedConflict(record, detect(subject.record, record, subject.rule.detection)) for record in records]
        return [pair for pair in pairs if pair.detection.is_conflict]

    def _with_merged(self, subject: Subject) -> list[DetectedConflict]:
        conflicts = []
        for memory in self._merged:
            if memory.status == MemoryStatus.ACTIVE and _is_of(memory, subject):
                self._memories[str(memory.uuid)] = memory
                record = record_from_memory(memory, self._writing.vectors.of(memory.content))
                conflicts.append(DetectedConflict(record, detect(subject.record, record, subject.rule.detection)))
        return conflicts


def _partners(comparison: Comparison) -> dict[str, Memory]:
    """The stored memories that subjects conflict with, as they stand now, by key."""
    wanted = {comparison.ids[key] for found in comparison.found for key in found if key in comparison.ids}
    if not wanted:
        return {}
    rows = Memory.objects.active().filter(pk__in=wanted).select_related("superseded_by")
    return {str(row.uuid): row for row in rows}


def _records(comparison: Comparison) -> dict[str, MemoryRecord]:
    """All that was compared, by key: any of it may come to stand in the place of others."""
    found = {key: conflict.existing for conflicts in comparison.found for key, conflict in conflicts.items()}
    return found | {subject.record.key: subject.record for subject in comparison.subjects}


def _stand_in(memory: Memory) -> Memory:
    """The memory at the end of those that one after the other stand in the place of this one."""
    while memory.status != MemoryStatus.ACTIVE and memory.superseded_by is not None:
        memory = memory.superseded_by
    return memory


def _is_of(memory: Memory, subject: Subject) -> bool:
    scope = subject.scope
    return (memory.user_id, memory.household_id, memory.persona_id) == (
        scope.user_id,
        scope.household_id,
        scope.persona_id,
    )


def _improvements(memory: Memory, draft: MemoryDraft, decision: DuplicateDecision) -> dict[str, Any]:
    """Only what spec 002 section 9 lets a duplicate change; the content stays."""
    after: dict[str, Any] = {"base_confidence": decision.confidence}
    if draft.importance is not None:
        after["importance"] = draft.importance
    if draft.metadata:
        after["metadata"] = {**memory.metadata, **draft.metadata}
    return after
