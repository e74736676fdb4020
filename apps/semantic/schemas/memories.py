"""What requests to semantic memory may hold."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.schemas.batches import ItemsField, items_schema
from apps.core.schemas.fields import (
    AwareDateTimeField,
    IdentifierField,
    JSONObjectField,
    StrictBooleanField,
    StrictCharField,
    StrictChoiceField,
    StrictFloatField,
    StrictIntegerField,
    VectorField,
    VisibleTextField,
)
from apps.core.schemas.serializers import ScopeInput, StrictSerializer, scope_of
from apps.retrieval.domain.query import DEFAULT_TOP_K, MAX_TOP_K, SearchMode, SearchQuery
from apps.semantic.domain.memory import TAGS, MemoryDraft
from apps.semantic.models import MAX_TAG_CHARS, MemoryStatus, Policy
from apps.semantic.rest.paging import CURSOR_PATTERN

MAX_QUERY_CHARS = 10_000
MAX_CONTEXT_CHARS = 10_000
MAX_DAYS = 36_500
Fields = dict[str, serializers.Field[Any, Any, Any, Any]]


class ContentField(VisibleTextField):
    """The words of a memory, kept as they are."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=settings.MEMORYHUB.max_content_chars, **kwargs)


def tag_field() -> StrictCharField:
    """A tag: up to 200 characters, blank for none."""
    return StrictCharField(required=False, allow_blank=True, max_length=MAX_TAG_CHARS, trim_whitespace=False)


def _unit(help_text: str) -> StrictFloatField:
    return StrictFloatField(required=False, allow_null=True, min_value=0, max_value=1, help_text=help_text)


class TagsInput(ScopeInput):
    """Scope and tags. `global` is a word of Python's, so it is added by name."""

    agent = tag_field()
    personality = tag_field()
    project = tag_field()
    type = tag_field()
    session_id = tag_field()

    def get_fields(self) -> Fields:
        return {**super().get_fields(), "global": StrictBooleanField(required=False, source="is_global")}


class MemoryInput(TagsInput):
    """A memory to be saved. Only `content` is needed where the key or the configuration names the user."""

    content = ContentField()
    decay_policy = StrictChoiceField(choices=Policy.choices, required=False)
    importance = _unit("How much it matters, 0 to 1. Default 0.5.")
    confidence = _unit("How sure the writer is, 0 to 1. Default 1.0.")
    keywords = serializers.ListField(
        child=StrictCharField(max_length=100),
        required=False,
        max_length=50,
        help_text="More words to find it by.",
    )
    source = StrictCharField(
        required=False,
        max_length=64,
        help_text="user, conversation, skill, system, inferred, or your own word.",
    )
    occurred_at = AwareDateTimeField(required=False, allow_null=True, help_text="When it happened.")
    context = StrictCharField(
        required=False,
        allow_blank=True,
        max_length=MAX_CONTEXT_CHARS,
        help_text="Circumstances, findable too.",
    )
    metadata = JSONObjectField(required=False, help_text="Anything of yours; returned as it is.")
    embedding = VectorField(required=False, allow_null=True)


def draft_of(data: dict[str, Any]) -> MemoryDraft:
    """The draft that validated MemoryInput describes."""
    given = {name: value for name, value in data.items() if not name.endswith("_id") or name == "session_id"}
    given["keywords"] = tuple(given.get("keywords", ()))
    return MemoryDraft(scope=scope_of(data), **given)


@extend_schema_field(items_schema("MemoryInputRequest"))
class MemoriesField(ItemsField):
    """Memories that are checked one by one, later."""

    things = "memories"


class BatchInput(StrictSerializer):
    """Memories to be saved together."""

    memories = MemoriesField()


class WindowInput(StrictSerializer):
    """A span of time, both ends included; `from` is a word of Python's, so the fields are added by name."""

    def get_fields(self) -> Fields:
        return {
            "from": AwareDateTimeField(required=False, allow_null=True, source="start"),
            "to": AwareDateTimeField(required=False, allow_null=True, source="end"),
        }

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        start, end = attrs.get("start"), attrs.get("end")
        if start is not None and end is not None and start > end:
            raise serializers.ValidationError({"from": ["`from` lies after `to`."]})
        return attrs


class SearchInput(TagsInput):
    """A search: by words (`query`), by a vector of the active model (`embedding`), or both."""

    query = StrictCharField(required=False, allow_null=True, max_length=MAX_QUERY_CHARS)
    embedding = VectorField(required=False, allow_null=True)
    top_k = StrictIntegerField(required=False, min_value=1, max_value=MAX_TOP_K, default=DEFAULT_TOP_K)
    min_similarity = StrictFloatField(required=False, allow_null=True, min_value=-1, max_value=1)
    min_confidence = _unit("Only memories that are at least this sure now.")
    time_window = WindowInput(required=False, allow_null=True)
    last_days = StrictFloatField(required=False, allow_null=True, min_value=0, max_value=MAX_DAYS)
    source = StrictCharField(required=False, max_length=64)
    mode = StrictChoiceField(choices=[mode.value for mode in SearchMode], required=False)
    explain = StrictBooleanField(required=False, default=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.get("time_window") and attrs.get("last_days") is not None:
            raise serializers.ValidationError({"last_days": ["Give time_window or last_days, not both."]})
        return attrs


def query_of(data: dict[str, Any]) -> SearchQuery:
    """The search that validated SearchInput describes."""
    window = data.get("time_window") or {}
    start = window.get("start")
    if data.get("last_days") is not None:
        start = utcnow(SYSTEM_CLOCK) - timedelta(days=data["last_days"])
    mode = data.get("mode")
    return SearchQuery(
        scope=scope_of(data),
        query=data.get("query"),
        embedding=data.get("embedding"),
        mode=SearchMode(mode) if mode else None,
        top_k=data["top_k"],
        min_similarity=data.get("min_similarity"),
        min_confidence=data.get("min_confidence"),
        start=start,
        end=window.get("end"),
        tags=_tag_filters(data),
        explain=data["explain"],
    )


def _tag_filters(data: dict[str, Any]) -> dict[str, str]:
    filters = {name: data[name] for name in (*TAGS, "session_id", "source") if data.get(name)}
    if "is_global" in data:
        filters["is_global"] = "true" if data["is_global"] else "false"
    return filters


class ListInput(StrictSerializer):
    """The query string of a list: exact values of scope fields and tags; a blank tag is no filter (ADR 9)."""

    user_id = IdentifierField(required=False)
    household_id = IdentifierField(required=False)
    persona_id = IdentifierField(required=False)
    agent = tag_field()
    personality = tag_field()
    project = tag_field()
    type = tag_field()
    session_id = tag_field()
    source = serializers.CharField(required=False, max_length=64, trim_whitespace=False)
    decay_policy = StrictChoiceField(choices=Policy.choices, required=False)
    status = StrictChoiceField(choices=MemoryStatus.choices, required=False, help_text="Default: active.")
    limit = serializers.IntegerField(required=False, min_value=1, max_value=200, help_text="Default 50.")
    cursor = serializers.RegexField(CURSOR_PATTERN, required=False, help_text="From `next` or `previous`.")

    def get_fields(self) -> Fields:
        flag = serializers.BooleanField(required=False, source="is_global", default=serializers.empty)
        return {**super().get_fields(), "global": flag}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in attrs.items() if value != ""}
