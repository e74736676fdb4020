"""What the tools of several apps have in common: how parameters are checked."""

from collections.abc import Iterator, Mapping
from typing import Any

from rest_framework.exceptions import ValidationError
from rest_framework.serializers import BaseSerializer

from apps.core.schemas.serializers import validate
from apps.llm.domain.tools import InvalidParametersError, ToolProblem


def checked_parameters(serializer: type[BaseSerializer[Any]], parameters: Mapping[str, Any]) -> Any:
    """What the serializer of a request over REST makes of them. Raises InvalidParametersError."""
    try:
        return validate(serializer, dict(parameters))
    except ValidationError as error:
        raise InvalidParametersError(_problems(error.detail)) from None


def _problems(detail: Any, path: str = "") -> Iterator[ToolProblem]:
    """The errors of a serializer, each with the dotted path of its field."""
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            yield from _problems(inner, path if name == "non_field_errors" else f"{path}.{name}".lstrip("."))
    elif isinstance(detail, list):
        for inner in detail:
            yield from _problems(inner, path)
    else:
        yield ToolProblem(detail.code, str(detail), path or None)
