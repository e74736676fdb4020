"""Reads that nearly every request makes, prepared once per connection (docs/explain/vector-index.md).

The ORM composes SQL for each call and PostgreSQL plans it each time; for a handful of rows by their keys both take
several times as long as reading them. Where statements cannot be prepared (`prepare_threshold` of the connection is
None, as behind some poolers) these are sent as they are.
"""

from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, models
from django.db.models.base import ModelState
from psycopg import Cursor

from apps.core.db.offsets import WithOffset

ModelT = TypeVar("ModelT", bound=models.Model)
Row = tuple[Any, ...]


def read_prepared(statement: str, parameters: Mapping[str, Any]) -> list[Row]:
    """Return the rows of a constant statement, in the types of psycopg. Raises what Django's cursors do."""
    connection.validate_no_broken_transaction()
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    with connection.wrap_database_errors, Cursor(connection.connection) as cursor:
        cursor.execute(statement, parameters, prepare=True, binary=True)
        return cursor.fetchall()


class PreparedSelect(Generic[ModelT]):
    """Instances of a model by a constant condition.

    where: SQL on the table's columns, with named placeholders. defer: fields that are not read, as by `defer()`.
    extra: an SQL expression that is evaluated in the same statement, so in the same snapshot.
    """

    def __init__(self, model: type[ModelT], where: str, defer: Collection[str] = (), extra: str | None = None) -> None:
        self._model, self._where, self._defer, self._extra = model, where, defer, extra

    def rows(self, parameters: Mapping[str, Any]) -> list[ModelT]:
        """Return the matching instances, unordered."""
        return self.rows_with_extra(parameters)[1]

    def rows_with_extra(self, parameters: Mapping[str, Any]) -> tuple[Any, list[ModelT]]:
        """Return the value of `extra` (None without a matching row) and the matching instances, unordered."""
        found = read_prepared(self._statement, parameters)
        return (found[0][0] if found else None), [self._instance(row[1:]) for row in found]

    def _instance(self, row: Row) -> ModelT:
        """Build an instance as `Model.from_db` does, in a fifth of the time: no defaults, no conversion.

        Does not send `pre_init` and `post_init`, to which nothing here listens.
        """
        instance = self._model.__new__(self._model)
        instance._state = ModelState()
        instance._state.adding, instance._state.db = False, DEFAULT_DB_ALIAS
        instance.__dict__.update(zip(self._names, row, strict=True))
        if self._offset is not None:
            self._offset(instance.__dict__)
        return instance

    @cached_property
    def _fields(self) -> "list[models.Field[Any, Any]]":
        return [field for field in self._model._meta.concrete_fields if field.name not in self._defer]

    @cached_property
    def _offset(self) -> Callable[[dict[str, Any]], None] | None:
        return self._model.restore_offset if issubclass(self._model, WithOffset) else None

    @cached_property
    def _names(self) -> list[str]:
        return [field.attname for field in self._fields]

    @cached_property
    def _statement(self) -> str:
        quote = connection.ops.quote_name
        columns = ", ".join(quote(str(field.column)) for field in self._fields)
        table = quote(self._model._meta.db_table)
        return f"SELECT {self._extra or 'NULL'}, {columns} FROM {table} WHERE {self._where}"  # noqa: S608
