"""Inputs and outputs of memories, searches and the status of the store."""

from dataclasses import replace
from datetime import datetime, timedelta
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
from apps.core.schemas.paging import CURSOR_PATTERN
from apps.core.schemas.serializers import ProblemItem, ScopeInput, StrictSerializer, scope_of
from apps.retrieval.domain.explain import explain_hit
from apps.retrieval.domain.query import DEFAULT_TOP_K, MAX_TOP_K, SearchMode, SearchQuery
from apps.semantic.domain.memory import TAGS, MemoryDraft
from apps.semantic.memories.writer import SaveResult
from apps.semantic.models import MAX_TAG_CHARS, DecayPolicyChoices, Memory, MemoryRevision, MemoryStatus, RevisionAction
from apps.semantic.schemas.bridge import BridgeOutput
from apps.semantic.search.search import SearchResult
from apps.semantic.status import StoreStatus

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
    decay_policy = StrictChoiceField(choices=DecayPolicyChoices.choices, required=False)
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


def make_draft(data: dict[str, Any]) -> MemoryDraft:
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


def make_query(data: dict[str, Any]) -> SearchQuery:
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
    decay_policy = StrictChoiceField(choices=DecayPolicyChoices.choices, required=False)
    status = StrictChoiceField(choices=MemoryStatus.choices, required=False, help_text="Default: active.")
    limit = serializers.IntegerField(required=False, min_value=1, max_value=200, help_text="Default 50.")
    cursor = serializers.RegexField(CURSOR_PATTERN, required=False, help_text="From `next` or `previous`.")

    def get_fields(self) -> Fields:
        flag = serializers.BooleanField(required=False, source="is_global", default=serializers.empty)
        return {**super().get_fields(), "global": flag}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in attrs.items() if value != ""}


AnySerializer = serializers.Serializer[Any]
PUBLIC_INDEX_FACTS = {"kind", "model", "dimension"}


def iso(moment: datetime | None) -> str | None:
    """ISO 8601 in UTC, with microseconds where there are any."""
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")


class MemoryOutput(AnySerializer):
    """A memory."""

    id = serializers.UUIDField()
    content = serializers.CharField()
    user_id = serializers.CharField()
    household_id = serializers.CharField(allow_null=True)
    persona_id = serializers.CharField(allow_null=True)
    agent = serializers.CharField(allow_blank=True)
    personality = serializers.CharField(allow_blank=True)
    project = serializers.CharField(allow_blank=True)
    type = serializers.CharField(allow_blank=True)
    decay_policy = serializers.ChoiceField(choices=DecayPolicyChoices.choices)
    importance = serializers.FloatField()
    confidence = serializers.FloatField(help_text="What it is worth now: base_confidence, decayed.")
    base_confidence = serializers.FloatField(help_text="What its writer claimed.")
    keywords = serializers.ListField(child=serializers.CharField())
    source = serializers.CharField()
    occurred_at = serializers.DateTimeField(allow_null=True)
    session_id = serializers.CharField(allow_blank=True)
    context = serializers.CharField(allow_blank=True)
    metadata = JSONObjectField()
    status = serializers.ChoiceField(choices=MemoryStatus.choices)
    deleted = serializers.BooleanField()
    superseded_by = serializers.UUIDField(allow_null=True)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    last_reinforced_at = serializers.DateTimeField(allow_null=True)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {**super().get_fields(), "global": serializers.BooleanField()}


def render_memory(memory: Memory, now: datetime) -> dict[str, Any]:
    """A memory as MemoryOutput describes it."""
    return {
        "id": str(memory.uuid),
        "content": memory.content,
        "user_id": memory.user_id,
        "household_id": memory.household_id or None,
        "persona_id": memory.persona_id or None,
        "agent": memory.agent,
        "personality": memory.personality,
        "project": memory.project,
        "type": memory.type,
        "global": memory.is_global,
        "decay_policy": str(memory.decay_policy),
        "importance": memory.importance,
        "confidence": memory.confidence_at(now),
        "base_confidence": memory.base_confidence,
        "keywords": memory.keywords,
        "source": memory.source,
        "occurred_at": iso(memory.occurred_at),
        "session_id": memory.session_id,
        "context": memory.context,
        "metadata": memory.metadata,
        "status": str(memory.status),
        "deleted": memory.status == MemoryStatus.DELETED,
        "superseded_by": str(memory.superseded_by.uuid) if memory.superseded_by else None,
        "created_at": iso(memory.created_at),
        "updated_at": iso(memory.updated_at),
        "last_reinforced_at": iso(memory.last_reinforced_at),
    }


SAVE_ACTIONS = (
    "inserted", "updated", "skipped", "merged", "superseded_existing", "kept_existing", "rejected",
)  # fmt: skip


