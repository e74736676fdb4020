"""Payloads of events: frozen dataclasses with a name and a schema that is checked on both ways (DESIGN D7).

    @dataclass(frozen=True, kw_only=True)
    class MemorySaved(EventPayload):
        name: ClassVar[str] = "memory:semantic:saved"

        memory_id: UUID
        user_id: str

A payload carries identifiers and small facts, never the content of a memory. A field added to a released
payload needs a default, so that rows written before it can still be read.
"""

import re
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from typing import Any, ClassVar, Self, get_type_hints
from uuid import UUID

from apps.events.domain.codecs import Codec, Json, PayloadError, codec_for

MAX_NAME_CHARS = 100
_NAME = re.compile(r"[a-z][a-z_]*(:[a-z][a-z_]*)+")
_registry: dict[str, type["EventPayload"]] = {}
_schemas: dict[type["EventPayload"], "_Schema"] = {}


@dataclass(frozen=True)
class _Schema:
    codecs: dict[str, Codec]
    required: frozenset[str]


class EventPayload:
    """Base of every payload. A subclass that sets `name` is registered under it, once."""

    name: ClassVar[str]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "name" in cls.__dict__:
            _register(cls)

    def to_json(self) -> dict[str, Json]:
        """The fields as JSON: datetimes ISO 8601 with an offset, UUIDs as text.

        Raises PayloadError when a value is not of its field's type.
        """
        codecs = _schema(type(self)).codecs
        return {key: _at(type(self), key, codec.encode, getattr(self, key)) for key, codec in codecs.items()}

    @classmethod
    def from_json(cls, document: object) -> Self:
        """The payload that `to_json` gave.

        Raises PayloadError for unknown fields, missing ones without a default, and wrong types.
        """
        if not isinstance(document, dict):
            raise PayloadError(f"{cls.name}: expected a JSON object, not {type(document).__name__}.")
        schema = _schema(cls)
        unknown = sorted(str(key) for key in document.keys() - schema.codecs.keys())
        missing = sorted(schema.required - document.keys())
        if unknown or missing:
            raise PayloadError(f"{cls.name}: unknown fields {unknown}, missing fields {missing}.")
        return cls(**{key: _at(cls, key, schema.codecs[key].decode, value) for key, value in document.items()})

    def identifiers(self) -> dict[str, str]:
        """The fields that hold UUIDs, as text: what a log line may say about the payload."""
        values = {key: getattr(self, key) for key in _schema(type(self)).codecs}
        return {key: str(value) for key, value in values.items() if isinstance(value, UUID)}


def payload_class(name: str) -> type[EventPayload] | None:
    """The class registered under `name`."""
    return _registry.get(name)


def registered_names() -> frozenset[str]:
    """The names of all events whose modules have been imported."""
    return frozenset(_registry)


def _register(cls: type[EventPayload]) -> None:
    name = cls.name
    if not isinstance(name, str) or len(name) > MAX_NAME_CHARS or not _NAME.fullmatch(name):
        raise PayloadError(f"{name!r} is no event name: expected something like 'memory:semantic:saved'.")
    holder = _registry.get(name)
    # dataclass(slots=True) and a reloaded module make the same class again, the former with a shorter path.
    if holder is not None and (holder.__module__, holder.__name__) != (cls.__module__, cls.__name__):
        raise PayloadError(f"The event name {name!r} already belongs to {_path(holder)}.")
    _registry[name] = cls


def _path(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def _schema(cls: type[EventPayload]) -> _Schema:
    if cls not in _schemas:
        _schemas[cls] = _make_schema(cls)
    return _schemas[cls]


def _make_schema(cls: type[EventPayload]) -> _Schema:
    if not is_dataclass(cls) or not cls.__dataclass_params__.frozen:
        raise PayloadError(f"{_path(cls)} must be a frozen dataclass.")
    hints = get_type_hints(cls)
    codecs = {field.name: codec_for(hints[field.name], f"{_path(cls)}.{field.name}") for field in fields(cls)}
    return _Schema(codecs, frozenset(field.name for field in fields(cls) if _is_required(field)))


def _is_required(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _at(cls: type[EventPayload], key: str, convert: Any, value: Any) -> Any:
    try:
        return convert(value)
    except PayloadError as error:
        raise PayloadError(f"{cls.name}: field {key!r}: {error}") from None
