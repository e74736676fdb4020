"""The query string of an export."""

from rest_framework import serializers

from apps.core.personal.export import MAX_FILTER_CHARS
from apps.core.schemas.serializers import ScopeInput


class ExportInput(ScopeInput):
    """Whose data, and which of it."""

    filter = serializers.CharField(
        required=False,
        max_length=MAX_FILTER_CHARS,
        help_text='Filters as a JSON object: {"memories": {"project": "garden"}, "events": {"event_type": "visit"}}. '
        "If memories are filtered, only what belongs to the matching ones is exported with them.",
    )
    vectors = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Whether memories come with their vectors, so that importing them into a hub with the same embedding "
        "model need not embed them again.",
    )