class SaveOutput(AnySerializer):
    """What saving did."""

    action = serializers.ChoiceField(choices=SAVE_ACTIONS)
    reason = serializers.CharField(help_text="Why, in one word.")
    memory = MemoryOutput(help_text="The memory as it is stored now.")
    conflict = serializers.UUIDField(allow_null=True, help_text="The receipt of the decision, when memories disagreed.")


def render_save(result: SaveResult, now: datetime) -> dict[str, Any]:
    """A save as SaveOutput describes it."""
    return {
        "action": result.action,
        "reason": result.reason,
        "memory": render_memory(result.memory, now),
        "conflict": str(result.conflict) if result.conflict else None,
    }


class BatchItemOutput(AnySerializer):
    """What became of one item: as in saving one, or `errors`."""

    status = serializers.IntegerField(help_text="The HTTP status that saving it alone would have had.")
    action = serializers.ChoiceField(choices=SAVE_ACTIONS, required=False)
    reason = serializers.CharField(required=False)
    memory = MemoryOutput(required=False)
    conflict = serializers.UUIDField(allow_null=True, required=False)
    type = serializers.CharField(required=False)
    errors = ProblemItem(many=True, required=False)


class BatchOutput(AnySerializer):
    """One answer per item, in order."""

    results = BatchItemOutput(many=True)
    count = serializers.IntegerField()


class MemoryPage(AnySerializer):
    """A page of a list, the newest memory first."""

    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)
    results = MemoryOutput(many=True)


class RevisionOutput(AnySerializer):
    """One step in the history of a memory."""

    action = serializers.ChoiceField(choices=RevisionAction.choices)
    reason = serializers.CharField(allow_blank=True)
    actor = serializers.CharField()
    at = serializers.DateTimeField()
    changes = JSONObjectField(help_text="Field -> [before, after].")
    conflict = serializers.UUIDField(allow_null=True, help_text="The receipt of the decision that did it.")


class HistoryOutput(AnySerializer):
    """The history of a memory, the first step first."""

    results = RevisionOutput(many=True)
    count = serializers.IntegerField()


def render_revision(revision: MemoryRevision) -> dict[str, Any]:
    """A step as RevisionOutput describes it."""
    return {
        "action": revision.action,
        "reason": revision.reason,
        "actor": revision.actor,
        "at": iso(revision.at),
        "changes": revision.changes,
        "conflict": str(revision.conflict) if revision.conflict else None,
    }


class DiagnosticsOutput(AnySerializer):
    """How a search came to its results: considered = matched + filtered."""

    matched_count = serializers.IntegerField(help_text="Passed every filter, before top_k.")
    filtered_count = serializers.IntegerField(help_text="Were kept out by a filter.")
    considered_count = serializers.IntegerField(help_text="Could be seen in the scope.")
    filtered = serializers.DictField(child=serializers.IntegerField(), help_text="By the first filter that failed.")
    index = serializers.CharField(help_text="How the vectors were searched.")
    mode = serializers.ChoiceField(choices=[mode.value for mode in SearchMode])
    took_ms = serializers.FloatField()


class FoundOutput(AnySerializer):
    """One result."""

    memory = MemoryOutput()
    score = serializers.FloatField(help_text="By which results are ordered.")
    similarity = serializers.FloatField(allow_null=True, help_text="Cosine, -1 to 1; null when none was computed.")
    confidence = serializers.FloatField()
    explain = JSONObjectField(required=False)


class SearchOutput(AnySerializer):
    """What was found, the best first."""

    results = FoundOutput(many=True)
    count = serializers.IntegerField()
    diagnostics = DiagnosticsOutput()


def render_search(result: SearchResult, now: datetime, explain: bool) -> dict[str, Any]:
    """A search as SearchOutput describes it."""
    results = []
    for found in result.found:
        item = {
            "memory": render_memory(found.memory, now),
            "score": found.hit.score,
            "similarity": found.hit.similarity,
            "confidence": found.hit.confidence,
        }
        if explain:
            item["explain"] = explain_hit(found.hit, SearchMode(result.diagnostics.mode))
        results.append(item)
    return {"results": results, "count": len(results), "diagnostics": result.diagnostics.as_json()}


class StoreOutput(AnySerializer):
    """Where the memories are."""

    host = serializers.CharField()
    name = serializers.CharField()


class StatusOutput(AnySerializer):
    """How the store is."""

    status = serializers.ChoiceField(choices=["healthy", "unhealthy"])
    store = StoreOutput()
    collection = serializers.CharField()
    count = serializers.IntegerField(allow_null=True, help_text="Active memories that this key can see.")
    index = JSONObjectField()
    bridge = BridgeOutput(required=False)
    error = serializers.CharField(required=False)


def without_cache(report: StoreStatus) -> StoreStatus:
    """A status for a key with a bound: what this process has in memory tells of the memories of others."""
    return replace(report, index={name: value for name, value in report.index.items() if name in PUBLIC_INDEX_FACTS})
