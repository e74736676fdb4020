"""Types of the keys of answers, which are TypedDicts, and how they are filled: DRF's fields would take too long.

The OpenAPI document describes them. Of what a row has by the same name a key is written once, in the TypedDict.
"""

from collections.abc import Callable
from datetime import datetime
from functools import cache
from typing import Annotated, Any, TypeVar, cast, overload
from uuid import UUID

from rest_framework import serializers

from apps.core.schemas.fields import JSONObjectField

Uuid = Annotated[str, serializers.UUIDField()]
Moment = Annotated[str, serializers.DateTimeField()]
Url = Annotated[str, serializers.URLField()]
JSONObject = Annotated[dict[str, Any], JSONObjectField()]
Output = TypeVar("Output")


@overload
def iso(moment: datetime) -> str: ...
@overload
def iso(moment: datetime | None) -> str | None: ...
def iso(moment: datetime | None) -> str | None:
    """Return ISO 8601 in the moment's own offset, `Z` for UTC, with microseconds where there are any; None for None."""
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")


# What JSON has for the values of columns. Choices are texts already.
_WRITTEN: dict[type, Callable[[Any], Any]] = {datetime: iso, UUID: str, tuple: list}


def render(output: Callable[..., Output], row: object, **given: Any) -> Output:
    """Return an answer about a row: what is not given is the row's attribute of that name, `id` its `uuid`.

    output: a TypedDict. Moments are written by `iso`, UUIDs as texts. Raises AttributeError for what the row lacks.
    """
    answer = {}
    for name, attribute in keys_of(output):
        if name in given:
            answer[name] = given[name]
        else:
            value = getattr(row, attribute)
            convert = _WRITTEN.get(type(value))
            answer[name] = value if convert is None else convert(value)
    return cast("Output", answer)


@cache
def keys_of(output: Any) -> list[tuple[str, str]]:
    """Return the keys of a TypedDict, and of which attribute of a row each is."""
    return [(name, "uuid" if name == "id" else name) for name in output.__annotations__]
