"""Parameters of tools that do what a call over REST does: their schema and their check come from its serializer."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.core.validators import RegexValidator
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from apps.core.schemas.fields import JSONObjectField
from apps.core.schemas.filters import FilterField
from apps.core.schemas.serializers import validate
from apps.llm.domain.tools import InvalidParametersError, Json, ToolProblem, object_schema

MOMENT_FORMAT = "ISO 8601 with an offset, for example 2023-05-08T13:56:00Z."
AnyField = serializers.Field[Any, Any, Any, Any]


def tool_parameters(
    serializer: type[serializers.Serializer[Any]],
    *,
    required: Iterable[str] = (),
    exclude: Iterable[str] = (),
    descriptions: Mapping[str, str] | None = None,
) -> Json:
    """Return the JSON Schema of a tool's parameters, derived from the input serializer of the same call over REST.

    So a field is declared once, in the serializer: its kind, limits, choices, default and help text (as description)
    become those of the parameter. A parameter is left out rather than sent as null. Check what a model sends with
    `checked_parameters` and the same serializer, whose `validate` can say more than a schema:

        def _save(access: Access, parameters: Mapping[str, Any]) -> Json:
            draft = draft_of(checked_parameters(MemoryInput, parameters))
            ...

        MEMORY_SAVE = Tool(
            name="memory_save",
            handler=_save,
            parameters=tool_parameters(MemoryInput, exclude=["embedding"], descriptions={"content": "One fact."}),
            ...
        )

    Args:
        required: fields that a tool needs although REST does not; they come first.
        exclude: fields that a model cannot fill, such as vectors.
        descriptions: texts for models, instead of the help texts.
    """
    excluded, written = set(exclude), descriptions or {}
    declared: Mapping[str, AnyField] = serializer().fields
    fields = {name: field for name, field in declared.items() if name not in excluded}
    needed = [name for name, field in fields.items() if field.required or name in set(required)]
    properties = {name: field_schema(fields[name], written.get(name)) for name in dict.fromkeys([*needed, *fields])}
    return object_schema(properties, required=tuple(needed))


def field_schema(field: AnyField, description: str | None = None) -> Json:
    """Return the JSON Schema of the values that a field takes, without null. Raises TypeError for an unknown field."""
    text = description or str(field.help_text or "")
    match field:
        case serializers.Serializer():
            inner = {name: field_schema(child) for name, child in field.fields.items()}
            schema = object_schema(
                inner, required=tuple(name for name, child in field.fields.items() if child.required)
            )
        case serializers.ListField():
            schema = {"type": "array", "items": field_schema(field.child), **_limits(field, "Items")}
        case serializers.BooleanField():
            schema = {"type": "boolean"}
        case serializers.IntegerField() | serializers.FloatField():
            limits = {"minimum": field.min_value, "maximum": field.max_value}
            kind = "integer" if isinstance(field, serializers.IntegerField) else "number"
            schema = {"type": kind, **{name: limit for name, limit in limits.items() if limit is not None}}
        case serializers.ChoiceField():
            schema = {"type": "string", "enum": list(field.choices)}
        case serializers.DateTimeField():
            schema, text = {"type": "string"}, f"{text} {MOMENT_FORMAT}".lstrip()
        case serializers.CharField():
            blank = {} if field.allow_blank else {"minLength": 1}
            patterns = [rule.regex for rule in field.validators if isinstance(rule, RegexValidator)]
            pattern = {"pattern": re.compile(patterns[0]).pattern} if patterns else {}
            schema = {"type": "string", **blank, **_limits(field, "Length"), **pattern}
        case JSONObjectField() | FilterField():
            schema = {"type": "object"}
        case _:
            raise TypeError(f"No JSON Schema is known for a {type(field).__name__}.")
    default = {} if field.default is serializers.empty else {"default": field.default}
    return {**schema, **default, **({"description": text} if text else {})}


def _limits(field: Any, of: str) -> Json:
    limits = {f"min{of}": field.min_length, f"max{of}": field.max_length}
    return {name: limit for name, limit in limits.items() if limit is not None}


def checked_parameters(serializer: type[serializers.BaseSerializer[Any]], parameters: Mapping[str, Any]) -> Any:
    """Return the data that the serializer of the REST call makes of parameters. Raises InvalidParametersError."""
    try:
        return validate(serializer, dict(parameters))
    except ValidationError as error:
        raise InvalidParametersError(flatten_errors(error.detail)) from None


def flatten_errors(detail: Any, path: str = "") -> Iterator[ToolProblem]:
    """Yield the errors of a serializer, each with the dotted path of its field."""
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            yield from flatten_errors(inner, path if name == "non_field_errors" else f"{path}.{name}".lstrip("."))
    elif isinstance(detail, list):
        for inner in detail:
            yield from flatten_errors(inner, path)
    else:
        yield ToolProblem(detail.code, str(detail), path or None)
