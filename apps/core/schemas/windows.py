"""Spans of time in requests."""

from typing import Any

from rest_framework import serializers

from apps.core.schemas.fields import AwareDateTimeField
from apps.core.schemas.serializers import StrictSerializer

MAX_DAYS = 36_500
Fields = dict[str, serializers.Field[Any, Any, Any, Any]]


def window_ends() -> Fields:
    """Return the fields of the two ends, both included; `from` is a keyword of Python, so they are added by name."""
    return {
        "from": AwareDateTimeField(required=False, allow_null=True, source="start", help_text="Included."),
        "to": AwareDateTimeField(required=False, allow_null=True, source="end", help_text="Included."),
    }


class WindowInput(StrictSerializer):
    """A span of time, both ends included."""

    def get_fields(self) -> Fields:
        return window_ends()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        start, end = attrs.get("start"), attrs.get("end")
        if start is not None and end is not None and start > end:
            raise serializers.ValidationError({"from": ["`from` lies after `to`."]})
        return attrs
