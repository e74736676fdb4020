"""What the memory that remains takes over from those that say the same: see `domain.details`."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from types import MappingProxyType
from typing import Any
from uuid import UUID

from apps.rules.domain.engine.arbitration import DetectedConflict
from apps.rules.domain.engine.merge import ImportanceStrategy, MergeConfig
from apps.semantic.conflicts.candidate import Candidate, Case
from apps.semantic.domain.details import Details, merge_confidences, merge_details
from apps.semantic.domain.memory import DEFAULT_IMPORTANCE, TAGS, MemoryDraft
from apps.semantic.domain.state import Transition
from apps.semantic.models import Memory
from apps.semantic.store.details import change_details, details_of
from apps.semantic.store.rows import key_after
from apps.semantic.store.unit_of_work import UnitOfWork

RESTATED = "restated"


def details_after_repeat(stored: Memory, arrival: Candidate) -> dict[str, Any]:
    """Return the details of a stored memory after the same was saved again, by the rule of the repetition.

    The same statement of the same moment, as a repeated import brings it, makes nothing more important than it was
    said to be. Nor do its values prevail: so importing the same again changes nothing.
    """
    own, repeat, config = details_of(stored), Details.of_draft(arrival.draft), arrival.rule.merge
    if repeat.occurred_at is not None and repeat.occurred_at == own.occurred_at:
        strategy = config.metadata_strategy.model_copy(update={"importance": ImportanceStrategy.MAX})
        config = config.model_copy(update={"metadata_strategy": strategy})
    merged = merge_details(own, repeat, config, other_is_newer=repeat.occurred_at is None)
    return asdict(replace(merged, base_confidence=merge_confidences(repeat, own)))


def adopt(unit: UnitOfWork, memory: Memory, draft: MemoryDraft) -> None:
    """Make a memory that of a writer of a higher origin, who says the same: with the details that this one gives alone.

    What it was is in its history.
    """
    details = replace(
        Details.of_draft(draft), importance=DEFAULT_IMPORTANCE if draft.importance is None else draft.importance
    )
    further = {"origin": draft.origin, "decay_policy": draft.decay_policy, "last_reinforced_at": None}
    change(unit, memory, details, None, further)


def details_of_candidate(case: Case) -> Details:
    """Return the details of a candidate. An importance that its writer did not name is None."""
    details = details_of(case.candidate)
    return details if case.arrival is None else replace(details, importance=case.arrival.draft.importance)


def enrich_candidate(unit: UnitOfWork, case: Case, receipt: UUID) -> list[Transition]:
    """Give a candidate that won the details of the memories that it restates. Return what changed."""
    details, before = details_of_candidate(case), case.record.timestamp
    for memory, conflict in restated(case):
        existing = details_of(memory)
        confidence = merge_confidences(details, existing)
        is_newer = conflict.existing.timestamp > before and existing.base_confidence >= details.base_confidence
        details = merge_details(details, existing, case.rule.merge, other_is_newer=is_newer)
        details = replace(details, base_confidence=confidence)
    return change(unit, case.candidate, details, receipt)


def enrich_existing(unit: UnitOfWork, case: Case, receipt: UUID | None) -> list[Transition]:
    """Give an existing memory that won the details of the candidate that restates it. Return what changed.

    Nothing is taken over from a candidate of a lower origin (DESIGN D20).
    """
    main = case.verdict.main.conflict
    if not main.detection.restates or case.record.origin.is_below(main.existing.origin):
        return []
    own, candidate = details_of(case.existing), details_of_candidate(case)
    is_newer = case.record.timestamp > main.existing.timestamp and candidate.base_confidence >= own.base_confidence
    details = merge_details(own, candidate, case.rule.merge, other_is_newer=is_newer)
    return change(unit, case.existing, replace(details, base_confidence=merge_confidences(candidate, own)), receipt)


def enrich_merged(details: Details, others: Iterable[Memory], config: MergeConfig) -> Details:
    """Return the details of a merged memory with those of further memories that it says as well."""
    for memory in others:
        other = details_of(memory)
        confidence = max(details.base_confidence, other.base_confidence)
        details = merge_details(details, other, config, other_is_newer=False)
        details = replace(details, base_confidence=confidence)
    return details


def restated(case: Case) -> list[tuple[Memory, DetectedConflict]]:
    """Return the memories that the candidate wins against and restates, with the conflict with each.

    Those of a lower origin are left out: nothing is taken over from them (DESIGN D20).
    """
    won = [one.conflict for one in (case.verdict.main, *case.verdict.also)]
    alike = [one for one in won if one.detection.restates and not one.existing.origin.is_below(case.record.origin)]
    return [(case.memories[one.existing.key], one) for one in alike]


def change(
    unit: UnitOfWork,
    memory: Memory,
    details: Details,
    receipt: UUID | None,
    further: Mapping[str, Any] = MappingProxyType({}),
) -> list[Transition]:
    """Set the details of a memory that others restate. An importance that is None stays what the row has.

    A moment or a tag is taken over unless the same text is active with it already. further: columns to set besides.
    """
    values = {name: value for name, value in asdict(details).items() if name != "importance" or value is not None}
    before = {name: getattr(memory, name) for name in (*TAGS, "occurred_at")}
    moved = {name: values[name] for name, value in before.items() if values[name] != value}
    if moved and is_taken(unit, memory, moved):
        values |= before
    return change_details(unit, memory, values | dict(further), reason=RESTATED, receipt=receipt)


def is_taken(unit: UnitOfWork, memory: Memory, moved: Mapping[str, Any]) -> bool:
    """Return whether another active memory is what one would become with other tags or another moment."""
    wanted = key_after(memory, moved)
    if unit.find_pending_duplicate(wanted, exclude=[memory]):
        return True
    return Memory.objects.active().with_key(*wanted).exclude(pk=memory.pk).exists()
