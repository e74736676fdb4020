"""What requests about receipts may hold."""

from rest_framework import serializers

from apps.core.schemas.fields import AwareDateTimeField, IdentifierField, StrictChoiceField
from apps.core.schemas.serializers import StrictSerializer
from apps.rules.domain.documents.rule import MAX_NAME_CHARS
from apps.semantic.conflicts.review import Winner
from apps.semantic.models import Origin, Outcome, ReviewState
from apps.semantic.rest.paging import CURSOR_PATTERN
from apps.semantic.schemas.memories import Fields


class ConflictListInput(StrictSerializer):
    """The query string of a list of receipts; everything is a filter."""

    user_id = IdentifierField(required=False)
    household_id = IdentifierField(required=False)
    persona_id = IdentifierField(required=False)
    state = StrictChoiceField(choices=ReviewState.choices, required=False)
    outcome = StrictChoiceField(choices=Outcome.choices, required=False)
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
