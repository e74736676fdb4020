"""The parts that a rule document is built of: sections of checked settings.

A setting has a type with a range, a default and a sentence that describes it. The checks, the OpenAPI document and the
form in the admin are all derived from these declarations.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

MAX_TEXT_CHARS = 200
MAX_WORDS = 20
MAX_SHOWN_CHARS = 100
# Text with a visible character in it, and text that PostgreSQL can store; Python and JSON Schema read both alike.
VISIBLE_TEXT = r"^[^\u0000]*[^\s\u0000][^\u0000]*$"
STORABLE_TEXT = r"^[^\u0000]*$"
WORD_SCHEMA = {"type": "string", "minLength": 1, "maxLength": MAX_TEXT_CHARS, "pattern": VISIBLE_TEXT}
WORDS_SCHEMA = {
    "oneOf": [{**WORD_SCHEMA, "nullable": True}, {"type": "array", "items": WORD_SCHEMA, "maxItems": MAX_WORDS}]
}

Flag = Annotated[bool, Field(strict=True)]
Share = Annotated[float, Field(strict=True, ge=0, le=1)]
Weight = Annotated[float, Field(strict=True, ge=0, le=1000)]
Word = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=MAX_TEXT_CHARS, pattern=VISIBLE_TEXT)]
# In a document one word or a list of words.
Words = Annotated[
    tuple[Word, ...],
    Field(max_length=MAX_WORDS),
    BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
    WithJsonSchema(WORDS_SCHEMA),
]


class SettingsGroup(BaseModel):
    """A group of settings. Null counts as a missing setting, and unknown members are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def leave_out_nulls(cls, data: Any) -> Any:
        """Return the data without the null values of known settings."""
        if not isinstance(data, Mapping):
            return data
        known = {name: value for name, value in data.items() if name in cls.model_fields and value is not None}
        return known | {shorten(name): value for name, value in data.items() if name not in cls.model_fields}


class Weights(SettingsGroup):
    """A section of weights, which must not all be zero."""

    @model_validator(mode="after")
    def check_sum(self) -> Self:
        """Raise an error unless one weight is positive."""
        if not any(weight > 0 for weight in self.__dict__.values()):
            raise PydanticCustomError("no_weight", "The weights must sum to a positive number.")
        return self


def shorten(text: Any) -> str:
    """Return a caller's text short and safe to send back."""
    return str(text)[:MAX_SHOWN_CHARS].encode("utf-8", "replace").decode()
