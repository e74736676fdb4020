"""Serializer fields that take exactly what they say: no numbers as text, no naive datetimes, no NUL bytes."""

import datetime as dt
import math
import re
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.core.domain.json_shape import MAX_JSON_CHARS, MAX_JSON_DEPTH, TOO_DEEP, json_excess, walk
from apps.core.domain.offsets import in_offset, offset_minutes
from apps.core.domain.scope import MAX_OWNERS

MAX_ECHOED_CHARS = 100
MAX_VECTOR_NUMBER = 1e30
# A visible character, as a pattern that Python and JSON Schema read alike: no white space, no control character,
# nothing that Unicode calls ignorable by default (fillers of Hangul among them), no empty Braille cell.
VISIBLE = (
    r"[^\s\u0000-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    r"\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8]"
)
# The two read escapes beyond U+FFFF differently, so the document does not name those.
_VISIBLE = re.compile(VISIBLE[:-1] + "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]")


def printable(text: str) -> str:
    """Return a caller's text, short and safe to send back."""
    return text[:MAX_ECHOED_CHARS].encode("utf-8", "replace").decode()


class StrictCharField(serializers.CharField):
    """Text: refuses numbers, NUL characters and lone surrogates."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class VisibleTextField(StrictCharField):
    """Text that is kept as it is, in which at least one character can be seen."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(trim_whitespace=False, **kwargs)

    def run_validation(self, data: Any = serializers.empty) -> str:
        if isinstance(data, str) and not _VISIBLE.search(data):
            self.fail("blank")
        text: str = super().run_validation(data)
        return text


class IdentifierField(VisibleTextField):
    """A user, household or persona: 1 to 200 characters; leave it out rather than send it blank."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"max_length": 200, "min_length": 1, **kwargs})


class BoundedListField(serializers.ListField):
    """A list that is refused for its length before anything in it is read."""

    def to_internal_value(self, data: Any) -> list[Any]:
        if isinstance(data, list) and self.max_length is not None and len(data) > self.max_length:
            raise serializers.ValidationError(
                self.error_messages["max_length"].format(max_length=self.max_length), code="max_length"
            )
        return super().to_internal_value(data)


class OwnersField(BoundedListField):
    """Ids of users or teams, at most MAX_OWNERS of them."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"child": IdentifierField(), "required": False, "max_length": MAX_OWNERS, **kwargs})


