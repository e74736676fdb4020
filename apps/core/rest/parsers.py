"""Reading request bodies without surprises."""

from collections.abc import Mapping
from typing import IO, Any

from django.core.exceptions import RequestDataTooBig
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

MAX_DEPTH_DETAIL = "JSON parse error - nested too deeply."


class StrictJSONParser(JSONParser):
    """JSON whose failures are always a 400: broken text, bad encoding, and nesting too deep for the parser."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        try:
            return super().parse(stream, media_type, parser_context)
        except RecursionError as error:
            raise ParseError(MAX_DEPTH_DETAIL) from error
        except RequestDataTooBig as error:
            raise ParseError("The request body is too large.") from error
