"""How a payload's fields become JSON and come back, one codec per type."""

import math
import types
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeAlias, Union, get_args, get_origin
from uuid import UUID

Json: TypeAlias = str | int | float | bool | list["Json"] | dict[str, "Json"] | None


class PayloadError(Exception):
    """A payload, its class or its stored form does not match its schema. Messages carry no values."""


@dataclass(frozen=True)
class Codec:
    """`encode` turns a checked Python value into JSON, `decode` turns JSON back; both raise PayloadError."""

    encode: Callable[[Any], Json]
    decode: Callable[[Any], Any]


def codec_for(hint: Any, where: str) -> Codec:
    """The codec of a type hint.

    Known are str, int, float, bool, UUID, datetime, subclasses of StrEnum, `X | None` and `tuple[X, ...]`.
    Raises PayloadError, which names `where`, for any other.
    """
    if hint in _SCALARS:
        return _SCALARS[hint]
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return _enum(hint)
    arguments = get_args(hint)
    if get_origin(hint) in {Union, types.UnionType} and len(arguments) == 2 and type(None) in arguments:
        [inner] = [argument for argument in arguments if argument is not type(None)]
        return _optional(codec_for(inner, where))
    if get_origin(hint) is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        return _items(codec_for(arguments[0], where))
    raise PayloadError(f"{where}: a payload cannot hold {hint}.")


def _exactly(kind: type) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        # type(), not isinstance(): True is an int and a str subclass may carry anything.
        if type(value) is not kind:
            raise PayloadError(f"expected {kind.__name__}, not {type(value).__name__}.")
        return value

    return check


def _text(value: Any) -> str:
    text: str = _exactly(str)(value)
    if "\x00" in text or not _encodable(text):
        raise PayloadError("text must hold neither NUL nor lone surrogates: PostgreSQL cannot store them.")
    return text


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _number(value: Any) -> float:
    number = float(value) if type(value) is int else _exactly(float)(value)
    if not math.isfinite(number):
        raise PayloadError("expected a finite number.")
    return float(number)


def _moment_to_json(value: Any) -> str:
    return _aware(_exactly(datetime)(value)).isoformat()


def _moment_from_json(value: Any) -> datetime:
    try:
        moment = datetime.fromisoformat(_text(value))
    except ValueError:
        raise PayloadError("expected a datetime in ISO 8601.") from None
    return _aware(moment)


def _aware(moment: datetime) -> datetime:
    if moment.utcoffset() is None:
        raise PayloadError("expected a datetime with an offset, not a naive one.")
    return moment


def _uuid_from_json(value: Any) -> UUID:
    try:
        return UUID(_text(value))
    except ValueError:
        raise PayloadError("expected a UUID.") from None


def _enum(kind: type[StrEnum]) -> Codec:
    def decode(value: Any) -> StrEnum:
        try:
            return kind(_text(value))
        except ValueError:
            raise PayloadError(f"expected one of {[member.value for member in kind]}.") from None

    check = _exactly(kind)
    return Codec(lambda value: str(check(value).value), decode)


def _optional(inner: Codec) -> Codec:
    return Codec(
        lambda value: None if value is None else inner.encode(value),
        lambda value: None if value is None else inner.decode(value),
    )


def _items(inner: Codec) -> Codec:
    check_tuple, check_list = _exactly(tuple), _exactly(list)
    return Codec(
        lambda value: [inner.encode(item) for item in check_tuple(value)],
        lambda value: tuple(inner.decode(item) for item in check_list(value)),
    )


_SCALARS: dict[Any, Codec] = {
    str: Codec(_text, _text),
    int: Codec(_exactly(int), _exactly(int)),
    bool: Codec(_exactly(bool), _exactly(bool)),
    float: Codec(_number, _number),
    UUID: Codec(lambda value: str(_exactly(UUID)(value)), _uuid_from_json),
    datetime: Codec(_moment_to_json, _moment_from_json),
}
