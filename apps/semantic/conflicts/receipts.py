"""Writing down what was decided, so that it can be explained, rehearsed and undone (DESIGN D3)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any
from uuid import UUID

from apps.rules.domain.documents.rule import RuleConfig
from apps.rules.domain.engine.detection import cosine_of
from apps.rules.domain.engine.merge import MergeResult
from apps.rules.domain.engine.record import MemoryRecord
from apps.rules.domain.engine.verdict import DecidedConflict, Verdict
from apps.rules.selectors import RuleSet
from apps.semantic.conflicts.records import record_as_json
from apps.semantic.domain.state import Transition
from apps.semantic.events import ConflictDecided
from apps.semantic.models import Conflict, ConflictOutcome, Memory, Origin, ReviewState


def scope_columns(memory: Memory) -> dict[str, str]:
    """Whose receipt it is: its memories are all of one scope."""
    return {name: getattr(memory, name) for name in ("user_id", "household_id", "persona_id")}


def build_receipt(
    uuid: UUID,
    verdict: Verdict,
    record: MemoryRecord,
    memories: Mapping[str, Memory],
    *,
    rule: RuleConfig,
    rules: RuleSet,
    origin: Origin,
) -> Conflict:
    """The receipt of a verdict about the memory of `record`, without result and transitions.

    memories: by the key of their records, with all that the verdict names.
    """
    main = verdict.main
    existing = main.conflict.existing
    candidate = memories[record.key]
    return Conflict(
        **scope_columns(candidate),
        uuid=uuid,
        origin=origin,
        outcome=ConflictOutcome(verdict.outcome.value),
        candidate=candidate,
        existing=memories[existing.key],
        rule_name=rule.name,
        rule_version=rules.versions.get(rule.name, 0),
        registry_version=rules.version,
        rule=rule.to_document(),
        **_decision_columns(main),
        similarity=cosine_of(record, existing),
        records={"candidate": record_as_json(record), "existing": record_as_json(existing)},
        others=[_other(one, record, applied=True) for one in verdict.also]
        + [_other(one, record, applied=False) for one in verdict.others],
    )


def _decision_columns(main: DecidedConflict) -> dict[str, Any]:
    result = main.result
    return {
        "action": result.action.value,
        "winner": result.winner or "",
        "strategy": result.strategy.value,
        "confidence": result.confidence,
        "reason": result.reason,
        "signals": [signal.as_json() for signal in main.conflict.detection.signals],
        "total_score": main.conflict.detection.total_score,
    }


def _other(one: DecidedConflict, record: MemoryRecord, *, applied: bool) -> dict[str, Any]:
    """A further conflict of the same candidate. applied: whether its memory left with that of the main one."""
    existing = one.conflict.existing
    return {
        "existing": record_as_json(existing),
        "similarity": cosine_of(record, existing),
        "signals": [signal.as_json() for signal in one.conflict.detection.signals],
        "total_score": one.conflict.detection.total_score,
        "action": one.result.action.value,
        "winner": one.result.winner,
        "strategy": one.result.strategy.value,
        "confidence": one.result.confidence,
        "reason": one.result.reason,
        "applied": applied,
    }


def merge_as_json(merged: MergeResult) -> dict[str, Any]:
    """What merging made of the two, without the content, which is that of the resulting memory."""
    return {
        "strategy": merged.strategy.value,
        "common_keywords": list(merged.common_keywords),
        "statistics": asdict(merged.statistics),
    }


def complete_receipt(
    receipt: Conflict, *, actor: str, at: Any, result: Memory | None, transitions: Sequence[Transition]
) -> Conflict:
    """A receipt with what came of it. What nobody needs to look at is accepted from the start."""
    receipt.actor, receipt.at = actor, at
    receipt.result = result
    receipt.transitions = [transition.as_json() for transition in transitions]
    if receipt.origin in {Origin.OVERRIDE, Origin.REVERT}:
        receipt.state, receipt.reviewed_by, receipt.reviewed_at = ReviewState.ACCEPTED, actor, at
    return receipt


def decided_event(receipt: Conflict) -> ConflictDecided:
    """What the rest of the hub is told of a receipt."""
    return ConflictDecided(
        conflict_id=receipt.uuid,
        user_id=receipt.user_id,
        household_id=receipt.household_id or None,
        persona_id=receipt.persona_id or None,
        origin=str(receipt.origin),
        outcome=str(receipt.outcome),
        candidate_id=receipt.candidate.uuid,
        existing_id=receipt.existing.uuid,
        result_id=receipt.result.uuid if receipt.result else None,
        rule_name=receipt.rule_name,
        confidence=receipt.confidence,
        about=receipt.about.uuid if receipt.about else None,
        actor=receipt.actor,
        at=receipt.at,
    )
