"""Emptying tables between tests: afterwards the database is as its migrations left it, whatever ran before."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from django.db import connection, transaction
from django.test import TransactionTestCase

AUDIT = "audit_auditentry"
# What migrations and their signals have written stays as it is; no test changes it.
KEPT = ("django_migrations", "django_content_type", "auth_permission")
# A schema with copies of the other tables in which migrations have written, such as policies and built-in rules.
PREPARED = "prepared"


@contextmanager
def rolled_back() -> Iterator[None]:
    """Take back what is written meanwhile: a transaction in those of tests, or around them for what they share."""
    around = transaction.atomic()
    around._from_testcase = True  # what is durable may be in it, as in the transaction of a test
    with around:
        yield
        transaction.set_rollback(True)


def truncate(tables: Iterable[str], more: str = "") -> None:
    """Empty tables, as only their owner can where a trigger refuses it. more: further words of the statement."""
    chosen = list(tables)
    names = ", ".join(connection.ops.quote_name(name) for name in chosen)
    before, after = (
        f"ALTER TABLE {AUDIT} {what} TRIGGER audit_entry_whole;" if AUDIT in chosen else ""
        for what in ("DISABLE", "ENABLE")
    )
    with connection.cursor() as cursor:
        cursor.execute(f"{before} TRUNCATE {names} {more} CASCADE; {after}")


def tables_in(schema: str) -> list[str]:
    """Return the tables of a schema that take any room, without those that are kept."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = %s::regnamespace "
            "AND relname <> ALL(%s) AND pg_relation_size(oid) > 0 ORDER BY relname",
            [schema, list(KEPT)],
        )
        return [name for (name,) in cursor.fetchall()]


def first_of(conditions: dict[str, str]) -> list[str]:
    """Return the names whose condition holds."""
    if not conditions:
        return []
    parts = (f"SELECT '{name}' WHERE {condition}" for name, condition in conditions.items())
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(parts))
        return [name for (name,) in cursor.fetchall()]


@transaction.atomic
def keep_prepared() -> None:
    """Copy what migrations have written, once they are done."""
    written = first_of({name: f'EXISTS (SELECT FROM public."{name}")' for name in tables_in("public")})
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE SCHEMA {PREPARED}")
        for name in written:
            cursor.execute(f'CREATE TABLE {PREPARED}."{name}" AS TABLE public."{name}"')


@transaction.atomic
def empty_written(_: TransactionTestCase) -> None:
    """Empty the tables in which something was written, and write again what migrations had written.

    Django's own way empties every table and writes content types and permissions again: it took longer than most tests.
    """
    prepared = tables_in(PREPARED)
    changed = {name: f'EXISTS (SELECT FROM public."{name}")' for name in tables_in("public") if name not in prepared}
    for name in prepared:
        now, before = f'TABLE public."{name}"', f'TABLE {PREPARED}."{name}"'
        changed[name] = f"EXISTS (({now} EXCEPT {before}) UNION ALL ({before} EXCEPT {now}))"
    if written := first_of(changed):
        truncate(written)
        with connection.cursor() as cursor:
            for name in prepared:  # also those that were emptied with others
                rows = f'SELECT * FROM {PREPARED}."{name}" WHERE NOT EXISTS (SELECT FROM public."{name}")'
                cursor.execute(f'INSERT INTO public."{name}" OVERRIDING SYSTEM VALUE {rows}')
                # A test may have begun to count again, and the next row must not have the number of one of these.
                cursor.execute(
                    f'SELECT setval(sequence, greatest(nextval(sequence), (SELECT max(id) FROM public."{name}"))) '
                    f"FROM pg_get_serial_sequence('public.\"{name}\"', 'id') AS sequence WHERE sequence IS NOT NULL"
                )
