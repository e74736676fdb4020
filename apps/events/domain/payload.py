"""Payloads of events: frozen pydantic models with a name and a schema that is checked in both directions (DESIGN D7).

    class MemorySaved(EventPayload):
        name: ClassVar[str] = "memory:semantic:saved"

        memory_id: UUID
        user_id: Text
        at: Moment

A payload carries identifiers and small facts, never the content of a memory. A field added to a released
payload needs a default, so that rows written before it can still be read.
"""

import json
import re
import types
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Self, TypeAlias, Union, get_args, get_origin, get_type_hints
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, PlainSerializer, StringConstraints, ValidationError

Json: TypeAlias = str | int | float | bool | list["Json"] | dict[str, "Json"] | None
# Text that PostgreSQL can store as JSON: no NUL and, because the pattern is matched in UTF-8, no lone surrogates.
Text = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$")]
# ISO 8601 with an offset, as `datetime.isoformat` writes it: stored payloads are compared as text.
Moment = Annotated[AwareDatetime, PlainSerializer(datetime.isoformat, when_used="json")]

MAX_NAME_CHARS = 100
NAME = re.compile(r"[a-z][a-z_]*(:[a-z][a-z_]*)+")
FIELD_TYPES = (Text, Moment, UUID, int, float, bool)

_registry: dict[str, type["EventPayload"]] = {}


class PayloadError(Exception):
    """A payload, its class or its stored form does not match its schema. Messages carry no values."""


class EventPayload(BaseModel):
    """Base of every payload. A subclass that sets `name` is registered under it, once."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)
    name: ClassVar[str]

    def __init__(self, **values: Any) -> None:
        """Check the values. Raises PayloadError when one is not of its field's type."""
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise PayloadError(describe(type(self), error)) from None

    # Pydantic need not call it when it validates: `from_json` translates the error itself.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        hints = get_type_hints(cls, include_extras=True)
        for field in cls.model_fields:
            check_type(hints[field], f"{path_of(cls)}.{field}")
        if "name" in cls.__dict__:
            register(cls)

    def to_json(self) -> dict[str, Json]:
        """Return the fields as JSON: datetimes ISO 8601 with an offset, UUIDs as text."""
        return self.model_dump(mode="json")

    @classmethod
    def from_json(cls, document: object) -> Self:
        """Return the payload of what `to_json` returned.

        Raises PayloadError for unknown fields, missing ones without a default, and wrong types.
        """
        if not isinstance(document, dict):
            raise PayloadError(f"{cls.name}: expected a JSON object, not {type(document).__name__}.")
        try:
            return cls.model_validate_json(json.dumps(document))
        except ValidationError as error:
            raise PayloadError(describe(cls, error)) from None

    def identifiers(self) -> dict[str, str]:
        """Return the fields that hold UUIDs, as text: what a log line may say about the payload."""
        return {key: str(value) for key, value in self if isinstance(value, UUID)}


def payload_class(name: str) -> type[EventPayload] | None:
    """Return the class registered under `name`."""
    return _registry.get(name)


def registered_names() -> frozenset[str]:
    """Return the names of all events whose modules have been imported."""
    return frozenset(_registry)


def register(cls: type[EventPayload]) -> None:
    """Register a class under its name. Raises PayloadError for a bad name, and one that another class has."""
    name = cls.name
    if not isinstance(name, str) or len(name) > MAX_NAME_CHARS or not NAME.fullmatch(name):
        raise PayloadError(f"{name!r} is no event name: expected something like 'memory:semantic:saved'.")
    holder = _registry.get(name)
    # A reloaded module makes the same class again.
    if holder is not None and path_of(holder) != path_of(cls):
        raise PayloadError(f"The event name {name!r} already belongs to {path_of(holder)}.")
    _registry[name] = cls


def check_type(hint: Any, where: str) -> None:
    """Raise PayloadError, which names `where`, for a type that a payload cannot hold.

    It can hold Text, Moment, UUID, int, float, bool, subclasses of StrEnum, `X | None` and `tuple[X, ...]`.
    """
    arguments = get_args(hint)
    if hint in FIELD_TYPES or (isinstance(hint, type) and issubclass(hint, StrEnum)):
        return
    is_optional = get_origin(hint) in {Union, types.UnionType} and len(arguments) == 2 and type(None) in arguments
    if is_optional or (get_origin(hint) is tuple and len(arguments) == 2 and arguments[1] is Ellipsis):
        [inner] = [argument for argument in arguments if argument not in (type(None), Ellipsis)]
        check_type(inner, where)
        return
    raise PayloadError(f"{where}: a payload cannot hold {hint}.")


def describe(cls: type[EventPayload], error: ValidationError) -> str:
    """Return what is wrong, without any of the values."""
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    unknown, missing = (
        sorted(str(problem["loc"][0]) for problem in problems if problem["type"] == kind)
        for kind in ("extra_forbidden", "missing")
    )
    if unknown or missing:
        return f"{cls.name}: unknown fields {unknown}, missing fields {missing}."
    return f"{cls.name}: field {str(problems[0]['loc'][0])!r}: {problems[0]['msg']}."


def path_of(cls: type) -> str:
    """Return the dotted path of a class."""
    return f"{cls.__module__}.{cls.__qualname__}"
