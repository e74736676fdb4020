"""Reading request bodies without surprises."""

import json
from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from rest_framework.exceptions import ParseError, ValidationError
from rest_framework.parsers import JSONParser

from apps.core.schemas.fields import printable

MAX_DEPTH_DETAIL = "JSON parse error - nested too deeply."


class StrictJSONParser(JSONParser):
    """JSON in UTF-8 whose failures are always a 400, or a 413 beyond DATA_UPLOAD_MAX_MEMORY_SIZE.

    Refused are broken text, another encoding, NaN and Infinity, nesting too deep for the parser, and an object
    that names a member twice, of which one would be lost.
    """

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        try:
            return json.loads(_text(stream), parse_constant=_refuse_constant, object_pairs_hook=_members)
        except RecursionError as error:
            raise ParseError(MAX_DEPTH_DETAIL) from error
        except ValueError as error:
            raise ParseError(f"JSON parse error - {error}") from error


def _text(stream: IO[Any]) -> str:
    limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    body: bytes = stream.read(limit + 1)
    if len(body) > limit:
        raise RequestDataTooBig
    return body.decode()


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON.")


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, value in pairs:
        if name in members:
            raise ValidationError({printable(name): ["Given more than once."]}, code="repeated")
        members[name] = value
    return members
