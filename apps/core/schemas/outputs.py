"""Types of the keys of answers, which are TypedDicts, and how they are filled: DRF's fields would take too long.

The OpenAPI document describes them. Of what a row has by the same name a key is written once, in the TypedDict.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from enum import Enum
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, TypeVar, cast
from uuid import UUID

from rest_framework import serializers

from apps.core.domain.clock import iso as iso
from apps.core.schemas.fields import JSONObjectField

Uuid = Annotated[str, serializers.UUIDField()]
Moment = Annotated[str, serializers.DateTimeField()]
Url = Annotated[str, serializers.URLField()]
JSONObject = Annotated[dict[str, Any], JSONObjectField()]
Output = TypeVar("Output")


# What JSON has for the values of columns.
_WRITTEN: dict[type, Callable[[Any], Any]] = {datetime: iso, UUID: str, tuple: list}


@cache
def writer_of(kind: Any) -> Callable[[Any], Any] | None:
    """Return what makes a value of a type one of JSON; None for one that is one."""
    return attrgetter("value") if issubclass(kind, Enum) else _WRITTEN.get(kind)


def render(output: Callable[..., Output], row: object, **given: Any) -> Output:
    """Return an answer about a row: what is not given is the row's attribute of that name, `id` its `uuid`.

    output: a TypedDict. row: any object, or the JSON of one. Moments are written by `iso`, UUIDs as texts, members of
    enumerations as their values. Raises AttributeError or KeyError for what the row lacks.
    """
    answer = {}
    is_json = isinstance(row, Mapping)
    for name, attribute in keys_of(output):
        if name in given:
            answer[name] = given[name]
        else:
            value = row[name] if is_json else getattr(row, attribute)  # type: ignore[index]
            convert = writer_of(type(value))  # type: ignore[arg-type]  # a class is hashable
            answer[name] = value if convert is None else convert(value)
    return cast("Output", answer)


@cache
def keys_of(output: Any) -> list[tuple[str, str]]:
    """Return the keys of a TypedDict, and of which attribute of a row each is."""
    return [(name, "uuid" if name == "id" else name) for name in output.__annotations__]
