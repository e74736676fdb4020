"""Reads that nearly every request makes, prepared once per connection (docs/explain/vector-index.md).

The ORM composes SQL anew each time and PostgreSQL plans it anew each time; for a handful of rows by their keys both
take several times as long as reading them. Where statements cannot be prepared (`prepare_threshold` of the connection
is None, as behind some poolers) these are sent as they are.
"""

from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, models
from django.db.models.base import ModelState
from psycopg import Cursor

ModelT = TypeVar("ModelT", bound=models.Model)
Row = tuple[Any, ...]


def read_prepared(statement: str, parameters: Mapping[str, Any]) -> list[Row]:
    """The rows of a statement that never changes, in the types of psycopg. Raises what Django's cursors do."""
    connection.validate_no_broken_transaction()
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    with connection.wrap_database_errors, Cursor(connection.connection) as cursor:
        cursor.execute(statement, parameters, prepare=True, binary=True)
        return cursor.fetchall()


class PreparedSelect(Generic[ModelT]):
    """Instances of a model by a condition that never changes.

    where: SQL on the table's columns, with named placeholders. without: fields that are left for later, as by `defer`.
    asking: an expression in SQL that is answered in the same statement, so as of the same moment.
    """

    def __init__(
        self, model: type[ModelT], where: str, without: Collection[str] = (), asking: str | None = None
    ) -> None:
        self._model, self._where, self._without, self._asking = model, where, without, asking

    def rows(self, parameters: Mapping[str, Any]) -> list[ModelT]:
        """What is there now, in no order."""
        return self.answer(parameters)[1]

    def answer(self, parameters: Mapping[str, Any]) -> tuple[Any, list[ModelT]]:
        """What was asked, None where nothing is there, and what is there now, in no order."""
        found = read_prepared(self._statement, parameters)
        return (found[0][0] if found else None), [self._instance(row[1:]) for row in found]

    def _instance(self, row: Row) -> ModelT:
        """As `Model.from_db` makes it, in a fifth of the time: what is read needs no defaults and no conversion.

        Nobody here hears `pre_init` and `post_init`, which this does not send.
        """
        instance = self._model.__new__(self._model)
        instance._state = ModelState()
        instance._state.adding, instance._state.db = False, DEFAULT_DB_ALIAS
        instance.__dict__.update(zip(self._names, row, strict=True))
        return instance

    @cached_property
    def _fields(self) -> "list[models.Field[Any, Any]]":
        return [field for field in self._model._meta.concrete_fields if field.name not in self._without]

    @cached_property
    def _names(self) -> list[str]:
        return [field.attname for field in self._fields]

    @cached_property
    def _statement(self) -> str:
        quote = connection.ops.quote_name
        columns = ", ".join(quote(str(field.column)) for field in self._fields)
        table = quote(self._model._meta.db_table)
        return f"SELECT {self._asking or 'NULL'}, {columns} FROM {table} WHERE {self._where}"  # noqa: S608
