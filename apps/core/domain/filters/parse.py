"""Reading filters from JSON, with errors that name the place of what cannot be read."""

import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from apps.core.domain.errors import InvalidInputError
from apps.core.domain.filters.expression import (
    EVERYTHING,
    OPERATORS,
    ORDERING,
    AllOf,
    AnyOf,
    Comparison,
    Expression,
    FieldKind,
    Negation,
    Operator,
)
from apps.core.domain.filters.match import exact

MAX_DEPTH, MAX_OBJECTS, MAX_COMPARISONS, MAX_VALUES, MAX_STEPS, MAX_CHARS = 8, 500, 100, 500, 10, 1000
# Beyond it neighbours of a double are further apart than 1.
MAX_NUMBER = 2**53
JOINING = frozenset(("all", "any", "not"))
Fields = Mapping[str, FieldKind]
Scalar = str | int | float | bool


class FilterError(InvalidInputError):
    """A filter that cannot be read; `attr` names the place in it, such as "filter.all.1.importance"."""

    code = "invalid_filter"


def parse_filter(data: object, fields: Fields, attr: str = "filter") -> Expression:
    """Return what a JSON object asks for of rows with some fields. Raises FilterError.

    The names of an object are fields, compared with a value or an object of operators, or "all", "any" and "not";
    all of them must hold. A field that holds JSON is followed by the steps into it: "metadata.source.page".
    """
    return EVERYTHING if data == {} else FilterReader(fields).read(data, attr, 1)


class FilterReader:
    """Reads one filter, and counts its objects and comparisons."""

    def __init__(self, fields: Fields) -> None:
        self._fields = fields
        self._count = self._objects = 0

    def read(self, value: object, place: str, depth: int) -> Expression:
        """Return a filter at a place of the whole. Raises FilterError."""
        if not isinstance(value, dict):
            raise FilterError("Expected an object of fields, or of all, any and not.", attr=place)
        if depth > MAX_DEPTH:
            raise FilterError(f"Nested too deeply: at most {MAX_DEPTH} levels.", attr=place)
        self._objects += 1
        if self._objects > MAX_OBJECTS:
            raise FilterError(f"Too many objects: at most {MAX_OBJECTS}.", attr=place)
        parts = tuple(self.read_name(name, each, f"{place}.{shorten(name)}", depth) for name, each in value.items())
        return parts[0] if len(parts) == 1 else AllOf(parts)

    def read_name(self, name: str, value: object, place: str, depth: int) -> Expression:
        """Return what one name of a filter and its value ask for. Raises FilterError."""
        if name == "not":
            return Negation(self.read(value, place, depth + 1))
        if name not in JOINING:
            return self.read_comparisons(name, value, place)
        if not isinstance(value, list) or len(value) > MAX_COMPARISONS:
            raise FilterError(f"Expected a list of at most {MAX_COMPARISONS} filters.", attr=place)
        parts = tuple(self.read(each, f"{place}.{at}", depth + 1) for at, each in enumerate(value))
        return AllOf(parts) if name == "all" else AnyOf(parts)

    def read_comparisons(self, name: str, value: object, place: str) -> Expression:
        """Return what is asked of one field: a value, or several operators with theirs. Raises FilterError."""
        field, path = split_name(name, self._fields, place)
        asked = value if isinstance(value, dict) else {"eq": value}
        if not asked:
            raise FilterError("Expected a value, or an object of operators.", attr=place)
        self._count += len(asked)
        if self._count > MAX_COMPARISONS:
            raise FilterError(f"Too many comparisons: at most {MAX_COMPARISONS}.", attr=place)
        found = tuple(read_comparison(field, self._fields[field], path, *each, place) for each in asked.items())
        return found[0] if len(found) == 1 else AllOf(found)


def split_name(name: str, fields: Fields, place: str) -> tuple[str, tuple[str, ...]]:
    """Return the field that a name names, and the steps into it. Raises FilterError."""
    field, *path = name.split(".")
    kind = fields.get(field)
    if kind is None or (path and kind is not FieldKind.JSON):
        raise FilterError(f"Unknown field. Choose one of {', '.join(sorted(fields))}.", attr=place)
    if kind is FieldKind.JSON and not (0 < len(path) <= MAX_STEPS and all(path) and len(name) <= MAX_CHARS):
        raise FilterError(f"Name a part of `{field}`, at most {MAX_STEPS} levels deep: {field}.name", attr=place)
    if not is_storable(name):
        raise FilterError("NUL characters and lone surrogates cannot be stored, so nothing has them.", attr=place)
    return field, tuple(path)