class OwnersTextField(StrictCharField):
    """The same in a query string, with commas between them; an id with a comma cannot be named there."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"required": False, "max_length": MAX_OWNERS * 201, "trim_whitespace": False, **kwargs})

    def to_internal_value(self, data: Any) -> Any:
        return OwnersField().run_validation(super().to_internal_value(data).split(",", MAX_OWNERS))


class StrictChoiceField(serializers.ChoiceField):
    """One of some words: what is refused is sent back short and printable, with the words that would do."""

    default_error_messages: ClassVar[dict[str, str]] = {
        "invalid_choice": '"{input}" is not a valid choice. Choose one of: {choices}.'
    }

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str) or data not in self.choices:
            shown = printable(data) if isinstance(data, str) else type(data).__name__
            self.fail("invalid_choice", input=shown, choices=", ".join(self.choices))
        return data


class StrictFloatField(serializers.FloatField):
    """A finite number: refuses text and booleans."""

    def to_internal_value(self, data: Any) -> float:
        if isinstance(data, bool) or not isinstance(data, int | float):
            self.fail("invalid")
        try:
            return super().to_internal_value(data)
        except OverflowError:
            self.fail("invalid")


class StrictIntegerField(serializers.IntegerField):
    """A whole number: refuses text and booleans."""

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, bool) or not (isinstance(data, int) or (isinstance(data, float) and data.is_integer())):
            self.fail("invalid")
        return super().to_internal_value(int(data))


class StrictBooleanField(serializers.BooleanField):
    """true or false, nothing that resembles them."""

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


class AwareDateTimeField(serializers.DateTimeField):
    """ISO 8601 with an offset; a naive datetime is refused (DESIGN D13). Returns UTC."""

    default_error_messages = {
        "naive": "A datetime needs an offset, for example 2023-05-08T13:56:00Z.",
        "overflow": "This datetime is out of range.",
    }

    def to_internal_value(self, value: Any) -> dt.datetime:
        if not isinstance(value, str):
            self.fail("invalid", format="YYYY-MM-DDThh:mm:ss+hh:mm")
        try:
            return super().to_internal_value(value)
        except OverflowError:
            self.fail("overflow")

    def enforce_timezone(self, value: dt.datetime) -> dt.datetime:
        if value.tzinfo is None:
            self.fail("naive")
        try:
            return value.astimezone(dt.UTC)
        except OverflowError:
            self.fail("overflow")


class OffsetDateTimeField(AwareDateTimeField):
    """The same, of which the offset is kept as well, in whole minutes: it says which day it was for the writer."""

    def enforce_timezone(self, value: dt.datetime) -> dt.datetime:
        instant = super().enforce_timezone(value)
        return in_offset(instant, offset_minutes(value))


@extend_schema_field(OpenApiTypes.OBJECT)
class JSONObjectField(serializers.Field[dict[str, Any], Any, dict[str, Any], Any]):
    """A JSON object of the caller's own, bounded in size and depth, that PostgreSQL can store."""

    default_error_messages = {
        "not_an_object": "Expected a JSON object.",
        "too_deep": "Nested too deeply: at most {limit} levels.",
        "too_large": "Too large: at most {limit} characters in all.",
        "characters": "NUL characters and lone surrogates cannot be stored.",
        "not_finite": "Every number must be finite.",
    }

    def __init__(self, *, max_chars: int = MAX_JSON_CHARS, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.max_chars = max_chars

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if not isinstance(data, dict):
            self.fail("not_an_object")
        excess = json_excess(data, self.max_chars)
        if excess is not None:
            self.fail(excess[0], limit=MAX_JSON_DEPTH if excess[0] == TOO_DEEP else self.max_chars)
        for _, leaf in walk(data, 1):
            text = str(leaf)
            if isinstance(leaf, float) and not math.isfinite(leaf):
                self.fail("not_finite")
            if "\x00" in text or any("\ud800" <= c <= "\udfff" for c in text):
                self.fail("characters")
        return data

    def to_representation(self, value: dict[str, Any]) -> dict[str, Any]:
        return value


@extend_schema_field(
    {
        "type": "array",
        "items": {"type": "number", "minimum": -MAX_VECTOR_NUMBER, "maximum": MAX_VECTOR_NUMBER},
        "minItems": 1,
        "maxItems": 16_000,
        "description": "A vector.",
    }
)
class VectorField(serializers.Field["npt.NDArray[np.float32]", Any, list[float], Any]):
    """A list of finite numbers, not all zero; returns float32 of shape (n,). Its length is checked by the service."""

    default_error_messages = {
        "not_a_list": "Expected a list of numbers.",
        "length": "Expected 1 to 16000 numbers.",
        "not_finite": "Every number must be finite.",
        "zero": "A vector of zeros has no direction.",
    }

    def to_internal_value(self, data: Any) -> npt.NDArray[np.float32]:
        if not isinstance(data, list) or not all(type(item) in (int, float) for item in data):
            self.fail("not_a_list")
        if not 1 <= len(data) <= 16_000:
            self.fail("length")
        try:
            vector = np.asarray(data, dtype=np.float64)
        except OverflowError:
            self.fail("not_finite")
        if not np.isfinite(vector).all() or np.abs(vector).max() > MAX_VECTOR_NUMBER:
            self.fail("not_finite")
        if np.abs(vector).max() < 1e-30:
            self.fail("zero")
        return vector.astype(np.float32)

    def to_representation(self, value: npt.NDArray[np.float32]) -> list[float]:
        return [float(number) for number in value]
