"""What a request to rehearse a rule may hold. The changes themselves are checked as those of a PATCH are."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.core.schemas.fields import StrictBooleanField, StrictIntegerField
from apps.core.schemas.serializers import ScopeInput
from apps.rules.domain.documents.json_schema import rule_schema
from apps.semantic.conflicts.near_pairs import DEFAULT_PAIRS, MAX_PAIRS
from apps.semantic.conflicts.rehearsal import DEFAULT_LIMIT, MAX_LIMIT


@extend_schema_field({**rule_schema(leave_out=["name"]), "nullable": True})
class ChangesField(serializers.Field[Any, Any, Any, Any]):
    """Settings of a rule, as for changing it: null makes one inherit again. The service says what is wrong."""

    def to_internal_value(self, data: Any) -> Any:
        return data


class RehearseInput(ScopeInput):
    """What to change, whose decisions to replay, and how many."""

    changes = ChangesField(required=False, allow_null=True)
    limit = StrictIntegerField(
        required=False,
        min_value=1,
        max_value=MAX_LIMIT,
        default=DEFAULT_LIMIT,
        help_text="At most so many decisions, the newest first.",
    )
    neighbours = StrictBooleanField(
        required=False,
        default=False,
        help_text="Compare the near neighbours among the active memories of a user, too.",
    )
    max_pairs = StrictIntegerField(
        required=False,
        min_value=1,
        max_value=MAX_PAIRS,
        default=DEFAULT_PAIRS,
        help_text="At most so many pairs of neighbours.",
    )
