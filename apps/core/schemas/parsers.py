"""Parsing of JSON request bodies."""

import json
from collections.abc import Mapping
from io import BytesIO
from typing import IO, Any

from rest_framework.exceptions import ParseError, ValidationError
from rest_framework.parsers import BaseParser, JSONParser

from apps.core.domain.json_shape import find_excess
from apps.core.schemas.bodies import MAX_DEPTH, MAX_LINES, BodyLimit, BodyTooLargeError, TooManyLinesError, whole_limit
from apps.core.schemas.fields import printable


class StrictJSONParser(JSONParser):
    """JSON in UTF-8 whose failures are always a 400, or a 413 beyond the `body_limit` of the view.

    Refused are broken text, another encoding, NaN and Infinity, nesting too deep or more values than the address
    takes, both before they are parsed, and an object that has a member twice, of which one would be lost.
    """

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        """Return the parsed body."""
        body, limit = read_body(stream, parser_context)
        return parse_json(body, limit.values)


class LinesParser(BaseParser):
    """JSON Lines, left as they are for the view; a 413 beyond its `body_limit`, or beyond MAX_LINES."""

    media_type = "application/x-ndjson"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        """Return the body as a stream of bytes."""
        body, _limit = read_body(stream, parser_context)
        if body.count(b"\n") > MAX_LINES:
            raise TooManyLinesError(MAX_LINES)
        return BytesIO(body)


def read_body(stream: IO[Any], parser_context: Mapping[str, Any] | None) -> tuple[bytes, BodyLimit]:
    """Return the body of a request, and the limit of its address. Raises BodyTooLargeError beyond it."""
    limit: BodyLimit = getattr((parser_context or {}).get("view"), "body_limit", whole_limit)()
    body: bytes = stream.read(limit.size + 1)
    if len(body) > limit.size:
        raise BodyTooLargeError(limit.size)
    return body, limit


def parse_json(body: bytes, values: int) -> Any:
    """Return parsed JSON of so many values at most. Raises ParseError, and ValidationError for a repeated member."""
    if excess := find_excess(body, MAX_DEPTH, values):
        raise ParseError(f"JSON parse error - {excess}.")
    try:
        return json.loads(body.decode(), parse_constant=refuse_constant, object_pairs_hook=unique_members)
    except RecursionError as error:
        raise ParseError("JSON parse error - nested too deeply.") from error
    except ValueError as error:
        raise ParseError(f"JSON parse error - {error}") from error


def refuse_constant(name: str) -> None:
    """Raise ValueError for NaN and Infinity, which Python's parser would accept."""
    raise ValueError(f"{name} is not JSON.")


def unique_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members of an object. Raises ValidationError for a name that occurs twice."""
    members: dict[str, Any] = {}
    for name, value in pairs:
        if name in members:
            raise ValidationError({printable(name): ["Given more than once."]}, code="repeated")
        members[name] = value
    return members
