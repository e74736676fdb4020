"""What the tools of several apps have in common: parts of their schemas, and how parameters are checked."""

from collections.abc import Iterator, Mapping
from typing import Any

from rest_framework.exceptions import ValidationError
from rest_framework.serializers import BaseSerializer

from apps.core.rest.views import validated
from apps.llm.domain.tools import InvalidParametersError, Problem

Json = dict[str, Any]

MOMENT: Json = {"type": "string", "description": "ISO 8601 with an offset, for example 2023-05-08T13:56:00Z."}
UNIT: Json = {"type": "number", "minimum": 0, "maximum": 1}
SCOPE: Json = {name: {"type": "string", "maxLength": 200} for name in ("user_id", "household_id", "persona_id")}


def object_schema(properties: Json, *, required: tuple[str, ...]) -> Json:
    """The schema of an object with these properties and no others."""
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def checked_parameters(serializer: type[BaseSerializer[Any]], parameters: Mapping[str, Any]) -> Any:
    """What the serializer of a request over REST makes of them. Raises InvalidParametersError."""
    try:
        return validated(serializer, dict(parameters))
    except ValidationError as error:
        raise InvalidParametersError(_problems(error.detail)) from None


def _problems(detail: Any, path: str = "") -> Iterator[Problem]:
    """The errors of a serializer, each with the dotted path of its field."""
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            yield from _problems(inner, path if name == "non_field_errors" else f"{path}.{name}".lstrip("."))
    elif isinstance(detail, list):
        for inner in detail:
            yield from _problems(inner, path)
    else:
        yield Problem(detail.code, str(detail), path or None)
