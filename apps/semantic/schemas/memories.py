"""Inputs and outputs of memories.

Outputs are filled by plain functions: a batch answers with a thousand memories, and DRF's field machinery would take
longer than saving them.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, NotRequired, TypedDict

from django.conf import settings
from django.db.models import Value
from django.db.models.functions import Coalesce
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.filters.expression import constant_value
from apps.core.schemas.batches import ItemsField, items_schema
from apps.core.schemas.fields import (
    AwareDateTimeField,
    BoundedListField,
    JSONObjectField,
    OffsetDateTimeField,
    OwnersTextField,
    StrictBooleanField,
    StrictCharField,
    StrictChoiceField,
    StrictFloatField,
    VectorField,
    VisibleTextField,
)
from apps.core.schemas.filters import FilterField, FilterTextField
from apps.core.schemas.origins import OriginName, written_origin
from apps.core.schemas.outputs import Moment, Uuid, render
from apps.core.schemas.paging import NEWEST_FIRST, Order, PageInput
from apps.core.schemas.serializers import ProblemItem, ScopeInput, StrictSerializer, scope_of
from apps.semantic.domain.filters import MEMORY_FIELDS
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.memories.writer import SaveResult
from apps.semantic.models import (
    MAX_TAG_CHARS,
    DecayPolicyChoices,
    Memory,
    MemoryRevision,
    MemoryStatus,
    RevisionAction,
)

MAX_CONTEXT_CHARS = 10_000
# The columns of orders. What has no time comes last of the newest first.
ORDERS: Mapping[str, str | Coalesce] = {
    "created_at": "created_at",
    "updated_at": "updated_at",
    "occurred_at": Coalesce("occurred_at", Value(datetime(1, 1, 2, tzinfo=UTC))),
    "importance": "importance",
}
SAVE_ACTIONS = (
    "inserted", "updated", "skipped", "merged", "superseded_existing", "kept_existing", "rejected",
)  # fmt: skip
Fields = dict[str, serializers.Field[Any, Any, Any, Any]]


def tag_field() -> StrictCharField:
    """Return a field for a tag: up to 200 characters, blank for none."""
    return StrictCharField(required=False, allow_blank=True, max_length=MAX_TAG_CHARS, trim_whitespace=False)


def share_field(help_text: str) -> StrictFloatField:
    """Return a field for a number from 0 to 1."""
    return StrictFloatField(required=False, allow_null=True, min_value=0, max_value=1, help_text=help_text)


# Inputs


class TagFields(StrictSerializer):
    """The tags of a memory."""

    agent = tag_field()
    personality = tag_field()
    project = tag_field()
    type = tag_field()
    session_id = tag_field()


class TagsInput(ScopeInput, TagFields):
    """Scope and tags. `global` is a keyword of Python, so it is added by name."""

    def get_fields(self) -> Fields:
        return {**super().get_fields(), "global": StrictBooleanField(required=False, source="is_global")}


class ContentField(VisibleTextField):
    """The text of a memory, kept as it is."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=settings.MEMORYHUB.max_content_chars, **kwargs)


class ExpiryField(AwareDateTimeField):
    """A moment that is still to come."""

    default_error_messages = {"in_the_past": "The expiry must be in the future."}

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"help_text": "From then on nothing finds it; null: it does not expire.", **kwargs})

    def to_internal_value(self, value: Any) -> datetime:
        moment = super().to_internal_value(value)
        if moment <= utcnow(SYSTEM_CLOCK):
            self.fail("in_the_past")
        return moment


class MemoryInput(TagsInput):
    """A memory to be saved. Only `content` is needed where the key or the configuration names the user."""

    content = ContentField()
    decay_policy = StrictChoiceField(choices=DecayPolicyChoices.choices, required=False)
    importance = share_field("How much it matters, 0 to 1. Default 0.5.")
    confidence = share_field("How sure the writer is, 0 to 1. Default 1.0.")
    keywords = serializers.ListField(
        child=StrictCharField(max_length=100), required=False, max_length=50, help_text="More words to find it by."
    )
    source = StrictCharField(
        required=False, max_length=64, help_text="user, conversation, skill, system, inferred, or your own word."
    )
    origin = written_origin()
    occurred_at = OffsetDateTimeField(
        required=False, allow_null=True, help_text="When it happened; its offset is kept."
    )
    expires_at = ExpiryField(required=False, allow_null=True)
    context = StrictCharField(
        required=False,
        allow_blank=True,
        max_length=MAX_CONTEXT_CHARS,
        help_text="Circumstances, which are searched too.",
    )
    metadata = JSONObjectField(required=False, help_text="Your own JSON object, returned unchanged.")
    embedding = VectorField(required=False, allow_null=True)


