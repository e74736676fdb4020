"""Inserting rows through COPY: a save of 500 memories spends its time on embedding, not on SQL text."""

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import connection, models
from pgvector import Vector
from pgvector.psycopg import register_vector
from psycopg import sql
from psycopg.types.json import Jsonb

from apps.semantic.models import Memory, MemoryEmbedding, MemoryRevision


def number_memories(memories: Sequence[Memory]) -> None:
    """Give new memories their ids, rising in their order, so that others can refer to them before they are inserted."""
    for memory, pk in zip(memories, _next_ids(Memory, len(memories)), strict=True):
        memory.pk = pk
        memory._state.adding = False


def insert_memories(memories: Sequence[Memory]) -> None:
    """Insert new memories that have their ids. One may be superseded by another of them."""
    for memory in memories:
        memory.superseded_by = memory.superseded_by  # takes over the id
    _copy(Memory, Memory._meta.concrete_fields, memories)


def insert_embeddings(embeddings: Sequence[MemoryEmbedding]) -> None:
    """Insert vectors of memories that are inserted already."""
    statement = _statement(MemoryEmbedding, ["memory_id", "space_id", "is_given", "vector"], "(FORMAT BINARY)")
    register_vector(_raw_connection())
    with connection.wrap_database_errors, _raw_connection().cursor().copy(statement) as copy:
        copy.set_types(["int8", "int8", "bool", "vector"])
        for row in embeddings:
            copy.write_row((row.memory.pk, row.space.pk, row.is_given, Vector(row.vector)))


def insert_revisions(revisions: Sequence[MemoryRevision]) -> None:
    """Insert steps of the history of memories that are inserted already."""
    for revision in revisions:
        revision.memory_id = revision.memory.pk
    fields = [field for field in MemoryRevision._meta.concrete_fields if not field.primary_key]
    _copy(MemoryRevision, fields, revisions)


def _next_ids(model: type[models.Model], count: int) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)",
            [model._meta.db_table, count],
        )
        return [row[0] for row in cursor.fetchall()]


def _copy(model: type[models.Model], fields: Iterable[Any], rows: Sequence[models.Model]) -> None:
    fields = list(fields)
    statement = _statement(model, [field.column for field in fields])
    with connection.wrap_database_errors, _raw_connection().cursor().copy(statement) as copy:
        for row in rows:
            copy.write_row([_value(field, getattr(row, field.attname)) for field in fields])


def _statement(model: type[models.Model], columns: Sequence[str], options: str = "") -> sql.Composed:
    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    table = sql.Identifier(model._meta.db_table)
    return sql.SQL("COPY {} ({}) FROM STDIN {}").format(table, names, sql.SQL(options))


def _value(field: Any, value: Any) -> Any:
    if isinstance(field, models.JSONField):
        return Jsonb(value)
    if isinstance(field, ArrayField):
        return list(value)
    return value.value if isinstance(value, Enum) else value


def _raw_connection() -> Any:
    connection.ensure_connection()
    return connection.connection
