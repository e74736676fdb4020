"""The shape of a rule document, read off the configuration dataclasses: what may stand where, and in which range.

One description serves the parser, the OpenAPI document and the form in the admin, so a field that is added to a
dataclass is known everywhere. A field may narrow its range through `field(metadata={"min": ..., "max": ...})`, and
say what it means through `{"help": ...}`.
"""

import math
import types
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from enum import StrEnum
from functools import cache
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from apps.rules.domain.documents.help import help_for

Kind = Literal["boolean", "number", "integer", "choice", "text", "words"]
TEN_YEARS_SECONDS = 315_360_000.0
MAX_WEIGHT = 1000.0
MAX_INTEGER = 1_000_000
MAX_TEXT_CHARS = 200
MAX_WORDS = 20


@dataclass(frozen=True)
class Setting:
    """One value of a rule. default: as JSON. minimum and maximum: of a number; of a text, its length."""

    path: str
    kind: Kind
    default: Any
    help: str
    minimum: float = 0.0
    maximum: float = 1.0
    choice_of: type[StrEnum] | None = None

    @property
    def choices(self) -> tuple[str, ...]:
        """The words that a choice may be."""
        return tuple(member.value for member in self.choice_of) if self.choice_of else ()

    def made(self, value: Any) -> Any:
        """A checked value of a document as the engine takes it; None stands for the default."""
        value = self.default if value is None else value
        if self.kind == "words":
            return () if value is None else tuple(value) if isinstance(value, list) else (value,)
        if value is None:
            return None
        make = {"number": float, "integer": int, "choice": self.choice_of}.get(self.kind)
        return make(value) if make else value


@dataclass(frozen=True)
class Group:
    """A section of a rule. make: turns the values of its members into what the engine takes."""

    path: str
    members: Mapping[str, "Setting | Group"]
    make: Any

    def settings(self) -> Iterator[Setting]:
        """Every setting in it, at any depth, in order."""
        for member in self.members.values():
            if isinstance(member, Group):
                yield from member.settings()
            else:
                yield member


Member: TypeAlias = Setting | Group


@cache
def group_of(kind: type, path: str = "") -> Group:
    """The shape of a configuration dataclass. Raises TypeError for a field of a type that no document can hold."""
    assert is_dataclass(kind)
    hints = get_type_hints(kind)
    members = {field.name: _member(field, hints[field.name], _join(path, field.name)) for field in fields(kind)}
    return Group(path, members, lambda values: kind(**values))


def as_json(value: Any) -> Any:
    """A configuration, or a part of one, as it stands in a document."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: as_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return value[0] if len(value) == 1 else list(value) or None
    return value.value if isinstance(value, StrEnum) else value


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _member(field: Field[Any], hint: Any, path: str) -> Member:
    default = field.default if field.default is not MISSING else _made(field)
    inner = _without_none(hint)
    if is_dataclass(inner):
        return group_of(inner, path)  # type: ignore[arg-type]
    if get_origin(inner) in {Mapping, dict}:
        return _mapping(inner, default, path)
    return _setting(inner, default, path, field.metadata)


def _made(field: Field[Any]) -> Any:
    return field.default_factory() if field.default_factory is not MISSING else None


def _without_none(hint: Any) -> Any:
    arguments = get_args(hint)
    if get_origin(hint) in {Union, types.UnionType} and type(None) in arguments:
        [hint] = [argument for argument in arguments if argument is not type(None)]
    return hint


def _mapping(hint: Any, default: Mapping[StrEnum, float], path: str) -> Group:
    """A number for each member of an enumeration."""
    keys, _ = get_args(hint)
    paths = {key: _join(path, str(key)) for key in keys}
    members = {
        str(key): Setting(where, "number", default.get(key, 0.0), help_for(where), 0.0, _highest(where))
        for key, where in paths.items()
    }
    return Group(path, members, lambda values: {keys(name): value for name, value in values.items()})


def _setting(hint: Any, default: Any, path: str, metadata: Mapping[str, Any]) -> Setting:
    described = metadata.get("help") or help_for(path)
    kind, low, high = _range(hint, path)
    low, high = metadata.get("min", low), metadata.get("max", high)
    return Setting(path, kind, as_json(default), described, low, high, hint if kind == "choice" else None)


def _range(hint: Any, path: str) -> tuple[Kind, float, float]:
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return "choice", 0, 0
    if hint is bool:
        return "boolean", 0, 1
    if hint is int:
        return "integer", 0, MAX_INTEGER
    if hint is float:
        return "number", 0.0, _highest(path)
    if hint is str:
        return "text", 1, MAX_TEXT_CHARS
    if hint == tuple[str, ...]:
        return "words", 0, MAX_WORDS
    raise TypeError(f"{path}: a rule document cannot hold {hint}.")


def _highest(path: str) -> float:
    group, _, name = path.rpartition(".")
    if name.endswith("_seconds"):
        return TEN_YEARS_SECONDS
    return MAX_WEIGHT if group.endswith("weights") else 1.0


# --- one value ------------------------------------------------------------------------------------------


def problem_with(setting: Setting, value: Any) -> str | None:
    """What is wrong with a value for a setting, as a sentence that says what would be right; None for nothing."""
    return _CHECKS[setting.kind](setting, value)


def _check_boolean(setting: Setting, value: Any) -> str | None:
    return None if isinstance(value, bool) else "Expected true or false."


def _check_number(setting: Setting, value: Any) -> str | None:
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or (isinstance(value, float) and math.isnan(value))
    ):
        return f"Expected a number from {setting.minimum:g} to {setting.maximum:g}."
    if not setting.minimum <= value <= setting.maximum:
        return f"Must be from {setting.minimum:g} to {setting.maximum:g}."
    return None


def _check_integer(setting: Setting, value: Any) -> str | None:
    whole = (isinstance(value, int) and not isinstance(value, bool)) or (
        isinstance(value, float) and value.is_integer()
    )
    if not whole or not setting.minimum <= value <= setting.maximum:
        return f"Expected a whole number from {setting.minimum:.0f} to {setting.maximum:.0f}."
    return None


def _check_choice(setting: Setting, value: Any) -> str | None:
    return (
        None
        if isinstance(value, str) and value in setting.choices
        else f"Expected one of {', '.join(setting.choices)}."
    )


def _check_text(setting: Setting, value: Any) -> str | None:
    if not isinstance(value, str):
        return "Expected text."
    if not setting.minimum <= len(value) <= setting.maximum or not (value.strip() or setting.minimum == 0):
        return f"Expected {setting.minimum:.0f} to {setting.maximum:.0f} characters, not only spaces."
    return None if is_storable(value) else "NUL characters and lone surrogates cannot be stored."


def _check_words(setting: Setting, value: Any) -> str | None:
    words = value if isinstance(value, list) else [value]
    if len(words) > setting.maximum:
        return f"Expected at most {setting.maximum:.0f} words."
    one = Setting(setting.path, "text", None, "", 1, MAX_TEXT_CHARS)
    return next((problem for word in words if (problem := _check_text(one, word))), None)


def is_storable(text: str) -> bool:
    """Whether PostgreSQL can store a text."""
    return "\x00" not in text and not any("\ud800" <= c <= "\udfff" for c in text)


_CHECKS = {
    "boolean": _check_boolean,
    "number": _check_number,
    "integer": _check_integer,
    "choice": _check_choice,
    "text": _check_text,
    "words": _check_words,
}