def make_draft(data: Mapping[str, Any]) -> MemoryDraft:
    """Return the draft that validated MemoryInput describes."""
    fields = {name: value for name, value in data.items() if not name.endswith("_id") or name == "session_id"}
    fields["keywords"] = tuple(fields.get("keywords", ()))
    return MemoryDraft(scope=scope_of(data), **fields)


class UpdateInput(TagFields):
    """Changes of a memory: only what is named changes. `global` is a keyword of Python, so it is added by name."""

    content = ContentField(required=False)
    decay_policy = StrictChoiceField(choices=DecayPolicyChoices.choices, required=False)
    importance = StrictFloatField(required=False, min_value=0, max_value=1)
    keywords = serializers.ListField(child=StrictCharField(max_length=100), required=False, max_length=50)
    occurred_at = OffsetDateTimeField(required=False, allow_null=True, help_text="When it happened; null for unknown.")
    expires_at = ExpiryField(required=False, allow_null=True)
    context = StrictCharField(required=False, allow_blank=True, max_length=MAX_CONTEXT_CHARS)
    metadata = JSONObjectField(
        required=False, help_text="A merge patch: null removes a value, and objects are merged recursively (RFC 7386)."
    )
    embedding = VectorField(required=False, help_text="The vector of the new content.")

    def get_fields(self) -> Fields:
        return {**super().get_fields(), "global": StrictBooleanField(required=False, source="is_global")}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs:
            raise serializers.ValidationError({"content": ["Send at least one field to change."]}, code="required")
        if "embedding" in attrs and "content" not in attrs:
            raise serializers.ValidationError(
                {"embedding": ["Send a vector only together with new content."]}, code="invalid"
            )
        return attrs


@extend_schema_field(items_schema("MemoryInputRequest"))
class MemoriesField(ItemsField):
    """Memories that are checked one by one, later."""

    things = "memories"


class BatchInput(StrictSerializer):
    """Memories to be saved together."""

    memories = MemoriesField()


class ListInput(PageInput, TagFields):
    """The query string of a list: exact values of scope fields and tags; a blank tag is no filter (ADR 9)."""

    source = serializers.CharField(required=False, max_length=64, trim_whitespace=False)
    decay_policy = StrictChoiceField(choices=DecayPolicyChoices.choices, required=False)
    status = StrictChoiceField(choices=MemoryStatus.choices, required=False, help_text="Default: active.")

    filter = FilterTextField(MEMORY_FIELDS, source="where")
    include = OwnersTextField(
        help_text="Owners to list besides the scope, as far as the key may read them, separated by commas."
    )
    sort = serializers.ChoiceField(
        choices=[*ORDERS, *(f"-{name}" for name in ORDERS)], required=False, help_text="Default: newest first."
    )

    def get_fields(self) -> Fields:
        flag = serializers.BooleanField(required=False, source="is_global", default=serializers.empty)
        return {**super().get_fields(), "global": flag}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in attrs.items() if value != ""}


def make_order(sort: str | None) -> Order:
    """Return the order that a list is asked for in: of a column, downwards after a "-"."""
    if sort is None:
        return NEWEST_FIRST
    return Order(ORDERS[sort.removeprefix("-")], ascending=not sort.startswith("-"))


