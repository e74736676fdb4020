"""Filters of exports: by the name of a store, what its lines must be."""

import json
from collections.abc import Mapping
from typing import Any

from apps.core.domain.filters.expression import Expression
from apps.core.domain.filters.parse import FilterError, parse_filter
from apps.core.personal.registry import personal_stores

MAX_FILTER_CHARS = 8_000


def parse_filters(text: str) -> tuple[dict[str, Any], Mapping[str, Expression]]:
    """Return the filters of stores as they are written, and as expressions. text: a JSON object. Raises FilterError."""
    if len(text) > MAX_FILTER_CHARS:
        raise FilterError(f"Expected JSON of at most {MAX_FILTER_CHARS} characters.", attr="filter")
    try:
        written = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FilterError("Expected a JSON object.", attr="filter") from error
    fields = {store.name: store.filter_fields for store in personal_stores() if store.filter_fields is not None}
    if not isinstance(written, dict) or not written.keys() <= fields.keys():
        raise FilterError(f"Expected an object with filters for {' or '.join(fields)}.", attr="filter")
    filters = {name: parse_filter(asked, fields[name], f"filter.{name}") for name, asked in written.items()}
    return written, filters
