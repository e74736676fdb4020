"""Inputs and outputs of receipts."""

from typing import Annotated, Any, TypedDict

from rest_framework import serializers

from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import Access
from apps.core.schemas.fields import AwareDateTimeField, StrictChoiceField
from apps.core.schemas.origins import OriginName
from apps.core.schemas.outputs import Moment, Uuid, render
from apps.core.schemas.paging import PageInput
from apps.core.schemas.serializers import StrictSerializer
from apps.rules.domain.documents.rule import MAX_NAME_CHARS
from apps.rules.domain.engine.arbitration import SIDES
from apps.rules.domain.engine.signals import SignalOutput
from apps.rules.selectors import shown_version
from apps.semantic.conflicts.review import Winner
from apps.semantic.models import Conflict, ConflictOutcome, Memory, MemoryStatus, Origin, ReviewState
from apps.semantic.schemas.memories import Fields

LOSER = {"candidate": "existing", "existing": "candidate"}


class ConflictListInput(PageInput):
    """The query string of a list of receipts; everything is a filter."""

    state = StrictChoiceField(choices=ReviewState.choices, required=False)
    outcome = StrictChoiceField(choices=ConflictOutcome.choices, required=False)
    origin = StrictChoiceField(choices=Origin.choices, required=False)
    rule = serializers.CharField(required=False, max_length=MAX_NAME_CHARS, source="rule_name")
    memory = serializers.UUIDField(required=False, help_text="Receipts that involve this memory.")

    def get_fields(self) -> Fields:
        """Return all fields: `from` is a keyword of Python, so the span of time, ends included, is added by name."""
        return {
            **super().get_fields(),
            "from": AwareDateTimeField(required=False, source="at__gte"),
            "to": AwareDateTimeField(required=False, source="at__lte"),
        }


class OverrideInput(StrictSerializer):
    """Which memory is to be active."""

    winner = StrictChoiceField(choices=[winner.value for winner in Winner])


class SideOutput(TypedDict):
    """One of the two memories: as it was when it was decided, and its status now."""

    id: Uuid
    content: str
    timestamp: Annotated[Moment, "When it happened, otherwise when it was saved."]
    importance: float
    source: str
    origin: OriginName
    keywords: list[str]
    status: Annotated[str, serializers.ChoiceField(choices=MemoryStatus.choices), "Now."]
    superseded_by: Annotated[Uuid | None, "Now."]


class ConflictOutput(TypedDict):
    """A receipt: what was decided about two memories, why, and what it changed."""

    id: Uuid
    user_id: str
    household_id: str | None
    persona_id: str | None
    origin: Annotated[str, serializers.ChoiceField(choices=Origin.choices)]
    outcome: Annotated[str, serializers.ChoiceField(choices=ConflictOutcome.choices)]
    state: Annotated[str, serializers.ChoiceField(choices=ReviewState.choices)]
    candidate: Annotated[SideOutput, "The memory that was saved, or the later one."]
    existing: Annotated[SideOutput, "The memory that was stored before."]
    result: Annotated[Uuid | None, "The memory that was active afterwards; null if both were."]
    action: Annotated[str, "keep, merge or reject; revert if a decision was undone."]
    winner: Annotated[str | None, serializers.ChoiceField(choices=SIDES, allow_null=True)]
    loser: Annotated[str | None, serializers.ChoiceField(choices=SIDES, allow_null=True)]
    strategy: Annotated[str, "What decided."]
    confidence: float
    reason: str
    signals: list[SignalOutput]
    total_score: float
    similarity: Annotated[float | None, "Cosine similarity of the two."]
    rule: str
    rule_version: Annotated[int | None, "The registry's when the rule last changed; null for a key with a bound."]
    merge: dict[str, Any] | None
    others: Annotated[list[dict[str, Any]], "Further conflicts of the same candidate."]
    transitions: Annotated[
        list[dict[str, Any]], "Every changed row, before and after; `details` lists what was taken over."
    ]
    about: Annotated[Uuid | None, "The receipt that this one reverts or overrides."]
    actor: str
    at: Moment
    reviewed_by: str
    reviewed_at: Moment | None


def render_conflict(receipt: Conflict, access: Access) -> ConflictOutput:
    """Return a receipt as JSON, as this caller may see it."""
    return render(
        ConflictOutput,
        receipt,
        household_id=receipt.household_id or None,
        persona_id=receipt.persona_id or None,
        candidate=render_side(receipt.candidate, receipt.records.get("candidate", {})),
        existing=render_side(receipt.existing, receipt.records.get("existing", {})),
        result=str(receipt.result.uuid) if receipt.result else None,
        winner=receipt.winner or None,
        loser=LOSER.get(receipt.winner),
        rule=receipt.rule_name,
        rule_version=shown_version(access, receipt.rule_version),
        transitions=[render_transition(change) for change in receipt.transitions],
        about=str(receipt.about.uuid) if receipt.about else None,
    )


def render_transition(change: dict[str, Any]) -> dict[str, Any]:
    """Return the change of a row as JSON."""
    shown = dict(change)
    for side in ("before", "after"):
        if state := change.get(side):
            shown[side] = {**state, "status_changed_at": stored_iso(state.get("status_changed_at"))}
    return shown


def stored_iso(text: str | None) -> str | None:
    """Return a datetime of a record, which is text in UTC, as all answers have it."""
    return text.replace("+00:00", "Z") if text else text


def render_side(memory: Memory, record: dict[str, Any]) -> SideOutput:
    """Return one memory of a receipt as JSON. record: of the memory when it was decided."""
    return {
        "id": str(memory.uuid),
        "content": record.get("content", ""),
        "timestamp": stored_iso(record.get("timestamp", "")) or "",
        "importance": record.get("importance", 0.0),
        "source": record.get("source", ""),
        "origin": record.get("origin", WriteOrigin.APP.value),
        "keywords": record.get("keywords", []),
        "status": str(memory.status),
        "superseded_by": str(memory.superseded_by.uuid) if memory.superseded_by else None,
    }