def read_comparison(
    field: str, kind: FieldKind, path: tuple[str, ...], operator: str, operand: object, place: str
) -> Comparison:
    """Return one comparison; to equal null is to be missing. Raises FilterError."""
    if operator not in OPERATORS[kind]:
        known = ", ".join(sorted(OPERATORS[kind]))
        raise FilterError(f"`{field}` cannot be compared with `{shorten(operator)}`; use {known}.", attr=place)
    if operand is None and operator == Operator.EQ and Operator.EXISTS in OPERATORS[kind]:
        return Comparison(field, kind, Operator.EXISTS, False, path)
    chosen = Operator(operator)
    try:
        return Comparison(field, kind, chosen, read_operand(kind, chosen, operand), path)
    except ValueError as error:
        raise FilterError(str(error), attr=place) from None


def read_operand(kind: FieldKind, operator: Operator, operand: object) -> Any:
    """Return the value of a comparison in the type of its field. Raises ValueError."""
    if operator is Operator.EXISTS:
        if not isinstance(operand, bool):
            raise ValueError("`exists` must be true or false.")
        return operand
    read = READERS[kind]
    if operator is Operator.IN:
        if not isinstance(operand, list) or len(operand) > MAX_VALUES:
            raise ValueError(f"`in` needs a list of at most {MAX_VALUES} values.")
        return tuple(map(read, operand))
    value = read(operand)
    if operator in ORDERING and isinstance(value, bool):
        raise ValueError("Only numbers and texts can be compared by size, not true and false.")
    return value


def read_text(value: object) -> str:
    """Return a text. Raises ValueError."""
    if not isinstance(value, str) or len(value) > MAX_CHARS or not is_storable(value):
        raise ValueError(f"Expected a text of at most {MAX_CHARS} characters, without NUL and lone surrogates.")
    return value


def read_flag(value: object) -> bool:
    """Return true or false. Raises ValueError."""
    if not isinstance(value, bool):
        raise ValueError("Expected true or false.")
    return value


def read_number(value: object) -> float:
    """Return a number. Raises ValueError.

    A whole number beyond MAX_NUMBER is read where it is a float in full digits: so the database answers 1e22.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("Expected a number.")
    if not (math.isfinite(value) if isinstance(value, float) else abs(value) <= MAX_NUMBER or is_float(value)):
        raise ValueError(f"Expected a finite number; whole numbers up to {MAX_NUMBER}.")
    return value


def is_float(value: int) -> bool:
    """Return whether a whole number is what a float is written as, in full digits."""
    try:
        return exact(float(value)) == value
    except OverflowError:
        return False


def read_scalar(value: object) -> Scalar:
    """Return a text, a number, true or false. Raises ValueError."""
    if isinstance(value, bool):
        return value
    return read_text(value) if isinstance(value, str) else read_number(value)


def read_moment(value: object) -> datetime:
    """Return a moment in UTC. Raises ValueError, also for one without an offset."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
        if moment is not None and moment.tzinfo is not None:
            return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise ValueError("Expected a datetime with an offset, for example 2023-05-08T13:56:00Z.")


def read_id(value: object) -> UUID:
    """Return an id. Raises ValueError."""
    try:
        if isinstance(value, str):
            return UUID(value)
    except ValueError:
        pass
    raise ValueError("Expected an id.")


def is_storable(text: str) -> bool:
    """Return whether PostgreSQL can keep a text."""
    return "\x00" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def shorten(name: str) -> str:
    """Return a caller's name, short enough to send back."""
    return name[:60].encode("utf-8", "replace").decode()


READERS: Mapping[FieldKind, Callable[[object], Any]] = {
    FieldKind.TEXT: read_text,
    FieldKind.TEXTS: read_text,
    FieldKind.NUMBER: read_number,
    FieldKind.MOMENT: read_moment,
    FieldKind.FLAG: read_flag,
    FieldKind.ID: read_id,
    FieldKind.JSON: read_scalar,
}
