"""Decide about candidates and write them, inside one transaction (DESIGN D5)."""

from dataclasses import dataclass, field, replace
from uuid import UUID

from apps.rules.domain.engine.arbitration import DetectedConflict
from apps.rules.domain.engine.detection import detect
from apps.rules.domain.engine.record import MemoryRecord
from apps.rules.domain.engine.verdict import Verdict, VerdictOutcome, decide
from apps.semantic.conflicts.candidate import Candidate, Case, SaveContext
from apps.semantic.conflicts.decisions import decision_apply
from apps.semantic.conflicts.restatement import RESTATED, details_after_repeat, enrich_existing
from apps.semantic.domain.duplicates import LOWER_CONFIDENCE, DuplicateAction, decide_duplicate
from apps.semantic.memories.comparison import Comparison
from apps.semantic.memories.expiry import EXPIRED
from apps.semantic.models import Conflict, Memory, MemoryStatus, Origin
from apps.semantic.store.details import change_details
from apps.semantic.store.embedding_space import VectorsMissingError
from apps.semantic.store.provenance import note_said_again
from apps.semantic.store.rows import (
    DatedKey,
    DuplicateKey,
    duplicate_key,
    find_duplicates,
    new_memory,
    record_from_memory,
)
from apps.semantic.store.unit_of_work import UnitOfWork

ALREADY_DECIDED = "already_decided"
NEW = "unique_hash"


@dataclass(frozen=True)
class SaveResult:
    """What a save did, why in one word, the memory that is active now, and the receipt of a conflict.

    action: `inserted`, `updated`, `skipped`, or what was decided: `superseded_existing`, `kept_existing`, `merged`,
    `rejected`. A conflict that was only noticed is `inserted` with a receipt.
    """

    action: str
    reason: str
    memory: Memory
    conflict: UUID | None = None


