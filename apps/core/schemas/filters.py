"""Fields for filters and orders of lists (docs/reference/api-conventions.md)."""

import json
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.core.domain.filters.expression import Expression
from apps.core.domain.filters.parse import Fields, FilterError, parse_filter

MAX_FILTER_CHARS = 8_000
HELP = (
    'Fields and their values: {"type": "fact", "importance": {"gte": 0.5}, "metadata.page": {"in": [3, 4]}},'
    " joined by all, any and not; with eq, in, gt, gte, lt, lte, exists and contains."
)


@extend_schema_field(OpenApiTypes.OBJECT)
class FilterField(serializers.Field[Expression, Any, Any, Any]):
    """A filter as a JSON object."""

    def __init__(self, fields: Fields, **kwargs: Any) -> None:
        super().__init__(required=False, **{"help_text": HELP, **kwargs})
        self._fields_of_rows = fields

    def to_internal_value(self, data: Any) -> Expression:
        """Return the filter. Raises FilterError, which names the place in it."""
        return parse_filter(data, self._fields_of_rows)


@extend_schema_field(OpenApiTypes.STR)
class FilterTextField(FilterField):
    """A filter as the text of a JSON object, for query strings."""

    def to_internal_value(self, data: Any) -> Expression:
        """Return the filter. Raises FilterError, which names the place in it."""
        if not isinstance(data, str) or len(data) > MAX_FILTER_CHARS:
            raise FilterError(f"Expected JSON of at most {MAX_FILTER_CHARS} characters.", attr="filter")
        try:
            return super().to_internal_value(json.loads(data))
        except (ValueError, RecursionError) as error:
            raise FilterError("Expected a JSON object.", attr="filter") from error
