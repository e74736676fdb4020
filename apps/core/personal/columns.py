"""Rows of any table as JSON values and back, column by column, so that a new column is exported without further ado."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from decimal import Decimal, InvalidOperation
from enum import Enum
from functools import partial
from operator import attrgetter
from typing import Any
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import connection, models

from apps.core.db.offsets import OffsetField
from apps.core.personal.store import LineError

Reader = Callable[[Any], Any]
# Of columns whose values are those of JSON; a list or an object may hold others.
_JSON_TYPES = frozenset((str, int, float, bool, type(None)))


class Columns:
    """The columns of a table that are exported as they are.

    Keys and references are not, because every hub numbers its rows: stores write the ids of what they refer to. Nor are
    offsets, which the moments have.
    without: names of columns that are derived from others.
    """

    def __init__(self, model: type[models.Model], without: Collection[str] = ()) -> None:
        self.model = model
        self.fields = tuple(
            column
            for column in model._meta.concrete_fields
            if not isinstance(column, OffsetField) and not column.primary_key and not column.is_relation
            if column.name not in without
        )
        self.names = tuple(column.attname for column in self.fields)
        self._get = attrgetter(*self.names)
        self._readers = {column.name: reader_of(column) for column in self.fields}
        self._known = self._readers.keys() | {"kind"}

    def values(self, row: models.Model) -> dict[str, Any]:
        """Return the columns of a row as JSON values."""
        return self.json_values(self._get(row) if len(self.names) > 1 else (self._get(row),))

    def json_values(self, values: Iterable[Any]) -> dict[str, Any]:
        """Return the values of all columns, in the order of `names`, as JSON values."""
        return {
            name: value if type(value) in _JSON_TYPES else json_value(value)
            for name, value in zip(self._readers, values, strict=True)
        }

    def read(self, line: Any, further: Collection[str] = ()) -> dict[str, Any]:
        """Return the columns that a line holds. further: names besides them that the line may have.

        A column that the line lacks has its default, or null. Raises ValueError, which names the column.
        """
        if not isinstance(line, Mapping):
            raise ValueError("a row is not an object")
        if not line.keys() <= self._known and (unknown := line.keys() - self._known - set(further)):
            raise ValueError(f"unknown field {sorted(unknown)[0][:50]!r}")
        found = {}
        for column in self.fields:
            if column.name in line:
                found[column.name] = self._read_one(column, line[column.name])
            elif column.unique or not (column.has_default() or column.null):
                raise ValueError(f"{column.name} is missing")
            else:
                found[column.name] = column.get_default()
        return found

    def read_at(self, place: int, line: Any, further: Collection[str] = ()) -> dict[str, Any]:
        """Return the columns of the line at a place, as `read` does. Raises LineError."""
        try:
            return self.read(line, further)
        except ValueError as error:
            raise LineError(place, str(error)) from error

    def _read_one(self, column: models.Field[Any, Any], value: Any) -> Any:
        if value is None:
            if column.null:
                return None
            raise ValueError(f"{column.name} is null")
        try:
            return self._readers[column.name](value)
        except (ValueError, TypeError, OverflowError) as error:
            raise ValueError(f"{column.name} is invalid") from error


def json_value(value: Any) -> Any:
    """Return a value of a column as JSON has it."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, UUID | Decimal):
        return str(value)
    if isinstance(value, list | tuple):
        return [json_value(each) for each in value]
    return value


def reader_of(column: models.Field[Any, Any]) -> Reader:
    """Return what makes a value of a column of a JSON value, and raises ValueError for one of another type."""
    if isinstance(column, ArrayField):
        return partial(read_list, reader_of(column.base_field))
    if isinstance(column, models.JSONField):
        return lambda value: value
    if isinstance(column, models.DateTimeField):
        return read_moment
    if isinstance(column, models.UUIDField):
        return UUID
    if isinstance(column, models.BooleanField):
        return partial(read_typed, bool)
    if isinstance(column, models.FloatField):
        return read_number
    if isinstance(column, models.IntegerField):
        return read_integer
    if isinstance(column, models.DecimalField):
        return read_decimal
    choices = {value for value, _ in column.flatchoices} if column.choices else None
    if choices is not None and column.blank:
        choices.add("")
    return partial(read_text, column.max_length, choices)


def read_list(reader: Reader, value: Any) -> list[Any]:
    """Return the elements of a list."""
    return [reader(each) for each in read_typed(list, value)]


def read_moment(value: Any) -> datetime:
    """Return a time, which has an offset."""
    moment = datetime.fromisoformat(value)
    if moment.tzinfo is None:
        raise ValueError(value)
    return moment


def read_typed(kind: type[Any], value: Any) -> Any:
    """Return a value of a type."""
    if not isinstance(value, kind):
        raise ValueError(kind.__name__)
    return value


def read_number(value: Any) -> float:
    """Return a number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("number")
    return float(value)


def read_decimal(value: Any) -> Decimal:
    """Return a decimal number, which is written as text."""
    try:
        number = Decimal(read_typed(str, value))
    except InvalidOperation as error:
        raise ValueError("decimal") from error
    if not number.is_finite():
        raise ValueError("decimal")
    return number


def read_integer(value: Any) -> int:
    """Return a whole number."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("integer")
    return value


def read_text(limit: int | None, choices: Collection[str] | None, value: Any) -> str:
    """Return a text of at most so many characters, one of the choices if there are any, that can be stored."""
    text: str = read_typed(str, value)
    if (limit is not None and len(text) > limit) or (choices is not None and text not in choices) or "\0" in text:
        raise ValueError("text")
    text.encode()
    return text


def next_ids(model: type[models.Model], count: int) -> list[int]:
    """Return numbers for new rows of a table, rising."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)",
            [model._meta.db_table, count],
        )
        return [int(row[0]) for row in cursor.fetchall()]