class SelectionInput(ScopeInput):
    """Memories that are chosen by their ids or by a filter."""

    ids = BoundedListField(child=serializers.UUIDField(), required=False, min_length=1, max_length=1000)
    filter = FilterField(MEMORY_FIELDS, source="where")
    dry_run = StrictBooleanField(required=False, default=False, help_text="Only report how many there are.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("ids" in attrs) is ("where" in attrs):
            raise serializers.ValidationError({"ids": ["Send either ids or filter, not both."]}, code="required")
        if "where" in attrs and constant_value(attrs["where"]) is True:
            detail = "This filter matches everything: narrow it, or purge the scope."
            raise serializers.ValidationError({"filter": [detail]}, code="empty")
        return attrs


class SelectionOutput(TypedDict):
    """What was chosen, and what was done with it."""

    matched: Annotated[int, "Matching memories that were not already deleted."]
    deleted: Annotated[int, "Memories that were deleted now."]
    managed: Annotated[int, "Matching memories that were skipped because they follow an item of knowledge."]
    protected: Annotated[int, "Matching memories that were skipped because their origin is higher than the key's."]
    dry_run: bool


# Outputs

GlobalOutput = TypedDict("GlobalOutput", {"global": bool})


class MemoryOutput(GlobalOutput):
    """A memory."""

    id: Uuid
    version: Annotated[str, "Changes with every change; send it as an ETag in `If-Match`."]
    content: str
    user_id: str
    household_id: str | None
    persona_id: str | None
    agent: str
    personality: str
    project: str
    type: str
    decay_policy: Annotated[str, serializers.ChoiceField(choices=DecayPolicyChoices.choices)]
    importance: float
    confidence: Annotated[float, "How sure it is now: base_confidence, decayed."]
    base_confidence: Annotated[float, "What its writer claimed."]
    keywords: list[str]
    source: str
    origin: OriginName
    occurred_at: Moment | None
    expires_at: Moment | None
    session_id: str
    further_sessions: Annotated[list[str], "Other sessions in which the same was said."]
    context: str
    metadata: dict[str, Any]
    managed: Annotated[
        bool, "Whether it follows an item of knowledge; such a memory is changed where the item is kept."
    ]
    status: Annotated[str, serializers.ChoiceField(choices=MemoryStatus.choices)]
    deleted: bool
    superseded_by: Uuid | None
    created_at: Moment
    updated_at: Moment
    last_reinforced_at: Moment | None


def render_memory(memory: Memory, now: datetime) -> MemoryOutput:
    """Return a memory as JSON, with its confidence at `now`."""
    # Mostly there is none, which the column says as well, sooner than the relation.
    return render(
        MemoryOutput,
        memory,
        version=memory.version_tag,
        household_id=memory.household_id or None,
        persona_id=memory.persona_id or None,
        **{"global": memory.is_global},
        confidence=memory.confidence_at(now),
        managed=memory.is_managed,
        deleted=memory.status == MemoryStatus.DELETED,
        superseded_by=str(memory.superseded_by.uuid) if memory.superseded_by_id and memory.superseded_by else None,
    )


class SaveOutput(TypedDict):
    """What saving did."""

    action: Annotated[str, serializers.ChoiceField(choices=SAVE_ACTIONS)]
    reason: Annotated[str, "Why, in one word."]
    memory: Annotated[MemoryOutput, "The memory as it is stored now."]
    conflict: Annotated[Uuid | None, "The receipt of the decision, when memories disagreed."]


def render_save(result: SaveResult, now: datetime) -> SaveOutput:
    """Return what a save did as JSON."""
    return {
        "action": result.action,
        "reason": result.reason,
        "memory": render_memory(result.memory, now),
        "conflict": str(result.conflict) if result.conflict else None,
    }


class BatchItemOutput(TypedDict):
    """What became of one item: as in saving one, or `errors`."""

    status: Annotated[int, "The HTTP status you would get if you saved it alone."]
    action: NotRequired[Annotated[str, serializers.ChoiceField(choices=SAVE_ACTIONS)]]
    reason: NotRequired[str]
    memory: NotRequired[MemoryOutput]
    conflict: NotRequired[Uuid | None]
    type: NotRequired[str]
    errors: NotRequired[list[Annotated[dict[str, Any], ProblemItem()]]]


class BatchOutput(TypedDict):
    """One answer per item, in order."""

    results: list[BatchItemOutput]
    count: int


class RevisionOutput(TypedDict):
    """One step in the history of a memory."""

    action: Annotated[str, serializers.ChoiceField(choices=RevisionAction.choices)]
    reason: str
    actor: str
    at: Moment
    changes: Annotated[dict[str, Any], "Field -> [before, after]."]
    conflict: Annotated[Uuid | None, "The receipt of the decision that did it."]


class HistoryOutput(TypedDict):
    """The history of a memory, the first step first."""

    results: list[RevisionOutput]
    count: int


def render_revision(revision: MemoryRevision) -> RevisionOutput:
    """Return one step in the history of a memory as JSON."""
    return render(RevisionOutput, revision, conflict=str(revision.conflict) if revision.conflict else None)
