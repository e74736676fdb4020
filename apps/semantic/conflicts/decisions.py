"""Applying a verdict: who stands, who is superseded, what two become, and the receipt of it (DESIGN D3, D5)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID, uuid4

import numpy as np
import numpy.typing as npt
from django.conf import settings

from apps.llm.selectors import EmbeddingSpace
from apps.rules.domain.documents.rule import RuleConfig
from apps.rules.domain.engine.detection import cosine_of
from apps.rules.domain.engine.merge import MergeResult, merge
from apps.rules.domain.engine.record import MemoryRecord
from apps.rules.domain.engine.verdict import Verdict, VerdictOutcome, notice_only
from apps.rules.selectors import RuleSet
from apps.semantic.conflicts.merged_memory import merged_memory
from apps.semantic.conflicts.receipts import build_receipt, complete_receipt, decided_event, merge_as_json
from apps.semantic.conflicts.records import Vector
from apps.semantic.domain.state import Transition
from apps.semantic.models import Conflict, Memory, MemoryStatus, Origin, RevisionAction
from apps.semantic.store.unit_of_work import UnitOfWork


class Vectors:
    """Vectors of texts that were made inside a transaction, where no model may be asked.

    missing: the texts that turned out to need one. While there are any, what was decided is not to be kept. Until they
    are supplied guesses stand in for them, so that what is decided next is mostly decided about the right texts already
    and a chain of merges does not take a round for each link.
    """

    def __init__(self, dimension: int) -> None:
        self._known: dict[str, Vector] = {}
        self._guessed: dict[str, Vector] = {}
        self._blank = np.zeros(dimension, dtype=np.float32)
        self.missing: list[str] = []

    def of(self, text: str, parents: Sequence[Vector] = ()) -> Vector:
        """The vector of a text; while it is missing the mean of those of the texts that it was made from."""
        if text in self._known:
            return self._known[text]
        if text not in self._guessed:
            self._guessed[text] = self._mean(parents)
            self.missing.append(text)
        return self._guessed[text]

    def _mean(self, vectors: Sequence[Vector]) -> Vector:
        """Of unit length; zeros where they cancel each other out."""
        total: Vector = np.sum([self._blank, *vectors], axis=0, dtype=np.float32)
        length = float(np.linalg.norm(total))
        return total / np.float32(length) if length > 0 else total

    def known(self, text: str) -> Vector | None:
        """The vector of a text, if it was supplied."""
        return self._known.get(text)

    def supply(self, made: npt.NDArray[np.float32]) -> None:
        """Take over the vectors of what is missing. made: shape (len(missing), dimension)."""
        self._known |= dict(zip(self.missing, made, strict=True))
        self._guessed, self.missing = {}, []


class VectorsMissingError(Exception):
    """Nothing was written, because some texts have no vector yet; see `Vectors.missing`."""


@dataclass(frozen=True, eq=False)
class Arrival:
    """What a candidate that is not stored yet needs to be inserted."""

    vector: Vector
    is_given: bool
    reason: str


@dataclass(frozen=True, eq=False)
class Case:
    """A verdict with all that applying it takes.

    memories: the candidate and all that the verdict names, by the key of their records. arrival: None for a candidate
    that is stored. vectors: in `space`, of merged texts.
    """

    verdict: Verdict
    record: MemoryRecord
    memories: Mapping[str, Memory]
    rule: RuleConfig
    rules: RuleSet
    origin: Origin
    space: EmbeddingSpace
    vectors: Vectors
    arrival: Arrival | None = None

    @property
    def candidate(self) -> Memory:
        return self.memories[self.record.key]

    @property
    def existing(self) -> Memory:
        return self.memories[self.verdict.main.conflict.existing.key]

    @property
    def also(self) -> list[Memory]:
        """The memories that leave with the existing one."""
        return [self.memories[one.conflict.existing.key] for one in self.verdict.also]


def decision_apply(unit: UnitOfWork, case: Case) -> Conflict:
    """Do what a verdict says; gives its receipt, whose `result` is the memory that stands, None where both do.

    Where `case.vectors` has something missing afterwards, the transaction must not be kept.
    """
    merged = _merged(case)
    if merged is not None and len(merged.content) > settings.MEMORYHUB.max_content_chars:
        case, merged = replace(case, verdict=_noticed_for_length(case.verdict)), None
    uuid = uuid4()
    receipt = build_receipt(
        uuid, case.verdict, case.record, case.memories, rule=case.rule, rules=case.rules, origin=case.origin
    )
    if merged is not None:
        receipt.merge = merge_as_json(merged)
    result, transitions = _keep(unit, case, uuid) if merged is None else _merge(unit, case, merged, uuid)
    complete_receipt(receipt, actor=unit.actor, at=unit.now, result=result, transitions=transitions)
    unit.add_receipt(receipt)
    unit.emit(decided_event(receipt))
    return receipt


def _keep(unit: UnitOfWork, case: Case, receipt: UUID) -> tuple[Memory | None, list[Transition]]:
    match case.verdict.outcome:
        case VerdictOutcome.SUPERSEDED_EXISTING:
            arrived = _settle(unit, case, MemoryStatus.ACTIVE, None, receipt)
            left = [_supersede(unit, one, case.candidate, receipt) for one in (case.existing, *case.also)]
            return case.candidate, arrived + left
        case VerdictOutcome.KEPT_EXISTING:
            return case.existing, _settle(unit, case, MemoryStatus.SUPERSEDED, case.existing, receipt)
        case VerdictOutcome.REJECTED:
            return case.existing, _settle(unit, case, MemoryStatus.REJECTED, case.existing, receipt)
        case _:
            return None, _settle(unit, case, MemoryStatus.ACTIVE, None, receipt)


def _settle(unit: UnitOfWork, case: Case, status: MemoryStatus, by: Memory | None, receipt: UUID) -> list[Transition]:
    """Let the candidate stand as decided; one that is not stored yet is inserted."""
    memory, arrival = case.candidate, case.arrival
    if arrival is None:
        action = RevisionAction(status.value) if status != MemoryStatus.ACTIVE else RevisionAction.UPDATED
        moved = status != memory.status
        return [unit.move(memory, status, by, action=action, receipt=receipt, since=unit.now)] if moved else []
    memory.status, memory.superseded_by = status, by
    memory.status_changed_at = None if status == MemoryStatus.ACTIVE else unit.now
    return [
        unit.insert(
            memory, case.space, arrival.vector, is_given=arrival.is_given, reason=arrival.reason, receipt=receipt
        )
    ]


def _supersede(unit: UnitOfWork, memory: Memory, by: Memory, receipt: UUID) -> Transition:
    return unit.move(
        memory, MemoryStatus.SUPERSEDED, by, action=RevisionAction.SUPERSEDED, receipt=receipt, since=unit.now
    )


def _merged(case: Case) -> MergeResult | None:
    if case.verdict.outcome is not VerdictOutcome.MERGED:
        return None
    existing = case.verdict.main.conflict.existing
    return merge(existing, case.record, cosine_of(case.record, existing), case.rule.merge)


def _merge(unit: UnitOfWork, case: Case, merged: MergeResult, receipt: UUID) -> tuple[Memory, list[Transition]]:
    """Both parents leave for what they became. When a third memory says exactly that already, they leave for it."""
    memory = merged_memory(case.existing, case.candidate, merged, unit.now)
    leaving = [case.candidate, case.existing, *case.also]
    known = unit.inserted_twin(memory, besides=leaving) or _known(unit, memory, besides=leaving)
    made: list[Transition] = []
    if known is None:
        vector = _vector_of(case, merged.content)
        made = [unit.insert(memory, case.space, vector, is_given=False, reason="merged", receipt=receipt)]
    result = known or memory
    made += _settle(unit, case, MemoryStatus.MERGED, result, receipt)
    made.append(
        unit.move(
            case.existing, MemoryStatus.MERGED, result, action=RevisionAction.MERGED, receipt=receipt, since=unit.now
        )
    )
    return result, made + [_supersede(unit, one, result, receipt) for one in case.also]


def _known(unit: UnitOfWork, memory: Memory, besides: Collection[Memory]) -> Memory | None:
    """A stored memory, still active, of the same scope and content as this one, which is not stored."""
    stored = [one.pk for one in besides if one.pk is not None]
    same = Memory.objects.active().duplicates_of(memory).exclude(pk__in=stored)
    found = [unit.row(one) for one in same.select_related("superseded_by")]
    return next((one for one in found if one.status == MemoryStatus.ACTIVE), None)


def _vector_of(case: Case, text: str) -> Vector:
    parents = (case.record, case.verdict.main.conflict.existing)
    for record in parents:
        if record.content == text and record.embedding is not None:
            return record.embedding
    return case.vectors.of(text, [record.embedding for record in parents if record.embedding is not None])


def _noticed_for_length(verdict: Verdict) -> Verdict:
    """What is left to do when the merged text would be too long: nothing is merged, and nothing lost."""
    limit = settings.MEMORYHUB.max_content_chars
    return notice_only(
        verdict, f"Merged, they would be longer than {limit:,} characters: the conflict is noticed, and both stand."
    )
