"""The OpenAPI document: what all operations have in common."""

import re
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from django.conf import settings
from django.utils.module_loading import import_string
from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema as SpectacularAutoSchema
from drf_spectacular.plumbing import append_meta, build_array_type, build_object_type, get_doc, resolve_type_hint
from rest_framework import serializers

from apps.core.schemas.examples import Example, read_examples
from apps.core.schemas.fields import VISIBLE, StrictCharField, VisibleTextField
from apps.core.schemas.serializers import Problem, StrictSerializer

NO_NUL = r"[^\u0000]"
# The server answers these before it knows which operation is asked for.
HEAD_TOO_LARGE = {"description": "The request line and headers together are longer than 64 KB. The answer has no body."}


class AutoSchema(SpectacularAutoSchema):
    """Adds the error answers of each operation (DESIGN D12), how strict its input is, and its example."""

    def get_operation(self, *args: Any) -> Any:
        """Return the operation with the summary and the example that its app has for it."""
        operation = super().get_operation(*args)
        examples = read_examples(type(self.view).__module__.rpartition(".")[0])
        if operation and (example := examples.get(operation["operationId"])):
            return with_example(operation, example)
        return operation

    def _map_basic_serializer(self, serializer: Any, direction: Any) -> dict[str, Any]:
        schema: dict[str, Any] = super()._map_basic_serializer(serializer, direction)  # type: ignore[no-untyped-call]
        is_strict = isinstance(serializer, StrictSerializer) or (
            isinstance(serializer, type) and issubclass(serializer, StrictSerializer)
        )
        return {**schema, "additionalProperties": False} if is_strict else schema

    def _map_serializer_field(self, field: Any, direction: Any, bypass_extensions: bool = False) -> Any:
        schema = super()._map_serializer_field(field, direction, bypass_extensions)  # type: ignore[no-untyped-call]
        if not isinstance(field, StrictCharField):
            return schema
        seen = VISIBLE if isinstance(field, VisibleTextField) else r"[^\s\u0000]"
        return {**schema, "pattern": f"^{NO_NUL}*$" if field.allow_blank else f"^{NO_NUL}*{seen}{NO_NUL}*$"}

    def _insert_field_validators(self, field: Any, schema: dict[str, Any]) -> None:
        """Describe a text that may be empty once: as one of two texts, of which both may be, "" would be neither."""
        super()._insert_field_validators(field, schema)  # type: ignore[no-untyped-call]
        match schema.get("oneOf"):
            case [{"type": "string"} as text, {"maxLength": 0}] if is_empty_allowed(text):
                del schema["oneOf"]
                schema.update(text)

    def _get_response_bodies(self, direction: Literal["request", "response"] = "response") -> dict[str, Any]:
        bodies: dict[str, Any] = super()._get_response_bodies(direction)
        has_body = self.method in {"POST", "PUT", "PATCH"}
        # A body may be sent to any operation. With a key: what a request names may be gone, or not be for this key, or
        # be in a state (a person who is being forgotten, a file that is no note) that allows nothing.
        statuses = ["413"]
        if self.view.get_authenticators():
            statuses += ["400", "401", "403", "404", "409", "503", *([] if self.method == "GET" else ["429"])]
        statuses += ["400", "415", "503"] if has_body else []
        statuses += ["404"] if "{" in self.path else []
        for code in statuses:
            if code not in bodies:
                bodies[code] = self._get_response_for_code(Problem, code, direction=direction)  # type: ignore[no-untyped-call]
        return {**bodies, "431": HEAD_TOO_LARGE}

    def get_tags(self) -> list[str]:
        """Return the section of the documentation."""
        section_of: Callable[[str, str], str] = import_string(settings.API_SECTION_OF)
        return [section_of(self.method, self.path)]


def is_empty_allowed(text: Mapping[str, Any]) -> bool:
    """Return whether the description of a text allows an empty one."""
    return not text.get("minLength") and "format" not in text and bool(re.search(text.get("pattern", ""), ""))


def with_example(operation: dict[str, Any], example: Example) -> dict[str, Any]:
    """Return the operation with a summary, and the example in its parameters, its request and its answer."""
    values = {**example.path, **example.query, **example.headers}
    for parameter in operation.get("parameters", []):
        if parameter["name"] in values:
            parameter["example"] = values[parameter["name"]]
    show_example(operation.get("requestBody", {}), example.summary, example.body)
    show_example(operation["responses"].get(str(example.status), {}), example.summary, example.answer)
    return {"operationId": operation["operationId"], "summary": example.summary, **operation}


def show_example(part: Mapping[str, Any], summary: str, value: Any) -> None:
    """Add the example of a request or an answer to each of its media types."""
    contents: Iterable[dict[str, Any]] = part.get("content", {}).values() if value is not None else ()
    for content in contents:
        content["examples"] = {"example": {"summary": summary, "value": value}}


class TypedDictExtension(OpenApiSerializerExtension):
    """Describe a TypedDict that a view answers with as a component of its name.

    Its docstring is the description. A type may be Annotated with a text, which describes the key, and with a field of
    a serializer, whose schema replaces that of the type: `Annotated[str, serializers.UUIDField(), "The event."]`.
    """

    @classmethod
    def _matches(cls, target: Any) -> bool:
        return is_typeddict(target)

    def get_name(self, auto_schema: Any, direction: Any) -> str:
        return str(self.target.__name__)

    def map_serializer(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        hints = get_type_hints(self.target, include_extras=True)
        schema: dict[str, Any] = build_object_type(  # type: ignore[no-untyped-call]
            properties={name: type_schema(hint, auto_schema, direction) for name, hint in hints.items()},
            required=[name for name in hints if name in self.target.__required_keys__],
            description=get_doc(self.target),
        )
        return schema


def type_schema(hint: Any, auto_schema: Any, direction: Any) -> Any:
    """Return the schema of the type of a TypedDict's key; a TypedDict in it becomes a component."""
    origin, arguments = get_origin(hint), get_args(hint)
    if is_typeddict(hint):
        return auto_schema.resolve_serializer(hint, direction).ref
    if origin is NotRequired:
        return type_schema(arguments[0], auto_schema, direction)
    if origin is list:
        return build_array_type(type_schema(arguments[0], auto_schema, direction))
    if origin in (Union, UnionType) and NoneType in arguments:
        [kind] = [one for one in arguments if one is not NoneType]
        return append_meta(type_schema(kind, auto_schema, direction), {"nullable": True})
    if origin is not Annotated:
        return resolve_type_hint(hint)  # type: ignore[no-untyped-call]
    kind, *notes = arguments
    texts = [note for note in notes if isinstance(note, str)]
    fields = [note for note in notes if isinstance(note, serializers.BaseSerializer | serializers.Field)]
    if fields:
        field = copy(fields[-1])
        field.help_text = texts[-1] if texts else field.help_text
        schema = auto_schema._map_serializer_field(field, direction)
        auto_schema._insert_field_validators(field, schema)
        return schema
    return append_meta(type_schema(kind, auto_schema, direction), {"description": texts[-1]} if texts else {})
