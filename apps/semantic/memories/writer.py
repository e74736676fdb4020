"""Decide about candidates and write them, inside one transaction (DESIGN D5)."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from uuid import UUID

from django.db.models import QuerySet

from apps.core.domain.origin import LOWER_ORIGIN, WriteOrigin
from apps.rules.domain.engine.arbitration import DetectedConflict, Strategy
from apps.rules.domain.engine.detection import cosine_of
from apps.rules.domain.engine.record import MemoryRecord
from apps.rules.domain.engine.verdict import VerdictOutcome, decide
from apps.semantic.conflicts.candidate import Candidate, Case, SaveContext
from apps.semantic.conflicts.decisions import decision_apply
from apps.semantic.conflicts.restatement import RESTATED, adopt, details_after_repeat, enrich_existing
from apps.semantic.domain.confidence import DecayPolicy
from apps.semantic.domain.disagreement import find_disagreement
from apps.semantic.domain.duplicates import CONFIDENCE_IMPROVED, LOWER_CONFIDENCE, DatedKey, decide_duplicate
from apps.semantic.domain.routing import BRIDGE_ACTOR
from apps.semantic.memories.bring_back import EXPIRED
from apps.semantic.memories.comparison import Comparison
from apps.semantic.models import Conflict, Ingestion, Memory, MemoryRevision, MemoryStatus, Origin, RevisionAction
from apps.semantic.store.details import change_details
from apps.semantic.store.embedding_space import VectorsMissingError
from apps.semantic.store.rows import dated_key, duplicate_key, find_duplicates, new_memory, record_from_memory
from apps.semantic.store.unit_of_work import UnitOfWork

ALREADY_DECIDED = "already_decided"
NEW = "unique_hash"
REINFORCED = "reinforced"
SAID_AGAIN = "said_again"
HIGHER_ORIGIN = "higher_origin"


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

    active: the memory that a draft with each key repeats, see `find_duplicates`; it may have lost by now. decided:
    those that lost, or are active, of a moment. memories: all that candidates conflict with, by the key of their
    records. merged: made of others by this save.
    """

    unit: UnitOfWork
    context: SaveContext
    comparison: Comparison
    active: dict[DatedKey, Memory] = field(default_factory=dict)
    decided: dict[DatedKey, Memory] = field(default_factory=dict)
    memories: dict[str, Memory] = field(default_factory=dict)
    records: dict[str, MemoryRecord] = field(default_factory=dict)
    merged: list[Memory] = field(default_factory=list)

    def write(self) -> list[SaveResult]:
        """Save the candidates; the shards of their users are locked. Raises VectorsMissingError, then nothing is kept.

        What was compared may have changed since: the rows are read again.
        """
        comparison, attach = self.comparison, self.unit.attach
        active, decided = find_duplicates({one.dated_key for one in comparison.candidates})
        self.active = {key: attach(memory) for key, memory in active.items()}
        for memory in self.active.values():
            if is_active(memory) and memory.has_expired(self.unit.now):  # and no sweep came by yet
                self.unit.delete(memory, reason=EXPIRED)
        dated = [row for row in self.active.values() if row.occurred_at is not None and is_active(row)]
        self.decided = decided | {dated_key(row): row for row in dated}
        compared = {key: one.existing for conflicts in comparison.conflicts for key, one in conflicts.items()}
        self.records = compared | {one.record.key: one.record for one in comparison.candidates}
        if wanted := {comparison.ids[key] for key in compared if key in comparison.ids}:
            rows = Memory.objects.active().filter(pk__in=wanted).select_related("superseded_by")
            self.memories = {str(row.uuid): attach(row) for row in rows}
        results = [self.write_one(place, candidate) for place, candidate in enumerate(comparison.candidates)]
        if self.context.vectors.missing:
            raise VectorsMissingError
        if skipped := [result.memory for result in results if result.action == "skipped"]:
            self.note_said_again(skipped)
        self.unit.write()
        return results

    def note_said_again(self, memories: Iterable[Memory]) -> None:
        """Leave a trace, once, in the history of memories that were made of events and are saved again unchanged.

        What a person saved stays when the events are pruned of which it was made before.
        """
        stored = {memory.pk: memory for memory in memories if memory.pk is not None}
        if not stored or self.unit.actor == BRIDGE_ACTOR:
            return
        made = Ingestion.objects.filter(memory__in=list(stored), came_from_events=True).values_list("memory", flat=True)
        if not made:
            return
        known = revisions_by_others(made).values_list("memory", flat=True)
        for pk in sorted({*made} - {*known}):
            self.unit.record(stored[pk], RevisionAction.UPDATED, {}, reason=SAID_AGAIN)

    def write_one(self, place: int, candidate: Candidate) -> SaveResult:
        """Insert a candidate, update the active memory that it duplicates, or apply what is decided about it."""
        stored = self.active.get(candidate.dated_key)
        if stored is not None and is_active(stored):
            return self.write_duplicate(candidate, stored)
        decided = self.decided.get(candidate.dated_key)
        if decided is not None and not WriteOrigin(decided.origin).is_below(candidate.record.origin):
            return SaveResult("skipped", ALREADY_DECIDED, decided)
        memory = new_memory(candidate.draft, candidate.scope, candidate.words, self.unit.now)
        memory.uuid, memory.content_hash = candidate.uuid, candidate.key.content_hash
        verdict = decide(candidate.record, self.conflicts_of(place, candidate), candidate.rule.arbitration)
        case = None
        if verdict is not None:
            case = Case(verdict, candidate.record, candidate.rule, self.memories, Origin.SAVE, candidate, reason=NEW)
            if receipt := self.find_repeated(memory, case):
                return self.write_repeated(memory, case, receipt)
        self.memories[str(memory.uuid)] = memory
        self.note_active(memory)
        if memory.occurred_at is not None:
            self.decided[candidate.dated_key] = memory
        if case is not None:
            return self.apply(case)
        # No vector: of a duplicate that was found before the transaction and is gone inside it.
        vector = self.context.vectors.of(memory.content) if candidate.vector is None else candidate.vector
        is_given = candidate.draft.embedding is not None
        self.unit.insert(memory, self.context.space, vector, is_given=is_given, reason=NEW)
        return SaveResult("inserted", NEW, memory)

    def note_active(self, memory: Memory) -> None:
        """Note a memory that later candidates may repeat; of several moments the latest, if they give none."""
        key, moment = dated_key(memory)
        self.active[key, moment] = memory
        latest = self.active.get((key, None))
        if (
            latest is None
            or not is_active(latest)
            or (moment is not None and latest.occurred_at is not None and latest.occurred_at < moment)
        ):
            self.active[key, None] = memory

    def write_duplicate(self, candidate: Candidate, stored: Memory) -> SaveResult:
        """Add what a duplicate says besides its content, which stays. One that is less sure changes nothing.

        It reinforces a reinforceable memory, unless it is of a moment: then it is the same statement, not another one.
        One of a lower origin changes nothing either, not even the decay; one of a higher origin makes the memory its
        own, so that nothing of what a less trusted writer put beside the words is vouched for (DESIGN D20).
        """
        said, known = candidate.record.origin, WriteOrigin(stored.origin)
        if said.is_below(known):
            return SaveResult("skipped", LOWER_ORIGIN, stored)
        if known.is_below(said):
            adopt(self.unit, stored, candidate.draft)
            self.note_active(stored)
            return SaveResult("updated", HIGHER_ORIGIN, stored)
        decided, _ = decide_duplicate(candidate.draft.base_confidence, stored.base_confidence)
        if decided == LOWER_CONFIDENCE:
            return SaveResult("skipped", decided, stored)
        is_surer = decided == CONFIDENCE_IMPROVED
        reason = decided if is_surer else RESTATED
        has_changed = bool(change_details(self.unit, stored, details_after_repeat(stored, candidate), reason=reason))
        if stored.decay_policy == DecayPolicy.REINFORCEABLE and candidate.draft.occurred_at is None:
            self.unit.reinforce(stored, reason=RESTATED)
            return SaveResult("updated", reason if is_surer else REINFORCED, stored)
        if has_changed:
            return SaveResult("updated", reason, stored)
        return SaveResult("skipped", decided, stored)

    def find_repeated(self, memory: Memory, case: Case) -> Conflict | None:
        """Find the decision by which the same words lost to the same memory before. Repeating them adds nothing."""
        lost = case.verdict.outcome in {VerdictOutcome.KEPT_EXISTING, VerdictOutcome.REJECTED}
        if not lost or case.existing.pk is None:
            return None
        before = Conflict.objects.in_force().filter(
            existing=case.existing,
            outcome=case.verdict.outcome.value,
            candidate__content_hash=memory.content_hash,
            candidate__superseded_by=case.existing,
        )
        return before.select_related("existing__superseded_by").newest_first().first()

    def write_repeated(self, memory: Memory, case: Case, receipt: Conflict) -> SaveResult:
        """Add what a candidate that lost before says besides its content to the memory that it restates, if it does."""
        if case.verdict.outcome is VerdictOutcome.KEPT_EXISTING:
            case = replace(case, memories={**self.memories, case.record.key: memory})
            enrich_existing(self.unit, case, None)
            self.note_active(case.existing)
        return SaveResult(case.verdict.outcome.value, ALREADY_DECIDED, case.existing, receipt.uuid)

    def apply(self, case: Case) -> SaveResult:
        """Apply what was decided about a candidate."""
        receipt = decision_apply(self.unit, self.context, case)
        if receipt.outcome == VerdictOutcome.NOTICED:
            reason = LOWER_ORIGIN if receipt.strategy == Strategy.TRUST else NEW
            return SaveResult("inserted", reason, receipt.candidate, receipt.uuid)
        assert receipt.result is not None
        self.note_active(receipt.result)  # it may be of another moment now
        if receipt.outcome == VerdictOutcome.MERGED:
            self.merged.append(receipt.result)
        return SaveResult(str(receipt.outcome), receipt.strategy, receipt.result, receipt.uuid)

    def conflicts_of(self, place: int, candidate: Candidate) -> list[DetectedConflict]:
        """Return the conflicts of a candidate with memories that are active by now.

        Besides those that were compared these are the ones that superseded some of them (all that were compared may
        have been superseded by earlier candidates), and those that this save has merged.
        """
        known = self.comparison.conflicts[place]
        found = {key: conflict for key, conflict in known.items() if is_active(self.memories.get(key))}
        further: dict[str, MemoryRecord] = {}
        winners = set()
        for key in known.keys() & self.memories.keys() - found.keys():
            winner = self.memories[key]
            while winner.status != MemoryStatus.ACTIVE and winner.superseded_by is not None:
                winner = winner.superseded_by
            name = str(winner.uuid)
            winners.add(name)
            if name in self.records.keys() - known.keys() and is_active(self.memories.get(name)):
                further[name] = self.record_of(name)
        for memory in self.merged:
            if is_active(memory) and duplicate_key(memory).scope == candidate.key.scope:
                name = str(memory.uuid)
                self.memories[name] = memory
                further[name] = record_from_memory(memory, self.context.vectors.of(memory.content))
        further |= {name: self.record_of(name) for name in found.keys() & self.unit.enriched}
        # The parts of what was joined were compared: of the wholes of those that conflict the nearest one is read.
        touched = [record for name, record in further.items() if name in winners or name in known]
        nearest = max(touched, key=lambda one: cosine_of(candidate.record, one) or 0.0, default=None)
        for name, record in further.items():
            found.pop(name, None)
            is_read = record is nearest
            detection = find_disagreement(candidate.record, record, candidate.rule.detection, is_read=is_read)
            if detection.is_conflict:
                found[name] = DetectedConflict(record, detection)
        return list(found.values())

    def record_of(self, name: str) -> MemoryRecord:
        """Return a memory as it is by now: its details may have changed since it was compared."""
        record = self.records[name]
        changed = name in self.unit.enriched
        return record_from_memory(self.memories[name], record.embedding) if changed else record


def revisions_by_others(memories: Iterable[int]) -> QuerySet[MemoryRevision]:
    """Return the steps in which another writer than the bridge saved the same as these memories, or reinforced them."""
    said = (RevisionAction.UPDATED, RevisionAction.REINFORCED)
    found = MemoryRevision.objects.filter(memory__in=list(memories), action__in=said, conflict=None)
    return found.exclude(actor=BRIDGE_ACTOR)


def is_active(memory: Memory | None) -> bool:
    """Check whether a memory is there and active."""
    return memory is not None and memory.status == MemoryStatus.ACTIVE
