"""Inputs and outputs of receipts."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.core.domain.scope import Access
from apps.core.schemas.fields import AwareDateTimeField, IdentifierField, JSONObjectField, StrictChoiceField
from apps.core.schemas.paging import CURSOR_PATTERN
from apps.core.schemas.serializers import StrictSerializer
from apps.rules.domain.documents.rule import MAX_NAME_CHARS
from apps.rules.domain.engine.arbitration import SIDES
from apps.rules.domain.engine.signals import SignalOutput
from apps.rules.selectors import shown_version
from apps.semantic.conflicts.review import Winner
from apps.semantic.models import Conflict, ConflictOutcome, Memory, MemoryStatus, Origin, ReviewState
from apps.semantic.schemas.memories import Fields, iso


class ConflictListInput(StrictSerializer):
    """The query string of a list of receipts; everything is a filter."""

    user_id = IdentifierField(required=False)
    household_id = IdentifierField(required=False)
    persona_id = IdentifierField(required=False)
    state = StrictChoiceField(choices=ReviewState.choices, required=False)
    outcome = StrictChoiceField(choices=ConflictOutcome.choices, required=False)
    origin = StrictChoiceField(choices=Origin.choices, required=False)
    rule = serializers.CharField(required=False, max_length=MAX_NAME_CHARS, source="rule_name")
    memory = serializers.UUIDField(required=False, help_text="Receipts in which this memory is one of the two.")
    limit = serializers.IntegerField(required=False, min_value=1, max_value=200, help_text="Default 50.")
    cursor = serializers.RegexField(CURSOR_PATTERN, required=False, help_text="From `next` or `previous`.")

    def get_fields(self) -> Fields:
        """`from` is a word of Python's, so the span of time is added by name; both ends are included."""
        return {
            **super().get_fields(),
            "from": AwareDateTimeField(required=False, source="at__gte"),
            "to": AwareDateTimeField(required=False, source="at__lte"),
        }


class OverrideInput(StrictSerializer):
    """Which memory is to stand."""

    winner = StrictChoiceField(choices=[winner.value for winner in Winner])


AnySerializer = serializers.Serializer[Any]
LOSER = {"candidate": "existing", "existing": "candidate"}


@extend_schema_field(list[SignalOutput])  # type: ignore[arg-type]
class SignalsField(JSONObjectField):
    """The evidence for the conflict."""


class SideOutput(AnySerializer):
    """One of the two memories: what was known of it when it was decided, and where it stands now."""

    id = serializers.UUIDField()
    content = serializers.CharField(allow_blank=True)
    timestamp = serializers.DateTimeField(help_text="When it happened, else when it was saved.")
    importance = serializers.FloatField()
    source = serializers.CharField()
    keywords = serializers.ListField(child=serializers.CharField())
    status = serializers.ChoiceField(choices=MemoryStatus.choices, help_text="Now.")
    superseded_by = serializers.UUIDField(allow_null=True, help_text="Now.")


class ConflictOutput(AnySerializer):
    """A receipt: what was decided about two memories, why, and what it changed."""

    id = serializers.UUIDField()
    user_id = serializers.CharField()
    household_id = serializers.CharField(allow_null=True)
    persona_id = serializers.CharField(allow_null=True)
    origin = serializers.ChoiceField(choices=Origin.choices)
    outcome = serializers.ChoiceField(choices=ConflictOutcome.choices)
    state = serializers.ChoiceField(choices=ReviewState.choices)
    candidate = SideOutput(help_text="The memory that was saved, or the later one.")
    existing = SideOutput(help_text="The one that it was held against.")
    result = serializers.UUIDField(allow_null=True, help_text="The memory that stood afterwards; null where both did.")
    action = serializers.CharField(help_text="keep, merge or reject; revert where a decision was undone.")
    winner = serializers.ChoiceField(choices=SIDES, allow_null=True)
    loser = serializers.ChoiceField(choices=SIDES, allow_null=True)
    strategy = serializers.CharField(help_text="What decided.")
    confidence = serializers.FloatField()
    reason = serializers.CharField()
    signals = SignalsField()
    total_score = serializers.FloatField()
    similarity = serializers.FloatField(allow_null=True, help_text="Cosine of the two.")
    rule = serializers.CharField()
    rule_version = serializers.IntegerField(
        allow_null=True, help_text="The registry's when the rule last changed; null for a key with a bound."
    )
    merge = JSONObjectField(allow_null=True)
    others = serializers.ListField(child=JSONObjectField(), help_text="Further conflicts of the same candidate.")
    transitions = serializers.ListField(child=JSONObjectField(), help_text="Every row changed, before and after.")
    about = serializers.UUIDField(allow_null=True, help_text="The receipt that this one reverts or overrides.")
    actor = serializers.CharField()
    at = serializers.DateTimeField()
    reviewed_by = serializers.CharField(allow_blank=True)
    reviewed_at = serializers.DateTimeField(allow_null=True)


class ConflictPage(AnySerializer):
    """A page of receipts, the newest first."""

    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)
    results = ConflictOutput(many=True)


def render_conflict(receipt: Conflict, access: Access) -> dict[str, Any]:
    """A receipt as ConflictOutput describes it."""
    return {
        "id": str(receipt.uuid),
        "user_id": receipt.user_id,
        "household_id": receipt.household_id or None,
        "persona_id": receipt.persona_id or None,
        "origin": str(receipt.origin),
        "outcome": str(receipt.outcome),
        "state": str(receipt.state),
        "candidate": _side(receipt, "candidate", receipt.candidate),
        "existing": _side(receipt, "existing", receipt.existing),
        "result": _id(receipt.result),
        **_decision(receipt),
        "rule": receipt.rule_name,
        "rule_version": shown_version(access, receipt.rule_version),
        "merge": receipt.merge,
        "others": receipt.others,
        "transitions": receipt.transitions,
        "about": _id(receipt.about),
        "actor": receipt.actor,
        "at": iso(receipt.at),
        "reviewed_by": receipt.reviewed_by,
        "reviewed_at": iso(receipt.reviewed_at),
    }


def _decision(receipt: Conflict) -> dict[str, Any]:
    return {
        "action": receipt.action,
        "winner": receipt.winner or None,
        "loser": LOSER.get(receipt.winner),
        "strategy": receipt.strategy,
        "confidence": receipt.confidence,
        "reason": receipt.reason,
        "signals": receipt.signals,
        "total_score": receipt.total_score,
        "similarity": receipt.similarity,
    }


def _side(receipt: Conflict, side: str, memory: Memory) -> dict[str, Any]:
    record = receipt.records.get(side, {})
    then = {name: record.get(name) for name in ("content", "timestamp", "importance", "source", "keywords")}
    now = {"status": str(memory.status), "superseded_by": _id(memory.superseded_by)}
    return {"id": str(memory.uuid), **then, **now}


def _id(row: Memory | Conflict | None) -> str | None:
    return str(row.uuid) if row else None