@dataclass(eq=False)
class Writer:
    """Decides about each candidate in turn, the later ones against what became of the earlier ones.

    active: the active memory with each key. decided: those that lost, or are active, with their date. memories: all
    that candidates conflict with, by the key of their records. merged: made of others by this save.
    """

    unit: UnitOfWork
    context: SaveContext
    comparison: Comparison
    active: dict[DuplicateKey, Memory] = field(default_factory=dict)
    decided: dict[DatedKey, Memory] = field(default_factory=dict)
    memories: dict[str, Memory] = field(default_factory=dict)
    records: dict[str, MemoryRecord] = field(default_factory=dict)
    merged: list[Memory] = field(default_factory=list)

    def write(self) -> list[SaveResult]:
        """Save the candidates; the shards of their users are locked. Raises VectorsMissingError, then nothing is kept.

        What was compared may have changed since: the rows are read again.
        """
        comparison, attach = self.comparison, self.unit.attach
        stored = find_duplicates({(one.key, one.draft.occurred_at) for one in comparison.candidates})
        self.active = {key: attach(memory) for key, memory in stored.active.items()}
        for key, memory in list(self.active.items()):
            if memory.has_expired(self.unit.now):  # and no sweep came by yet
                self.unit.delete(memory, reason=EXPIRED)
                del self.active[key]
        dated = {(key, row.occurred_at): row for key, row in self.active.items() if row.occurred_at is not None}
        self.decided = stored.decided | dated
        compared = {key: one.existing for conflicts in comparison.conflicts for key, one in conflicts.items()}
        self.records = compared | {one.record.key: one.record for one in comparison.candidates}
        if wanted := {comparison.ids[key] for key in compared if key in comparison.ids}:
            rows = Memory.objects.active().filter(pk__in=wanted).select_related("superseded_by")
            self.memories = {str(row.uuid): attach(row) for row in rows}
        results = [self.write_one(place, candidate) for place, candidate in enumerate(comparison.candidates)]
        if self.context.vectors.missing:
            raise VectorsMissingError
        note_said_again(self.unit, [result.memory for result in results if result.action == "skipped"])
        self.unit.write()
        return results

    def write_one(self, place: int, candidate: Candidate) -> SaveResult:
        """Insert a candidate, update the active memory that it duplicates, or apply what is decided about it."""
        stored = self.active.get(candidate.key)
        if stored is not None and stored.status == MemoryStatus.ACTIVE:
            return self.write_duplicate(candidate, stored)
        if decided := self.decided.get((candidate.key, candidate.draft.occurred_at)):
            return SaveResult("skipped", ALREADY_DECIDED, decided)
        memory = new_memory(candidate.draft, candidate.scope, candidate.words, self.unit.now)
        memory.uuid, memory.content_hash = candidate.uuid, candidate.key[3]
        verdict = decide(candidate.record, self.conflicts_of(place, candidate), candidate.rule.arbitration)
        if verdict is not None and (receipt := self.find_repeated(memory, verdict)):
            return self.write_repeated(candidate, memory, verdict, receipt)
        self.memories[str(memory.uuid)] = self.active[candidate.key] = memory
        if memory.occurred_at is not None:
            self.decided[candidate.key, memory.occurred_at] = memory
        if verdict is not None:
            return self.apply(candidate, verdict)
        # No vector: of a duplicate that was found before the transaction and is gone inside it.
        vector = self.context.vectors.of(memory.content) if candidate.vector is None else candidate.vector
        is_given = candidate.draft.embedding is not None
        self.unit.insert(memory, self.context.space, vector, is_given=is_given, reason=NEW)
        return SaveResult("inserted", NEW, memory)

    def write_duplicate(self, candidate: Candidate, stored: Memory) -> SaveResult:
        """Add what a duplicate says besides its content, which stays. One that is less sure changes nothing."""
        decision = decide_duplicate(candidate.draft.base_confidence, stored.base_confidence)
        if decision.reason == LOWER_CONFIDENCE:
            return SaveResult("skipped", decision.reason, stored)
        reason = decision.reason if decision.action is DuplicateAction.UPDATE else RESTATED
        if change_details(self.unit, stored, details_after_repeat(stored, candidate), reason=reason):
            return SaveResult("updated", reason, stored)
        return SaveResult("skipped", decision.reason, stored)

    def find_repeated(self, memory: Memory, verdict: Verdict) -> Conflict | None:
        """Find the decision by which the same words lost to the same memory before. Repeating them adds nothing."""
        existing = self.memories[verdict.main.conflict.existing.key]
        lost = verdict.outcome in {VerdictOutcome.KEPT_EXISTING, VerdictOutcome.REJECTED}
        if not lost or existing.pk is None:
            return None
        before = Conflict.objects.in_force().filter(
            existing=existing,
            outcome=verdict.outcome.value,
            candidate__content_hash=memory.content_hash,
            candidate__superseded_by=existing,
        )
        return before.select_related("existing__superseded_by").newest_first().first()

    def write_repeated(self, candidate: Candidate, memory: Memory, verdict: Verdict, receipt: Conflict) -> SaveResult:
        """Add what a candidate that lost before says besides its content to the memory that it restates, if it does."""
        case = self.case_of(candidate, verdict)
        if verdict.outcome is VerdictOutcome.KEPT_EXISTING:
            case = replace(case, memories={**self.memories, candidate.record.key: memory})
            enrich_existing(self.unit, case, None)
        return SaveResult(verdict.outcome.value, ALREADY_DECIDED, case.existing, receipt.uuid)

    def case_of(self, candidate: Candidate, verdict: Verdict) -> Case:
        """Return a verdict with all that is needed to apply it."""
        return Case(
            verdict=verdict,
            record=candidate.record,
            rule=candidate.rule,
            memories=self.memories,
            origin=Origin.SAVE,
            arrival=candidate,
            reason=NEW,
        )

    def apply(self, candidate: Candidate, verdict: Verdict) -> SaveResult:
        """Apply what was decided about a candidate."""
        receipt = decision_apply(self.unit, self.context, self.case_of(candidate, verdict))
        if receipt.outcome == VerdictOutcome.NOTICED:
            return SaveResult("inserted", NEW, receipt.candidate, receipt.uuid)
        assert receipt.result is not None
        if receipt.outcome == VerdictOutcome.MERGED:
            self.merged.append(receipt.result)
            self.active[duplicate_key(receipt.result)] = receipt.result
        return SaveResult(str(receipt.outcome), receipt.strategy, receipt.result, receipt.uuid)

    def conflicts_of(self, place: int, candidate: Candidate) -> list[DetectedConflict]:
        """Return the conflicts of a candidate with memories that are active by now.

        Besides those that were compared these are the ones that superseded some of them (all that were compared may
        have been superseded by earlier candidates), and those that this save has merged.
        """
        known = self.comparison.conflicts[place]
        found = {key: conflict for key, conflict in known.items() if is_active(self.memories.get(key))}
        further: dict[str, MemoryRecord] = {}
        for key in known.keys() & self.memories.keys() - found.keys():
            winner = self.memories[key]
            while winner.status != MemoryStatus.ACTIVE and winner.superseded_by is not None:
                winner = winner.superseded_by
            name = str(winner.uuid)
            if name in self.records.keys() - known.keys() and is_active(self.memories.get(name)):
                further[name] = self.record_of(name)
        for memory in self.merged:
            if is_active(memory) and duplicate_key(memory)[:3] == candidate.key[:3]:
                name = str(memory.uuid)
                self.memories[name] = memory
                further[name] = record_from_memory(memory, self.context.vectors.of(memory.content))
        further |= {name: self.record_of(name) for name in found.keys() & self.unit.enriched}
        for name, record in further.items():
            found.pop(name, None)
            detection = detect(candidate.record, record, candidate.rule.detection)
            if detection.is_conflict:
                found[name] = DetectedConflict(record, detection)
        return list(found.values())

    def record_of(self, name: str) -> MemoryRecord:
        """Return a memory as it is by now: its details may have changed since it was compared."""
        record = self.records[name]
        changed = name in self.unit.enriched
        return record_from_memory(self.memories[name], record.embedding) if changed else record


def is_active(memory: Memory | None) -> bool:
    """Check whether a memory is there and active."""
    return memory is not None and memory.status == MemoryStatus.ACTIVE
