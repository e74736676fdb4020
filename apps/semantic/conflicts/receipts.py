"""Receipts: what was decided, kept so that it can be explained, rehearsed and undone (DESIGN D3)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import uuid4

from apps.core.domain.origin import WriteOrigin
from apps.rules.domain.engine.detection import cosine_of
from apps.rules.domain.engine.record import MemoryRecord
from apps.rules.domain.engine.verdict import DecidedConflict
from apps.rules.selectors import RuleSet
from apps.semantic.conflicts.candidate import Case
from apps.semantic.domain.memory import TAGS
from apps.semantic.domain.state import Transition
from apps.semantic.events import ConflictDecided
from apps.semantic.models import Conflict, ConflictOutcome, Memory, Origin, ReviewState


def scope_columns(memory: Memory) -> dict[str, str]:
    """Return the scope of a receipt about a memory: both of its memories are of the same one."""
    return {name: getattr(memory, name) for name in ("user_id", "household_id", "persona_id")}


def build_receipt(case: Case, rules: RuleSet) -> Conflict:
    """Return the receipt of a verdict, without result and transitions."""
    verdict, record, rule = case.verdict, case.record, case.rule
    main = decision_as_json(verdict.main, record)
    existing = main.pop("existing")
    return Conflict(
        **scope_columns(case.candidate),
        uuid=uuid4(),
        origin=case.origin,
        outcome=ConflictOutcome(verdict.outcome.value),
        candidate=case.candidate,
        existing=case.existing,
        about=case.about,
        about_state="" if case.about is None else str(case.about.state),
        rule_name=rule.name,
        rule_version=rules.versions.get(rule.name, 0),
        registry_version=rules.version,
        rule=rule.to_document(),
        records={"candidate": record_as_json(record), "existing": existing},
        others=[decision_as_json(one, record) | {"applied": True} for one in verdict.also]
        + [decision_as_json(one, record) | {"applied": False} for one in verdict.others],
        **main | {"winner": main["winner"] or ""},
    )


def decision_as_json(one: DecidedConflict, record: MemoryRecord) -> dict[str, Any]:
    """Return what a receipt keeps of a conflict of its candidate with one memory."""
    existing, detection, result = one.conflict.existing, one.conflict.detection, one.result
    return {
        "existing": record_as_json(existing),
        "similarity": cosine_of(record, existing),
        "signals": [signal.as_json() for signal in detection.signals],
        "total_score": detection.total_score,
        "action": result.action.value,
        "winner": result.winner,
        "strategy": result.strategy.value,
        "confidence": result.confidence,
        "reason": result.reason,
    }


def record_as_json(record: MemoryRecord) -> dict[str, Any]:
    """Return what a receipt keeps of a memory: all that the rule engine reads, but for the vector."""
    return {
        "id": record.key,
        "content": record.content,
        "timestamp": record.timestamp.isoformat(),
        "importance": record.importance,
        "source": record.source,
        "origin": record.origin.value,
        "keywords": list(record.keywords),
        "user_id": record.user_id,
        "persona_id": record.persona_id,
        **{name: value for name in (*TAGS, "is_global") if (value := getattr(record, name))},
        **({} if record.known_share == 1 else {"known_share": round(record.known_share, 4)}),
    }


def record_from_json(data: Mapping[str, Any], household_id: str) -> MemoryRecord:
    """Return the memory that `record_as_json` described, without a vector. household_id: that of its receipt."""
    return MemoryRecord(
        key=data["id"],
        content=data["content"],
        timestamp=datetime.fromisoformat(data["timestamp"]),
        importance=data["importance"],
        source=data["source"],
        keywords=tuple(data["keywords"]),
        user_id=data["user_id"],
        household_id=household_id or None,
        persona_id=data["persona_id"],
        **{name: data[name] for name in (*TAGS, "is_global") if name in data},
        origin=WriteOrigin(data.get("origin", WriteOrigin.APP)),
        known_share=data.get("known_share", 1.0),
        embedding=None,
    )


def complete_receipt(
    receipt: Conflict, *, actor: str, at: datetime, result: Memory | None, transitions: Sequence[Transition]
) -> Conflict:
    """Add the outcome to a receipt.

    A person's own decision needs no review, so it is accepted from the start; and so is that of a model that both
    memories can be true, which changes none.
    """
    receipt.actor, receipt.at = actor, at
    receipt.result = result
    receipt.transitions = [transition.as_json() for transition in transitions]
    is_settled = receipt.origin == Origin.JUDGE and receipt.outcome == ConflictOutcome.KEPT_BOTH
    if is_settled or receipt.origin in {Origin.OVERRIDE, Origin.REVERT}:
        receipt.state, receipt.reviewed_by, receipt.reviewed_at = ReviewState.ACCEPTED, actor, at
    return receipt


def decided_event(receipt: Conflict) -> ConflictDecided:
    """Return the event that notifies the rest of the hub of a receipt."""
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


def decided_partners(memories: Sequence[Memory]) -> dict[int, set[str]]:
    """Return with which memories each of these has a receipt, whatever its outcome: id -> keys.

    The further memories that a receipt names count as well: they were compared, too.
    """
    ids = [memory.pk for memory in memories]
    partners: dict[int, set[str]] = defaultdict(set)
    columns = ("candidate", "existing__uuid", "others")
    for candidate, existing, others in Conflict.objects.filter(candidate__in=ids).values_list(*columns):
        partners[candidate] |= {str(existing), *(other["existing"]["id"] for other in others)}
    for existing, candidate in Conflict.objects.filter(existing__in=ids).values_list("existing", "candidate__uuid"):
        partners[existing].add(str(candidate))
    return partners
