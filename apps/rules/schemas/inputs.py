"""Inputs about rules. Rule documents themselves are checked by `domain.documents.validate`."""

from datetime import datetime
from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.core.domain.errors import ForbiddenError
from apps.core.domain.scope import Access
from apps.core.schemas.fields import (
    AwareDateTimeField,
    StrictCharField,
    StrictFloatField,
    VectorField,
    VisibleTextField,
)
from apps.core.schemas.serializers import ScopeInput, StrictSerializer, scope_of
from apps.rules.domain.documents.json_schema import config_schema, rule_schema
from apps.rules.domain.documents.rule import MAX_NAME_CHARS
from apps.rules.domain.engine.record import MemoryRecord
from apps.rules.services import MAX_LOADED

DEFAULT_IMPORTANCE = 0.5
RULE_BODY = {"application/json": rule_schema(required=["name"])}
CHANGES_BODY = {"application/json": rule_schema(leave_out=["name"])}


class RawObjectField(serializers.Field[dict[str, Any], Any, dict[str, Any], Any]):
    """A JSON object that the domain checks."""

    default_error_messages = {"not_an_object": "Expected a JSON object."}

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if not isinstance(data, dict):
            self.fail("not_an_object")
        return data


@extend_schema_field(config_schema())
class ConfigField(RawObjectField):
    """Sections of a rule."""


@extend_schema_field({"type": "array", "minItems": 1, "maxItems": MAX_LOADED, "items": rule_schema(required=["name"])})
class RulesField(serializers.Field[list[Any], Any, list[Any], Any]):
    """A list of rule documents, which the service checks all together."""

    default_error_messages = {
        "not_a_list": "Expected a list of rules.",
        "length": "Expected 1 to {limit} rules, got {count}.",
    }

    def to_internal_value(self, data: Any) -> list[Any]:
        if not isinstance(data, list):
            self.fail("not_a_list")
        if not 1 <= len(data) <= MAX_LOADED:
            self.fail("length", limit=MAX_LOADED, count=len(data))
        return data


class LoadInput(StrictSerializer):
    """Rules to load, in the form of an export."""

    rules = RulesField()
    count = serializers.IntegerField(
        required=False, allow_null=True, help_text="Accepted because exports have it; ignored."
    )
    version = serializers.IntegerField(
        required=False, allow_null=True, help_text="Accepted because exports have it; ignored."
    )


class RawQuery(StrictSerializer):
    """The query string of a read."""

    raw = serializers.BooleanField(required=False, help_text="The rule as it was sent, without what it inherits.")


class VersionQuery(StrictSerializer):
    """The query string of a change."""

    expected_version = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=2**53,
        help_text="The `rule_version` that you have read: the answer is 409 if the rule has changed since.",
    )


class RecordInput(ScopeInput):
    """A memory as in a save, without fields that no rule uses."""

    content = VisibleTextField(max_length=settings.MEMORYHUB.max_content_chars)
    importance = StrictFloatField(required=False, allow_null=True, min_value=0, max_value=1)
    source = StrictCharField(required=False, max_length=64)
    keywords = serializers.ListField(child=StrictCharField(max_length=100), required=False, max_length=50)
    occurred_at = AwareDateTimeField(required=False, allow_null=True, help_text="Default: now.")
    embedding = VectorField(required=False, allow_null=True)


class PartialRecordInput(RecordInput):
    """A memory of which a match uses only user, household, persona, source and importance."""

    content = StrictCharField(
        required=False, allow_blank=True, trim_whitespace=False, max_length=settings.MEMORYHUB.max_content_chars
    )


class MatchInput(StrictSerializer):
    """The memories to find a rule for."""

    candidate = PartialRecordInput()
    existing = PartialRecordInput(required=False, allow_null=True)


class EvaluateInput(StrictSerializer):
    """Two memories, and the rule to try. Default: the rule that matches."""

    candidate = RecordInput()
    existing = RecordInput()
    rule = VisibleTextField(required=False, allow_null=True, max_length=MAX_NAME_CHARS, help_text="The name of a rule.")
    config = ConfigField(required=False, allow_null=True, help_text="Changes of its sections, for this request.")


def record_of(key: str, data: dict[str, Any], access: Access, now: datetime) -> MemoryRecord:
    """Return the memory that validated RecordInput describes; a missing user is the one that the key is bound to.

    Raises ForbiddenError for a memory outside the caller's bound.
    """
    scope = access.for_read(scope_of(data))
    if scope is None:
        asked, bound = scope_of(data).named(), access.bound.named()
        outside = next(f"{key}.{name}" for name, value in asked.items() if bound.get(name, value) != value)
        raise ForbiddenError("This key may not ask about others.", attr=outside)
    importance = data.get("importance")
    return MemoryRecord(
        key=key,
        content=data.get("content", ""),
        timestamp=data.get("occurred_at") or now,
        importance=DEFAULT_IMPORTANCE if importance is None else importance,
        source=data.get("source", "user"),
        keywords=tuple(data.get("keywords", ())),
        user_id=scope.user_id or "",
        household_id=scope.household_id,
        persona_id=scope.persona_id,
        embedding=data.get("embedding"),
    )
