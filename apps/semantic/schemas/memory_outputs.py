"""What answers of semantic memory look like: the shapes for the OpenAPI document, and plain functions that fill them.

Functions, because a batch answers with a thousand memories and DRF's field machinery would take longer than
saving them.
"""

from dataclasses import replace
from datetime import datetime
from typing import Any

from rest_framework import serializers

from apps.core.schemas.fields import JSONObjectField
from apps.core.schemas.serializers import ProblemItem
from apps.retrieval.domain.explain import explanation
from apps.retrieval.domain.query import SearchMode
from apps.semantic.memories.writer import SaveResult
from apps.semantic.models import Memory, MemoryRevision, MemoryStatus, Policy, RevisionAction
from apps.semantic.schemas.bridge_outputs import BridgeOutput
from apps.semantic.search.search import SearchResult
from apps.semantic.selectors import StoreStatus

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
    decay_policy = serializers.ChoiceField(choices=Policy.choices)
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


def memory_json(memory: Memory, now: datetime) -> dict[str, Any]:
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


def save_json(result: SaveResult, now: datetime) -> dict[str, Any]:
    """A save as SaveOutput describes it."""
    return {
        "action": result.action,
        "reason": result.reason,
        "memory": memory_json(result.memory, now),
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


def revision_json(revision: MemoryRevision) -> dict[str, Any]:
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


def search_json(result: SearchResult, now: datetime, explain: bool) -> dict[str, Any]:
    """A search as SearchOutput describes it."""
    results = []
    for found in result.found:
        item = {
            "memory": memory_json(found.memory, now),
            "score": found.hit.score,
            "similarity": found.hit.similarity,
            "confidence": found.hit.confidence,
        }
        if explain:
            item["explain"] = explanation(found.hit, SearchMode(result.diagnostics.mode))
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
