"""What a query of the timeline may hold."""

from typing import Any

from rest_framework import serializers

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import InvalidInputError
from apps.core.schemas.fields import (
    AwareDateTimeField,
    StrictBooleanField,
    StrictCharField,
    StrictChoiceField,
    StrictFloatField,
    StrictIntegerField,
)
from apps.core.schemas.serializers import ScopeInput, scope_of
from apps.episodic.domain.window import DEFAULT_TOP_K, MAX_EVENT_TYPES, MAX_TOP_K, EventQuery
from apps.episodic.schemas.events import EventTypeField
from apps.retrieval.domain.query import SearchMode

MAX_QUERY_CHARS = 10_000
MAX_DAYS = 36_500
Fields = dict[str, serializers.Field[Any, Any, Any, Any]]


class EventQueryInput(ScopeInput):
    """A window of the timeline; `from` is a word of Python's, so the two ends are added by name."""

    last_days = StrictFloatField(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=MAX_DAYS,
        help_text="From so many days ago on, instead of `from` and `to`.",
    )
    top_k = StrictIntegerField(required=False, min_value=1, max_value=MAX_TOP_K, default=DEFAULT_TOP_K)
    event_types = serializers.ListField(
        child=EventTypeField(),
        required=False,
        allow_null=True,
        min_length=1,
        max_length=MAX_EVENT_TYPES,
        help_text="Only events of these types.",
    )
    query = StrictCharField(
        required=False, allow_null=True, max_length=MAX_QUERY_CHARS, help_text="What the events are about."
    )
    mode = StrictChoiceField(
        choices=[mode.value for mode in SearchMode], required=False, help_text="How a `query` is compared."
    )
    explain = StrictBooleanField(required=False, default=False, help_text="Say why each event stands where it stands.")

    def get_fields(self) -> Fields:
        ends: Fields = {
            "from": AwareDateTimeField(required=False, allow_null=True, source="start", help_text="Included."),
            "to": AwareDateTimeField(required=False, allow_null=True, source="end", help_text="Included."),
        }
        return {**super().get_fields(), **ends}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        query = query_of(attrs)
        if query.mode is not None and query.text is None:
            raise serializers.ValidationError({"query": [f"The mode {query.mode} needs a query."]}, code="required")
        try:
            query.window(utcnow(SYSTEM_CLOCK))
        except InvalidInputError as error:
            raise serializers.ValidationError({str(error.attr): [error.detail]}, code=error.code) from error
        return attrs


def query_of(data: dict[str, Any]) -> EventQuery:
    """The query that validated EventQueryInput describes."""
    mode = data.get("mode")
    return EventQuery(
        scope=scope_of(data),
        start=data.get("start"),
        end=data.get("end"),
        last_days=data.get("last_days"),
        top_k=data["top_k"],
        event_types=tuple(data.get("event_types") or ()),
        text=data.get("query"),
        mode=SearchMode(mode) if mode else None,
        explain=data["explain"],
    )
