"""The schema of a tool comes from the serializer of the same call over REST."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator
from rest_framework import serializers

from apps.core.schemas.fields import (
    AwareDateTimeField,
    JSONObjectField,
    StrictBooleanField,
    StrictCharField,
    StrictChoiceField,
    StrictFloatField,
    StrictIntegerField,
    VectorField,
)
from apps.core.schemas.serializers import StrictSerializer
from apps.llm.services import tool_parameters
from apps.llm.tools.parameters import field_schema


class SpanInput(StrictSerializer):
    start = AwareDateTimeField()


class NoteInput(StrictSerializer):
    place = StrictCharField(required=False, allow_blank=True, max_length=20, help_text="Where.")
    text = StrictCharField(max_length=10)
    vector = VectorField(required=False)


@pytest.mark.parametrize(
    ("field", "schema"),
    [
        (StrictCharField(), {"type": "string", "minLength": 1}),
        (StrictCharField(allow_blank=True, max_length=5), {"type": "string", "maxLength": 5}),
        (serializers.RegexField("^a+$"), {"type": "string", "minLength": 1, "pattern": "^a+$"}),
        (StrictIntegerField(min_value=1, default=3), {"type": "integer", "minimum": 1, "default": 3}),
        (StrictFloatField(allow_null=True, max_value=1), {"type": "number", "maximum": 1}),
        (StrictBooleanField(help_text="Sure?"), {"type": "boolean", "description": "Sure?"}),
        (StrictChoiceField(choices=[("a", "A"), ("b", "B")]), {"type": "string", "enum": ["a", "b"]}),
        (JSONObjectField(), {"type": "object"}),
        (
            serializers.ListField(child=StrictIntegerField(), min_length=1, max_length=4),
            {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 4},
        ),
    ],
)
def test_a_field_becomes_its_schema(field: Any, schema: dict[str, Any]) -> None:
    assert field_schema(field) == schema
    Draft202012Validator.check_schema(schema)


def test_a_moment_says_its_format() -> None:
    schema = field_schema(AwareDateTimeField(help_text="When."))
    assert schema == {
        "type": "string",
        "description": "When. ISO 8601 with an offset, for example 2023-05-08T13:56:00Z.",
    }


def test_an_inner_serializer_becomes_an_object() -> None:
    schema = field_schema(SpanInput())
    assert (schema["required"], schema["additionalProperties"]) == (["start"], False)
    assert schema["properties"]["start"]["type"] == "string"


def test_required_fields_come_first_and_excluded_ones_not_at_all() -> None:
    schema = tool_parameters(NoteInput, exclude=["vector"])
    assert (list(schema["properties"]), schema["required"]) == (["text", "place"], ["text"])


def test_tool_can_require_and_describe_more_than_rest() -> None:
    schema = tool_parameters(NoteInput, required=["place"], exclude=["vector"], descriptions={"text": "One fact."})
    assert schema["required"] == ["place", "text"]
    assert schema["properties"]["text"]["description"] == "One fact."
    assert schema["properties"]["place"]["description"] == "Where."


def test_a_field_without_a_schema_is_a_mistake() -> None:
    with pytest.raises(TypeError, match="VectorField"):
        tool_parameters(NoteInput)
